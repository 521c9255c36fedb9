"""Checks of the time until visitors see the page and can use it.

With a browser, the time is measured and converted to a phone on a slow link (see `vitals`). Without a browser, a single
check estimates the load time (`estimate_load_time`).
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from typing import Annotated, ClassVar, NamedTuple

from msgspec.structs import replace

from website_scan.browser.evidence import BrowserLoad
from website_scan.browser.stability import LONG_TASK_S, was_starved
from website_scan.browser.visit import BrowserFailed
from website_scan.catalogue import Category, States, check
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, NotApplicable
from website_scan.messages import document_curve_thresholds, document_thresholds, excerpt
from website_scan.outcomes import Fail, Note, Pass, Verdict, Warn, beyond, judge_by_limits, outcome
from website_scan.page.evidence import Document, Page
from website_scan.performance.estimate import estimate_load_time
from website_scan.performance.evidence import Resources, Timing
from website_scan.performance.images import is_in_markup, is_preloaded, is_preloaded_urgently
from website_scan.performance.repetition import STARVED_NOISE_FACTOR, long_tasks_of
from website_scan.performance.score_curve import log_normal_score
from website_scan.performance.vitals import (
    CLS,
    FCP_S,
    LCP_S,
    MAIN_THREAD_TIME_S,
    SCRIPT_TIME_S,
    SPEED_INDEX_S,
    TBT_S,
    Measured,
    Vitals,
)
from website_scan.places import Column, Place, Url, WireBytes
from website_scan.values import Address, Bytes, Code, Count, Milliseconds, Number, Seconds, Value, Values

CATEGORY = Category("Loading", weight=45, static_weight=15, html=True, content=True)

ESTIMATE_GOOD_S, ESTIMATE_POOR_S = 5.0, 10.0
MAX_LONG_TASKS = 5
# A scanning machine is slow if its benchmark task takes longer, and current machines need a third of the time.
SLOW_SCANNER_TASK_MS = 60.0
# A starved load may take several times the processor time of another one.
STARVED_FACTOR = 4
MAX_SHIFTED_ELEMENTS = 5
MIN_SHIFT = 0.001
NETWORK = ("http:", "https:")

NO_IMAGE_FILE = NotApplicable("The largest contentful element is not an image file.")
NO_FRAMES = NotApplicable("The browser delivered no frames of the load that could be compared.")
NO_PAINT = NotApplicable("The browser painted nothing on the page that could be measured.")
PHONE = "simulated for a phone on a connection of 1.6 Mbit/s with 150 ms of latency"
SLOWER = "on a processor four times slower than the scanner's"

Selector = Annotated[str, Column("Selector", "code")]


# Credit of values about halfway between good (credit 0.9) and poor (credit 0.5).
SLIGHT_EXCESS_CREDIT = 0.7


class Metric(NamedTuple):
    """Metric with Lighthouse's scoring curve.

    `points` are a good value and the median of the web, `limit` is the good value. `unit` formats a figure. Loads whose
    figures differ by less than `least` agree.
    """

    points: tuple[float, float]
    limit: Value
    unit: Callable[[float], Value]
    least: float = 0.0


def _milliseconds(seconds: float) -> Milliseconds:
    return Milliseconds(1000 * seconds)


def _format_shift(value: float) -> Number:
    return Number(value, 3)


FCP_METRIC, LCP_METRIC = Metric(FCP_S, Seconds(FCP_S[0]), Seconds), Metric(LCP_S, Seconds(LCP_S[0]), Seconds)
SPEED_INDEX_METRIC = Metric(SPEED_INDEX_S, Seconds(SPEED_INDEX_S[0]), Seconds)
TBT_METRIC = Metric(TBT_S, _milliseconds(TBT_S[0]), _milliseconds, least=0.05)
CLS_METRIC = Metric(CLS, Number(CLS[0], 1), _format_shift, least=0.01)


class Figures(Place, frozen=True):
    """Median, minimum and maximum of a metric in seconds.

    They are taken over several loads of the page.

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


class ShiftFigures(Figures, frozen=True):
    """Median, minimum and maximum of the cumulative layout shift.

    The shift has no unit.
    """

    kind: ClassVar[str] = "shift-figures"

    median: Annotated[float, Column("Median", "number")]
    least: Annotated[float, Column("Smallest", "number")]
    largest: Annotated[float, Column("Largest", "number")]


class ShiftedElement(Place, frozen=True):
    """Element with the longest movement in a layout shift."""

    kind: ClassVar[str] = "shifted-element"

    selector: Selector
    shift: Annotated[float, Column("Layout shift", "number")]


