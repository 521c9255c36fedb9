"""Tests for the texts of accessibility findings."""

from __future__ import annotations

import pytest

from tests.website_scan.accessibility.axe_rules import RULES
from tests.website_scan.accessibility.static import axe_checks
from tests.website_scan.cast import message, outcome, severity_of, title_of
from website_scan.accessibility.axe import BEST_PRACTICE, OLDER_BROWSERS, axe_verdict
from website_scan.accessibility.contrasts import ContrastElement
from website_scan.accessibility.wording import Wording, get_wording, insert_agreement
from website_scan.browser.evidence import AxeNode, AxeReport, AxeRule
from website_scan.catalogue import Check
from website_scan.findings import LOW
from website_scan.outcomes import Fail, Review, Warn
from website_scan.places import Element, StyledElement
from website_scan.values import filled

CHECKS = axe_checks()
IMAGES = Wording("image|images", "has|have no alternative text")
DOCUMENT = Wording("the page", "has no title")


@pytest.mark.parametrize(
    ("words", "faulty", "judged", "clause"),
    [
        (IMAGES, 1, None, "1 image has no alternative text"),
        (IMAGES, 3, None, "3 images have no alternative text"),
        (IMAGES, 1, 1, "1 image has no alternative text"),
        (IMAGES, 3, 3, "3 images have no alternative text"),
        (IMAGES, 1, 3, "1 of 3 images has no alternative text"),
        (IMAGES, 2, 3, "2 of 3 images have no alternative text"),
        (DOCUMENT, 1, None, "the page has no title"),
        (DOCUMENT, 3, 3, "the page has no title"),
    ],
)
def test_text_agrees_with_the_number_of_elements(words: Wording, faulty: int, judged: int | None, clause: str) -> None:
    assert filled(words.template, words.values(faulty, judged)) == clause


def test_finding_text_has_a_plural() -> None:
    assert Wording("form field|fields", "has|have no label").all == "form fields"
    assert insert_agreement("unless a style sheet hides it|them") == "unless a style sheet hides {faulty:it|them}"


def axe_report(check: Check, count: int, *, is_certain: bool) -> AxeReport:
    impact, is_best_practice = RULES[check.id]
    tags = (BEST_PRACTICE,) if is_best_practice else ("wcag2a",)
    rule = AxeRule(check.id, impact, tags, "", count, (AxeNode("#a", "html > body > i", "<i id=a>", ""),))
    certain, unclear = ({check.id: rule}, {}) if is_certain else ({}, {check.id: rule})
    return AxeReport("4.12.1", certain, unclear, frozenset(), frozenset())


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
@pytest.mark.parametrize("count", [1, 15])
def test_axe_violation_has_the_wording_of_the_check(check: Check, count: int) -> None:
    finding = axe_verdict(check, axe_report(check, count, is_certain=True))
    assert isinstance(finding, Fail | Warn)
    wording = get_wording(check.function)
    assert outcome(finding) == next(iter(check.outcomes))
    assert message(finding).lower() == f"{filled(wording.template, wording.values(count))}.".lower()
    assert message(finding).startswith(f"{count} ") == ("|" in wording.subject)
    assert "|" not in message(finding)
    assert [place.label for place in finding.places] == ["<i id=a> at #a"]
    assert finding.total == count
    assert title_of(check.function, finding) == check.found


@pytest.mark.parametrize(
    "check",
    [check for check in CHECKS if check.id != "css-orientation-lock" and check.id not in OLDER_BROWSERS],
    ids=lambda scan_check: scan_check.id,
)
def test_incomplete_axe_result_asks_for_a_review(check: Check) -> None:
    finding = axe_verdict(check, axe_report(check, 2, is_certain=False))
    assert isinstance(finding, Review)
    assert title_of(check.function, finding) == f"Check by hand: {check.name}"
    assert severity_of(check.function, finding) is LOW
    wording = get_wording(check.function)
    clause = filled(wording.template, wording.values(2))
    assert message(finding) == f"Only a person can tell whether {clause}."
    assert [place.label for place in finding.places] == ["<i id=a> at #a"]


def test_contrast_findings_have_styled_elements() -> None:
    findings = {
        scan_check.id: axe_verdict(scan_check, axe_report(scan_check, 1, is_certain=True)) for scan_check in CHECKS
    }
    kinds = {id: type(finding.places[0]) for id, finding in findings.items() if isinstance(finding, Fail | Warn)}
    assert {id: kind for id, kind in kinds.items() if kind is not Element} == {
        "color-contrast": ContrastElement,
        "link-in-text-block": ContrastElement,
        "target-size": StyledElement,
    }
    assert Element in kinds.values()
