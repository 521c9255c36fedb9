"""Findings of the static rules on a page, from its markup alone."""

from __future__ import annotations

from tests.website_scan.cast import document, page
from website_scan.accessibility.document import AccessibleDocument
from website_scan.catalogue import Check, checks
from website_scan.findings import Finding, ScanType
from website_scan.page.evidence import Document, Page
from website_scan.plan import needs_browser


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
