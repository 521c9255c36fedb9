"""Findings from the results of axe-core."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.website_scan.accessibility.axe_rules import RULES
from tests.website_scan.accessibility.static import labels
from tests.website_scan.cast import message, rows, severity_of, title_of
from website_scan.accessibility.axe import BEST_PRACTICE, MILD_FAULTS, axe_verdict, severity_of_impact
from website_scan.browser.evidence import AxeNode, AxeReport, AxeRule
from website_scan.catalogue import Check, checks
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, NotApplicable, ScanType, Severity
from website_scan.outcomes import Fail, Pass, Review
from website_scan.places import Element

# axe-core has no rule for a page that shows nothing.
CHECKS = {each.id: each for each in checks(ScanType.ACCESSIBILITY) if each.id != "accessibility-blank-page"}
NODE = AxeNode("#a > img", "html > body > div > img", "<img src=a>", "Element does not have an alt attribute")
NONE = AxeReport("4.12.1", {}, {}, frozenset(), frozenset())


def rule(count: int = 1, impact: str = "critical", tags: tuple[str, ...] = ("wcag2a", "wcag111")) -> AxeRule:
    return AxeRule("image-alt", impact, tags, "Images must have alternative text", count, (NODE,) * min(count, 20))


def violation(of: AxeRule) -> Fail:
    finding = axe_verdict(CHECKS[of.id], replace(NONE, violations={of.id: of}))
    assert isinstance(finding, Fail)
    return finding


def test_a_violation_is_a_fail_with_its_places_and_criterion() -> None:
    finding = violation(rule(5))
    assert severity_of(CHECKS["image-alt"].function, finding) is CRITICAL
    assert message(finding) == "5 images have no alternative text."
    assert labels(finding) == ["<img src=a> at #a > img"] * 5
    assert finding.places[0] == Element(
        "#a > img",
        "<img src=a>",
        why="Element does not have an alt attribute",
        wcag="1.1.1",
        level="A",
        ancestry="html > body > div > img",
    )


def test_a_violation_has_the_first_places_and_the_number_of_all() -> None:
    finding = violation(rule(45))
    assert (len(finding.places), finding.total) == (20, 45)


@pytest.mark.parametrize(
    ("impact", "is_capped", "severity"),
    [
        ("critical", False, CRITICAL),
        ("serious", False, HIGH),
        ("moderate", False, MEDIUM),
        ("minor", False, LOW),
        ("serious", True, MEDIUM),
        ("critical", True, MEDIUM),
        ("minor", True, LOW),
        ("", False, None),
    ],
)
def test_impacts_are_severities(impact: str, is_capped: bool, severity: Severity | None) -> None:  # a row of the table
    assert severity_of_impact(impact, is_capped=is_capped) is severity


@pytest.mark.parametrize("impact", ["", "serious", "catastrophic"])
def test_an_impact_that_the_check_does_not_declare_leaves_the_severity_of_the_check(impact: str) -> None:
    assert severity_of(CHECKS["image-alt"].function, violation(rule(1, impact))) is CRITICAL


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_the_first_outcome_declares_each_severity_that_axe_core_can_give(check: Check) -> None:
    impact, is_best_practice = RULES[check.id]
    severities = {severity_of_impact(impact, is_capped=is_best_practice)}
    if check.id in MILD_FAULTS:
        severities.add(severity_of_impact(impact, is_capped=True))
    assert severities == set(check.outcome(next(iter(check.outcomes))).severities or (check.severity,))


@pytest.mark.parametrize(
    ("id", "snippet", "why", "severity"),
    [
        ("aria-roles", "<div role=x>", "", CRITICAL),
        ("aria-roles", "<nav role=x>", "", MEDIUM),
        ("aria-required-attr", "<i>", "Required ARIA attribute not present: aria-checked", CRITICAL),
        ("aria-required-attr", "<i>", "Required ARIA attribute not present: aria-level", MEDIUM),
        ("aria-required-children", "<ul>", "Element has children which are not allowed: a", CRITICAL),
        ("aria-required-children", "<ul>", "Children which are not allowed: li around the right ones", MEDIUM),
    ],
)
def test_a_fault_that_harms_little_is_of_medium_severity(id: str, snippet: str, why: str, severity: Severity) -> None:
    found = replace(rule(), id=id, nodes=(replace(NODE, snippet=snippet, why=why),))
    assert severity_of(CHECKS[id].function, violation(found)) is severity


def test_a_best_practice_is_of_medium_severity_at_most() -> None:
    found = rule(1, "serious", (BEST_PRACTICE,))
    assert severity_of(CHECKS["tabindex"].function, violation(replace(found, id="tabindex"))) is MEDIUM


@pytest.mark.parametrize(
    ("tags", "criterion", "level"),
    [
        (("cat.color", "wcag2aa", "wcag143"), "1.4.3", "AA"),
        (("wcag21aa", "wcag1412"), "1.4.12", "AA"),
        (("wcag22aa", "wcag258"), "2.5.8", "AA"),
        (("best-practice",), None, None),
    ],
)
def test_the_criterion_and_level_are_read_from_the_tags(tags: tuple[str, ...], criterion: str, level: str) -> None:
    (row,) = rows(violation(rule(tags=tags)))
    assert (row.get("wcag"), row.get("level")) == (criterion, level)


def test_what_axe_could_not_tell_is_for_people_to_look_at() -> None:
    check = CHECKS["image-alt"]
    finding = axe_verdict(check, replace(NONE, incomplete={"image-alt": rule(2)}))
    assert isinstance(finding, Review)
    assert severity_of(check.function, finding) is LOW
    assert title_of(check.function, finding) == "Check by hand: Images have alternative text"
    assert message(finding) == "Only a person can tell whether 2 images have no alternative text."
    assert (labels(finding)[0], finding.total) == ("<img src=a> at #a > img", 2)


def test_an_orientation_that_nothing_can_lock_is_no_question() -> None:
    lock = CHECKS["css-orientation-lock"]
    axe = replace(NONE, incomplete={lock.id: replace(rule(), id=lock.id)})
    assert isinstance(axe_verdict(lock, axe), NotApplicable)


def test_passes_and_rules_without_elements() -> None:
    check = CHECKS["image-alt"]
    assert isinstance(axe_verdict(check, replace(NONE, passes=frozenset({"image-alt"}))), Pass)
    assert isinstance(axe_verdict(check, replace(NONE, inapplicable=frozenset({"image-alt"}))), NotApplicable)


def test_axe_says_nothing_of_rules_that_it_does_not_know() -> None:
    assert axe_verdict(CHECKS["image-alt"], NONE) is None


def test_pairs_of_colours_are_counted_and_listed_and_each_has_an_example_first() -> None:
    pairs = tuple((f"#{number}{number}{number} on #fff", number + 1) for number in range(7))
    nodes = tuple(
        AxeNode(f"#a{at}{turn}", "p", "<p>", "", colours) for at, (colours, _) in enumerate(pairs) for turn in "ab"
    )
    finding = violation(replace(rule(28, "serious"), id="color-contrast", nodes=nodes, pairs=pairs))
    assert message(finding) == (
        "28 pieces of text have too little contrast, in 7 pairs of colours (#000 on #fff, #111 on #fff 2 times, "
        "#222 on #fff 3 times, #333 on #fff 4 times, #444 on #fff 5 times and 2 more)."
    )
    selectors = [row["selector"] for row in rows(finding)]
    assert selectors[:8] == [*(f"#a{at}a" for at in range(7)), "#a0b"]
    assert len(selectors) == 14
