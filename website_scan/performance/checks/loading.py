"""Checks of loading: the time until visitors see and can use the page.

With a browser, the time is measured and converted to a phone on a slow link (see `vitals`). Without a browser, a single
check estimates the load time (`estimate`).
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, NamedTuple

from website_scan.browser.evidence import BrowserLoad
from website_scan.browser.visit import BrowserFailed
from website_scan.catalogue import Category, check
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, NotApplicable
from website_scan.messages import by_curve, by_steps, excerpt
from website_scan.outcomes import Fail, Pass, Verdict, Warn, beyond, by_limits, outcome
from website_scan.page.evidence import Document, Page
from website_scan.performance.estimate import estimate
from website_scan.performance.evidence import Resources, Timing
from website_scan.performance.images import is_in_markup, is_preloaded_urgently
from website_scan.performance.vitals import LONG_S, Measured, Vitals, curve
from website_scan.places import Column, Place, Url, WireBytes
from website_scan.values import Address, Bytes, Code, Count, Milliseconds, Number, Seconds, Value, Values

CATEGORY = Category("Loading", weight=45, static_weight=15, html=True, content=True)

GOOD_S, POOR_S = 5.0, 10.0
# Pairs of a good value and the web's median: Lighthouse's control points for phones.
FCP_S, LCP_S, TBT_S, CLS, SPEED_INDEX_S = (1.8, 3.0), (2.5, 4.0), (0.2, 0.6), (0.1, 0.25), (3.4, 5.8)
SCRIPT_S, MAIN_THREAD_S = (1.282, 3.5), (2.017, 4.0)
LONG_TASKS = 5
# Time for the benchmark task above which the scanning machine counts as slow; current machines need a third of it.
SLOW_HOST_MS = 60.0
MAX_SHIFTED_ELEMENTS = 5
MIN_SHIFT = 0.001
NETWORK = ("http:", "https:")

NO_IMAGE_FILE = NotApplicable("The largest contentful element is not an image file.")
NO_FRAMES = NotApplicable("The browser delivered no frames of the load that could be compared.")
NO_PAINT = NotApplicable("The browser painted nothing on the page that could be measured.")
PHONE = "simulated for a phone on a connection of 1.6 Mbit/s with 150 ms of latency"
SLOWER = "on a processor four times slower than the scanner's"

Selector = Annotated[str, Column("Selector", "code")]


class Metric(NamedTuple):
    """Metric that is judged on a curve. `points` are a good value and the median of the web, `limit` is the good value.

    `unit` formats a figure. Loads whose figures differ by less than `least` agree.
    """

    points: tuple[float, float]
    limit: Value
    unit: Callable[[float], Value]
    least: float = 0.0


def _milliseconds(seconds: float) -> Milliseconds:
    return Milliseconds(1000 * seconds)


def _as_shift(value: float) -> Number:
    return Number(value, 3)


FCP_METRIC, LCP_METRIC = Metric(FCP_S, Seconds(FCP_S[0]), Seconds), Metric(LCP_S, Seconds(LCP_S[0]), Seconds)
SPEED_INDEX_METRIC = Metric(SPEED_INDEX_S, Seconds(SPEED_INDEX_S[0]), Seconds)
TBT_METRIC = Metric(TBT_S, _milliseconds(TBT_S[0]), _milliseconds, least=0.05)
CLS_METRIC = Metric(CLS, Number(CLS[0], 1), _as_shift, least=0.01)


@dataclass(frozen=True, slots=True)
class Figures(Place):
    """Metric of several loads, in seconds, and the element that it is about.

    `host_ms` is the time for a benchmark task on the scanning machine.
    """

    kind: ClassVar[str] = "figures"

    median: Annotated[float, Column("Median", "number", "s")]
    least: Annotated[float, Column("Smallest", "number", "s")]
    largest: Annotated[float, Column("Largest", "number", "s")]
    loads: Annotated[int, Column("Loads measured", "number")]
    stable: Annotated[bool, Column("Loads agree", "short")]
    host_ms: Annotated[float | None, Column("Reference task of the scanner", "number", "ms")]
    seen_s: Annotated[float | None, Column("Measured without throttling", "number", "s")] = None
    selector: Annotated[str | None, Column("Selector", "code")] = None
    snippet: Annotated[str | None, Column("Element", "code")] = None
    url: Annotated[str | None, Column("Address", "address")] = None


@dataclass(frozen=True, slots=True)
class ShiftFigures(Figures):
    """Layout shift of several loads, which has no unit."""

    kind: ClassVar[str] = "shift-figures"

    median: Annotated[float, Column("Median", "number")]
    least: Annotated[float, Column("Smallest", "number")]
    largest: Annotated[float, Column("Largest", "number")]


@dataclass(frozen=True, slots=True)
class ShiftedElement(Place):
    """Element that moved most in a layout shift."""

    kind: ClassVar[str] = "shifted-element"

    selector: Selector
    shift: Annotated[float, Column("Layout shift", "number")]


@dataclass(frozen=True, slots=True)
class LargestImage(Place):
    """Image of the largest contentful paint: whether its URL is in the HTML, and whether it has a high priority."""

    kind: ClassVar[str] = "largest-image"

    selector: Selector
    url: Url
    in_html: Annotated[bool | None, Column("In the HTML", "short")] = None
    high: Annotated[bool | None, Column("High priority", "short")] = None


@dataclass(frozen=True, slots=True)
class LongTask(Place):
    """Long task of the main thread."""

    kind: ClassVar[str] = "long-task"

    at_s: Annotated[float, Column("Starts at", "number", "s")]
    duration_ms: Annotated[int, Column("Duration", "number", "ms")]


@dataclass(frozen=True, slots=True)
class BusyTime(Place):
    """Time for which the processor is busy."""

    kind: ClassVar[str] = "busy-time"

    seconds: Annotated[float, Column("Time", "number", "s")]


@dataclass(frozen=True, slots=True)
class EstimatedLoad(Place):
    """Estimated load time, with the number of bytes and requests."""

    kind: ClassVar[str] = "estimated-load"

    seconds: Annotated[float, Column("Time", "number", "s")]
    document_seconds: Annotated[float, Column("Document alone", "number", "s")]
    wire_bytes: WireBytes
    requests: Annotated[int, Column("Requests", "number")]
    not_counted: Annotated[int, Column("Requests not counted", "number")]


@check(
    "lcp",
    name="Largest contentful paint",
    outcomes={"slow": outcome("Slow largest contentful paint", CRITICAL, LOW)},
    why="Until its largest element is painted, visitors do not see the main content of the page.",
    judged=by_curve(f"{LCP_S[0]} s", f"{LCP_S[1]} s"),
    severity=CRITICAL,
    fix="Let the browser discover the largest element early (in the HTML itself, an image with "
    '`fetchpriority="high"`), make it smaller, and shorten what it waits for: redirects, style sheets, scripts.',
    references=("web.dev: Largest Contentful Paint", "Lighthouse: largest-contentful-paint"),
    measured=True,
)
def lcp(vitals: Vitals, load: BrowserLoad) -> Verdict:
    if vitals.lcp is None:
        return _unpainted(vitals)
    largest = load.first.lcp
    figures = _figures(LCP_METRIC, vitals.lcp, load, vitals.observed_lcp)
    if largest is not None:
        figures = replace(
            figures,
            selector=excerpt(largest.selector, 300),
            snippet=excerpt(largest.snippet, 300),
            url=excerpt(largest.url, 300) if largest.url else None,
        )
    if largest is None or not largest.snippet:
        summary = f"The largest element of the first screen is painted after {{figure}} ({PHONE})"
        return _on_curve("slow", summary, LCP_METRIC, vitals.lcp, vitals, load, figures)
    summary = f"The largest element of the first screen, {{element}}, is painted after {{figure}} ({PHONE})"
    element = Code(largest.snippet, 100)
    return _on_curve("slow", summary, LCP_METRIC, vitals.lcp, vitals, load, figures, element=element)


@check(
    "tbt",
    name="Total blocking time",
    outcomes={"high": outcome("High total blocking time", HIGH, LOW)},
    why="While the main thread is blocked, the page does not react to taps, clicks and keys.",
    judged=by_curve(f"{TBT_S[0] * 1000:.0f} ms", f"{TBT_S[1] * 1000:.0f} ms"),
    severity=HIGH,
    fix="Load fewer scripts, split long tasks into shorter ones, and defer what the first screen does not need.",
    references=("web.dev: Total Blocking Time", "Lighthouse: total-blocking-time"),
    measured=True,
)
def tbt(vitals: Vitals, load: BrowserLoad) -> Verdict:
    if vitals.tbt is None:
        return _unpainted(vitals)
    summary = f"Long tasks block the main thread for {{figure}} in all, {SLOWER}"
    return _on_curve("high", summary, TBT_METRIC, vitals.tbt, vitals, load, _figures(TBT_METRIC, vitals.tbt, load))


@check(
    "cls",
    name="Cumulative layout shift",
    outcomes={"high": outcome("High cumulative layout shift", HIGH, LOW)},
    why="Content that jumps makes people lose their place or tap the wrong thing.",
    judged=by_curve(f"{CLS[0]}", f"{CLS[1]}"),
    severity=HIGH,
    fix="Give images, frames and ads their size (`width` and `height`, or `aspect-ratio`), and insert nothing above "
    "content that is already shown.",
    references=("web.dev: Cumulative Layout Shift", "web.dev: optimize CLS"),
    measured=True,
)
def cls(vitals: Vitals, load: BrowserLoad) -> Verdict:
    if vitals.observed_fcp is None:
        return _unpainted(vitals)
    worst = sorted(load.first.shifts, key=lambda shift: -shift.value)[:MAX_SHIFTED_ELEMENTS]
    moved = [Code(shift.source, 120) for shift in worst if shift.source and shift.value >= MIN_SHIFT]
    return _on_curve(
        "high",
        "The layout shifts by {figure} while the page loads",
        CLS_METRIC,
        vitals.cls,
        vitals,
        load,
        _figures(CLS_METRIC, vitals.cls, load),
        *(ShiftedElement(excerpt(shift.source, 300), round(shift.value, 4)) for shift in worst),
        more=" Shifted most: {moved}." if moved else "",
        **({"moved": Values(moved)} if moved else {}),
    )


@check(
    "fcp",
    name="First contentful paint",
    outcomes={"slow": outcome("Slow first contentful paint", HIGH, LOW)},
    why="Until the first text or image appears, visitors cannot tell whether the page works at all.",
    judged=by_curve(f"{FCP_S[0]} s", f"{FCP_S[1]} s"),
    severity=HIGH,
    fix="Let the server respond faster, without redirects, and load only what the first screen needs before it: few "
    "and small style sheets, scripts with `defer`.",
    references=("web.dev: First Contentful Paint", "Lighthouse: first-contentful-paint"),
    measured=True,
)
def fcp(vitals: Vitals, load: BrowserLoad) -> Verdict:
    if vitals.fcp is None:
        return _unpainted(vitals)
    summary = f"The first text or image is painted after {{figure}} ({PHONE})"
    figures = _figures(FCP_METRIC, vitals.fcp, load, vitals.observed_fcp)
    return _on_curve("slow", summary, FCP_METRIC, vitals.fcp, vitals, load, figures)


@check(
    "speed-index",
    name="Speed Index",
    outcomes={"high": outcome("High Speed Index", MEDIUM, LOW)},
    why="Until the first screen is complete, visitors see an unfinished page.",
    judged=by_curve(f"{SPEED_INDEX_S[0]} s", f"{SPEED_INDEX_S[1]} s"),
    severity=MEDIUM,
    fix="Show content before scripts have run, and let large images of the first screen be smaller or load earlier.",
    references=("Lighthouse: speed-index",),
    measured=True,
)
def speed_index(vitals: Vitals, load: BrowserLoad) -> Verdict:
    if vitals.observed_fcp is None:
        return _unpainted(vitals)
    if vitals.speed_index is None:
        return NO_FRAMES
    summary = f"On average, the parts of the first screen appear after {{figure}} ({PHONE})"
    figures = _figures(SPEED_INDEX_METRIC, vitals.speed_index, load)
    return _on_curve("high", summary, SPEED_INDEX_METRIC, vitals.speed_index, vitals, load, figures)


@check(
    "lcp-lazy",
    name="LCP image is not lazily loaded",
    outcomes={"lazy": "LCP image is lazily loaded"},
    why="A lazily loaded image waits for the layout, so the main content appears later than necessary.",
    severity=HIGH,
    fix='Remove `loading="lazy"` from the image.',
    references=("web.dev: Optimize Largest Contentful Paint", "Lighthouse: lcp-lazy-loaded"),
    measured=True,
)
def lcp_lazy(load: BrowserLoad) -> Verdict:
    largest = load.first.lcp
    if largest is None or not largest.url.startswith(NETWORK):
        return NO_IMAGE_FILE
    details = [LargestImage(excerpt(largest.selector, 300), excerpt(largest.url, 300))]
    if largest.is_lazy:
        return Fail(
            "lazy",
            "The largest image of the first screen is lazily loaded: {element}.",
            element=Code(largest.snippet, 200),
            details=details,
        )
    return Pass("The largest image of the first screen is not lazily loaded.", details=details)


@check(
    "lcp-priority",
    name="LCP image is discoverable and prioritized",
    outcomes={
        "late": outcome("LCP image is discovered late", MEDIUM, LOW),
        "low-priority": outcome("LCP image has no high priority", MEDIUM, LOW),
    },
    why="An image that is discovered late, or has a low priority, waits for files that visitors need less.",
    judged=f"Low if the image is painted within {LCP_S[0]} s all the same.",
    severity=MEDIUM,
    fix='Put the image into the HTML itself as `<img src="…" fetchpriority="high">`, or preload it with '
    '`<link rel="preload" as="image" fetchpriority="high" href="…">`.',
    references=("web.dev: Optimize Largest Contentful Paint", "MDN: fetchpriority"),
    measured=True,
)
def lcp_priority(page: Page, document: Document, load: BrowserLoad, vitals: Vitals) -> Verdict:
    largest = load.first.lcp
    if largest is None or not largest.url.startswith(NETWORK):
        return NO_IMAGE_FILE
    address = largest.url.partition("#")[0]
    is_in_html = is_in_markup(page, document, address)
    is_high = largest.is_high_priority or is_preloaded_urgently(page, document, address)
    details = [LargestImage(excerpt(largest.selector, 300), excerpt(largest.url, 300), is_in_html, is_high)]
    limit_s = LCP_S[1] if _was_machine_slow(load) else LCP_S[0]
    severity = LOW if vitals.lcp is not None and vitals.lcp.value <= limit_s else None
    image = Address(largest.url, 120)
    if is_in_html and is_high:
        return Pass("The largest image is in the HTML itself, with a high priority.", details=details)
    if is_in_html:
        summary = 'The largest image ({image}) has no fetchpriority="high".'
        return Warn("low-priority", summary, severity=severity, image=image, details=details)
    summary = "The largest image ({image}) is not in the HTML itself."
    return Warn("late", summary, severity=severity, image=image, details=details)


@check(
    "long-tasks",
    name="No long main-thread tasks",
    outcomes={"long": outcome("Long main-thread tasks", MEDIUM, LOW)},
    why="A task over 50 ms delays the response to whatever visitors do in the meantime.",
    judged=f"Passes without such a task, warns up to {LONG_TASKS}, fails above that. Low if they block for less than "
    f"{TBT_S[0] * 1000:.0f} ms in all.",
    severity=MEDIUM,
    fix="Split tasks that take longer than 50 ms, and leave what can wait to idle time.",
    references=("web.dev: Optimize long tasks", "W3C Long Tasks"),
    measured=True,
)
def long_tasks(load: BrowserLoad) -> Verdict:
    # Use the load with the fewest long tasks, because other programs may have delayed tasks in the other loads.
    traced = [one.main_thread.tasks for one in load.loads if one.main_thread.tasks] or [()]
    tasks = min(([task for task in load_tasks if task.processor_s >= LONG_S] for load_tasks in traced), key=len)
    limit = Milliseconds(1000 * LONG_S)
    if not tasks:
        return Pass("No task takes longer than {limit} on this machine.", limit=limit)
    is_short = sum(task.processor_s - LONG_S for task in tasks) < TBT_S[0]
    is_few = len(tasks) <= LONG_TASKS
    kind = Warn if is_few else Fail
    return kind(
        "long",
        "{tasks} {tasks:takes|take} longer than {limit}, the longest {longest}.",
        severity=LOW if is_few and is_short else None,
        tasks=Count(len(tasks), "task"),
        limit=limit,
        longest=Milliseconds(1000 * max(task.processor_s for task in tasks)),
        details=[LongTask(round(task.time_s, 2), round(task.processor_s * 1000)) for task in tasks],
    )


@check(
    "script-time",
    name="JavaScript execution time",
    outcomes={"high": "High JavaScript execution time"},
    why="While scripts run, slow phones neither paint the page nor react to taps.",
    judged=by_steps(f"{SCRIPT_S[0]:.1f} s", f"{SCRIPT_S[1]} s"),
    severity=MEDIUM,
    fix="Send less JavaScript, and run only what the page needs now.",
    references=("Lighthouse: bootup-time",),
    measured=True,
)
def script_time(vitals: Vitals) -> Verdict:
    return _judge_busy_time("high", "Scripts run for", vitals.script_s, SCRIPT_S)


@check(
    "main-thread",
    name="Main-thread work",
    outcomes={"too-much": "Too much main-thread work"},
    why="Parsing, layout and scripts share one thread with everything that visitors do.",
    judged=by_steps(f"{MAIN_THREAD_S[0]:.1f} s", f"{MAIN_THREAD_S[1]} s"),
    severity=MEDIUM,
    fix="Use fewer scripts, simpler style sheets and a smaller document: each reduces the main thread's work.",
    references=("Lighthouse: mainthread-work-breakdown",),
    measured=True,
)
def main_thread(vitals: Vitals) -> Verdict:
    return _judge_busy_time("too-much", "The main thread is busy for", vitals.main_thread_s, MAIN_THREAD_S)


@check(
    "est-load-time",
    name="Estimated load time on a slow connection",
    outcomes={"long": "Long estimated load time on a slow connection"},
    why="Visitors on slow connections wait that long until the page is complete.",
    judged=by_steps(f"{GOOD_S:g} s", f"{POOR_S:g} s"),
    severity=MEDIUM,
    fix="Send fewer bytes before the page is complete: compress and resize images, remove unused scripts, load "
    'images further down with `loading="lazy"`.',
    references=("MDN: network throttling",),
)
def est_load_time(page: Page, resources: Resources, timing: Timing) -> Verdict:
    result = estimate(page, resources.items, statistics.median(timing.ttfb_s))
    least = "at least " if resources.left_out else ""
    return by_limits(
        "long",
        f"On a connection of 1.6 Mbit/s with 150 ms of latency, the page would take {least}{{time}}: {{weight}} in "
        "{requests}",
        result.seconds,
        (GOOD_S, POOR_S),
        limit=Seconds(GOOD_S, 0),
        time=Seconds(result.seconds),
        weight=Bytes(result.wire_bytes),
        requests=Count(result.requests, "request"),
        details=[
            EstimatedLoad(
                seconds=round(result.seconds, 1),
                document_seconds=round(result.document_s, 1),
                wire_bytes=result.wire_bytes,
                requests=result.requests,
                not_counted=resources.left_out,
            )
        ],
    )


def _unpainted(vitals: Vitals) -> Verdict:
    """Return the verdict for a page that painted nothing. Raises `BrowserFailed` if the page may only be too slow."""
    if not vitals.is_complete:
        raise BrowserFailed("The browser had painted nothing when the time ran out.")
    return NO_PAINT


def _on_curve(
    outcome: str,
    summary: str,
    metric: Metric,
    measured: Measured,
    vitals: Vitals,
    load: BrowserLoad,
    *details: Place,
    more: str = "",
    **values: Value,
) -> Verdict:
    """Return pass, warn or fail by the metric's two points, with the curve's credit.

    Warnings are low if the scanning machine was slow. `summary` contains the value `figure` and has no full stop;
    `more` are sentences after the summary.
    """
    value, (good, poor) = measured.value, metric.points
    credit = curve(value, good, poor)
    values["figure"] = metric.unit(value)
    doubts = _doubts(metric, measured, vitals, load)
    if doubts:
        more = f" The figure is uncertain: {', and '.join(doubts)}.{more}"
    for doubt in doubts.values():
        values |= doubt
    if value <= good:
        return Pass(f"{summary}.{more}", details=details, credit=credit, **values)
    summary = f"{summary}; {beyond(value, good, 'up to {limit} is good')}.{more}"
    values["limit"] = metric.limit
    kind = Warn if value <= poor else Fail
    severity = LOW if kind is Warn and _was_machine_slow(load) else None
    return kind(
        outcome, summary, severity=severity, places=(), total=None, details=details, fix=None, credit=credit, **values
    )


def _judge_busy_time(outcome: str, subject: str, seconds: float, points: tuple[float, float]) -> Verdict:
    return by_limits(
        outcome,
        f"{subject} {{time}} while the page loads, {SLOWER}",
        seconds,
        points,
        limit=Seconds(points[0]),
        time=Seconds(seconds),
        details=[BusyTime(round(seconds, 2))],
    )


def _figures(metric: Metric, measured: Measured, load: BrowserLoad, seen: Measured | None = None) -> Figures:
    """Return the figures of the loads as a place; `seen` are the figures without throttling."""
    return (ShiftFigures if metric is CLS_METRIC else Figures)(
        median=round(measured.value, 3),
        least=round(measured.least, 3),
        largest=round(measured.largest, 3),
        loads=measured.loads,
        stable=measured.is_stable(metric.least),
        host_ms=round(load.host_ms, 1) if load.host_ms is not None else None,
        seen_s=round(seen.value, 2) if seen else None,
    )


def _doubts(metric: Metric, measured: Measured, vitals: Vitals, load: BrowserLoad) -> Mapping[str, Mapping[str, Value]]:
    """Return the reasons why a figure is less certain: values by template. Empty if there is no reason."""
    doubts: dict[str, Mapping[str, Value]] = {}
    if not vitals.is_complete:
        doubts["the page had not finished loading when the time ran out"] = {}
    if not measured.is_stable(metric.least):
        doubts["it was {least} to {largest} in {loads}"] = {
            "least": metric.unit(measured.least),
            "largest": metric.unit(measured.largest),
            "loads": Count(measured.loads, "load"),
        }
    if load.host_ms is not None and _was_machine_slow(load):
        doubts["the scanning machine was slow ({host} for what takes 20 ms elsewhere)"] = {
            "host": Milliseconds(load.host_ms)
        }
    return doubts


def _was_machine_slow(load: BrowserLoad) -> bool:
    return load.host_ms is not None and load.host_ms > SLOW_HOST_MS