class LargestImage(Place, frozen=True):
    """Image of the largest contentful paint.

    `in_html` is True if its URL is in the HTML, `high` if its priority is high.
    """

    kind: ClassVar[str] = "largest-image"

    selector: Selector
    url: Url
    in_html: Annotated[bool | None, Column("In the HTML", "short")] = None
    high: Annotated[bool | None, Column("High priority", "short")] = None


class LongTask(Place, frozen=True):
    """Long task of the main thread."""

    kind: ClassVar[str] = "long-task"

    at_s: Annotated[float, Column("Starts at", "number", "s")]
    duration_ms: Annotated[int, Column("Duration", "number", "ms")]


class BusyTime(Place, frozen=True):
    """Busy time of the processor."""

    kind: ClassVar[str] = "busy-time"

    seconds: Annotated[float, Column("Time", "number", "s")]


class EstimatedLoad(Place, frozen=True):
    """Estimated load time of the page, with the number of bytes and requests."""

    kind: ClassVar[str] = "estimated-load"

    seconds: Annotated[float, Column("Time", "number", "s")]
    document_seconds: Annotated[float, Column("Document alone", "number", "s")]
    wire_bytes: WireBytes
    requests: Annotated[int, Column("Requests", "number")]
    not_counted: Annotated[int, Column("Requests not counted", "number")]


@check(
    "lcp",
    name="Largest contentful paint",
    outcomes={"slow": outcome("Slow largest contentful paint", CRITICAL, MEDIUM, LOW)},
    why="Until its largest element is painted, visitors do not see the main content of the page.",
    consequence="Visitors wait a long time for the main content of the page, and may leave before they see it.",
    judged=document_curve_thresholds(f"{LCP_S[0]} s", f"{LCP_S[1]} s"),
    severity=CRITICAL,
    fix="Let the browser discover the largest element early (in the HTML itself, an image with "
    '`fetchpriority="high"`), make it smaller, and shorten what it waits for: redirects, style sheets, scripts.',
    references=("web.dev: Largest Contentful Paint", "Lighthouse: largest-contentful-paint"),
    measured=True,
    states=States.NONE,
)
def lcp(vitals: Vitals, load: BrowserLoad) -> Verdict:
    if vitals.lcp is None:
        return _judge_unpainted_page(vitals)
    largest = load.first.lcp
    figures = _make_figures(LCP_METRIC, vitals.lcp, load, vitals.observed_lcp)
    if largest is not None:
        figures = replace(
            figures,
            selector=excerpt(largest.selector, 300),
            snippet=excerpt(largest.snippet, 300),
            url=excerpt(largest.url, 300) if largest.url else None,
        )
    if largest is None or not largest.snippet:
        summary = f"The largest element of the first screen is painted after {{figure}} ({PHONE})"
        return _judge_on_curve("slow", summary, LCP_METRIC, vitals.lcp, vitals, load, figures)
    summary = f"The largest element of the first screen, {{element}}, is painted after {{figure}} ({PHONE})"
    element = Code(largest.snippet, 100)
    return _judge_on_curve("slow", summary, LCP_METRIC, vitals.lcp, vitals, load, figures, element=element)


@check(
    "tbt",
    name="Total blocking time",
    outcomes={"high": outcome("High total blocking time", HIGH, MEDIUM, LOW)},
    why="While the main thread is blocked, the page does not react to taps, clicks and keys.",
    consequence="The page may not react to taps for a while, so visitors may think that it is broken.",
    judged=document_curve_thresholds(f"{TBT_S[0] * 1000:.0f} ms", f"{TBT_S[1] * 1000:.0f} ms"),
    severity=HIGH,
    fix="Load fewer scripts, split long tasks into shorter ones, and defer what the first screen does not need.",
    references=("web.dev: Total Blocking Time", "Lighthouse: total-blocking-time"),
    measured=True,
    states=States.NONE,
)
def tbt(vitals: Vitals, load: BrowserLoad) -> Verdict:
    if vitals.tbt is None:
        return _judge_unpainted_page(vitals)
    summary = f"Long tasks block the main thread for {{figure}} in all, {SLOWER}"
    return _judge_on_curve(
        "high", summary, TBT_METRIC, vitals.tbt, vitals, load, _make_figures(TBT_METRIC, vitals.tbt, load)
    )


