"""Decide whether the browser loads the page again.

It does if the figures vary, or if another load could bring a figure below its limit. Other programs only slow loads
down, so the figure of the fastest load counts, and further loads make it more certain.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from website_scan.browser.evidence import Load, Task
from website_scan.browser.stability import LONG_TASK_S, are_loads_stable, was_starved
from website_scan.page.references import ResourceKind
from website_scan.performance.vitals import (
    CLS,
    FCP_S,
    LCP_S,
    MAIN_THREAD_TIME_S,
    SCRIPT_TIME_S,
    SPEED_INDEX_S,
    TBT_S,
    MarkupFacts,
    Measured,
    latest_paint_s,
    vitals,
)

MAX_LOADS_UNTIL_STABLE = 4
MAX_LOADS = 6
# Factors by which another load may be faster, on an idle and on a fully busy machine.
NOISE_FACTOR, STARVED_NOISE_FACTOR = 1.05, 1.25


def needs_another_load(loads: Sequence[Load], markup: MarkupFacts) -> bool:
    """Return True if another load of the page could change a verdict."""
    if len(loads) < MAX_LOADS_UNTIL_STABLE and not are_loads_stable(loads):
        return True
    return len(loads) < MAX_LOADS and _may_pass_in_another_load(loads, markup)


def is_one_load_enough(load: Load, markup: MarkupFacts) -> bool:
    """Return True if the figures of the first load are within all limits, whatever further loads measure.

    Further loads only lower the figures that count, even if this load had to wait for a processor. The exception is the
    Speed Index, because a film may miss frames, so the latest paint has to be within its limit. The style sheets are
    not known yet, so any font may hide text until it has loaded.
    """
    fonts = frozenset(request.url for request in load.requests if request.kind is ResourceKind.FONT)
    markup = replace(markup, text_blocking_fonts=fonts)
    measured = vitals([load], markup)
    paints = (measured.fcp, measured.lcp, measured.tbt)
    return (
        measured.is_complete
        and bool(load.main_thread.tasks)
        and not long_tasks_of([load])
        and all(_is_within(metric, limits[0]) for metric, limits in zip(paints, (FCP_S, LCP_S, TBT_S), strict=True))
        and (latest_s := latest_paint_s(load, markup)) is not None
        and latest_s <= SPEED_INDEX_S[0]
        and measured.cls.value <= CLS[0]
        and measured.script_s <= SCRIPT_TIME_S[0]
        and measured.main_thread_s <= MAIN_THREAD_TIME_S[0]
    )


def _is_within(metric: Measured | None, limit: float) -> bool:
    return metric is not None and metric.value <= limit


def long_tasks_of(loads: Sequence[Load]) -> list[Task]:
    """Return the long tasks (50 ms) in the load with the fewest."""
    traced = [load.main_thread.tasks for load in loads if load.main_thread.tasks] or [()]
    return min(([task for task in tasks if task.processor_s >= LONG_TASK_S] for tasks in traced), key=len)


def _may_pass_in_another_load(loads: Sequence[Load], markup: MarkupFacts) -> bool:
    factor = STARVED_NOISE_FACTOR if was_starved(loads) else NOISE_FACTOR
    measured = vitals(loads, markup)
    if any(
        _is_just_above(metric, limit, factor)
        for metric, limits in ((measured.fcp, FCP_S), (measured.lcp, LCP_S), (measured.tbt, TBT_S))
        for limit in limits
    ):
        return True
    tasks = long_tasks_of(loads)
    return bool(tasks) and max(task.processor_s for task in tasks) <= factor * LONG_TASK_S


def _is_just_above(metric: Measured | None, limit: float, factor: float) -> bool:
    return metric is not None and limit < metric.value <= factor * limit
