"""Helpers that run accessibility rules without a browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.website_scan.cast import document, page
from website_scan.accessibility.document import AccessibleDocument
from website_scan.catalogue import Check, checks
from website_scan.findings import NotApplicable, ScanType
from website_scan.outcomes import Verdict
from website_scan.page.evidence import Document, Page
from website_scan.plan import judges_journeys_only, needs_browser


def static_checks() -> list[Check]:
    """Return the checks that judge markup without a browser."""
    return [
        check
        for check in checks(ScanType.ACCESSIBILITY)
        if not needs_browser(check) and not judges_journeys_only(check)
    ]


def axe_checks() -> list[Check]:
    """Return the checks that are rules of axe-core, which has none for blank pages and journeys."""
    return [
        check
        for check in checks(ScanType.ACCESSIBILITY)
        if check.id != "accessibility-blank-page" and not judges_journeys_only(check)
    ]


def run_check(check: Check, evidence: Mapping[type, object]) -> Verdict:
    """Run a check with its evidence and return the verdict."""
    function: Callable[..., Any] = check.function
    finding: Verdict = function(**{need.parameter: evidence[need.evidence] for need in check.needs})
    return finding


def labels(finding: Verdict) -> list[str]:
    """Return the labels of a finding's places."""
    assert not isinstance(finding, NotApplicable), finding.reason
    return [place.label for place in finding.places]


def static_findings(markup: str) -> dict[str, Verdict]:
    """Return the verdicts of all static rules on a page, by rule."""
    served_page = page(markup)
    parsed = document(served_page)
    evidence: dict[type, object] = {Page: served_page, Document: parsed, AccessibleDocument: AccessibleDocument(parsed)}
    return {check.id: run_check(check, evidence) for check in static_checks()}
