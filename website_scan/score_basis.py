"""Basis of a score, which a report stores, and the scores that fixes would lead to. The arithmetic is in `scoring`."""

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
    fixed, in this order and by priority, up to the first score that no cap lowers. `spared` counts those of the first
    group that are not to be fixed. `lasting` is the index in `Score.held` of the cap that no fix lifts, or None.
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
    evaluation = evaluate(categories, caps)
    value = rounded(evaluation.exact)
    if value == _uncapped(categories):
        return None
    groups: dict[int, list[Scorable]] = {}
    known: set[str] = set()
    for cap in evaluation.held:
        counted = [result for result in cap.counted(results_of(categories)) if cap.count and result.id not in known]
        known |= {result.id for result in counted}
        if counted:
            groups.setdefault(cap.limit, []).extend(counted)
    worths = [worth for of_category in evaluation.worths for worth in of_category]
    by_id = {result.id: worth for result, worth in zip(results_of(categories), worths, strict=True)}
    ordered = [
        sorted(group, key=lambda each: (each.id in spared, _priority(each, by_id[each.id])))
        for group in groups.values()
    ]
    lasting = [number for number, cap in enumerate(evaluation.held) if not cap.count]
    first = ordered[0] if ordered else []
    return Hold(
        value,
        tuple(_holders(group) for group in ordered),
        _steps(categories, caps, value, [each.id for group in ordered for each in group], spared),
        sum(result.id in spared for result in first),
        lasting[0] if lasting else None,
    )


def _priority(result: Scorable, worth: Worth) -> Priority:
    return priority(
        status=result.status, severity=result.severity, holds=worth.holds, points=worth.points, later=worth.later
    )


def _holders(group: Sequence[Scorable]) -> Holders:
    severities = {result.severity for result in group}
    return Holders(len(group), severities.pop() if len(severities) == 1 else None)


def _steps(
    categories: Sequence[ScorableCategory], caps: Sequence[Cap], value: int, ids: Sequence[str], spared: Collection[str]
) -> tuple[Step, ...]:
    steps: list[Step] = []
    for fixed, id in enumerate(ids, 1):
        if id in spared:
            break
        categories = _with_passed(categories, {id})
        reached = rounded(overall(categories, caps))
        if reached > value:
            steps.append(Step(fixed, reached))
            value = reached
        if reached == _uncapped(categories):
            break
    return tuple(steps)


def _uncapped(categories: Sequence[ScorableCategory]) -> int:
    """Return the score without caps."""
    return rounded(overall(categories, ()))


def score_without(stored: StoredBasis, passed: Collection[str]) -> tuple[int, str] | None:
    """Return score and grade from a `basis` as if the checks with these IDs had passed in full, like `points`.

    None if the basis was made by other rules.
    """
    if stored["rules"] != RULES_VERSION:
        return None
    restored, caps = _restored_basis(stored)
    categories = _with_passed(restored, passed)
    value = rounded(overall(categories, caps))
    return value, grade(value, results_of(categories))


def _restored_basis(stored: StoredBasis) -> tuple[list[PlainCategory], list[Cap]]:
    categories = [
        PlainCategory(each["weight"], each["absent_weight"], tuple(map(_restored, each["checks"])))
        for each in stored["categories"]
    ]
    caps = [
        Cap(limit, "", count, Severity(severity) if severity else None, frozenset(checks))
        for limit, count, severity, checks in stored["caps"]
    ]
    return categories, caps


def _restored(stored: StoredScoredCheck) -> PlainCheck:
    id, status, severity, declared, credit, weighs, covers, included = stored
    found = Severity(severity) if severity else None
    return PlainCheck(id, status, found, Severity(declared), credit, weighs, covers, included)


def _with_passed(categories: Sequence[ScorableCategory], passed: Collection[str]) -> list[PlainCategory]:
    return [with_fixed(category, lambda result: result.id in passed) for category in categories]
