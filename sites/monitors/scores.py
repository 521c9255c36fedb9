"""Distinction between changes of a score and its variation (noise) from run to run. Pure functions.

The score of a type that measures times varies although nothing has changed. It counts as changed if two runs in a row
lie outside the range of recent scores, by more than half of that range and by at least three points. Then the medians
are compared. The score of any other type counts as it is; if a run has gaps, the next run must confirm its score.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from sites.models.stored_json import Level, ScoreMemory

MAX_RECENT_SCORES = 15
# Number of runs that establish the range of a measured type's scores.
LEARNING = 5
MIN_MARGIN = 3.0
# Number of remembered bases, because runs with and without a browser may alternate.
MAX_BASES = 2


@dataclass(frozen=True, slots=True)
class ScoreResult:
    """Score of a type in this run, and whether it raises alerts. `before` is the previous score, None without one."""

    score: int
    grade: str
    before: int | None
    has_dropped: bool = False
    fell_below: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """Score of a type in one run. `basis` identifies the rules and whether there was a browser.

    `is_measured`: the score varies from run to run; `has_gaps`: the run did not judge the same things as the last one.
    """

    score: int
    grade: str
    basis: str
    is_measured: bool
    has_gaps: bool


def judge_score(
    run: Run, before: int | None, memory: ScoreMemory, *, drop: int | None, below: int | None
) -> tuple[ScoreResult, ScoreMemory]:
    """Return the result for the score of a run, and the new memory (JSON; empty at first).

    `before` is the score of the previous run. A loss of `drop` points or a fall below `below` raises an alert. A score
    under other rules starts a new history without an alert.
    """
    bases = memory.get("bases", {})
    level = bases.get(run.basis)
    is_first, is_new = not bases, level is None
    level = _new_level(run) if level is None else _add_score(level, run)
    is_settled = not level["waiting"] and not (is_new and run.has_gaps)
    current = _value(level, run)
    former = reference = level["reference"]
    is_learned = not run.is_measured or len(level["seen"]) >= LEARNING
    has_dropped = drop is not None and reference is not None and reference - current >= drop + _noise(level, run)
    if has_dropped or (is_learned and (reference is None or drop is None or current > reference)):
        reference = current
    was_below = bool(memory.get("is_below"))
    is_below = was_below
    if below is None:
        is_below = False
    elif is_settled:
        # Hysteresis, because a measured score may vary around the limit permanently.
        is_below = current < below + (MIN_MARGIN if was_below and run.is_measured else 0)
    others = {basis: other for basis, other in bases.items() if basis != run.basis}
    latest_others = dict(list(others.items())[-(MAX_BASES - 1) :])
    result = ScoreResult(
        run.score,
        run.grade,
        round(former) if has_dropped and former is not None else before,
        has_dropped=has_dropped,
        fell_below=is_below and not was_below and (is_first or not is_new),
    )
    return result, {"bases": latest_others | {run.basis: {**level, "reference": reference}}, "is_below": is_below}


def _new_level(run: Run) -> Level:
    return {"seen": [run.score], "waiting": [], "reference": None if run.is_measured else run.score}


def _add_score(level: Level, run: Run) -> Level:
    """Add this run's score to the recent scores, or to the scores that await confirmation by the next run."""
    recent, waiting = level["seen"], level["waiting"]
    side = _side(recent, run)
    if side == 0:
        return {**level, "seen": [*recent, run.score][-MAX_RECENT_SCORES:], "waiting": []}
    waiting = [*(score for score in waiting if _side(recent, run, score) == side), run.score]
    if len(waiting) < (2 if run.is_measured or run.has_gaps else 1):
        return {**level, "waiting": waiting}
    return {**level, "seen": waiting if run.is_measured else [run.score], "waiting": []}


def _side(recent: list[int], run: Run, score: int | None = None) -> int:
    """Return 1 for a score above the range of the recent scores, -1 for a score below, 0 within."""
    score = run.score if score is None else score
    if run.is_measured and len(recent) < LEARNING:
        return 0
    margin = _margin(recent) if run.is_measured else 0
    return (score > max(recent) + margin) - (score < min(recent) - margin)


def _margin(recent: list[int]) -> float:
    return max(MIN_MARGIN, (max(recent) - min(recent)) / 2)


def _noise(level: Level, run: Run) -> float:
    return (max(level["seen"]) - min(level["seen"])) / 2 if run.is_measured else 0


def _value(level: Level, run: Run) -> float:
    return median(level["seen"]) if run.is_measured else level["seen"][-1]