@check(
    "cls",
    name="Cumulative layout shift",
    outcomes={"high": outcome("High cumulative layout shift", HIGH, MEDIUM, LOW)},
    why="Content that jumps makes people lose their place or tap the wrong thing.",
    consequence="Content jumps while visitors read or tap, so they may lose their place or hit the wrong button.",
    judged=document_curve_thresholds(f"{CLS[0]}", f"{CLS[1]}"),
    severity=HIGH,
    fix="Give images, frames and ads their size (`width` and `height`, or `aspect-ratio`), and insert nothing above "
    "content that is already shown.",
    references=("web.dev: Cumulative Layout Shift", "web.dev: optimize CLS"),
    measured=True,
    states=States.NAVIGATIONS,
)
def cls(vitals: Vitals, load: BrowserLoad) -> Verdict:
    if vitals.observed_fcp is None:
        return _judge_unpainted_page(vitals)
    worst = sorted(load.first.shifts, key=lambda shift: -shift.value)[:MAX_SHIFTED_ELEMENTS]
    moved = [Code(shift.source, 120) for shift in worst if shift.source and shift.value >= MIN_SHIFT]
    return _judge_on_curve(
        "high",
        "The layout shifts by {figure} while the page loads",
        CLS_METRIC,
        vitals.cls,
        vitals,
        load,
        _make_figures(CLS_METRIC, vitals.cls, load),
        *(ShiftedElement(excerpt(shift.source, 300), round(shift.value, 4)) for shift in worst),
        more=" Shifted most: {moved}." if moved else "",
        **({"moved": Values(moved)} if moved else {}),
    )


@check(
    "fcp",
    name="First contentful paint",
    outcomes={"slow": outcome("Slow first contentful paint", HIGH, MEDIUM, LOW)},
    why="Until the first text or image appears, visitors cannot tell whether the page works at all.",
    consequence="Visitors look at an empty screen for a long time, and may leave before anything appears.",
    judged=document_curve_thresholds(f"{FCP_S[0]} s", f"{FCP_S[1]} s"),
    severity=HIGH,
    fix="Let the server respond faster, without redirects, and load only what the first screen needs before it: few "
    "and small style sheets, scripts with `defer`.",
    references=("web.dev: First Contentful Paint", "Lighthouse: first-contentful-paint"),
    measured=True,
    states=States.NONE,
)
def fcp(vitals: Vitals, load: BrowserLoad) -> Verdict:
    if vitals.fcp is None:
        return _judge_unpainted_page(vitals)
    summary = f"The first text or image is painted after {{figure}} ({PHONE})"
    figures = _make_figures(FCP_METRIC, vitals.fcp, load, vitals.observed_fcp)
    return _judge_on_curve("slow", summary, FCP_METRIC, vitals.fcp, vitals, load, figures)


@check(
    "speed-index",
    name="Speed Index",
    outcomes={"high": outcome("High Speed Index", MEDIUM, LOW)},
    why="Until the first screen is complete, visitors see an unfinished page.",
    judged=document_curve_thresholds(f"{SPEED_INDEX_S[0]} s", f"{SPEED_INDEX_S[1]} s"),
    severity=MEDIUM,
    fix="Show content before scripts have run, and let large images of the first screen be smaller or load earlier.",
    references=("Lighthouse: speed-index",),
    measured=True,
    states=States.NONE,
)
def speed_index(vitals: Vitals, load: BrowserLoad) -> Verdict:
    if vitals.observed_fcp is None:
        return _judge_unpainted_page(vitals)
    if vitals.speed_index is None:
        return NO_FRAMES
    summary = f"On average, the parts of the first screen appear after {{figure}} ({PHONE})"
    figures = _make_figures(SPEED_INDEX_METRIC, vitals.speed_index, load)
    return _judge_on_curve("high", summary, SPEED_INDEX_METRIC, vitals.speed_index, vitals, load, figures)


