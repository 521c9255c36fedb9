"""Tests for detecting score drops despite variation between runs."""

from __future__ import annotations

import random

import pytest

from sites.models.stored_json import ScoreMemory
from sites.monitors.scores import Run, judge_score


class ScoreHistory:
    """Score history of one scan type over several runs."""

    def __init__(self, *, is_measured: bool = False, drop: int | None = 5, below: int | None = None) -> None:
        self.memory: ScoreMemory = {}
        self.before: int | None = None
        self.is_measured, self.drop, self.below = is_measured, drop, below

    def run(self, score: int, *, has_gaps: bool = False, basis: str = "1") -> str:
        run = Run(score, "B", basis, self.is_measured, has_gaps)
        judged, self.memory = judge_score(run, self.before, self.memory, drop=self.drop, below=self.below)
        self.before = score
        return " ".join(["drop"] * judged.has_dropped + ["below"] * judged.fell_below)

    def runs(self, *scores: int) -> list[str]:
        return [self.run(score) for score in scores]


def test_score_drop_is_reported_once() -> None:
    assert ScoreHistory().runs(90, 86, 85, 85, 81, 80, 95, 90) == ["", "", "drop", "", "", "drop", "", "drop"]


def test_several_small_drops_add_up() -> None:
    assert ScoreHistory().runs(90, 89, 88, 87, 86, 85) == [*[""] * 5, "drop"]


def test_drop_contains_the_earlier_score() -> None:
    run = Run(90, "A", "1", is_measured=False, has_gaps=False)
    _, memory = judge_score(run, None, {}, drop=5, below=None)
    _, memory = judge_score(Run(87, "B", "1", is_measured=False, has_gaps=False), 90, memory, drop=5, below=None)
    judged, _ = judge_score(Run(84, "B", "1", is_measured=False, has_gaps=False), 87, memory, drop=5, below=None)
    assert (judged.before, judged.score, judged.has_dropped) == (90, 84, True)


def test_low_score_is_reported_once() -> None:
    history = ScoreHistory(drop=None, below=80)
    assert history.runs(79, 70, 80, 79, 79) == ["below", "", "", "below", ""]


def test_raised_threshold_applies_to_the_next_run() -> None:
    history = ScoreHistory(drop=None, below=80)
    history.run(85)
    history.below = 90
    assert history.runs(85, 85) == ["below", ""]


def test_partial_score_is_confirmed_by_the_next() -> None:
    history = ScoreHistory(below=80)
    history.run(90)
    assert history.run(70, has_gaps=True) == ""
    assert history.run(90) == ""
    assert history.run(70, has_gaps=True) == ""
    assert history.run(71) == "drop below"


def test_partial_first_run_ignores_the_threshold() -> None:
    history = ScoreHistory(below=80)
    assert history.run(70, has_gaps=True) == ""
    assert history.run(70) == "below"


def test_scores_belong_to_a_catalogue_version() -> None:
    history = ScoreHistory(below=80)
    history.run(90, basis="browser")
    assert history.run(60, basis="none") == ""
    assert history.run(90, basis="browser") == ""
    assert history.run(84, basis="browser") == "drop"


def test_second_slow_run_is_reported() -> None:
    history = ScoreHistory(is_measured=True)
    assert not any(history.runs(90, 92, 89, 91, 90, 60, 90, 91, 60, 90))
    assert history.runs(60, 61, 60) == ["", "drop", ""]


@pytest.mark.parametrize("seed", range(40))
def test_random_variation_is_not_reported(seed: int) -> None:
    dice = random.Random(seed)
    history = ScoreHistory(is_measured=True, below=None)
    assert not any(history.runs(*(round(min(100, dice.gauss(85, 2.5))) for _ in range(100))))


@pytest.mark.parametrize("seed", range(20))
def test_drop_is_reported_despite_noise(seed: int) -> None:
    dice = random.Random(seed)
    history = ScoreHistory(is_measured=True)
    history.runs(*(round(dice.gauss(85, 1.5)) for _ in range(20)))
    assert "drop" in history.runs(*(round(dice.gauss(65, 1.5)) for _ in range(3)))


def test_noise_at_the_threshold_is_reported_once() -> None:
    history = ScoreHistory(is_measured=True, drop=None, below=80)
    assert history.runs(*([81, 79, 80, 78, 81, 79] * 5)).count("below") <= 1
