"""Tests for corrected axe-core results.

The pages are in the folder `corrections`, by rule and name. Each group names the standard that decides.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.website_scan.accessibility.corrections import custom_elements, rendering, structure
from tests.website_scan.accessibility.corrections.elements import Pages
from tests.website_scan.accessibility.in_chromium import axe_reports
from tests.website_scan.cast import outcome
from website_scan.accessibility.axe import axe_verdict
from website_scan.browser.evidence import AxeReport
from website_scan.catalogue import checks
from website_scan.findings import ScanType

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.xdist_group("differential")]

GOOD: Pages = custom_elements.GOOD | rendering.GOOD | structure.GOOD
BAD: Pages = custom_elements.BAD | rendering.BAD | structure.BAD
PAGES: Mapping[str, Pages] = {
    "good": GOOD,
    "bad": BAD,
    "older": rendering.SCROLLERS_OLDER,
    "review": rendering.CUES_REVIEW,
}


def markup(body: str) -> str:
    return f"<!doctype html><html lang=en><head><title>Example</title></head><body>{body}</body></html>"


@pytest.fixture(scope="module")
def reports() -> Mapping[str, AxeReport]:
    pages = [(kind, key, body) for kind, bodies in PAGES.items() for key, body in bodies.items()]
    reports = axe_reports({f"{number}": markup(body) for number, (_, _, body) in enumerate(pages)}, {})
    return {"/".join((kind, *key)): reports[f"{number}"] for number, (kind, key, _) in enumerate(pages)}


def axe_outcome(report: AxeReport, rule: str) -> str:
    """Return the rule's outcome.

    It is `pass`, `n/a`, or `review` if a person must judge the fault.
    """
    check = next(check for check in checks(ScanType.ACCESSIBILITY) if check.id == rule)
    finding = axe_verdict(check, report)
    assert finding is not None
    if rule in report.incomplete and rule not in report.violations and outcome(finding) == next(iter(check.outcomes)):
        return "review"
    return outcome(finding)


def is_good(result: str) -> bool:
    return result in ("pass", "n/a")


def test_page_without_the_fault_has_no_finding(reports: Mapping[str, AxeReport]) -> None:
    results = {key: axe_outcome(reports["/".join(("good", *key))], key[0]) for key in GOOD}
    assert {key: result for key, result in results.items() if not is_good(result)} == {}


def test_page_with_the_fault_has_a_finding(reports: Mapping[str, AxeReport]) -> None:
    results = {key: axe_outcome(reports["/".join(("bad", *key))], key[0]) for key in BAD}
    missed = {
        key: result for key, result in results.items() if is_good(result) or result in ("review", "older-browsers")
    }
    assert missed == {}


def test_scroller_fault_in_older_browsers_has_an_outcome(reports: Mapping[str, AxeReport]) -> None:
    results = {key: axe_outcome(reports["/".join(("older", *key))], key[0]) for key in rendering.SCROLLERS_OLDER}
    assert results == dict.fromkeys(rendering.SCROLLERS_OLDER, "older-browsers")


def test_visual_link_cue_needs_a_review(reports: Mapping[str, AxeReport]) -> None:
    results = {key: axe_outcome(reports["/".join(("review", *key))], key[0]) for key in rendering.CUES_REVIEW}
    assert results == dict.fromkeys(rendering.CUES_REVIEW, "review")
