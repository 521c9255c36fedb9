"""What people feel of a load, as numbers: from what the browser noted of an unthrottled load to a phone on a slow link.

First and largest contentful paint are those that the simulated link allows (`slow_link`): the end of what
the paint waited for, and then as long as the browser was seen to take. Blocking time takes each long task to be four
times as long, as on a phone of middle range (Lighthouse's factor). Shifts do not depend on the link.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scans.engine.browser.evidence import LayoutShift, Load, LoadedRequest
from scans.engine.page.references import ResourceKind
from scans.engine.performance.slow_link import simulate

SLOWDOWN = 4  # of a phone's processor beside ours
LONG_S = 0.05
# Session windows of layout shifts (web.dev, "Cumulative Layout Shift").
WINDOW_GAP_S, WINDOW_S = 1.0, 5.0
# A paint so soon after the first one belongs to it.
SAME_PAINT_S = 0.05
MAX_PAINT_WORK_S = 1.0
# What text can wait for. Images do not hold it up.
TEXT_WAITS_FOR = frozenset({ResourceKind.SCRIPT, ResourceKind.FONT, ResourceKind.STYLESHEET})


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure, its median over the loads, and the least and largest of them."""

    value: float
    least: float
    largest: float


class Paints(NamedTuple):
    """First and largest contentful paint of a load; None where nothing was painted."""

    first_s: float | None
    largest_s: float | None


@dataclass(frozen=True, slots=True)
class Vitals:
    """Seconds, and CLS without a unit. None: the page painted nothing that could be measured.

    `seen_fcp` and `seen_lcp` are those of the unthrottled loads.
    """

    fcp: Measured | None
    lcp: Measured | None
    cls: Measured
    tbt: Measured | None
    seen_fcp: Measured | None
    seen_lcp: Measured | None
    script_s: float
    main_thread_s: float
    loads: int
    is_complete: bool  # the load event came in every load


def vitals(loads: Sequence[Load], *, is_shell: bool) -> Vitals:
    """The figures of a page. `is_shell`: its markup shows nothing by itself, so paints wait for scripts."""
    paints = [simulated_paints(each, is_shell=is_shell) for each in loads]
    return Vitals(
        fcp=_measured(each.first_s for each in paints),
        lcp=_measured(each.largest_s for each in paints),
        cls=_measured(cumulative_layout_shift(each.shifts) for each in loads) or Measured(0.0, 0.0, 0.0),
        tbt=_measured(total_blocking_s(each) for each in loads),
        seen_fcp=_measured(each.fcp_s for each in loads),
        seen_lcp=_measured(each.lcp.time_s if each.lcp else None for each in loads),
        script_s=SLOWDOWN * statistics.median(each.script_s for each in loads),
        main_thread_s=SLOWDOWN * statistics.median(each.main_thread_s for each in loads),
        loads=len(loads),
        is_complete=all(each.load_s is not None for each in loads),
    )


def cumulative_layout_shift(shifts: Sequence[LayoutShift]) -> float:
    """The largest session window: shifts less than a second apart, for at most five seconds."""
    largest = total = 0.0
    began_s = last_s = -math.inf
    for each in sorted(shifts, key=lambda each: each.time_s):
        if each.time_s - last_s >= WINDOW_GAP_S or each.time_s - began_s >= WINDOW_S:
            began_s, total = each.time_s, 0.0
        total += each.value
        last_s = each.time_s
        largest = max(largest, total)
    return largest


def total_blocking_s(load: Load) -> float | None:
    """What long tasks take beyond 50 ms each after the first paint, on a slower processor; None without a paint."""
    if load.fcp_s is None:
        return None
    total = 0.0
    for task in load.long_tasks:
        within_s = min(task.duration_s, task.time_s + task.duration_s - load.fcp_s)
        total += max(0.0, SLOWDOWN * within_s - LONG_S) if within_s > 0 else 0.0
    return total


def simulated_paints(load: Load, *, is_shell: bool) -> Paints:
    """When the slow link lets the page show something, and its largest part, which is never before that."""
    if load.fcp_s is None or not load.requests:
        return Paints(None, None)
    ends = simulate(load.requests)
    waited_for = _waited_for(load, load.fcp_s, lambda each: each.is_blocking or (is_shell and _builds_text(each)))
    first_s = _painted_s(load, ends, waited_for, load.fcp_s)
    if load.lcp is None:
        return Paints(first_s, None)
    image = next((at for at, each in enumerate(load.requests) if load.lcp.url and each.url == load.lcp.url), None)
    if image is not None:
        waited_for = {0, image}
    elif load.lcp.time_s - load.fcp_s <= SAME_PAINT_S:
        return Paints(first_s, first_s)
    else:
        waited_for = _waited_for(load, load.lcp.time_s, lambda each: each.is_blocking or _builds_text(each))
    return Paints(first_s, max(first_s, _painted_s(load, ends, waited_for, load.lcp.time_s)))


def curve(value: float, good: float, median: float) -> float:
    """The credit, 0 to 1, that a value earns: Lighthouse's log-normal curve.

    It passes through 0.9 at `good` (its 10th percentile) and 0.5 at `median`; what is as good as `good` earns at
    least 0.9, what is as good as `median` at least 0.5.
    """
    ratio = value / median
    if ratio <= 0:
        return 1.0
    # erfc⁻¹(0.2), so that the curve passes through 0.9.
    z = math.log(ratio) * 0.9061938024368232 / -math.log(good / median)
    credit = (1 - math.erf(z)) / 2
    least = 0.9 if value <= good else 0.5 if value <= median else 0.0
    return min(1.0, max(credit, least))


def _builds_text(request: LoadedRequest) -> bool:
    return request.is_programmed or request.kind in TEXT_WAITS_FOR


def _waited_for(load: Load, painted_s: float, is_needed: Callable[[LoadedRequest], bool]) -> set[int]:
    """The document and those that had ended by then."""
    return {0} | {
        at
        for at, each in enumerate(load.requests)
        if each.end_s is not None and each.end_s <= painted_s and is_needed(each)
    }


def _painted_s(load: Load, ends: Sequence[float], waited_for: set[int], seen_s: float) -> float:
    # Between the last byte and the paint lies work, which is not the link's matter.
    last_s = max(load.requests[at].end_s or 0.0 for at in waited_for)
    work_s = min(max(0.0, seen_s - last_s), MAX_PAINT_WORK_S)
    return max(ends[at] for at in waited_for) + work_s


def _measured(values: Iterable[float | None]) -> Measured | None:
    found = [each for each in values if each is not None]
    return Measured(statistics.median(found), min(found), max(found)) if found else None
