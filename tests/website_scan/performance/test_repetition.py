"""Test that a page is loaded again only if the verdict may change."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.website_scan.browser.loads import document_request, largest_paint, load, request
from website_scan.browser.evidence import LayoutShift, Load, MainThread, Progress, Task
from website_scan.browser.stability import PHONE_SLOWDOWN
from website_scan.page.references import ResourceKind
from website_scan.performance.repetition import (
    MAX_LOADS,
    MAX_LOADS_UNTIL_STABLE,
    is_one_load_enough,
    long_tasks_of,
    needs_another_load,
)
from website_scan.performance.vitals import MarkupFacts, vitals

BUSY = 2.0  # A starved browser waits twice as long for a processor as it runs.
UNTHROTTLED_FCP_S, SIMULATED_FCP_S = 0.3, 0.8  # First paint of a load without tasks.


def load_with_tasks(*processor_s: float, starvation: float = 0.0) -> Load:
    tasks = tuple(Task(0.4 + at, length, length) for at, length in enumerate(processor_s))
    return load(main_thread=MainThread(tasks), starvation=starvation)


def load_with_first_paint_at(simulated_s: float, starvation: float = 0.0) -> Load:
    work_s = (simulated_s - SIMULATED_FCP_S) / PHONE_SLOWDOWN
    main_thread = MainThread((Task(0.1, work_s, work_s),))
    painted = load(fcp_s=UNTHROTTLED_FCP_S + work_s, lcp=None, main_thread=main_thread, starvation=starvation)
    first_paint_s = vitals([painted], MarkupFacts()).fcp
    assert first_paint_s is not None
    assert first_paint_s.value == pytest.approx(simulated_s, abs=1e-3)
    return painted


@pytest.mark.parametrize(
    ("loads", "expected"),
    [
        pytest.param([load_with_first_paint_at(0.9)] * 2, False, id="fast-page"),
        pytest.param([load_with_first_paint_at(1.85)] * 2, True, id="paint-just-above-the-limit"),
        pytest.param([load_with_first_paint_at(1.85), load_with_first_paint_at(1.75)], False, id="one-paint-within"),
        pytest.param([load_with_first_paint_at(1.4)] * 2, False, id="paint-within-the-limit"),
        pytest.param([load_with_tasks(0.051)] * 2, True, id="task-just-above-the-limit"),
        pytest.param([load_with_tasks(0.061)] * 2, False, id="task-clearly-above-the-limit"),
        pytest.param([load_with_tasks(0.061, starvation=BUSY)] * 2, True, id="task-of-a-starved-browser"),
        pytest.param([load_with_tasks(0.1), load_with_tasks(0.2)], True, id="blocking-times-differ"),
        pytest.param([load_with_tasks(0.1), load_with_tasks(0.2), load_with_tasks(0.1)], False, id="third-load-agrees"),
    ],
)
def test_uncertain_figures_cause_another_load(loads: list[Load], expected: bool) -> None:
    assert needs_another_load(loads, MarkupFacts()) is expected


@pytest.mark.parametrize("starvation", [pytest.param(0.0, id="idle"), pytest.param(BUSY, id="busy")])
@pytest.mark.parametrize("excess", [1.01, 1.2, 1.3])
def test_busy_machine_causes_more_loads(starvation: float, excess: float) -> None:
    loads = [load_with_first_paint_at(1.8 * excess, starvation)] * 2
    assert needs_another_load(loads, MarkupFacts()) is (excess < (1.25 if starvation else 1.05))


def test_loading_ends_after_six_loads() -> None:
    near_the_limit = [load_with_tasks(0.051)] * MAX_LOADS
    assert needs_another_load(near_the_limit[1:], MarkupFacts())
    assert not needs_another_load(near_the_limit, MarkupFacts())
    differing = [load_with_tasks(0.3 * 2**at) for at in range(MAX_LOADS_UNTIL_STABLE)]
    assert needs_another_load(differing[:-1], MarkupFacts())
    assert not needs_another_load(differing, MarkupFacts())


def test_load_with_fewest_long_tasks_counts() -> None:
    loads = [load_with_tasks(0.06, 0.07), load_with_tasks(0.08, 0.02), load()]
    assert [task.processor_s for task in long_tasks_of(loads)] == [0.08]


HERO = request("hero.jpg", start_s=0.1, end_s=1.0, wire_bytes=800_000)
FONT = request("tea.woff2", ResourceKind.FONT, start_s=0.1, end_s=0.2, wire_bytes=340_000)
FAST_LOAD = replace(load_with_tasks(0.01), observed_s=0.9, progress=Progress(((0.31, 1.0),), ()))
MISSES_FRAMES = Progress(((0.31, 1.0),), ((HERO.url, 0.0),))


@pytest.mark.parametrize(
    "figures",
    [
        pytest.param({}, id="idle-machine"),
        pytest.param({"starvation": BUSY}, id="busy-machine"),
        pytest.param({"progress": Progress(((0.31, 0.5), (0.9, 1.0)), ())}, id="late-parts-of-the-screen"),
        pytest.param({"progress": Progress(((0.31, 1.0),), ((HERO.url, 1.0),))}, id="other-picture"),
    ],
)
def test_one_load_is_enough_if_all_figures_are_within_their_limits(figures: dict[str, Any]) -> None:
    assert is_one_load_enough(replace(FAST_LOAD, **figures), MarkupFacts())


@pytest.mark.parametrize(
    "figures",
    [
        pytest.param({"load_s": None}, id="incomplete"),
        pytest.param({"progress": None}, id="no-film"),
        pytest.param({"progress": MISSES_FRAMES, "requests": (document_request(), HERO)}, id="film-without-picture"),
        pytest.param({"observed_s": 0.0}, id="unknown-duration"),
        pytest.param({"progress": Progress(((0.31, 1.0),), ((HERO.url, 0.0),) * 30)}, id="many-pictures"),
        pytest.param({"main_thread": MainThread(())}, id="no-trace"),
        pytest.param({"main_thread": MainThread((Task(0.4, 0.06, 0.06),))}, id="long-task"),
        pytest.param({"main_thread": MainThread((Task(0.1, 0.3, 0.3),)), "fcp_s": 0.6}, id="late-paint"),
        pytest.param({"fcp_s": None, "lcp": None}, id="no-paint"),
        pytest.param({"lcp": largest_paint(1.0, HERO.url), "requests": (document_request(), HERO)}, id="late-picture"),
        pytest.param({"main_thread": MainThread((Task(0.4, 0.04, 0.04),) * 3)}, id="blocked"),
        pytest.param({"shifts": (LayoutShift(0.4, 0.2, "p"),)}, id="layout-shift"),
        pytest.param({"script_s": 0.4}, id="long-scripts"),
        pytest.param({"main_thread_s": 0.6}, id="busy-main-thread"),
        pytest.param({"requests": (document_request(), FONT), "observed_s": 1.1}, id="late-font"),
    ],
)
def test_one_load_is_not_enough_if_another_one_could_change_a_verdict(figures: dict[str, Any]) -> None:
    assert not is_one_load_enough(replace(FAST_LOAD, **figures), MarkupFacts())
