"""Basis of a score: stored inputs to recompute a score as if findings were fixed. `scoring` has the arithmetic."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

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
    evaluate,
    grade,
    overall,
    results_of,
    rounded,
    with_fixed,
)
from website_scan.stored_data import StoredBasis, StoredScoredCheck


def basis(categories: Sequence[CategoryResult], caps: Sequence[Cap]) -> StoredBasis:
    """Return the inputs of `score` that reports do not contain as JSON, for `score_without`."""
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
class CappingFailures:
    """Failed checks that the same cap counts, and no lower cap. `severity` is None if their severities differ."""

    count: int
    severity: Severity | None


@dataclass(frozen=True, slots=True)
class Step:
    """Score after the first `fixed` of the failures under caps have been fixed."""

    fixed: int
    score: int


@dataclass(frozen=True, slots=True)
class Hold:
    """Score that caps lower to `value`.

    `groups` are the failures that caps count, by their lowest cap, the lowest cap first. `steps` are the increasing
    scores as the failures are fixed in this order and by priority, up to the first score that no cap lowers. `spared`
    is the number of failures in the first group that are not to be fixed. `lasting` is the index in `Score.held` of the
    cap that no fix lifts, or None.
    """

    value: int
    groups: tuple[CappingFailures, ...]
    steps: tuple[Step, ...]
    spared: int
    lasting: int | None


def hold(stored: StoredBasis, spared: Collection[str] = ()) -> Hold | None:
    """Return the caps that lower the score of a `basis`; None if they lower it by less than a point, or rules differ.

    `spared` has the IDs of the checks that are not to be fixed.
    """
    if stored["rules"] != RULES_VERSION:
        return None
    categories, caps = _restored_basis(stored)
    evaluation = evaluate(categories, caps)
    value = rounded(evaluation.exact)
    if value == _uncapped(categories):
        return None
    groups: dict[int, list[Scorable]] = {}
    grouped_ids: set[str] = set()
    for cap in evaluation.held:
        failures = [
            result for result in cap.counted(results_of(categories)) if cap.count and result.id not in grouped_ids
        ]
        grouped_ids |= {result.id for result in failures}
        if failures:
            groups.setdefault(cap.limit, []).extend(failures)
    worths = [worth for of_category in evaluation.worths for worth in of_category]
    by_id = {result.id: worth for result, worth in zip(results_of(categories), worths, strict=True)}
    ordered = [
        sorted(group, key=lambda result: (result.id in spared, _priority(result, by_id[result.id])))
        for group in groups.values()
    ]
    lasting = [number for number, cap in enumerate(evaluation.held) if not cap.count]
    first = ordered[0] if ordered else []
    return Hold(
        value,
        tuple(_holders(group) for group in ordered),
        _steps(categories, caps, value, [result.id for group in ordered for result in group], spared),
        sum(result.id in spared for result in first),
        lasting[0] if lasting else None,
    )


def _priority(result: Scorable, worth: Worth) -> Priority:
    return priority(
        status=result.status, severity=result.severity, holds=worth.holds, points=worth.points, later=worth.later
    )


def _holders(group: Sequence[Scorable]) -> CappingFailures:
    severities = {result.severity for result in group}
    return CappingFailures(len(group), severities.pop() if len(severities) == 1 else None)


def _steps(
    categories: Sequence[ScorableCategory], caps: Sequence[Cap], score: int, ids: Sequence[str], spared: Collection[str]
) -> tuple[Step, ...]:
    steps: list[Step] = []
    for fixed, id in enumerate(ids, 1):
        if id in spared:
            break
        categories = _with_passed(categories, {id})
        new_score = rounded(overall(categories, caps))
        if new_score > score:
            steps.append(Step(fixed, new_score))
            score = new_score
        if new_score == _uncapped(categories):
            break
    return tuple(steps)


def _uncapped(categories: Sequence[ScorableCategory]) -> int:
    """Return the score without caps."""
    return rounded(overall(categories, ()))


def score_without(stored: StoredBasis, passed: Collection[str]) -> tuple[int, str] | None:
    """Return score and grade of a `basis` as if the checks with these IDs had passed, or None.

    None means that the basis was made by other scoring rules.
    """
    if stored["rules"] != RULES_VERSION:
        return None
    restored, caps = _restored_basis(stored)
    categories = _with_passed(restored, passed)
    value = rounded(overall(categories, caps))
    return value, grade(value, results_of(categories))


def _restored_basis(stored: StoredBasis) -> tuple[list[PlainCategory], list[Cap]]:
    categories = [
        PlainCategory(category["weight"], category["absent_weight"], tuple(map(_restored, category["checks"])))
        for category in stored["categories"]
    ]
    caps = [
        Cap(limit, "", count, Severity(severity) if severity else None, frozenset(checks))
        for limit, count, severity, checks in stored["caps"]
    ]
    return categories, caps


def _restored(stored: StoredScoredCheck) -> PlainCheck:
    id, status, severity, declared, credit, weighs, covers, included = stored
    own_severity = Severity(severity) if severity else None
    return PlainCheck(id, status, own_severity, Severity(declared), credit, weighs, covers, included)


def _with_passed(categories: Sequence[ScorableCategory], passed: Collection[str]) -> list[PlainCategory]:
    return [with_fixed(category, lambda result: result.id in passed) for category in categories]
