"""Detection of score changes, as opposed to variation (noise) from run to run. Pure.

The score of a type that measures times varies although nothing has changed. It counts as changed when two runs in a row
lie outside the range of recent scores, by more than half of that range and at least three points. Then the medians are
compared. The score of another type counts as it is; if a run has gaps, the next run must confirm it.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from sites.models.documents import Level, ScoreMemory

REMEMBERED = 15
# Number of runs before the range of a measured type's scores is known.
LEARNING = 5
LEAST_MARGIN = 3.0
# Maximum number of remembered bases: runs with and without a browser may alternate.
BASES = 2


@dataclass(frozen=True, slots=True)
class Scored:
    """Score of a type in this run, and its alerts. `before` is None if there was no score before."""

    score: int
    grade: str
    before: int | None
    has_dropped: bool = False
    fell_below: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """Score of a type in one run: `basis` identifies the rules and whether there was a browser.

    `is_measured`: the score varies from run to run; `has_gaps`: the run did not judge the same things as the last one.
    """

    score: int
    grade: str
    basis: str
    is_measured: bool
    has_gaps: bool


def scored(
    run: Run, before: int | None, memory: ScoreMemory, *, drop: int | None, below: int | None
) -> tuple[Scored, ScoreMemory]:
    """Return a score's alerts, and the new memory (JSON; empty at first).

    `before` is the score of the previous run. A loss of `drop` points or a fall below `below` raises an alert. A score
    from other rules starts a new history without an alert.
    """
    bases = memory.get("bases", {})
    level = bases.get(run.basis)
    is_first, is_new = not bases, level is None
    level = _begun(run) if level is None else _settled(level, run)
    is_settled = not level["waiting"] and not (is_new and run.has_gaps)
    value = _value(level, run)
    former = reference = level["reference"]
    is_learned = not run.is_measured or len(level["seen"]) >= LEARNING
    has_dropped = drop is not None and reference is not None and reference - value >= drop + _noise(level, run)
    if has_dropped or (is_learned and (reference is None or drop is None or value > reference)):
        reference = value
    was_below = bool(memory.get("is_below"))
    is_below = was_below
    if below is None:
        is_below = False
    elif is_settled:
        # Hysteresis, because a measured score may vary around the threshold permanently.
        is_below = value < below + (LEAST_MARGIN if was_below and run.is_measured else 0)
    others = {name: each for name, each in bases.items() if name != run.basis}
    kept = dict(list(others.items())[-(BASES - 1) :])
    told = Scored(
        run.score,
        run.grade,
        round(former) if has_dropped and former is not None else before,
        has_dropped=has_dropped,
        fell_below=is_below and not was_below and (is_first or not is_new),
    )
    return told, {"bases": kept | {run.basis: {**level, "reference": reference}}, "is_below": is_below}


def _begun(run: Run) -> Level:
    return {"seen": [run.score], "waiting": [], "reference": None if run.is_measured else run.score}


def _settled(level: Level, run: Run) -> Level:
    """Add this run's score to those seen, or to those that await confirmation by the next run."""
    seen, waiting = level["seen"], level["waiting"]
    side = _side(seen, run)
    if side == 0:
        return {**level, "seen": [*seen, run.score][-REMEMBERED:], "waiting": []}
    waiting = [*(each for each in waiting if _side(seen, run, each) == side), run.score]
    if len(waiting) < (2 if run.is_measured or run.has_gaps else 1):
        return {**level, "waiting": waiting}
    return {**level, "seen": waiting if run.is_measured else [run.score], "waiting": []}


def _side(seen: list[int], run: Run, score: int | None = None) -> int:
    """Return 1 for a score above the range seen, -1 below, 0 within."""
    score = run.score if score is None else score
    if run.is_measured and len(seen) < LEARNING:
        return 0
    margin = _margin(seen) if run.is_measured else 0
    return (score > max(seen) + margin) - (score < min(seen) - margin)


def _margin(seen: list[int]) -> float:
    return max(LEAST_MARGIN, (max(seen) - min(seen)) / 2)


def _noise(level: Level, run: Run) -> float:
    return (max(level["seen"]) - min(level["seen"])) / 2 if run.is_measured else 0


def _value(level: Level, run: Run) -> float:
    return median(level["seen"]) if run.is_measured else level["seen"][-1]
