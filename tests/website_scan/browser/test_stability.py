"""Tests for comparing page loads by their main-thread blocking time."""

from __future__ import annotations

import pytest

from tests.website_scan.browser.loads import load
from website_scan.browser.evidence import Load, MainThread, Task
from website_scan.browser.stability import are_loads_stable, blocking_time_s


def load_with_tasks(*processor_s: float) -> Load:
    return load(main_thread=MainThread(tuple(Task(0.4 + at, length, length) for at, length in enumerate(processor_s))))


def test_blocking_time_begins_at_50_ms_on_a_phone() -> None:
    assert blocking_time_s(load_with_tasks(0.01, 0.1, 0.2)) == pytest.approx(0.35 + 0.75)
    before_paint = load(main_thread=MainThread((Task(0.0, 0.2, 0.2),)))
    assert blocking_time_s(before_paint) == 0.0


@pytest.mark.parametrize(
    ("loads", "is_stable"),
    [
        pytest.param((0.1,), True, id="one"),
        pytest.param((0.1, 0.105), True, id="equal"),
        pytest.param((0.1, 0.2), False, id="one-was-starved"),
        pytest.param((0.1, 0.2, 0.1), True, id="third-agrees-with-the-fastest"),
        pytest.param((0.1, 0.2, 0.2), False, id="third-agrees-with-the-starved"),
        pytest.param((0.0, 0.02), True, id="difference-that-nobody-notices"),
    ],
)
def test_loads_are_stable_if_the_two_fastest_agree(loads: tuple[float, ...], is_stable: bool) -> None:
    assert are_loads_stable([load_with_tasks(length) for length in loads]) is is_stable
