from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.results import check_of
from website_scan.catalogue import Check, caps, checks
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, ScanType, Severity
from website_scan.result import CategoryResult, CheckResult, CheckStatus
from website_scan.score_basis import basis, hold, recompute_score
from website_scan.scoring import (
    RULES_VERSION,
    SEVERITY_WEIGHT,
    Cap,
    category_score,
    grade,
    mean_grade,
    rounded,
    score,
    severity_counts,
)

SECURITY = caps(ScanType.SECURITY)
WARNS_ONLY = {"url-hygiene"}  # These checks only warn, so they cost at most half of their share.
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "scoring.md"


def result(
    status: CheckStatus, declared: Severity = HIGH, severity: Severity | None = None, id: str = "check"
) -> CheckResult:
    own_severity = None if status == "pass" else severity or declared
    return check_of(id, id, id, status, own_severity, declared, "Seen.")


def category(*results: CheckResult, weight: int = 10, name: str = "Category") -> CategoryResult:
    return CategoryResult(name.lower(), name, weight, results)


def test_category_score_is_a_weighted_mean() -> None:
    checks = [result("pass", CRITICAL), result("warn", HIGH), result("fail", MEDIUM), result("pass", LOW)]
    assert category_score(category(*checks)) == pytest.approx(100 * (10 + 3 + 0 + 1) / (10 + 6 + 3 + 1))


def test_check_weight_ignores_the_verdict() -> None:
    beside = result("pass", HIGH)
    costs = [
        100 - category_score(category(beside, check_result))
        for check_result in (
            result("fail", HIGH),
            result("warn", HIGH),
            result("fail", HIGH, LOW),
            result("warn", HIGH, LOW),
        )
    ]
    assert costs == pytest.approx([100 * cost / 12 for cost in (6, 3, 1, 0.5)])


def test_finding_costs_at_most_its_weight() -> None:
    assert category_score(category(result("pass", HIGH), result("fail", LOW, CRITICAL))) == pytest.approx(100 * 6 / 7)


def test_check_share_ignores_other_checks() -> None:
    """A single applicable check must not decide the score of a category."""
    rest = category(result("pass", HIGH), weight=90, name="Rest")
    alone = replace(category(result("fail", LOW)), absent_weight=19)
    among = category(result("fail", LOW), result("pass", HIGH), result("pass", HIGH), result("pass", HIGH, id="x"))
    assert score([rest, alone], ()).value == 99  # The exact score is 90 of 90.5 points.
    assert score([rest, among], ()).value == 99  # The exact score is 99.5 of 100 points.
    assert [category.score for category in score([rest, alone], ()).categories] == [100, 0]


def test_check_without_weight_costs_nothing() -> None:
    reviewed = replace(result("warn", HIGH), weighs=False)
    assert score([category(reviewed, result("fail", LOW))], ()).value == 0
    assert category_score(category(reviewed)) == 100.0


def test_CategoryFail_costs_unjudged_weight() -> None:
    rest = category(result("pass", HIGH), weight=85, name="Rest")
    covering = replace(result("fail", HIGH), covers_category=True)
    missing = score([rest, replace(category(covering, weight=15), absent_weight=30)], ())
    assert missing.value == 85
    assert missing.categories[1].checks[0].points == 15.0
    beside = score([rest, replace(category(covering, result("pass", MEDIUM), weight=13), absent_weight=30)], ())
    assert beside.value == 88  # Of 98 points, 85 + 13 * 3 / 39 remain.
    assert [category.score for category in beside.categories] == [100, 8]


def test_overall_score_is_a_weighted_mean() -> None:
    scored = score([category(result("pass"), weight=30), category(result("fail", LOW), weight=10)], ())
    assert scored.value == 75
    assert [category.score for category in scored.categories] == [100, 0]


@pytest.mark.parametrize(
    ("failed", "limit"),
    [
        ([CRITICAL], 49),
        ([CRITICAL, HIGH], 49),
        ([HIGH, HIGH, HIGH], 69),
        ([HIGH, HIGH], 79),
        ([HIGH], 89),
        ([MEDIUM, MEDIUM, LOW], 100),
    ],
)
def test_security_caps_limit_the_score(failed: list[Severity], limit: int) -> None:
    many = category(*(result("pass", CRITICAL) for _ in range(200)), weight=1000)
    scored = score([many, category(*(result("fail", severity) for severity in failed), weight=1)], SECURITY)
    assert scored.value == min(limit, 100)
    assert [cap.limit for cap in scored.held] == sorted(cap.limit for cap in scored.held)
    assert bool(scored.held) is (limit < 100)


