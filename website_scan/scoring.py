"""Scoring: turn findings into weights, caps, grades, and the points that each finding costs. Pure arithmetic.

The rules are explained in docs/scoring.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from website_scan.document import StoredBasis, StoredScoredCheck
from website_scan.findings import Severity
from website_scan.need import is_emergency, need_of_result
from website_scan.result import CategoryResult, CheckResult

# Increase it with every change of the arithmetic here: reports made by different rules can't be compared point by
# point.
RULES_VERSION = 4

SEVERITY_WEIGHT = {
    Severity.CRITICAL: 10,
    Severity.HIGH: 6,
    Severity.MEDIUM: 3,
    Severity.LOW: 1,
}
STATUS_CREDIT = {"pass": 1.0, "warn": 0.5, "fail": 0.0}

# A category with a failed critical check has at most this score, so that it does not look as if all were well.
CRITICAL_CATEGORY = 49

GRADES = ((97, "A+"), (90, "A"), (80, "B"), (70, "C"), (60, "D"))


@dataclass(frozen=True, slots=True)
class Cap:
    """A ceiling for the overall score.

    It applies if at least `count` checks failed, counting only those of `severity` (None: any) and, if `checks` is not
    empty, only those IDs. A `count` of 0 always applies. A cap that `is_static` applies only if no browser judged the
    page; a cap that `is_unseen` only if the page's content could not be seen.
    """

    limit: int
    reason: str
    count: int = 1
    severity: Severity | None = None
    checks: frozenset[str] = frozenset()
    is_static: bool = False
    is_unseen: bool = False

    def holds(self, results: Sequence[CheckResult]) -> bool:
        """Return True if this cap applies to these results."""
        return len(self.counted(results)) >= self.count

    def counted(self, results: Sequence[CheckResult]) -> list[CheckResult]:
        """Return the failed checks among these results that the cap counts."""
        return [
            result
            for result in results
            if result.status == "fail"
            and (self.severity is None or result.severity == self.severity)
            and (not self.checks or result.id in self.checks)
        ]


@dataclass(frozen=True, slots=True)
class Score:
    """An overall score with its explanation: `held` are the caps that lowered it, the lowest first."""

    value: int
    grade: str
    categories: tuple[CategoryResult, ...]
    held: tuple[Cap, ...]


def score(categories: Sequence[CategoryResult], caps: Sequence[Cap]) -> Score:
    """Return the overall score, 0 to 100, with category scores and each check's `points`, `later` and `holds`.

    Each category's weight is divided among all its checks by their declared severity. A finding takes from its check's
    share the weight of its own severity: a fail all of it, a warning half, or by its credit; never more than the share.
    The score is the percentage that is left of the shares of the checks that applied, lowered by the caps. `points` is
    how much the overall score would gain if that one check passed in full, caps included, and `later` without caps.
    """
    parts = [_kept(category) for category in categories]
    results = [result for category in categories for result in category.checks]
    uncapped = _mean(parts)
    exact = _capped(uncapped, results, caps)
    held = sorted((cap for cap in caps if cap.limit < uncapped and cap.holds(results)), key=lambda cap: cap.limit)
    holders = {result.id for cap in held if cap.count for result in cap.counted(results)}

    def explained(result: CheckResult, number: int) -> CheckResult:
        if not result.weighs or _credit(result) == 1.0:
            return replace(result, holds=result.id in holders)
        fixed = _as_passed(result)
        category = categories[number]
        left = _kept(replace(category, checks=tuple(fixed if each is result else each for each in category.checks)))
        mean = _mean([*parts[:number], left, *parts[number + 1 :]])
        capped = _capped(mean, [fixed if each is result else each for each in results], caps)
        return replace(
            result,
            points=round(capped - exact, 1),
            later=round(mean - uncapped, 1),
            holds=result.id in holders,
        )

    scored = tuple(
        replace(
            category,
            score=_told(category),
            checks=tuple(explained(result, number) for result in category.checks),
        )
        for number, category in enumerate(categories)
    )
    value = rounded(exact)
    return Score(value, grade(value, results), scored, tuple(held))


def basis(categories: Sequence[CategoryResult], caps: Sequence[Cap]) -> StoredBasis:
    """Return, as JSON, the input of `score` that reports do not contain: `score_without` needs it."""
    return {
        "rules": RULES_VERSION,
        "categories": [
            {
                "weight": category.weight,
                "absent_weight": category.absent_weight,
                "checks": [
                    (
                        result.id,
                        result.status,
                        result.severity,
                        result.declared_severity,
                        result.credit,
                        result.weighs,
                        result.covers_category,
                        result.included_weight,
                    )
                    for result in category.checks
                ],
            }
            for category in categories
        ],
        "caps": [(cap.limit, cap.count, cap.severity, sorted(cap.checks)) for cap in caps],
    }


@dataclass(frozen=True, slots=True)
class Holders:
    """Failed checks that a cap counts and no lower cap does; `severity` is None if they have different ones."""

    count: int
    severity: Severity | None


@dataclass(frozen=True, slots=True)
class Step:
    """The score that remains if the first `fixed` holders pass."""

    fixed: int
    score: int


@dataclass(frozen=True, slots=True)
class Hold:
    """A score that caps lower to `value`.

    `groups` are the holders by their lowest cap, the lowest first. `steps` are the scores that rise as the holders are
    fixed, in this order and by need, up to the first that no cap lowers. `spared` counts those of the first group that
    are not to be fixed. `lasting` is the index in `Score.held` of the cap that no fix lifts, None if there is none.
    """

    value: int
    groups: tuple[Holders, ...]
    steps: tuple[Step, ...]
    spared: int
    lasting: int | None


def hold(stored: StoredBasis, spared: Collection[str] = ()) -> Hold | None:
    """Return what holds the score of a `basis`; None if caps do not lower it visibly, or if other rules made it.

    The checks with the IDs in `spared` are not to be fixed.
    """
    if stored["rules"] != RULES_VERSION:
        return None
    categories, caps = _restored_basis(stored)
    scored = score(categories, caps)
    if scored.value == _free(categories):
        return None
    groups: dict[int, list[CheckResult]] = {}
    known: set[str] = set()
    results = [result for category in scored.categories for result in category.checks]
    for cap in scored.held:
        counted = [result for result in cap.counted(results) if cap.count and result.id not in known]
        known |= {result.id for result in counted}
        if counted:
            groups.setdefault(cap.limit, []).extend(counted)
    ordered = [sorted(group, key=lambda each: (each.id in spared, need_of_result(each))) for group in groups.values()]
    lasting = [number for number, cap in enumerate(scored.held) if not cap.count]
    first = ordered[0] if ordered else []
    return Hold(
        scored.value,
        tuple(_holders(group) for group in ordered),
        _steps(categories, caps, scored.value, [each.id for group in ordered for each in group], spared),
        sum(result.id in spared for result in first),
        lasting[0] if lasting else None,
    )


def _holders(group: Sequence[CheckResult]) -> Holders:
    severities = {result.severity for result in group}
    return Holders(len(group), severities.pop() if len(severities) == 1 else None)


def _steps(
    categories: Sequence[CategoryResult], caps: Sequence[Cap], value: int, ids: Sequence[str], spared: Collection[str]
) -> tuple[Step, ...]:
    steps: list[Step] = []
    for fixed, id in enumerate(ids, 1):
        if id in spared:
            break
        categories = _with_passed(categories, {id})
        reached = rounded(_overall(categories, caps))
        if reached > value:
            steps.append(Step(fixed, reached))
            value = reached
        if reached == _free(categories):
            break
    return tuple(steps)


def _free(categories: Sequence[CategoryResult]) -> int:
    """Return the score without caps."""
    return rounded(_mean([_kept(category) for category in categories]))


def score_without(stored: StoredBasis, passed: Collection[str]) -> tuple[int, str] | None:
    """Return score and grade from a `basis` as if the checks with these IDs had passed in full, like `points`.

    None if the basis was made by other rules.
    """
    if stored["rules"] != RULES_VERSION:
        return None
    restored, caps = _restored_basis(stored)
    categories = _with_passed(restored, passed)
    value = rounded(_overall(categories, caps))
    return value, grade(value, [result for category in categories for result in category.checks])


def _restored_basis(stored: StoredBasis) -> tuple[list[CategoryResult], list[Cap]]:
    categories = [
        CategoryResult(
            "", "", each["weight"], tuple(map(_restored, each["checks"])), absent_weight=each["absent_weight"]
        )
        for each in stored["categories"]
    ]
    caps = [
        Cap(limit, "", count, Severity(severity) if severity else None, frozenset(checks))
        for limit, count, severity, checks in stored["caps"]
    ]
    return categories, caps


def _restored(stored: StoredScoredCheck) -> CheckResult:
    id, status, severity, declared, credit, weighs, covers, included = stored
    return CheckResult(
        id,
        "",
        "",
        status,
        Severity(severity) if severity else None,
        Severity(declared),
        "",
        credit=credit,
        weighs=weighs,
        covers_category=covers,
        included_weight=included,
    )


def _with_passed(categories: Sequence[CategoryResult], passed: Collection[str]) -> list[CategoryResult]:
    return [
        replace(
            category,
            checks=tuple(_as_passed(result) if result.id in passed else result for result in category.checks),
        )
        for category in categories
    ]


def _as_passed(result: CheckResult) -> CheckResult:
    return replace(result, status="pass", severity=None, credit=None)


def mean_grade(value: int, is_flawless: bool) -> str:
    """Return the letter for a mean of scores; A+ only if each of them has an A+."""
    letter = next((letter for least, letter in GRADES if value >= least), "F")
    return "A" if letter == "A+" and not is_flawless else letter


def grade(value: int, results: Sequence[CheckResult]) -> str:
    """Return the letter for a score. A+ also requires that nothing of severity medium or above failed or warned."""
    for least, letter in GRADES:
        if value >= least:
            blemished = any(result.severity is not None and result.severity is not Severity.LOW for result in results)
            return "A" if letter == "A+" and blemished else letter
    return "F"


def _told(category: CategoryResult) -> int:
    """Return the score of a category that reports tell."""
    value = rounded(category_score(category))
    is_critical = any(is_emergency(result.status, result.severity) for result in category.checks)
    return min(value, CRITICAL_CATEGORY) if is_critical else value


def category_score(category: CategoryResult) -> float:
    """Return the percentage that is left of the shares of the checks that applied; 100 if none of them weighs."""
    return _percent(*_kept(category))


def severity_counts(results: Sequence[CheckResult]) -> Counter[Severity]:
    """Count the failed or warned checks of each severity."""
    return Counter(result.severity for result in results if result.severity is not None)


def _kept(category: CategoryResult) -> tuple[float, float]:
    """Return how much of the category's weight is left, and how much of it was judged."""
    whole = sum(map(_weight, category.checks)) + category.absent_weight
    judged = sum(_weight(result) for result in category.checks if result.weighs)
    lost = sum(map(_cost, category.checks))
    covering = [_cost(result) / _weight(result) for result in category.checks if result.covers_category]
    if covering:
        lost += max(covering) * (whole - judged)
        judged = whole
    share = category.weight / whole if whole else 0.0
    return share * (judged - lost), share * judged


