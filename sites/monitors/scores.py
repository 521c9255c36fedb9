"""Whether a score is another one than before, or only differs as scores do from run to run. Pure.

The score of a type that measures times differs although nothing has changed. It is another one when two runs in a row
lie outside of all that was seen lately, by more than half of how far those lie apart, and three points at least. What
is compared then is the middle of what was seen. The score of another type is what it is; where a run has gaps, it is
believed when the next run says so, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

REMEMBERED = 15
# Of a type that measures: before that, nobody knows how far its scores lie apart.
LEARNING = 5
LEAST_MARGIN = 3.0
# Rules of two kinds may take turns: with a browser, and without one.
BASES = 2


@dataclass(frozen=True, slots=True)
class Scored:
    """A type's score of this run, and what is told of it. `before` is None where there was none."""

    score: int
    grade: str
    before: int | None
    has_dropped: bool = False
    fell_below: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """A type's score of one run: `basis` are the rules and whether there was a browser.

    `is_measured`: it differs from run to run; `has_gaps`: not the same was judged as last time.
    """

    score: int
    grade: str
    basis: str
    is_measured: bool
    has_gaps: bool


def scored(
    run: Run, before: int | None, memory: Mapping[str, Any], *, drop: int | None, below: int | None
) -> tuple[Scored, dict[str, Any]]:
    """What is told of a score, and the memory from now on (JSON; empty at first).

    `before` is the score of the run before; `drop` so many points less are told, and whenever it falls below `below`.
    A score of other rules begins anew, and tells nothing.
    """
    bases: dict[str, Any] = memory.get("bases", {})
    level = bases.get(run.basis)
    is_first, is_new = not bases, level is None
    level = _begun(run) if level is None else _settled(level, run)
    is_settled = not level["waiting"] and not (is_new and run.has_gaps)
    value = _value(level, run)
    reference = level["reference"]
    is_learned = not run.is_measured or len(level["seen"]) >= LEARNING
    has_dropped = drop is not None and reference is not None and reference - value >= drop + _noise(level, run)
    if has_dropped or (is_learned and (reference is None or drop is None or value > reference)):
        reference = value
    was_below = bool(memory.get("is_below"))
    is_below = was_below
    if below is None:
        is_below = False
    elif is_settled:
        # What measures may lie to both sides of it for ever.
        is_below = value < below + (LEAST_MARGIN if was_below and run.is_measured else 0)
    others = {name: each for name, each in bases.items() if name != run.basis}
    kept = dict(list(others.items())[-(BASES - 1) :])
    told = Scored(
        run.score,
        run.grade,
        round(level["reference"]) if has_dropped else before,
        has_dropped=has_dropped,
        fell_below=is_below and not was_below and (is_first or not is_new),
    )
    return told, {"bases": kept | {run.basis: level | {"reference": reference}}, "is_below": is_below}


def _begun(run: Run) -> dict[str, Any]:
    return {"seen": [run.score], "waiting": [], "reference": None if run.is_measured else run.score}


def _settled(level: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """With this run's score among those seen, or waiting for the next one to say the same."""
    seen, waiting = level["seen"], level["waiting"]
    side = _side(seen, run)
    if side == 0:
        return {**level, "seen": [*seen, run.score][-REMEMBERED:], "waiting": []}
    waiting = [*(each for each in waiting if _side(seen, run, each) == side), run.score]
    if len(waiting) < (2 if run.is_measured or run.has_gaps else 1):
        return {**level, "waiting": waiting}
    return {**level, "seen": waiting if run.is_measured else [run.score], "waiting": []}


def _side(seen: list[int], run: Run, score: int | None = None) -> int:
    """1 above, -1 below, 0 within what was seen."""
    score = run.score if score is None else score
    if run.is_measured and len(seen) < LEARNING:
        return 0
    margin = _margin(seen) if run.is_measured else 0
    return (score > max(seen) + margin) - (score < min(seen) - margin)


def _margin(seen: list[int]) -> float:
    return max(LEAST_MARGIN, (max(seen) - min(seen)) / 2)


def _noise(level: Mapping[str, Any], run: Run) -> float:
    return (max(level["seen"]) - min(level["seen"])) / 2 if run.is_measured else 0


def _value(level: Mapping[str, Any], run: Run) -> float:
    return median(level["seen"]) if run.is_measured else level["seen"][-1]
