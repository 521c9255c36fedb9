"""Inputs of a score.

They are stored so that the score can be recomputed as if findings were fixed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from website_scan.findings import Severity
from website_scan.priority import Priority, priority
from website_scan.result import CategoryResult
from website_scan.scoring import (
    RULES_VERSION,
    Cap,
    PlainCategory,
    PlainCheck,
    Scorable,
    ScorableCategory,
    Worth,
    assume_fixed,
    evaluate,
    grade,
    limited,
    overall,
    remaining_and_judged_weight,
    rounded,
    weighing_results,
    weighted_mean,
)
from website_scan.stored_data import StoredBasis, StoredScoredCheck


def basis(categories: Sequence[CategoryResult], caps: Sequence[Cap]) -> StoredBasis:
    """Return the inputs of a score as JSON.

    `recompute_score` reads them.
    """
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


class CappingFailures(Struct, frozen=True):
    """Group of failures with the same lowest cap.

    `severity` is None if their severities differ.
    """

    count: int
    severity: Severity | None


class ScoreStep(Struct, frozen=True):
    """Score after fixing the first `fixed` of the failures that caps count."""

    fixed: int
    score: int


class RemainingCap(Struct, frozen=True):
    """Cap that keeps the score at `value` after some fixes.

    `failures` are the remaining failures that the cap counts, and `unfixed` is the number of those that will not be
    fixed. `failures` is None if no fix lifts the cap.
    """

    value: int
    failures: CappingFailures | None
    unfixed: int


class FixStep(Struct, frozen=True):
    """Score after fixing a check and all checks before it.

    `gain` are the points of this fix, to one decimal. `score` is rounded. `next_cap` is the cap that lowers the score
    then, or None if none does or if it already did before the fix.
    """

    gain: float
    score: int
    next_cap: RemainingCap | None


class CappedScore(Struct, frozen=True):
    """Score that caps lower to `value`, with the failures that cause the caps.

    `groups` are the failures that caps count, by their lowest cap, the lowest cap first. `steps` are the increasing
    scores as the failures are fixed in this order and by priority, up to the first score that no cap lowers. `spared`
    is the number of failures in the first group that are not to be fixed. `lasting` is the index in `Score.held` of the
    cap that no fix lifts, or None.
    """

    value: int
    groups: tuple[CappingFailures, ...]
    steps: tuple[ScoreStep, ...]
    spared: int
    lasting: int | None


def hold(stored: StoredBasis, spared: Collection[str] = ()) -> CappedScore | None:
    """Return the failures whose caps lower a score.

    Returns None if no cap lowers it by a point, or if the scoring rules have changed. `spared` are IDs of checks that
    remain unfixed, such as muted ones.
    """
    if stored["rules"] != RULES_VERSION:
        return None
    categories, caps = _restored_basis(stored)
    evaluation = evaluate(categories, caps)
    value = rounded(evaluation.exact)
    if value == _score_without_caps(categories):
        return None
    groups: dict[int, list[Scorable]] = {}
    grouped_ids: set[str] = set()
    for cap in evaluation.held:
        failures = [
            result for result in cap.counted(weighing_results(categories)) if cap.count and result.id not in grouped_ids
        ]
        grouped_ids |= {result.id for result in failures}
        if failures:
            groups.setdefault(cap.limit, []).extend(failures)
    worth_by_id = {
        result.id: worth
        for category, worths in zip(categories, evaluation.worths, strict=True)
        for result, worth in zip(category.checks, worths, strict=True)
    }
    ordered = [
        sorted(group, key=lambda result: (result.id in spared, _priority(result, worth_by_id[result.id])))
        for group in groups.values()
    ]
    lasting = [number for number, cap in enumerate(evaluation.held) if not cap.count]
    first = ordered[0] if ordered else []
    return CappedScore(
        value,
        tuple(_capping_failures(group) for group in ordered),
        _score_steps(categories, caps, value, [result.id for group in ordered for result in group], spared),
        sum(result.id in spared for result in first),
        lasting[0] if lasting else None,
    )


def _priority(result: Scorable, worth: Worth) -> Priority:
    return priority(
        status=result.status, severity=result.severity, holds=worth.holds, points=worth.points, later=worth.later
    )


def _capping_failures(group: Sequence[Scorable]) -> CappingFailures:
    severities = {result.severity for result in group}
    return CappingFailures(len(group), severities.pop() if len(severities) == 1 else None)


def _score_steps(
    categories: Sequence[ScorableCategory], caps: Sequence[Cap], score: int, ids: Sequence[str], spared: Collection[str]
) -> tuple[ScoreStep, ...]:
    steps: list[ScoreStep] = []
    for fixed, id in enumerate(ids, 1):
        if id in spared:
            break
        categories = _assume_passed_checks(categories, {id})
        new_score = rounded(overall(categories, caps))
        if new_score > score:
            steps.append(ScoreStep(fixed, new_score))
            score = new_score
        if new_score == _score_without_caps(categories):
            break
    return tuple(steps)


def _score_without_caps(categories: Sequence[ScorableCategory]) -> int:
    """Return the rounded score without caps."""
    return rounded(overall(categories, ()))


def fix_steps(stored: StoredBasis, ids: Sequence[str], unfixed: Collection[str] = ()) -> dict[str, FixStep]:
    """Return what each fix gains if the checks are fixed in the order of `ids`.

    Empty if the scoring rules have changed since the score was computed. `unfixed` are IDs of checks that remain
    unfixed, such as muted ones.
    """
    if stored["rules"] != RULES_VERSION:
        return {}
    categories, caps = _restored_basis(stored)
    category_by_id = {result.id: number for number, category in enumerate(categories) for result in category.checks}
    parts = [remaining_and_judged_weight(category) for category in categories]
    failures = [result for result in weighing_results(categories) if result.status == "fail"]
    exact = limited(weighted_mean(parts), failures, caps)
    cap = _remaining_cap(weighted_mean(parts), failures, caps, unfixed)
    steps: dict[str, FixStep] = {}
    for id in ids:
        number = category_by_id[id]
        (categories[number],) = _assume_passed_checks([categories[number]], {id})
        parts[number] = remaining_and_judged_weight(categories[number])
        failures = [result for result in failures if result.id != id]
        mean = weighted_mean(parts)
        before, exact = exact, limited(mean, failures, caps)
        cap_before, cap = cap, _remaining_cap(mean, failures, caps, unfixed)
        is_new = cap is not None and (cap_before is None or cap.value != cap_before.value)
        # The difference of rounded scores, so that the gains add up to the difference between the first and last score.
        gain = round(round(exact, 1) - round(before, 1), 1)
        steps[id] = FixStep(gain, rounded(exact), cap if is_new else None)
    return steps


def _remaining_cap(
    mean: float, failures: Sequence[Scorable], caps: Sequence[Cap], unfixed: Collection[str]
) -> RemainingCap | None:
    """Return the lowest cap if it lowers the rounded score."""
    applied = [cap for cap in caps if cap.limit < mean and cap.holds(failures)]
    if not applied:
        return None
    limit = min(cap.limit for cap in applied)
    if rounded(limit) == rounded(mean):
        return None
    lowest = [cap for cap in applied if cap.limit == limit]
    if not all(cap.count for cap in lowest):
        return RemainingCap(limit, None, 0)
    counted = {result.id: result for cap in lowest for result in cap.counted(failures)}
    return RemainingCap(limit, _capping_failures([*counted.values()]), sum(id in unfixed for id in counted))


def recompute_score(stored: StoredBasis, passed: Collection[str]) -> tuple[int, str] | None:
    """Return score and grade as if the checks with the IDs `passed` had passed.

    Returns None if the scoring rules have changed since the score was computed.
    """
    if stored["rules"] != RULES_VERSION:
        return None
    restored, caps = _restored_basis(stored)
    categories = _assume_passed_checks(restored, passed)
    value = rounded(overall(categories, caps))
    return value, grade(value, weighing_results(categories))


def _restored_basis(stored: StoredBasis) -> tuple[list[PlainCategory], list[Cap]]:
    categories = [
        PlainCategory(category["weight"], category["absent_weight"], tuple(map(_restored_check, category["checks"])))
        for category in stored["categories"]
    ]
    caps = [
        Cap(limit, "", count, Severity(severity) if severity else None, frozenset(checks))
        for limit, count, severity, checks in stored["caps"]
    ]
    return categories, caps


def _restored_check(stored: StoredScoredCheck) -> PlainCheck:
    id, status, severity, declared, credit, weighs, covers, included = stored
    finding_severity = Severity(severity) if severity else None
    return PlainCheck(id, status, finding_severity, Severity(declared), credit, weighs, covers, included)


def _assume_passed_checks(categories: Sequence[ScorableCategory], passed: Collection[str]) -> list[PlainCategory]:
    return [assume_fixed(category, lambda result: result.id in passed) for category in categories]