def _weight(result: CheckResult) -> int:
    return SEVERITY_WEIGHT[result.declared_severity] + result.included_weight


def _cost(result: CheckResult) -> float:
    """Return how much a finding takes away, in the unit of `SEVERITY_WEIGHT`."""
    if not result.weighs:
        return 0.0
    severity = result.severity or result.declared_severity
    if result.credit is not None and severity is not Severity.LOW:
        # The curve alone decides: no step where a warning, which is never critical, becomes a failure. Only what a slow
        # machine measured is low.
        severity = result.declared_severity
    found = SEVERITY_WEIGHT[severity] + result.included_weight
    return min(_weight(result), found) * (1 - _credit(result))


def _credit(result: CheckResult) -> float:
    return STATUS_CREDIT[result.status] if result.credit is None else result.credit


def _percent(kept: float, judged: float) -> float:
    return 100 * kept / judged if judged else 100.0


def _mean(parts: Sequence[tuple[float, float]]) -> float:
    return _percent(sum(kept for kept, _ in parts), sum(judged for _, judged in parts))


def _overall(categories: Sequence[CategoryResult], caps: Sequence[Cap]) -> float:
    results = [result for category in categories for result in category.checks]
    return _capped(_mean([_kept(category) for category in categories]), results, caps)


def _capped(mean: float, results: Sequence[CheckResult], caps: Sequence[Cap]) -> float:
    return min([mean, *(cap.limit for cap in caps if cap.holds(results))])


def rounded(value: float) -> int:
    # Round half down: 96.5 is not yet 97, so a rounded score never promises a grade that was not reached.
    value = round(value, 9)
    return int(value + 0.5) if value % 1 != 0.5 else int(value)
