"""Words about faulty elements: a number that agrees with them, and the same words from axe-core as from our rules."""

from __future__ import annotations

import pytest

from website_scan.accessibility.axe import axe_verdict
from website_scan.accessibility.wording import Wording, in_number, wording_of
from website_scan.browser.evidence import AxeNode, AxeReport, AxeRule
from website_scan.catalogue import Check, checks
from website_scan.findings import Fail, ScanType, Warn

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
    assert words.clause(faulty, judged) == clause


def test_all_are_named_in_the_plural() -> None:
    assert Wording("form field|fields", "has|have no label").all == "form fields"
    assert in_number("unless a style sheet hides it|them", 1) == "unless a style sheet hides it"


def found_by_axe(check: Check, count: int, *, is_certain: bool) -> AxeReport:
    rule = AxeRule(check.id, "serious", ("wcag2a",), "", count, (AxeNode("#a", "html > body > i", "<i id=a>", ""),))
    certain, unclear = ({check.id: rule}, {}) if is_certain else ({}, {check.id: rule})
    return AxeReport("4.12.1", certain, unclear, frozenset(), frozenset())


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
@pytest.mark.parametrize("count", [1, 15])
def test_what_axe_core_finds_is_told_in_the_words_of_the_check(check: Check, count: int) -> None:
    finding = axe_verdict(check, found_by_axe(check, count, is_certain=True))
    assert isinstance(finding, Fail | Warn)
    clause = wording_of(check.function).clause(count)
    assert finding.message.lower().startswith(f"{clause}: <i id=a> at #a".lower())
    assert clause.startswith(f"{count} ") == ("|" in wording_of(check.function).subject)
    assert "|" not in finding.message


@pytest.mark.parametrize(
    "check", [each for each in CHECKS if each.id != "css-orientation-lock"], ids=lambda each: each.id
)
def test_what_axe_core_leaves_open_names_a_person_and_the_question(check: Check) -> None:
    finding = axe_verdict(check, found_by_axe(check, 2, is_certain=False))
    assert isinstance(finding, Warn)
    assert finding.title == f"Check by hand: {check.name}"
    clause = wording_of(check.function).clause(2)
    assert finding.message.startswith(f"Only a person can tell whether {clause}: <i id=a> at #a")