def test_warnings_never_trigger_a_cap() -> None:
    many = category(*(result("pass", CRITICAL) for _ in range(200)), weight=1000)
    scored = score([many, category(result("warn", CRITICAL), weight=1)], SECURITY)
    assert scored.value == 100
    assert scored.held == ()


def test_cap_applies_to_named_checks() -> None:
    cap = Cap(40, "Not indexable.", checks=frozenset({"is-indexable"}))
    assert cap.holds([result("fail", LOW, id="is-indexable")])
    assert not cap.holds([result("fail", CRITICAL, id="other")])
    assert not cap.holds([result("warn", LOW, id="is-indexable")])


def test_cap_above_score_is_not_listed() -> None:
    scored = score([category(result("fail", CRITICAL))], SECURITY)
    assert scored.value == 0
    assert scored.held == ()


def test_cap_equal_to_score_is_not_listed() -> None:
    rest = category(result("pass"), weight=89, name="Rest")
    scored = score([rest, category(result("fail", HIGH), weight=11)], SECURITY)
    assert scored.value == 89
    assert scored.held == ()
    assert not scored.categories[1].checks[0].holds


def test_points_equal_the_gain_from_the_fix() -> None:
    first, second = result("fail", MEDIUM, id="a"), result("warn", MEDIUM, id="b")
    scored = score([category(first, second, result("pass", MEDIUM, id="c"))], ())
    assert [check.points for check in scored.categories[0].checks] == [33.3, 16.7, 0.0]


def test_points_include_lifted_cap() -> None:
    many = category(*(result("pass", CRITICAL) for _ in range(200)), weight=1000)
    scored = score([many, category(result("fail", CRITICAL), weight=1)], SECURITY)
    assert scored.categories[1].checks[0].points == 51.0


def test_fix_under_another_cap_gains_nothing() -> None:
    many = category(*(result("pass", CRITICAL) for _ in range(200)), weight=1000)
    scored = score([many, category(result("fail", CRITICAL), result("fail", LOW), weight=1)], SECURITY)
    assert scored.categories[1].checks[1].points == 0.0


@pytest.mark.parametrize(
    ("value", "letter"),
    [(100, "A+"), (97, "A+"), (96, "A"), (90, "A"), (89, "B"), (80, "B"), (79, "C"), (70, "C"), (69, "D"),
     (60, "D"), (59, "F"), (0, "F")],
)  # fmt: skip
def test_score_determines_the_grade(value: int, letter: str) -> None:
    assert grade(value, [result("pass"), result("fail", LOW)]) == letter


@pytest.mark.parametrize(
    ("mean", "is_flawless", "letter"),
    [(97, True, "A+"), (97, False, "A"), (96, True, "A"), (90, False, "A"), (89, True, "B"), (60, True, "D"),
     (59, True, "F"), (0, False, "F")],
)  # fmt: skip
def test_flawless_scores_have_mean_grade_A_plus(mean: int, is_flawless: bool, letter: str) -> None:
    assert mean_grade(mean, is_flawless) == letter


@pytest.mark.parametrize("status", ["warn", "fail"])
def test_medium_severity_prevents_grade_A_plus(status: CheckStatus) -> None:
    assert grade(99, [result("pass"), result(status, MEDIUM)]) == "A"


def test_half_point_does_not_reach_a_grade() -> None:
    scored = score([category(result("pass"), weight=193), category(result("fail", LOW), weight=7)], ())
    assert scored.value == 96
    assert scored.grade == "A"


@pytest.mark.parametrize(
    ("value", "points"), [(96.4, 96), (96.5, 96), (97.5, 97), (96.51, 97), (0.5, 0), (100.0, 100), (96.5 + 1e-12, 96)]
)
def test_scores_are_rounded_half_down(value: float, points: int) -> None:
    assert rounded(value) == points


@pytest.mark.parametrize(
    ("status", "severity", "cost"),
    [("fail", HIGH, 6 + 3), ("warn", HIGH, 4.5), ("fail", LOW, 1 + 3), ("pass", None, 0)],
)
def test_included_checks_add_their_weight(status: CheckStatus, severity: Severity | None, cost: float) -> None:
    including = replace(result(status, HIGH, severity), included_weight=3)
    assert category_score(category(result("pass", HIGH), including)) == pytest.approx(100 - 100 * cost / (6 + 6 + 3))


def test_severity_counts_include_warnings() -> None:
    counts = severity_counts([result("fail", HIGH), result("warn", HIGH, LOW), result("pass", CRITICAL)])
    assert counts == {HIGH: 1, LOW: 1}


