"""Coordinates for inline SVG charts of scores over time.

The pages also contain the data as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Generic, Protocol, TypeVar

from msgspec import Struct

# Sizes in SVG user units. Both charts are stretched to the available width, without a change of the stroke width (CSS).
SPARK_WIDTH, SPARK_HEIGHT, SPARK_MARGIN = 100, 28, 3
TREND_WIDTH, TREND_HEIGHT, TREND_MARGIN = 600, 160, 6
# Smallest distance of two points on the x axis, so that points of scans on one day do not overlap.
MIN_POINT_DISTANCE = 4
GRID = (100, 75, 50, 25, 0)


class Scored(Protocol):
    """Protocol for scan results.

    Scores are only comparable within one catalogue version.
    """

    @property
    def score(self) -> int: ...

    @property
    def catalogue_version(self) -> str: ...

    @property
    def grade(self) -> str: ...

    @property
    def created_at(self) -> datetime: ...


S = TypeVar("S", bound=Scored)


class Spark(Struct, frozen=True):
    """Scores from the oldest to the newest.

    Every catalogue version has its own polyline.

    `x` and `y` are the end of the last line.
    """

    lines: tuple[str, ...]
    x: float
    y: float
    scores: tuple[int, ...]

    @property
    def size(self) -> str:
        return f"0 0 {SPARK_WIDTH} {SPARK_HEIGHT}"


class Point(Struct, Generic[S], frozen=True):
    x: float
    y: float
    result: S

    @property
    def title(self) -> str:
        result = self.result
        return f"{result.score} ({result.grade}), {result.created_at:%Y-%m-%d %H:%M}"


class _TrendArea:
    """Drawing area for charts over time: its size, and the grid lines for scores or shares."""

    __slots__ = ()

    @property
    def size(self) -> str:
        return f"0 0 {TREND_WIDTH} {TREND_HEIGHT}"

    @property
    def grid(self) -> tuple[float, ...]:
        """Y coordinates for the grid lines at 100, 75, 50, 25 and 0."""
        return tuple(_y(score, TREND_HEIGHT, TREND_MARGIN) for score in GRID)


class Trend(Struct, _TrendArea, Generic[S], frozen=True):
    """Chart of scan results over time, oldest first, between `begin` and `end`.

    `lines` and `areas` are the points of SVG polylines and polygons, one for each sequence of results with the same
    catalogue version.
    """

    points: tuple[Point[S], ...]
    lines: tuple[str, ...]
    areas: tuple[str, ...]
    begin: datetime
    end: datetime

    @property
    def version_changes(self) -> int:
        """How often the catalogue version changed.

        The line has a gap at every change.
        """
        return len(self.lines) - 1

    @property
    def newest_first(self) -> tuple[S, ...]:
        return tuple(point.result for point in reversed(self.points))

    @property
    def ends(self) -> tuple[str, str]:
        """Labels for the two ends of the x axis.

        They are dates, plus times if both are on the same day.
        """
        date_format = "%-d %b %Y" if self.begin.date() != self.end.date() else "%-d %b %Y, %H:%M"
        return self.begin.strftime(date_format), self.end.strftime(date_format)

    @property
    def summary(self) -> str:
        first, last = self.points[0].result, self.points[-1].result
        return (
            f"Scores of {len(self.points)} scans from {self.ends[0]} to {self.ends[1]}:"
            f" {first.score} at first, {last.score} most recently."
            f"{' The rules changed in between.' if self.version_changes else ''}"
        )


def spark(newest_first: Sequence[Scored]) -> Spark | None:
    """Return the sparkline for these scores, with equal steps on the x axis.

    None without a score.
    """
    results = newest_first[::-1]
    scores = tuple(result.score for result in results)
    if not scores:
        return None
    width = SPARK_WIDTH - 2 * SPARK_MARGIN
    points = [
        (
            round(SPARK_MARGIN + (width * index / (len(scores) - 1) if len(scores) > 1 else width), 1),
            _y(score, SPARK_HEIGHT, SPARK_MARGIN),
        )
        for index, score in enumerate(scores)
    ]
    lines = tuple(_svg_points(points[begin:end]) for begin, end in _version_ranges(results))
    return Spark(lines, *points[-1], scores)


def trend(scored: Sequence[S]) -> Trend[S] | None:
    """Return the chart for these results, which may be in any order.

    None for fewer than two results.
    """
    if len(scored) < 2:
        return None
    results = sorted(scored, key=lambda result: result.created_at)
    begin, end = results[0].created_at, results[-1].created_at
    duration_s = (end - begin).total_seconds() or 1
    width = TREND_WIDTH - 2 * TREND_MARGIN
    # Move close points apart, then compress all points to the width of the chart.
    xs: list[float] = []
    for result in results:
        x = width * (result.created_at - begin).total_seconds() / duration_s
        xs.append(max(x, xs[-1] + MIN_POINT_DISTANCE) if xs else x)
    factor = width / xs[-1]
    points = tuple(
        Point(round(TREND_MARGIN + x * factor, 1), _y(result.score, TREND_HEIGHT, TREND_MARGIN), result)
        for x, result in zip(xs, results, strict=True)
    )
    bottom = _y(0, TREND_HEIGHT, TREND_MARGIN)
    segments = [points[begin:end] for begin, end in _version_ranges(results)]
    lines = tuple(_svg_points([(point.x, point.y) for point in segment]) for segment in segments)
    areas = tuple(
        f"{segment[0].x},{bottom} {line} {segment[-1].x},{bottom}"
        for segment, line in zip(segments, lines, strict=True)
    )
    return Trend(points, lines, areas, begin, end)


def _version_ranges(results: Sequence[Scored]) -> Iterator[tuple[int, int]]:
    """Yield the start and end index of every run of results with the same catalogue version."""
    begin = 0
    for _, group in groupby(results, key=lambda result: result.catalogue_version):
        end = begin + len(list(group))
        yield begin, end
        begin = end


def _y(score: float, height: int, margin: int) -> float:
    return round(margin + (height - 2 * margin) * (100 - score) / 100, 1)


def _svg_points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


class Axis(Struct, _TrendArea, frozen=True):
    """Time axis that several lines share."""

    begin: datetime
    end: datetime

    @classmethod
    def of(cls, lines: Iterable[Sequence[Scored]]) -> Axis | None:
        """Return an axis from the oldest to the newest result on any line.

        None if all have the same time.
        """
        moments = [result.created_at for line in lines for result in line]
        return cls(min(moments), max(moments)) if moments and min(moments) < max(moments) else None

    def points(self, results: Sequence[Scored]) -> tuple[tuple[float, float], ...]:
        """Return the results' coordinates, oldest first."""
        ordered = sorted(results, key=lambda result: result.created_at)
        return tuple((self.x(result.created_at), self.y(result.score)) for result in ordered)

    def polyline(self, results: Sequence[Scored]) -> str:
        return _svg_points(self.points(results))

    def y(self, share: float) -> float:
        return _y(share, TREND_HEIGHT, TREND_MARGIN)

    def x(self, moment: datetime) -> float:
        part = (moment - self.begin) / (self.end - self.begin)
        return round(TREND_MARGIN + (TREND_WIDTH - 2 * TREND_MARGIN) * part, 1)
