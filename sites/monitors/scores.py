"""Detection of score changes that exceed the normal variation between runs.

Pure functions.

The score of a type that measures times varies although nothing has changed. It counts as changed if two consecutive
runs are outside the range of recent scores, by more than half of that range and by at least three points. Then the
medians are compared. Every change of another type's score counts; if a run has gaps, the next run must confirm it.
"""

from __future__ import annotations

from statistics import median

from msgspec import Struct

from sites.models.stored_json import Level, ScoreMemory

MAX_RECENT_SCORES = 15
# The range of a measured type's scores is known after this number of runs.
MIN_LEARNING_RUNS = 5
MIN_MARGIN = 3.0
# Two score histories are stored, because runs with and without a browser may alternate.
MAX_BASES = 2


class ScoreResult(Struct, frozen=True):
    """Score of a type in a run, with the alerts that it triggers.

    `before` is the previous score, or None in the first run.
    """

    score: int
    grade: str
    before: int | None
    has_dropped: bool = False
    fell_below: bool = False


class Run(Struct, frozen=True):
    """Score of a type in one run.

    `basis` identifies the catalogue versions and whether a browser was used. `is_measured` is True if the score varies
    between runs. `has_gaps` is True if checks or pages are missing or new.
    """

    score: int
    grade: str
    basis: str
    is_measured: bool
    has_gaps: bool


def judge_score(
    run: Run, before: int | None, memory: ScoreMemory, *, drop: int | None, below: int | None
) -> tuple[ScoreResult, ScoreMemory]:
    """Return the run's score result and the updated score memory.

    The memory is JSON and empty at first. `before` is the score of the previous run. A loss of `drop` points or a fall
    below `below` triggers an alert. A new catalogue version starts a new history without an alert.
    """
    bases = memory.get("bases", {})
    level = bases.get(run.basis)
    is_first_run, is_new_basis = not bases, level is None
    level = _new_level(run) if level is None else _add_score(level, run)
    is_confirmed = not level["waiting"] and not (is_new_basis and run.has_gaps)
    current = _current_score(level, run)
    former = reference = level["reference"]
    has_learned_range = not run.is_measured or len(level["seen"]) >= MIN_LEARNING_RUNS
    has_dropped = drop is not None and reference is not None and reference - current >= drop + _noise(level, run)
    if has_dropped or (has_learned_range and (reference is None or drop is None or current > reference)):
        reference = current
    was_below = bool(memory.get("is_below"))
    is_below = was_below
    if below is None:
        is_below = False
    elif is_confirmed:
        # A measured score must rise clearly above the limit (hysteresis), because it may vary around the limit.
        is_below = current < below + (MIN_MARGIN if was_below and run.is_measured else 0)
    others = {basis: other for basis, other in bases.items() if basis != run.basis}
    latest_other_histories = dict(list(others.items())[-(MAX_BASES - 1) :])
    result = ScoreResult(
        run.score,
        run.grade,
        round(former) if has_dropped and former is not None else before,
        has_dropped=has_dropped,
        fell_below=is_below and not was_below and (is_first_run or not is_new_basis),
    )
    return result, {
        "bases": latest_other_histories | {run.basis: {**level, "reference": reference}},
        "is_below": is_below,
    }


def _new_level(run: Run) -> Level:
    return {"seen": [run.score], "waiting": [], "reference": None if run.is_measured else run.score}


def _add_score(level: Level, run: Run) -> Level:
    """Add the run's score to the recent scores, or to the scores that the next run must confirm."""
    recent, waiting = level["seen"], level["waiting"]
    side = _position_in_range(recent, run)
    if side == 0:
        return {**level, "seen": [*recent, run.score][-MAX_RECENT_SCORES:], "waiting": []}
    waiting = [*(score for score in waiting if _position_in_range(recent, run, score) == side), run.score]
    if len(waiting) < (2 if run.is_measured or run.has_gaps else 1):
        return {**level, "waiting": waiting}
    return {**level, "seen": waiting if run.is_measured else [run.score], "waiting": []}


def _position_in_range(recent: list[int], run: Run, score: int | None = None) -> int:
    """Return 1 if the score is above the range of the recent scores, -1 if it is below, and 0 if it is within."""
    score = run.score if score is None else score
    if run.is_measured and len(recent) < MIN_LEARNING_RUNS:
        return 0
    margin = _margin(recent) if run.is_measured else 0
    return (score > max(recent) + margin) - (score < min(recent) - margin)


def _margin(recent: list[int]) -> float:
    return max(MIN_MARGIN, (max(recent) - min(recent)) / 2)


def _noise(level: Level, run: Run) -> float:
    return (max(level["seen"]) - min(level["seen"])) / 2 if run.is_measured else 0


def _current_score(level: Level, run: Run) -> float:
    return median(level["seen"]) if run.is_measured else level["seen"][-1]