@check(
    "lcp-lazy",
    name="LCP image is not lazily loaded",
    outcomes={"lazy": outcome("LCP image is lazily loaded", HIGH, LOW)},
    why="A lazily loaded image waits for the layout, so the main content appears later than necessary.",
    consequence="The main picture of the page appears later than necessary, so visitors wait longer.",
    judged="Low if a preload requests the image before the layout. With `fetchpriority=high` such an image passes.",
    severity=HIGH,
    fix='Remove `loading="lazy"` from the image.',
    references=("web.dev: Optimize Largest Contentful Paint", "Lighthouse: lcp-lazy-loaded"),
    measured=True,
    states=States.NONE,
)
def lcp_lazy(page: Page, document: Document, load: BrowserLoad) -> Verdict:
    largest = load.first.lcp
    if largest is None or not largest.url.startswith(NETWORK):
        return NO_IMAGE_FILE
    details = [LargestImage(excerpt(largest.selector, 300), excerpt(largest.url, 300))]
    if not largest.is_lazy:
        return Pass("The largest image of the first screen is not lazily loaded.", details=details)
    address = largest.url.partition("#")[0]
    if is_preloaded_urgently(page, document, address):
        return Pass("A preload with a high priority requests the largest image before the layout.", details=details)
    element = Code(largest.snippet, 200)
    if is_preloaded(page, document, address):
        message = "The largest image of the first screen is lazily loaded, although a preload requests it: {element}."
        return Warn("lazy", message, severity=LOW, element=element, details=details)
    message = "The largest image of the first screen is lazily loaded: {element}."
    return Fail("lazy", message, element=element, details=details)


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
    states=States.NONE,
)
def lcp_priority(page: Page, document: Document, load: BrowserLoad, vitals: Vitals) -> Verdict:
    largest = load.first.lcp
    if largest is None or not largest.url.startswith(NETWORK):
        return NO_IMAGE_FILE
    address = largest.url.partition("#")[0]
    is_in_html = is_in_markup(page, document, address)
    has_high_priority = largest.is_high_priority or is_preloaded_urgently(page, document, address)
    details = [LargestImage(excerpt(largest.selector, 300), excerpt(largest.url, 300), is_in_html, has_high_priority)]
    limit_s = LCP_S[1] if _was_machine_slow(load) else LCP_S[0]
    severity = LOW if vitals.lcp is not None and vitals.lcp.value <= limit_s else None
    image = Address(largest.url, 120)
    if is_in_html and has_high_priority:
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
    judged=f"Passes without such a task, warns up to {MAX_LONG_TASKS}, fails above that. Low if they block for less "
    f"than {TBT_S[0] * 1000:.0f} ms in all.",
    severity=MEDIUM,
    fix="Split tasks that take longer than 50 ms, and leave what can wait to idle time.",
    references=("web.dev: Optimize long tasks", "W3C Long Tasks"),
    measured=True,
    states=States.NONE,
)
def long_tasks(load: BrowserLoad) -> Verdict:
    # Other programs may have slowed tasks down in the loads that have more long tasks.
    tasks = long_tasks_of(load.loads)
    limit = Milliseconds(1000 * LONG_TASK_S)
    if not tasks:
        return Pass("No task takes longer than {limit} on this machine.", limit=limit)
    is_blocking_time_short = sum(task.processor_s - LONG_TASK_S for task in tasks) < TBT_S[0]
    has_few_long_tasks = len(tasks) <= MAX_LONG_TASKS
    is_short = has_few_long_tasks and is_blocking_time_short
    kind = Note if is_short and was_starved(load.loads) else Warn if has_few_long_tasks else Fail
    return kind(
        "long",
        "{tasks} {tasks:takes|take} longer than {limit}, the longest {longest}.",
        severity=LOW if is_short else None,
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
    judged=document_thresholds(f"{SCRIPT_TIME_S[0]:.1f} s", f"{SCRIPT_TIME_S[1]} s"),
    severity=MEDIUM,
    fix="Send less JavaScript, and run only what the page needs now.",
    references=("Lighthouse: bootup-time",),
    measured=True,
    states=States.NONE,
)
def script_time(vitals: Vitals) -> Verdict:
    return _judge_busy_time("high", "Scripts run for", vitals.script_s, SCRIPT_TIME_S)


@check(
    "main-thread",
    name="Main-thread work",
    outcomes={"too-much": "Too much main-thread work"},
    why="Parsing, layout and scripts share one thread with everything that visitors do.",
    judged=document_thresholds(f"{MAIN_THREAD_TIME_S[0]:.1f} s", f"{MAIN_THREAD_TIME_S[1]} s"),
    severity=MEDIUM,
    fix="Use fewer scripts, simpler style sheets and a smaller document: each reduces the main thread's work.",
    references=("Lighthouse: mainthread-work-breakdown",),
    measured=True,
    states=States.NONE,
)
def main_thread(vitals: Vitals) -> Verdict:
    return _judge_busy_time("too-much", "The main thread is busy for", vitals.main_thread_s, MAIN_THREAD_TIME_S)


