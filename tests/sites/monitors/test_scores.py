"""Detection of score changes, as opposed to variation from run to run."""

from __future__ import annotations

import random

import pytest

from sites.models.stored_json import ScoreMemory
from sites.monitors.scores import Run, judge_score


class Type:
    """Score history of a type, from one run to the next."""

    def __init__(self, *, is_measured: bool = False, drop: int | None = 5, below: int | None = None) -> None:
        self.memory: ScoreMemory = {}
        self.before: int | None = None
        self.is_measured, self.drop, self.below = is_measured, drop, below

    def run(self, score: int, *, has_gaps: bool = False, basis: str = "1") -> str:
        run = Run(score, "B", basis, self.is_measured, has_gaps)
        found, self.memory = judge_score(run, self.before, self.memory, drop=self.drop, below=self.below)
        self.before = score
        return " ".join(["drop"] * found.has_dropped + ["below"] * found.fell_below)

    def runs(self, *scores: int) -> list[str]:
        return [self.run(each) for each in scores]


def test_score_drop_is_reported_at_once_and_only_once() -> None:
    assert Type().runs(90, 86, 85, 85, 81, 80, 95, 90) == ["", "", "drop", "", "", "drop", "", "drop"]


def test_several_small_drops_add_up() -> None:
    assert Type().runs(90, 89, 88, 87, 86, 85) == [*[""] * 5, "drop"]


def test_reported_drop_has_the_score_before_the_drop() -> None:
    run = Run(90, "A", "1", is_measured=False, has_gaps=False)
    _, memory = judge_score(run, None, {}, drop=5, below=None)
    _, memory = judge_score(Run(87, "B", "1", is_measured=False, has_gaps=False), 90, memory, drop=5, below=None)
    found, _ = judge_score(Run(84, "B", "1", is_measured=False, has_gaps=False), 87, memory, drop=5, below=None)
    assert (found.before, found.score, found.has_dropped) == (90, 84, True)


def test_score_below_the_threshold_is_reported_once_per_fall() -> None:
    kind = Type(drop=None, below=80)
    assert kind.runs(79, 70, 80, 79, 79) == ["below", "", "", "below", ""]


def test_raised_threshold_is_applied_at_the_next_run() -> None:
    kind = Type(drop=None, below=80)
    kind.run(85)
    kind.below = 90
    assert kind.runs(85, 85) == ["below", ""]


def test_score_of_a_partial_run_is_confirmed_by_the_next_run() -> None:
    kind = Type(below=80)
    kind.run(90)
    assert kind.run(70, has_gaps=True) == ""
    assert kind.run(90) == ""
    assert kind.run(70, has_gaps=True) == ""
    assert kind.run(71) == "drop below"


def test_partial_first_run_is_not_below_the_threshold() -> None:
    kind = Type(below=80)
    assert kind.run(70, has_gaps=True) == ""
    assert kind.run(70) == "below"


def test_scores_are_tracked_per_catalogue_version() -> None:
    kind = Type(below=80)
    kind.run(90, basis="browser")
    assert kind.run(60, basis="none") == ""
    assert kind.run(90, basis="browser") == ""
    assert kind.run(84, basis="browser") == "drop"


def test_one_slow_run_is_not_reported_but_two_are() -> None:
    kind = Type(is_measured=True)
    assert not any(kind.runs(90, 92, 89, 91, 90, 60, 90, 91, 60, 90))
    assert kind.runs(60, 61, 60) == ["", "drop", ""]


@pytest.mark.parametrize("seed", range(40))
def test_noise_of_scores_is_not_reported(seed: int) -> None:
    dice = random.Random(seed)
    kind = Type(is_measured=True, below=None)
    assert not any(kind.runs(*(round(min(100, dice.gauss(85, 2.5))) for _ in range(100))))


@pytest.mark.parametrize("seed", range(20))
def test_real_drop_is_reported_within_three_noisy_runs(seed: int) -> None:
    dice = random.Random(seed)
    kind = Type(is_measured=True)
    kind.runs(*(round(dice.gauss(85, 1.5)) for _ in range(20)))
    assert "drop" in kind.runs(*(round(dice.gauss(65, 1.5)) for _ in range(3)))


def test_score_around_the_threshold_is_reported_once() -> None:
    kind = Type(is_measured=True, drop=None, below=80)
    assert kind.runs(*([81, 79, 80, 78, 81, 79] * 5)).count("below") <= 1
