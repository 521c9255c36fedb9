"""Tests for score charts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from infrastructure.web.charts import TREND_HEIGHT, TREND_WIDTH, spark, trend

NOW = datetime(2026, 11, 21, tzinfo=UTC)


class Result(Struct, frozen=True):
    score: int
    created_at: datetime
    grade: str = "C"
    catalogue_version: str = "one"


def result(score: int, minutes: float = 0) -> Result:
    return Result(score, NOW + timedelta(minutes=minutes))


def test_sparkline_orders_scores_by_time() -> None:
    assert spark([]) is None
    one = spark([result(50)])
    assert one is not None
    assert (one.lines, one.scores) == ((f"{one.x},{one.y}",), (50,))
    drawn = spark([result(100, 2), result(0, 1), result(50)])
    assert drawn is not None
    assert drawn.scores == (50, 0, 100)
    (line,) = drawn.lines
    ys = [float(point.partition(",")[2]) for point in line.split()]
    assert ys[1] > ys[0] > ys[2] == drawn.y


def test_chart_lines_break_at_a_new_catalogue() -> None:
    scores = [Result(40 + n, NOW + timedelta(days=n), catalogue_version="new" if n > 2 else "old") for n in range(5)]
    drawn = trend(scores)
    assert drawn is not None
    assert [len(line.split()) for line in drawn.lines] == [3, 2]
    assert [len(area.split()) for area in drawn.areas] == [5, 4]
    assert drawn.version_changes == 1
    assert drawn.summary.endswith("40 at first, 44 most recently. The rules changed in between.")
    sparkline = spark(scores[::-1])
    assert sparkline is not None
    assert [len(line.split()) for line in sparkline.lines] == [3, 2]


def test_trend_shows_times_within_a_day() -> None:
    day, days = trend([result(50), result(60, 90)]), trend([result(50), result(60, 3 * 24 * 60)])
    assert day is not None
    assert days is not None
    assert day.ends == ("21 Nov 2026, 00:00", "21 Nov 2026, 01:30")
    assert days.ends == ("21 Nov 2026", "24 Nov 2026")
    assert "from 21 Nov 2026, 00:00 to 21 Nov 2026, 01:30" in day.summary


def test_trend_needs_at_least_two_results() -> None:
    assert trend([]) is None
    assert trend([result(50)]) is None


@given(
    st.lists(
        st.tuples(st.integers(0, 100), st.one_of(st.just(0.0), st.floats(0, 1e6))),
        min_size=2,
        max_size=60,
    )
)
def test_trend_points_are_within_the_frame(scores: list[tuple[int, float]]) -> None:
    drawn = trend([result(score, minutes) for score, minutes in scores])
    assert drawn is not None
    xs = [point.x for point in drawn.points]
    assert xs == sorted(xs)
    assert xs[0] > 0
    assert abs(xs[-1] - (TREND_WIDTH - xs[0])) < 0.2
    assert all(0 <= point.y <= TREND_HEIGHT for point in drawn.points)
    points_by_score = sorted(drawn.points, key=lambda point: point.result.score)
    assert [point.result for point in reversed(drawn.points)] == list(drawn.newest_first)
    assert [point.y for point in points_by_score] == sorted((point.y for point in points_by_score), reverse=True)
