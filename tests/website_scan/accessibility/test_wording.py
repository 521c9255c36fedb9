"""Words about faulty elements: a number that agrees with them, and the same words from axe-core as from our rules."""

from __future__ import annotations

import pytest

from tests.website_scan.accessibility.axe_rules import RULES
from tests.website_scan.cast import message, outcome, severity_of, title_of
from website_scan.accessibility.axe import BEST_PRACTICE, axe_verdict
from website_scan.accessibility.contrasts import ContrastElement
from website_scan.accessibility.wording import Wording, insert_agreement, wording_of
from website_scan.browser.evidence import AxeNode, AxeReport, AxeRule
from website_scan.catalogue import Check, checks
from website_scan.findings import LOW, ScanType
from website_scan.outcomes import Fail, Review, Warn
from website_scan.places import Element, StyledElement
from website_scan.values import filled

# axe-core has no rule for a page that shows nothing.
CHECKS = [each for each in checks(ScanType.ACCESSIBILITY) if each.id != "accessibility-blank-page"]
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
def test_the_words_agree_with_the_number(words: Wording, faulty: int, judged: int | None, clause: str) -> None:
    assert filled(words.template, words.values(faulty, judged)) == clause


def test_all_are_named_in_the_plural() -> None:
    assert Wording("form field|fields", "has|have no label").all == "form fields"
    assert insert_agreement("unless a style sheet hides it|them") == "unless a style sheet hides {faulty:it|them}"


def found_by_axe(check: Check, count: int, *, is_certain: bool) -> AxeReport:
    impact, is_best_practice = RULES[check.id]
    tags = (BEST_PRACTICE,) if is_best_practice else ("wcag2a",)
    rule = AxeRule(check.id, impact, tags, "", count, (AxeNode("#a", "html > body > i", "<i id=a>", ""),))
    certain, unclear = ({check.id: rule}, {}) if is_certain else ({}, {check.id: rule})
    return AxeReport("4.12.1", certain, unclear, frozenset(), frozenset())


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
@pytest.mark.parametrize("count", [1, 15])
def test_a_fault_that_axe_core_reports_has_the_words_and_first_outcome_of_the_check(check: Check, count: int) -> None:
    finding = axe_verdict(check, found_by_axe(check, count, is_certain=True))
    assert isinstance(finding, Fail | Warn)
    wording = wording_of(check.function)
    assert outcome(finding) == next(iter(check.outcomes))
    assert message(finding).lower() == f"{filled(wording.template, wording.values(count))}.".lower()
    assert message(finding).startswith(f"{count} ") == ("|" in wording.subject)
    assert "|" not in message(finding)
    assert [each.label for each in finding.places] == ["<i id=a> at #a"]
    assert finding.total == count
    assert title_of(check.function, finding) == check.found


@pytest.mark.parametrize(
    "check", [each for each in CHECKS if each.id != "css-orientation-lock"], ids=lambda each: each.id
)
def test_what_axe_core_leaves_open_names_a_person_and_the_question(check: Check) -> None:
    finding = axe_verdict(check, found_by_axe(check, 2, is_certain=False))
    assert isinstance(finding, Review)
    assert title_of(check.function, finding) == f"Check by hand: {check.name}"
    assert severity_of(check.function, finding) is LOW
    wording = wording_of(check.function)
    clause = filled(wording.template, wording.values(2))
    assert message(finding) == f"Only a person can tell whether {clause}."
    assert [each.label for each in finding.places] == ["<i id=a> at #a"]


def test_a_style_sheet_is_at_fault_for_colours_and_sizes() -> None:
    reports = {each.id: axe_verdict(each, found_by_axe(each, 1, is_certain=True)) for each in CHECKS}
    kinds = {id: type(found.places[0]) for id, found in reports.items() if isinstance(found, Fail | Warn)}
    assert {id: kind for id, kind in kinds.items() if kind is not Element} == {
        "color-contrast": ContrastElement,
        "link-in-text-block": ContrastElement,
        "target-size": StyledElement,
    }
    assert Element in kinds.values()