@check(
    "est-load-time",
    name="Estimated load time on a slow connection",
    outcomes={"long": "Long estimated load time on a slow connection"},
    why="Visitors on slow connections wait that long until the page is complete.",
    judged=document_thresholds(f"{ESTIMATE_GOOD_S:g} s", f"{ESTIMATE_POOR_S:g} s"),
    severity=MEDIUM,
    fix="Send fewer bytes before the page is complete: compress and resize images, remove unused scripts, load "
    'images further down with `loading="lazy"`.',
    references=("MDN: network throttling",),
)
def est_load_time(page: Page, resources: Resources, timing: Timing) -> Verdict:
    result = estimate_load_time(page, resources.items, statistics.median(timing.ttfb_s))
    least = "at least " if resources.left_out else ""
    return judge_by_limits(
        "long",
        f"On a connection of 1.6 Mbit/s with 150 ms of latency, the page would take {least}{{time}}: {{weight}} in "
        "{requests}",
        result.seconds,
        (ESTIMATE_GOOD_S, ESTIMATE_POOR_S),
        limit=Seconds(ESTIMATE_GOOD_S, 0),
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


def _judge_unpainted_page(vitals: Vitals) -> Verdict:
    """Return the verdict for a page that painted nothing.

    Raise `BrowserFailed` if the page may only be too slow.
    """
    if not vitals.is_complete:
        raise BrowserFailed("The browser had painted nothing when the time ran out.")
    return NO_PAINT


def _judge_on_curve(
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
    """Judge a metric by its good and poor points.

    The credit comes from its scoring curve.

    Warnings are less severe than fails, and low if the figure is closer to the good point or the scanning machine was
    slow. `summary` contains the value `figure` and has no full stop;
    `more` are sentences after the summary.
    """
    value, (good, poor) = measured.value, metric.points
    credit = log_normal_score(value, good, poor)
    values["figure"] = metric.unit(value)
    doubts = _list_doubts(metric, measured, vitals, load)
    if doubts:
        more = f" The figure is uncertain: {', and '.join(doubts)}.{more}"
    for doubt in doubts.values():
        values |= doubt
    # A value passes if it looks equal to the limit after rounding.
    if value <= good or metric.unit(value).text == metric.unit(good).text:
        return Pass(f"{summary}.{more}", details=details, credit=credit, **values)
    summary = f"{summary}; {beyond(value, good, 'up to {limit} is good')}.{more}"
    values["limit"] = metric.limit
    if _may_have_another_verdict(metric, measured, load):
        # The verdict is a note, because another scan of the same page could have another verdict.
        return Note(
            outcome, summary, severity=LOW, places=(), total=None, details=details, fix=None, credit=None, **values
        )
    kind = Warn if value <= poor else Fail
    severity = None
    if kind is Warn:
        severity = LOW if _was_machine_slow(load) or credit >= SLIGHT_EXCESS_CREDIT else MEDIUM
    return kind(
        outcome, summary, severity=severity, places=(), total=None, details=details, fix=None, credit=credit, **values
    )


def _may_have_another_verdict(metric: Metric, measured: Measured, load: BrowserLoad) -> bool:
    """Return True if further loads could lead to another verdict.

    Either the loads disagree, or one was so starved that all figures may be too high. A browser that waits for a
    processor compiles its scripts later, so that they run slower for longer.
    """
    is_starved = was_starved(load.loads)
    if metric in (FCP_METRIC, LCP_METRIC, SPEED_INDEX_METRIC):
        return is_starved and measured.value <= STARVED_NOISE_FACTOR * metric.points[0]
    if metric is CLS_METRIC:
        return False
    is_surely_poor = measured.value > STARVED_FACTOR * metric.points[1]
    return not is_surely_poor and (
        is_starved or any(measured.may_be_within(limit, metric.least) for limit in metric.points)
    )


def _judge_busy_time(outcome: str, subject: str, seconds: float, points: tuple[float, float]) -> Verdict:
    return judge_by_limits(
        outcome,
        f"{subject} {{time}} while the page loads, {SLOWER}",
        seconds,
        points,
        limit=Seconds(points[0]),
        time=Seconds(seconds),
        details=[BusyTime(round(seconds, 2))],
    )


def _make_figures(metric: Metric, measured: Measured, load: BrowserLoad, seen: Measured | None = None) -> Figures:
    """Return a metric's measured values as a place.

    `seen` has the values without throttling.
    """
    return (ShiftFigures if metric is CLS_METRIC else Figures)(
        median=round(measured.value, 3),
        least=round(measured.least, 3),
        largest=round(measured.largest, 3),
        loads=measured.loads,
        stable=measured.is_stable(metric.least),
        host_ms=round(load.host_ms, 1) if load.host_ms is not None else None,
        seen_s=round(seen.value, 2) if seen else None,
    )


def _list_doubts(
    metric: Metric, measured: Measured, vitals: Vitals, load: BrowserLoad
) -> Mapping[str, Mapping[str, Value]]:
    """Return the reasons why a measured value is uncertain.

    They are message templates with their values.

    Empty if certain.
    """
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
    return load.host_ms is not None and load.host_ms > SLOW_SCANNER_TASK_MS
