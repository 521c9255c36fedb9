"""Findings of the static rules on a page, from its markup alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.website_scan.cast import document, page
from website_scan.accessibility.document import AccessibleDocument
from website_scan.catalogue import Check, checks
from website_scan.findings import NotApplicable, ScanType
from website_scan.outcomes import Verdict
from website_scan.page.evidence import Document, Page
from website_scan.plan import needs_browser


def static_checks() -> list[Check]:
    return [each for each in checks(ScanType.ACCESSIBILITY) if not needs_browser(each)]


def finding_of(check: Check, evidence: Mapping[type, object]) -> Verdict:
    """Return what the check finds in the evidence that it needs."""
    function: Callable[..., Any] = check.function
    finding: Verdict = function(**{need.parameter: evidence[need.evidence] for need in check.needs})
    return finding


def labels(finding: Verdict) -> list[str]:
    """Return the places of a finding as its message names them."""
    assert not isinstance(finding, NotApplicable), finding.reason
    return [each.label for each in finding.places]


def static_findings(markup: str) -> dict[str, Verdict]:
    """Return the findings by rule."""
    of_page = page(markup)
    parsed = document(of_page)
    evidence: dict[type, object] = {Page: of_page, Document: parsed, AccessibleDocument: AccessibleDocument(parsed)}
    return {each.id: finding_of(each, evidence) for each in static_checks()}
