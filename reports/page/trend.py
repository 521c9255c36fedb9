"""The scores of a page's last scans as a small drawing. Pure; the numbers themselves stand in a table beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

# The drawing's own units.
WIDTH, HEIGHT = 320, 96
MARGIN_X, MARGIN_Y = 8, 10
# Scores that stay within a few points would look like a mountain range on a scale of their own.
LEAST_RANGE = 20


@dataclass(frozen=True, slots=True)
class Score:
    """A scan with a result; `url` is None where its report is no longer kept, or is the one that is shown."""

    score: int
    grade: str
    created_at: datetime
    url: str | None
    is_this: bool


@dataclass(frozen=True, slots=True)
class Point:
    """A scan's place in the drawing."""

    x: float
    y: float
    score: Score


@dataclass(frozen=True, slots=True)
class Trend:
    """Oldest first. `line` are the coordinates for a polyline, `area` those for what lies below it."""

    points: tuple[Point, ...]
    line: str
    area: str
    least: int
    largest: int

    @property
    def width(self) -> int:
        return WIDTH

    @property
    def height(self) -> int:
        return HEIGHT

    @property
    def newest_first(self) -> tuple[Score, ...]:
        """For the table."""
        return tuple(point.score for point in reversed(self.points))


def trend(scores: Sequence[Score]) -> Trend | None:
    """The drawing of scores in any order; None for fewer than two: a point is no trend."""
    if len(scores) < 2:
        return None
    ordered = sorted(scores, key=lambda each: each.created_at)
    least, largest = _range([each.score for each in ordered])
    step = (WIDTH - 2 * MARGIN_X) / (len(ordered) - 1)
    points = tuple(
        Point(
            x=round(MARGIN_X + at * step, 1),
            y=round(MARGIN_Y + (HEIGHT - 2 * MARGIN_Y) * (largest - each.score) / (largest - least), 1),
            score=each,
        )
        for at, each in enumerate(ordered)
    )
    line = " ".join(f"{point.x},{point.y}" for point in points)
    area = f"{points[0].x},{HEIGHT} {line} {points[-1].x},{HEIGHT}"
    return Trend(points, line, area, least, largest)


def _range(values: Sequence[int]) -> tuple[int, int]:
    """What the drawing reaches from and to: whole tens within 0 to 100, not too few."""
    least = min(values) // 10 * 10
    largest = -(-max(values) // 10) * 10
    if largest - least < LEAST_RANGE:
        largest = min(100, least + LEAST_RANGE)
        least = largest - LEAST_RANGE
    return least, largest
