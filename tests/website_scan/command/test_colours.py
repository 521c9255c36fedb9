"""Tests for the colours of scores."""

from __future__ import annotations

import pytest

from tests.website_scan.command.reports import check_result, judged_report
from website_scan.command.formats.text import style_of_score, summary


@pytest.mark.parametrize(
    ("score", "style"), [(100, "good"), (80, "good"), (79, "warn"), (60, "warn"), (59, "fail"), (None, "fail")]
)
def test_colour_of_a_score_follows_its_grade(score: int | None, style: str) -> None:
    assert style_of_score(score) == style


def test_good_score_is_green_despite_a_failed_check() -> None:
    passed = [check_result(f"check{number}", "pass") for number in range(20)]
    styles: list[tuple[str, str]] = []

    def paint(style: str, words: str) -> str:
        styles.append((style, words))
        return words

    list(summary([judged_report(check_result("a"), *passed)], paint))
    assert styles[-1][0] == "good"
