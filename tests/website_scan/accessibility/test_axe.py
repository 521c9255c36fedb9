"""Tests for converting axe-core results to verdicts."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.website_scan.accessibility.axe_rules import RULES
from tests.website_scan.accessibility.static import axe_checks, labels
from tests.website_scan.cast import message, rows, severity_of, title_of
from website_scan.accessibility.axe import BEST_PRACTICE, IS_MILD_BY_RULE, axe_verdict, map_impact_to_severity
from website_scan.browser.evidence import AxeNode, AxeReport, AxeRule
from website_scan.catalogue import Check
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, NotApplicable, Severity
from website_scan.outcomes import Fail, Pass, Review, Warn
from website_scan.places import Element

CHECKS = {scan_check.id: scan_check for scan_check in axe_checks()}
NODE = AxeNode("#a > img", "html > body > div > img", "<img src=a>", "Element does not have an alt attribute")
EMPTY_REPORT = AxeReport("4.12.1", {}, {}, frozenset(), frozenset())


def build_rule(count: int = 1, impact: str = "critical", tags: tuple[str, ...] = ("wcag2a", "wcag111")) -> AxeRule:
    return AxeRule("image-alt", impact, tags, "Images must have alternative text", count, (NODE,) * min(count, 20))


def violation_verdict(axe_rule: AxeRule) -> Fail:
    finding = axe_verdict(CHECKS[axe_rule.id], replace(EMPTY_REPORT, violations={axe_rule.id: axe_rule}))
    assert isinstance(finding, Fail)
    return finding


def test_violation_becomes_a_failed_check() -> None:
    finding = violation_verdict(build_rule(5))
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


def test_violation_lists_the_first_places() -> None:
    finding = violation_verdict(build_rule(45))
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
def test_axe_impact_is_converted_to_severity(impact: str, is_capped: bool, severity: Severity | None) -> None:
    assert map_impact_to_severity(impact, is_capped=is_capped) is severity


@pytest.mark.parametrize("impact", ["", "serious", "catastrophic"])
def test_undeclared_impact_keeps_the_severity(impact: str) -> None:
    assert severity_of(CHECKS["image-alt"].function, violation_verdict(build_rule(1, impact))) is CRITICAL


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_first_outcome_declares_all_severities(check: Check) -> None:
    impact, is_best_practice = RULES[check.id]
    severities = {map_impact_to_severity(impact, is_capped=is_best_practice)}
    if check.id in IS_MILD_BY_RULE:
        severities.add(map_impact_to_severity(impact, is_capped=True))
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
def test_mild_fault_has_medium_severity(id: str, snippet: str, why: str, severity: Severity) -> None:
    mild_rule = replace(build_rule(), id=id, nodes=(replace(NODE, snippet=snippet, why=why),))
    assert severity_of(CHECKS[id].function, violation_verdict(mild_rule)) is severity


def test_best_practice_has_at_most_medium_severity() -> None:
    best_practice = build_rule(1, "serious", (BEST_PRACTICE,))
    assert severity_of(CHECKS["tabindex"].function, violation_verdict(replace(best_practice, id="tabindex"))) is MEDIUM


@pytest.mark.parametrize(
    ("tags", "criterion", "level"),
    [
        (("cat.color", "wcag2aa", "wcag143"), "1.4.3", "AA"),
        (("wcag21aa", "wcag1412"), "1.4.12", "AA"),
        (("wcag22aa", "wcag258"), "2.5.8", "AA"),
        (("best-practice",), None, None),
    ],
)
def test_criterion_and_level_are_parsed_from_tags(tags: tuple[str, ...], criterion: str, level: str) -> None:
    (row,) = rows(violation_verdict(build_rule(tags=tags)))
    assert (row.get("wcag"), row.get("level")) == (criterion, level)


def test_incomplete_result_becomes_a_review() -> None:
    check = CHECKS["image-alt"]
    finding = axe_verdict(check, replace(EMPTY_REPORT, incomplete={"image-alt": build_rule(2)}))
    assert isinstance(finding, Review)
    assert severity_of(check.function, finding) is LOW
    assert title_of(check.function, finding) == "Check by hand: Images have alternative text"
    assert message(finding) == "Only a person can tell whether 2 images have no alternative text."
    assert (labels(finding)[0], finding.total) == ("<img src=a> at #a > img", 2)


def test_scroller_fault_in_older_browsers_is_a_warning() -> None:
    check = CHECKS["scrollable-region-focusable"]
    finding = axe_verdict(check, replace(EMPTY_REPORT, incomplete={check.id: replace(build_rule(2), id=check.id)}))
    assert isinstance(finding, Warn)
    assert (finding.outcome, severity_of(check.function, finding), finding.total) == ("older-browsers", LOW, 2)
    assert "in older browsers" in message(finding)
    both = {check.id: replace(build_rule(1), id=check.id)}
    finding = axe_verdict(check, replace(EMPTY_REPORT, violations=both, incomplete=both))
    assert isinstance(finding, Fail)
    assert finding.outcome == "unreachable"


def test_incomplete_orientation_lock_is_ignored() -> None:
    lock = CHECKS["css-orientation-lock"]
    axe = replace(EMPTY_REPORT, incomplete={lock.id: replace(build_rule(), id=lock.id)})
    assert isinstance(axe_verdict(lock, axe), NotApplicable)


def test_passed_and_inapplicable_rules_are_converted() -> None:
    check = CHECKS["image-alt"]
    assert isinstance(axe_verdict(check, replace(EMPTY_REPORT, passes=frozenset({"image-alt"}))), Pass)
    assert isinstance(axe_verdict(check, replace(EMPTY_REPORT, inapplicable=frozenset({"image-alt"}))), NotApplicable)


def test_missing_axe_rule_has_no_verdict() -> None:
    assert axe_verdict(CHECKS["image-alt"], EMPTY_REPORT) is None


def test_contrast_finding_lists_colour_pairs() -> None:
    pairs = tuple((f"#{number}{number}{number} on #fff", number + 1) for number in range(7))
    nodes = tuple(
        AxeNode(f"#a{index}{suffix}", "p", "<p>", "", colours)
        for index, (colours, _) in enumerate(pairs)
        for suffix in "ab"
    )
    finding = violation_verdict(replace(build_rule(28, "serious"), id="color-contrast", nodes=nodes, pairs=pairs))
    assert message(finding) == (
        "28 pieces of text have too little contrast, in 7 pairs of colours (#000 on #fff, #111 on #fff 2 times, "
        "#222 on #fff 3 times, #333 on #fff 4 times, #444 on #fff 5 times and 2 more)."
    )
    selectors = [row["selector"] for row in rows(finding)]
    assert selectors[:8] == [*(f"#a{index}a" for index in range(7)), "#a0b"]
    assert len(selectors) == 14
