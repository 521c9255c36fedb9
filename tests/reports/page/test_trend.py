"""The drawing of a page's last scores."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reports.page.trend import HEIGHT, WIDTH, Score, trend

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def scores(*values: int) -> list[Score]:
    """Newest first, as they come from the database."""
    return [Score(value, "C", NOW - timedelta(days=at), None, at == 0) for at, value in enumerate(values)]


def test_one_scan_is_no_trend() -> None:
    assert trend([]) is None
    assert trend(scores(70)) is None


def test_time_goes_from_left_to_right_and_better_is_higher() -> None:
    drawn = trend(scores(90, 50, 70))
    assert drawn is not None
    assert [point.score.score for point in drawn.points] == [70, 50, 90]
    assert [each.score for each in drawn.newest_first] == [90, 50, 70]
    xs, ys = [point.x for point in drawn.points], [point.y for point in drawn.points]
    assert xs == sorted(xs)
    assert ys[2] < ys[0] < ys[1]


@pytest.mark.parametrize("values", [(0, 0), (100, 100), (0, 100), (99, 100), (3, 1), (55, 57, 56)])
def test_all_points_lie_within_the_drawing(values: tuple[int, ...]) -> None:
    drawn = trend(scores(*values))
    assert drawn is not None
    assert all(0 < point.x < WIDTH and 0 < point.y < HEIGHT for point in drawn.points)
    assert 0 <= drawn.least <= min(values)
    assert max(values) <= drawn.largest <= 100
    assert drawn.largest - drawn.least >= 20