def rows(heading: str) -> list[list[str]]:
    """Return the table rows below a heading of docs/scoring.md.

    The header row is left out.
    """
    section = DOCUMENT.read_text(encoding="utf-8").partition(f"{heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


@pytest.mark.parametrize("scan_type", ScanType)
def test_documented_caps_are_in_the_code(scan_type: ScanType) -> None:
    limits = [
        int(limit)
        for types, _, cells in rows("## Caps")
        if scan_type.label.lower() in types.lower()
        for limit in re.findall(r"\d+", cells)
    ]
    assert sorted(limits) == sorted(cap.limit for cap in caps(scan_type))


RESULTS = st.builds(result, st.sampled_from(["pass", "warn", "fail"]), st.sampled_from(Severity))
CATEGORIES = st.lists(
    st.builds(
        lambda checks, weight: category(*checks, weight=weight),
        st.lists(RESULTS, min_size=1, max_size=6),
        st.integers(1, 40),
    ),
    min_size=1,
    max_size=5,
)


@given(CATEGORIES)
def test_fixing_never_lowers_a_score(categories: list[CategoryResult]) -> None:
    scored = score(categories, SECURITY)
    assert 0 <= scored.value <= 100
    for scored_category in scored.categories:
        assert 0 <= scored_category.score <= 100
        assert all(check.points >= 0 for check in scored_category.checks)


def renumber_checks(data: st.DataObject, categories: list[CategoryResult]) -> list[CategoryResult]:
    """Return the categories with unique check IDs.

    Absent weights and credits are random.
    """
    return [
        replace(
            each,
            absent_weight=data.draw(st.sampled_from((0, 7, 30))),
            checks=tuple(
                replace(
                    check,
                    id=f"c{n}-{m}",
                    credit=data.draw(st.sampled_from((None, None, 0.3))) if check.severity else None,
                )
                for m, check in enumerate(each.checks)
            ),
        )
        for n, each in enumerate(categories)
    ]


@given(CATEGORIES, st.data())
def test_score_is_recomputed_after_fixes(categories: list[CategoryResult], data: st.DataObject) -> None:
    numbered = renumber_checks(data, categories)
    ids = [check.id for category_ in numbered for check in category_.checks]
    limits = (*SECURITY, Cap(45, "Those.", checks=frozenset(ids[:2])), Cap(60, "Three.", count=3, severity=HIGH))
    stored = json.loads(json.dumps(basis(numbered, limits)))
    scored = score(numbered, limits)
    assert recompute_score(stored, ()) == (scored.value, scored.grade)
    passed = set(data.draw(st.lists(st.sampled_from(ids), unique=True))) if ids else set()
    mended = [
        replace(
            numbered_category,
            checks=tuple(
                replace(check, status="pass", severity=None, credit=None) if check.id in passed else check
                for check in numbered_category.checks
            ),
        )
        for numbered_category in numbered
    ]
    expected = score(mended, limits)
    assert recompute_score(stored, passed) == (expected.value, expected.grade)


@st.composite
def random_categories(draw: st.DrawFn) -> list[CategoryResult]:
    """Draw categories with random weights, credits and check results."""
    drawn = draw(CATEGORIES)
    return [
        replace(
            each,
            absent_weight=draw(st.sampled_from((0, 3, 40))),
            checks=tuple(
                replace(
                    check,
                    id=f"c{n}-{m}",
                    credit=draw(st.sampled_from((None, 0.3))) if check.severity else None,
                    weighs=check.status != "warn" or draw(st.booleans()),
                    covers_category=check.status == "fail" and draw(st.booleans()),
                )
                for m, check in enumerate(each.checks)
            ),
        )
        for n, each in enumerate(drawn)
    ]


@given(random_categories())
def test_fixing_a_check_gains_its_points(categories: list[CategoryResult]) -> None:
    scored = score(categories, SECURITY)
    stored = basis(categories, SECURITY)
    for check in (check for category in scored.categories for check in category.checks):
        assert check.points >= 0
        mended = recompute_score(stored, {check.id})
        assert mended is not None
        # Scores are rounded to whole points, and points of checks to tenths.
        assert mended[0] - scored.value == pytest.approx(check.points, abs=1.06)


@given(random_categories())
def test_later_points_ignore_caps(categories: list[CategoryResult]) -> None:
    capped, free = score(categories, (*SECURITY, Cap(96, "Always.", count=0))), score(categories, ())
    for one, other in zip(capped.categories, free.categories, strict=True):
        assert [check.later for check in one.checks] == [check.points for check in other.checks]
        assert [check.later for check in other.checks] == [check.points for check in other.checks]
        assert not any(check.holds for check in other.checks)


def test_failures_under_a_cap_are_marked() -> None:
    fine = (result("pass", CRITICAL, id=f"p{n}") for n in range(100))
    failed = (result("fail", severity, id=f"{severity}-{n}") for severity in (CRITICAL, HIGH, MEDIUM) for n in range(2))
    limits = (
        Cap(89, "Two of high severity.", severity=HIGH, count=2),
        Cap(49, "A critical one.", severity=CRITICAL),
        Cap(69, "Three of high severity.", severity=HIGH, count=3),
        Cap(99, "Those, which is more than is left.", severity=MEDIUM),
        Cap(75, "No browser.", count=0),
    )
    scored = score([category(*fine, *failed, result("warn", CRITICAL, id="warned"))], limits)
    assert [cap.limit for cap in scored.held] == [49, 75, 89]
    holders = {check.id for category in scored.categories for check in category.checks if check.holds}
    assert holders == {"critical-0", "critical-1", "high-0", "high-1"}


@given(
    st.sampled_from(Severity),
    st.lists(st.sampled_from(Severity), min_size=1, max_size=8),
    st.integers(0, 8),
    st.integers(1, 40),
    st.integers(1, 60),
)
def test_share_of_single_check_is_not_inflated(
    failed: Severity, others: list[Severity], count: int, weight: int, beside: int
) -> None:
    rest = category(result("pass"), weight=beside, name="Rest")
    among, absent = others[:count], sum(SEVERITY_WEIGHT[severity] for severity in others[count:])
    share = weight * SEVERITY_WEIGHT[failed] / (sum(map(SEVERITY_WEIGHT.__getitem__, others)) + SEVERITY_WEIGHT[failed])
    checks = [result("fail", failed), *(result("pass", severity) for severity in among)]
    random_categories = (
        share * sum(SEVERITY_WEIGHT[severity] for severity in (failed, *among)) / SEVERITY_WEIGHT[failed]
    )
    scored = score([rest, replace(category(*checks, weight=weight), absent_weight=absent)], ())
    assert scored.categories[1].checks[0].points == pytest.approx(100 * share / (beside + random_categories), abs=0.051)


@pytest.mark.parametrize("scan_type", ScanType)
def test_low_severity_costs_less(scan_type: ScanType) -> None:
    ids: dict[str, list[Check]] = {}
    for check in checks(scan_type):
        ids.setdefault(check.category_id, []).append(check)
    passing = [
        category(
            *(result("pass", member.severity, id=member.id) for member in members), weight=members[0].category.weight
        )
        for members in ids.values()
    ]
    limits = [cap for cap in caps(scan_type) if not (cap.is_static or cap.is_unseen or cap.is_unjudged)]
    takes: dict[Severity, list[float]] = {severity: [] for severity in Severity}
    for check in checks(scan_type):
        status: CheckStatus = "warn" if check.id in WARNS_ONLY else "fail"
        failing = [
            replace(
                check_result,
                checks=tuple(
                    result(status, check.severity, id=check.id) if one.id == check.id else one
                    for one in check_result.checks
                ),
            )
            for check_result in passing
        ]
        takes[check.severity] += [
            one.points for category in score(failing, limits).categories for one in category.checks if one.points
        ]
    assert max(takes[LOW]) < min(takes[HIGH])
    assert not takes[CRITICAL] or max(takes[MEDIUM]) < min(takes[CRITICAL])


def test_score_of_other_rules_is_not_recomputed() -> None:
    stored = basis([category(result("fail"))], ()) | {"rules": RULES_VERSION - 1}
    assert recompute_score(stored, ()) is None
    assert hold(stored) is None


@pytest.mark.parametrize(("passed", "expected"), [(0, 0), (3, 49), (200, 49)])
def test_critical_failure_limits_its_category(passed: int, expected: int) -> None:
    rest = category(result("pass", CRITICAL), weight=90, name="Rest")
    fine = [result("pass", CRITICAL, id=f"p{n}") for n in range(passed)]
    failing = score([rest, category(*fine, result("fail", CRITICAL, id="x"))], ())
    assert failing.categories[1].score == expected
    assert failing.value == rounded(90 + 10 * passed / (passed + 1))
    warned = score([rest, category(*fine, result("warn", CRITICAL, HIGH, id="x"))], ())
    assert warned.categories[1].score == rounded(100 * (10 * passed + 7) / (10 * passed + 10))


@pytest.mark.parametrize("credit", [0.51, 0.7, 0.9])
def test_metric_cost_is_continuous(credit: float) -> None:
    fine = result("pass", HIGH, id="fine")
    warned, failing = (
        category_score(category(fine, replace(check_result, credit=credit)))
        for check_result in (result("warn", CRITICAL, HIGH), result("fail", CRITICAL, CRITICAL))
    )
    assert warned == failing == pytest.approx(100 - 100 * 10 * (1 - credit) / 16)
    # A warning on a slow machine costs only a tenth.
    slow = replace(result("warn", CRITICAL, LOW), credit=credit)
    assert category_score(category(fine, slow)) == pytest.approx(100 - 100 * (1 - credit) / 16)
