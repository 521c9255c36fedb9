"""Findings of the static rules on a page, from its markup alone."""

from __future__ import annotations

from scanner.accessibility.document import AccessibleDocument
from scanner.catalogue import Check, checks
from scanner.findings import Finding, ScanType
from scanner.page.evidence import Document, Page
from scanner.plan import needs_browser
from tests.scanner.cast import document, page


def static_checks() -> list[Check]:
    return [each for each in checks(ScanType.ACCESSIBILITY) if not needs_browser(each)]


def static_findings(markup: str) -> dict[str, Finding]:
    """Return the findings by rule."""
    of_page = page(markup)
    parsed = document(of_page)
    evidence: dict[type, object] = {Page: of_page, Document: parsed, AccessibleDocument: AccessibleDocument(parsed)}
    return {
        each.id: each.function(**{need.parameter: evidence[need.evidence] for need in each.needs})
        for each in static_checks()
    }
