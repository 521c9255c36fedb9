"""Scores over time, drawn: coordinates for inline SVG. Pure; what they show stands beside them as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Protocol, TypeVar

# The drawings' own units. Both are stretched to the room they get; the style sheet keeps strokes as they are.
SPARK_WIDTH, SPARK_HEIGHT, SPARK_MARGIN = 100, 28, 3
TREND_WIDTH, TREND_HEIGHT, TREND_MARGIN = 600, 160, 6
# A scan within less than a day of the one before would otherwise cover it.
LEAST_STEP = 4
GRID = (100, 75, 50, 25, 0)


class Scored(Protocol):
    @property
    def score(self) -> int: ...

    @property
    def grade(self) -> str: ...

    @property
    def created_at(self) -> datetime: ...


S = TypeVar("S", bound=Scored)


@dataclass(frozen=True, slots=True)
class Spark:
    """Scores from the oldest to the newest: `line` for a polyline, `x` and `y` of its end."""

    line: str
    x: float
    y: float
    scores: tuple[int, ...]

    @property
    def size(self) -> str:
        return f"0 0 {SPARK_WIDTH} {SPARK_HEIGHT}"


@dataclass(frozen=True, slots=True)
class Point(Generic[S]):
    x: float
    y: float
    result: S

    @property
    def title(self) -> str:
        result = self.result
        return f"{result.score} ({result.grade}), {result.created_at:%Y-%m-%d %H:%M}"


@dataclass(frozen=True, slots=True)
class Trend(Generic[S]):
    """Results over time, the oldest first, between `begin` and `end`; `line` and `area` for polyline and polygon."""

    points: tuple[Point[S], ...]
    line: str
    area: str
    begin: datetime
    end: datetime

    @property
    def size(self) -> str:
        return f"0 0 {TREND_WIDTH} {TREND_HEIGHT}"

    @property
    def grid(self) -> tuple[float, ...]:
        """Where the lines of 100, 75, 50, 25 and 0 run."""
        return tuple(_height(score, TREND_HEIGHT, TREND_MARGIN) for score in GRID)

    @property
    def newest_first(self) -> tuple[S, ...]:
        return tuple(point.result for point in reversed(self.points))

    @property
    def summary(self) -> str:
        first, last = self.points[0].result, self.points[-1].result
        return (
            f"Scores of {len(self.points)} scans from {self.begin:%-d %B %Y} to {self.end:%-d %B %Y}:"
            f" {first.score} at first, {last.score} at last."
        )


def spark(newest_first: Sequence[Scored]) -> Spark | None:
    """A line as high as a word, one step a scan; None without a score."""
    scores = tuple(each.score for each in reversed(newest_first))
    if not scores:
        return None
    room = SPARK_WIDTH - 2 * SPARK_MARGIN
    places = [
        (
            round(SPARK_MARGIN + (room * at / (len(scores) - 1) if len(scores) > 1 else room), 1),
            _height(score, SPARK_HEIGHT, SPARK_MARGIN),
        )
        for at, score in enumerate(scores)
    ]
    return Spark(_line(places), *places[-1], scores)


def trend(scored: Sequence[S]) -> Trend[S] | None:
    """Results in any order over time; None for fewer than two: a point is no trend."""
    if len(scored) < 2:
        return None
    results = sorted(scored, key=lambda each: each.created_at)
    begin, end = results[0].created_at, results[-1].created_at
    span = (end - begin).total_seconds() or 1
    room = TREND_WIDTH - 2 * TREND_MARGIN
    # Those that stand close together are moved apart, and all of it pressed together again.
    xs: list[float] = []
    for result in results:
        x = room * (result.created_at - begin).total_seconds() / span
        xs.append(max(x, xs[-1] + LEAST_STEP) if xs else x)
    stretch = room / xs[-1]
    points = tuple(
        Point(round(TREND_MARGIN + x * stretch, 1), _height(result.score, TREND_HEIGHT, TREND_MARGIN), result)
        for x, result in zip(xs, results, strict=True)
    )
    line = _line([(point.x, point.y) for point in points])
    floor = _height(0, TREND_HEIGHT, TREND_MARGIN)
    area = f"{points[0].x},{floor} {line} {points[-1].x},{floor}"
    return Trend(points, line, area, begin, end)


def _height(score: int, height: int, margin: int) -> float:
    return round(margin + (height - 2 * margin) * (100 - score) / 100, 1)


def _line(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in places)
