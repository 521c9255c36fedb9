"""Computation of scores and grades from the results of checks.

The rules are explained in docs/scoring.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from website_scan.findings import Severity
from website_scan.priority import is_emergency
from website_scan.result import CategoryResult, CheckResult, CheckStatus

# Increase the version with every change of this module, because scores by different rules cannot be compared.
RULES_VERSION = 4

SEVERITY_WEIGHT = {
    Severity.CRITICAL: 10,
    Severity.HIGH: 6,
    Severity.MEDIUM: 3,
    Severity.LOW: 1,
}
STATUS_CREDIT = {"pass": 1.0, "warn": 0.5, "fail": 0.0}

# Maximum score of a category with a failed critical check.
MAX_CRITICAL_CATEGORY_SCORE = 49

GRADES = ((97, "A+"), (90, "A"), (80, "B"), (70, "C"), (60, "D"))


class Scorable(Protocol):
    """Protocol for the result of a check.

    Its fields are those of `website_scan.result.CheckResult` that affect scores.
    """

    @property
    def id(self) -> str: ...
    @property
    def status(self) -> CheckStatus: ...
    @property
    def severity(self) -> Severity | None: ...
    @property
    def declared_severity(self) -> Severity: ...
    @property
    def credit(self) -> float | None: ...
    @property
    def weighs(self) -> bool: ...
    @property
    def covers_category(self) -> bool: ...
    @property
    def included_weight(self) -> int: ...


class ScorableCategory(Protocol):
    """Protocol for a category.

    Its fields are those of `website_scan.result.CategoryResult` that affect scores.
    """

    @property
    def weight(self) -> int: ...
    @property
    def absent_weight(self) -> int: ...
    @property
    def checks(self) -> Sequence[Scorable]: ...


class Cap(Struct, frozen=True):
    """Upper limit of the overall score while certain checks fail.

    A cap applies if at least `count` checks failed, counting only those of `severity` (None: any) and, if `checks` is
    not empty, only checks with these IDs. A `count` of 0 always applies. A cap that `is_static` applies only if no
    browser judged the page; a cap that `is_unseen` only if nobody saw the page's content; a cap that `is_unjudged` only
    if a browser was available, but could not judge the whole page.
    """

    limit: int
    reason: str
    count: int = 1
    severity: Severity | None = None
    checks: frozenset[str] = frozenset()
    is_static: bool = False
    is_unseen: bool = False
    is_unjudged: bool = False

    def holds(self, results: Sequence[Scorable]) -> bool:
        """Return True if this cap applies to the results."""
        return len(self.counted(results)) >= self.count

    def counted(self, results: Sequence[Scorable]) -> list[Scorable]:
        """Return the failed checks that the cap counts."""
        return [
            result
            for result in results
            if result.status == "fail"
            and (self.severity is None or result.severity == self.severity)
            and (not self.checks or result.id in self.checks)
        ]


class Score(Struct, frozen=True):
    """Overall score, its grade and categories.

    `held` are the caps that lowered the score, the lowest first.
    """

    value: int
    grade: str
    categories: tuple[CategoryResult, ...]
    held: tuple[Cap, ...]


def score(categories: Sequence[CategoryResult], caps: Sequence[Cap]) -> Score:
    """Compute the overall score and the category scores, 0 to 100.

    The result also says what fixing each check would gain.

    Each category's weight is divided among all its checks by their declared severity. A finding costs the weight of its
    own severity: a fail all of it, a warning half, or a share by its credit; never more than its check's share of the
    category. The score is the percentage that remains of the shares of the checks that applied, lowered by the caps.
    `points` is the gain of the overall score if that one check passed in full, caps included, and `later` the gain
    without caps.
    """
    evaluation = evaluate(categories, caps)
    scored = tuple(
        replace(
            category,
            score=_reported_score(category),
            checks=tuple(_set_worth(result, worth) for result, worth in zip(category.checks, worths, strict=True)),
        )
        for category, worths in zip(categories, evaluation.worths, strict=True)
    )
    value = rounded(evaluation.exact)
    return Score(value, grade(value, weighing_results(categories)), scored, evaluation.held)


class Worth(Struct, frozen=True):
    """Gain in score if a check were fixed.

    The fields are those of `CheckResult`.
    """

    points: float
    later: float
    holds: bool


def _set_worth(result: CheckResult, worth: Worth) -> CheckResult:
    """Return the check's result with its worth.

    A result that already has the worth is not copied, to save time.
    """
    if (result.points, result.later, result.holds) == (worth.points, worth.later, worth.holds):
        return result
    return replace(result, points=worth.points, later=worth.later, holds=worth.holds)


class Evaluation(Struct, frozen=True):
    """Score before rounding.

    It has the caps that lower it, the lowest first, and the worth of each check by category.
    """

    exact: float
    held: tuple[Cap, ...]
    worths: list[list[Worth]]


def evaluate(categories: Sequence[ScorableCategory], caps: Sequence[Cap]) -> Evaluation:
    """Compute the score before rounding.

    The result also says what fixing each check would gain (see `score`).
    """
    parts = [remaining_and_judged_weight(category) for category in categories]
    results = weighing_results(categories)
    uncapped = weighted_mean(parts)
    exact = limited(uncapped, results, caps)
    held = sorted((cap for cap in caps if cap.limit < uncapped and cap.holds(results)), key=lambda cap: cap.limit)
    capping_ids = {result.id for cap in held if cap.count for result in cap.counted(results)}

    def worth(result: Scorable, number: int) -> Worth:
        holds = result.id in capping_ids
        if not result.weighs or _credit(result) == 1.0:
            return Worth(0.0, 0.0, holds)
        fixed = _assume_passed(result)
        part = remaining_and_judged_weight(assume_fixed(categories[number], lambda check: check is result))
        mean = weighted_mean([*parts[:number], part, *parts[number + 1 :]])
        capped = limited(mean, [fixed if check is result else check for check in results], caps)
        return Worth(round(capped - exact, 1), round(mean - uncapped, 1), holds)

    worths = [[worth(result, number) for result in category.checks] for number, category in enumerate(categories)]
    return Evaluation(exact, tuple(held), worths)


def weighing_results(categories: Sequence[ScorableCategory]) -> list[Scorable]:
    """Return the results of all categories with a weight.

    Results of other categories affect neither score nor grade: requirements of the user and checks of plug-ins have no
    weight by default.
    """
    return [result for category in categories if category.weight for result in category.checks]


class PlainCheck(Struct, frozen=True):
    """Check result from a stored basis, or an assumed pass."""

    id: str
    status: CheckStatus
    severity: Severity | None
    declared_severity: Severity
    credit: float | None
    weighs: bool
    covers_category: bool
    included_weight: int


class PlainCategory(Struct, frozen=True):
    """Category for a recomputed score.

    It is restored from a stored basis, or its checks are assumed to pass.
    """

    weight: int
    absent_weight: int
    checks: tuple[Scorable, ...]


def assume_fixed(category: ScorableCategory, is_fixed: Callable[[Scorable], bool]) -> PlainCategory:
    """Return a copy of the category in which fixed checks have passed.

    `is_fixed` decides which checks are fixed.
    """
    checks = tuple(_assume_passed(result) if is_fixed(result) else result for result in category.checks)
    return PlainCategory(category.weight, category.absent_weight, checks)


def _assume_passed(result: Scorable) -> PlainCheck:
    return PlainCheck(
        result.id,
        "pass",
        None,
        result.declared_severity,
        None,
        result.weighs,
        result.covers_category,
        result.included_weight,
    )


def mean_grade(value: int, is_flawless: bool) -> str:
    """Return the grade of an average score.

    `is_flawless` is True if all averaged scores have an A+.
    """
    letter = next((letter for minimum, letter in GRADES if value >= minimum), "F")
    return "A" if letter == "A+" and not is_flawless else letter


def grade(value: int, results: Sequence[Scorable]) -> str:
    """Return the grade of a score.

    A finding of severity medium or higher prevents an A+.
    """
    for minimum, letter in GRADES:
        if value >= minimum:
            has_findings = any(
                result.severity is not None and result.severity is not Severity.LOW for result in results
            )
            return "A" if letter == "A+" and has_findings else letter
    return "F"


def _reported_score(category: ScorableCategory) -> int:
    """Return the score of a category for the report.

    The score is rounded, and lowered if a critical check failed.
    """
    value = rounded(category_score(category))
    has_critical_failure = any(is_emergency(result.status, result.severity) for result in category.checks)
    return min(value, MAX_CRITICAL_CATEGORY_SCORE) if has_critical_failure else value


def category_score(category: ScorableCategory) -> float:
    """Return the score of a category before rounding, 0 to 100.

    It is 100 if no check with a weight applied.
    """
    return _percent(*_remaining_and_judged(category, category.weight or 1))


def severity_counts(results: Sequence[Scorable]) -> Counter[Severity]:
    """Return the number of findings by severity."""
    return Counter(result.severity for result in results if result.severity is not None)


def remaining_and_judged_weight(category: ScorableCategory) -> tuple[float, float]:
    """Return the remaining weight and the judged weight of a category.

    Findings have reduced the remaining weight.
    """
    return _remaining_and_judged(category, category.weight)


def _remaining_and_judged(category: ScorableCategory, weight: int) -> tuple[float, float]:
    whole = sum(map(_weight, category.checks)) + category.absent_weight
    judged = sum(_weight(result) for result in category.checks if result.weighs)
    lost = sum(map(_cost, category.checks))
    covering = [_cost(result) / _weight(result) for result in category.checks if result.covers_category]
    if covering:
        lost += max(covering) * (whole - judged)
        judged = whole
    share = weight / whole if whole else 0.0
    return share * (judged - lost), share * judged


def _weight(result: Scorable) -> int:
    return SEVERITY_WEIGHT[result.declared_severity] + result.included_weight


def _cost(result: Scorable) -> float:
    """Return the weight that a verdict costs, in the unit of SEVERITY_WEIGHT."""
    if not result.weighs:
        return 0.0
    severity = result.severity or result.declared_severity
    if result.credit is not None and severity is not Severity.LOW:
        # On a curve, the finding's severity does not affect the cost, so that the score does not jump between a warning
        # and a failure. Only measurements on a slow machine have low severity.
        severity = result.declared_severity
    cost = SEVERITY_WEIGHT[severity] + result.included_weight
    return min(_weight(result), cost) * (1 - _credit(result))


def _credit(result: Scorable) -> float:
    return STATUS_CREDIT[result.status] if result.credit is None else result.credit


def _percent(remaining: float, judged: float) -> float:
    return 100 * remaining / judged if judged else 100.0


def weighted_mean(parts: Sequence[tuple[float, float]]) -> float:
    """Return the score without caps from the remaining and judged weights of the categories."""
    return _percent(sum(remaining for remaining, _ in parts), sum(judged for _, judged in parts))


def overall(categories: Sequence[ScorableCategory], caps: Sequence[Cap]) -> float:
    return limited(
        weighted_mean([remaining_and_judged_weight(category) for category in categories]),
        weighing_results(categories),
        caps,
    )


def limited(mean: float, results: Sequence[Scorable], caps: Sequence[Cap]) -> float:
    """Return the score without caps, lowered to the lowest cap that applies to the results."""
    return min([mean, *(cap.limit for cap in caps if cap.holds(results))])


def rounded(value: float) -> int:
    # 96.5 must not become 97, because the grade would be better than that of the exact score.
    value = round(value, 9)
    return int(value + 0.5) if value % 1 != 0.5 else int(value)
