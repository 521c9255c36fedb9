"""Charts of scores over time: coordinates for inline SVG. Pure functions. The page shows the same data as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Generic, Protocol, TypeVar

# In SVG user units. Both charts are stretched to the available width; the style sheet keeps the stroke widths.
SPARK_WIDTH, SPARK_HEIGHT, SPARK_MARGIN = 100, 28, 3
TREND_WIDTH, TREND_HEIGHT, TREND_MARGIN = 600, 160, 6
# The least distance of two points on the x axis, so that scans within a day do not cover each other.
LEAST_STEP = 4
GRID = (100, 75, 50, 25, 0)


class Scored(Protocol):
    """Protocol of a score with its catalogue version. Scores of different catalogue versions are not comparable."""

    @property
    def score(self) -> int: ...

    @property
    def catalogue_version(self) -> str: ...

    @property
    def grade(self) -> str: ...

    @property
    def created_at(self) -> datetime: ...


S = TypeVar("S", bound=Scored)


@dataclass(frozen=True, slots=True)
class Spark:
    """Sparkline of scores from the oldest to the newest: a polyline per catalogue version; `x` and `y` of the end."""

    lines: tuple[str, ...]
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
    """Chart of results over time, the oldest first, between `begin` and `end`.

    `lines` and `areas` are the points of polylines and polygons, one for each run of results with the same catalogue
    version.
    """

    points: tuple[Point[S], ...]
    lines: tuple[str, ...]
    areas: tuple[str, ...]
    begin: datetime
    end: datetime

    @property
    def size(self) -> str:
        return f"0 0 {TREND_WIDTH} {TREND_HEIGHT}"

    @property
    def grid(self) -> tuple[float, ...]:
        """The y coordinates of the grid lines for 100, 75, 50, 25 and 0."""
        return tuple(_height(score, TREND_HEIGHT, TREND_MARGIN) for score in GRID)

    @property
    def changes_of_rules(self) -> int:
        """Number of changes of the catalogue version. The line is interrupted there."""
        return len(self.lines) - 1

    @property
    def newest_first(self) -> tuple[S, ...]:
        return tuple(point.result for point in reversed(self.points))

    @property
    def ends(self) -> tuple[str, str]:
        """Labels of both ends of the x axis: their dates, or their times if it is one day."""
        form = "%-d %b %Y" if self.begin.date() != self.end.date() else "%-d %b %Y, %H:%M"
        return self.begin.strftime(form), self.end.strftime(form)

    @property
    def summary(self) -> str:
        first, last = self.points[0].result, self.points[-1].result
        return (
            f"Scores of {len(self.points)} scans from {self.ends[0]} to {self.ends[1]}:"
            f" {first.score} at first, {last.score} most recently."
            f"{' The rules changed in between.' if self.changes_of_rules else ''}"
        )


def spark(newest_first: Sequence[Scored]) -> Spark | None:
    """Return the sparkline of these scores, with equal steps. None without a score."""
    results = newest_first[::-1]
    scores = tuple(each.score for each in results)
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
    lines = tuple(_line(places[begin:end]) for begin, end in _same_rules(results))
    return Spark(lines, *places[-1], scores)


def trend(scored: Sequence[S]) -> Trend[S] | None:
    """Return the chart of results, given in any order. None for fewer than two, because one point is no trend."""
    if len(scored) < 2:
        return None
    results = sorted(scored, key=lambda each: each.created_at)
    begin, end = results[0].created_at, results[-1].created_at
    span = (end - begin).total_seconds() or 1
    room = TREND_WIDTH - 2 * TREND_MARGIN
    # Move close points apart, then compress the whole to the width.
    xs: list[float] = []
    for result in results:
        x = room * (result.created_at - begin).total_seconds() / span
        xs.append(max(x, xs[-1] + LEAST_STEP) if xs else x)
    stretch = room / xs[-1]
    points = tuple(
        Point(round(TREND_MARGIN + x * stretch, 1), _height(result.score, TREND_HEIGHT, TREND_MARGIN), result)
        for x, result in zip(xs, results, strict=True)
    )
    floor = _height(0, TREND_HEIGHT, TREND_MARGIN)
    runs = [points[begin:end] for begin, end in _same_rules(results)]
    lines = tuple(_line([(point.x, point.y) for point in run]) for run in runs)
    areas = tuple(f"{run[0].x},{floor} {line} {run[-1].x},{floor}" for run, line in zip(runs, lines, strict=True))
    return Trend(points, lines, areas, begin, end)


def _same_rules(results: Sequence[Scored]) -> Iterator[tuple[int, int]]:
    """Yield the runs of results with the same catalogue version, as slice bounds."""
    begin = 0
    for _, run in groupby(results, key=lambda each: each.catalogue_version):
        end = begin + len(list(run))
        yield begin, end
        begin = end


def _height(score: int, height: int, margin: int) -> float:
    return round(margin + (height - 2 * margin) * (100 - score) / 100, 1)


def _line(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in places)
