"""Checks of loading: the time until visitors see and can use the page.

With a browser it is measured, and converted to a phone on a slow link (see `vitals`). Without a browser there is a
single check, which models the load (`estimate`).
"""

from __future__ import annotations

import statistics

from website_scan.browser.evidence import BrowserLoad
from website_scan.browser.visit import BrowserFailed
from website_scan.catalogue import Category, check
from website_scan.findings import (
    CRITICAL,
    HIGH,
    LOW,
    MEDIUM,
    EvidenceItem,
    Fail,
    Finding,
    NotApplicable,
    Pass,
    Warn,
    beyond,
    by_limits,
)
from website_scan.messages import by_curve, by_steps, counted, excerpt, size
from website_scan.page.evidence import Document, Page
from website_scan.performance.estimate import estimate
from website_scan.performance.evidence import Resources, Timing
from website_scan.performance.images import is_in_markup, is_preloaded_urgently
from website_scan.performance.vitals import LONG_S, Measured, Vitals, curve

CATEGORY = Category("Loading", weight=45, static_weight=15, html=True, content=True)

GOOD_S, POOR_S = 5.0, 10.0
# Values for good, and for the median of the web: Lighthouse's control points for phones.
FCP_S, LCP_S, TBT_S, CLS, SPEED_INDEX_S = (1.8, 3.0), (2.5, 4.0), (0.2, 0.6), (0.1, 0.25), (3.4, 5.8)
SCRIPT_S, MAIN_THREAD_S = (1.282, 3.5), (2.017, 4.0)
LONG_TASKS = 5
# For the fixed piece of work; current machines need a third of it.
SLOW_HOST_MS = 60.0
SHOWN = 5
LEAST_SHIFT = 0.001
# Loads whose figures differ by less than this agree.
LEAST_TBT_S, LEAST_CLS = 0.05, 0.01
NETWORK = ("http:", "https:")

NO_IMAGE_FILE = NotApplicable("The largest contentful element is not an image file.")
NO_FRAMES = NotApplicable("The browser delivered no frames of the load that could be compared.")
NO_PAINT = NotApplicable("The browser painted nothing on the page that could be measured.")
PHONE = "simulated for a phone on a connection of 1.6 Mbit/s with 150 ms of latency"
SLOWER = "on a processor four times slower than the scanner's"


@check(
    "lcp",
    name="Largest contentful paint",
    found="Slow largest contentful paint",
    why="Until its largest element is painted, visitors do not see the main content of the page.",
    judged=by_curve(f"{LCP_S[0]} s", f"{LCP_S[1]} s"),
    severity=CRITICAL,
    fix="Let the browser discover the largest element early (in the HTML itself, an image with "
    'fetchpriority="high"), make it smaller, and shorten what it waits for: redirects, style sheets, scripts.',
    references=("web.dev: Largest Contentful Paint", "Lighthouse: largest-contentful-paint"),
    measured=True,
)
def lcp(vitals: Vitals, load: BrowserLoad) -> Finding:
    if vitals.lcp is None:
        return _unpainted(vitals)
    largest = load.first.lcp
    element = f", {excerpt(largest.snippet, 100)}," if largest and largest.snippet else ""
    evidence: EvidenceItem = {
        **_figures(vitals.lcp, load),
        "seen_s": round(vitals.seen_lcp.value, 2) if vitals.seen_lcp else None,
        "selector": excerpt(largest.selector, 300) if largest else None,
        "snippet": excerpt(largest.snippet, 300) if largest else None,
        "url": excerpt(largest.url, 300) if largest and largest.url else None,
    }
    message = f"The largest element of the first screen{element} is painted after {vitals.lcp.value:.1f} s ({PHONE})"
    return _on_curve(vitals.lcp.value, LCP_S, message, " s", _note(vitals.lcp, load, vitals), load, evidence)


@check(
    "tbt",
    name="Total blocking time",
    found="High total blocking time",
    why="While the main thread is blocked, the page does not react to taps, clicks and keys.",
    judged=by_curve(f"{TBT_S[0] * 1000:.0f} ms", f"{TBT_S[1] * 1000:.0f} ms"),
    severity=HIGH,
    fix="Load fewer scripts, split long tasks into shorter ones, and defer what the first screen does not need.",
    references=("web.dev: Total Blocking Time", "Lighthouse: total-blocking-time"),
    measured=True,
)
def tbt(vitals: Vitals, load: BrowserLoad) -> Finding:
    if vitals.tbt is None:
        return _unpainted(vitals)
    message = f"Long tasks block the main thread for {vitals.tbt.value * 1000:,.0f} ms in all"
    evidence = _figures(vitals.tbt, load, LEAST_TBT_S)
    note = _note(vitals.tbt, load, vitals, "ms", LEAST_TBT_S)
    return _on_curve(vitals.tbt.value, TBT_S, f"{message}, {SLOWER}", " ms", note, load, evidence)


@check(
    "cls",
    name="Cumulative layout shift",
    found="High cumulative layout shift",
    why="Content that jumps makes people lose their place or tap the wrong thing.",
    judged=by_curve(f"{CLS[0]}", f"{CLS[1]}"),
    severity=HIGH,
    fix="Give images, frames and ads their size (width and height, or aspect-ratio), and insert nothing above "
    "content that is already shown.",
    references=("web.dev: Cumulative Layout Shift", "web.dev: optimize CLS"),
    measured=True,
)
def cls(vitals: Vitals, load: BrowserLoad) -> Finding:
    if vitals.seen_fcp is None:
        return _unpainted(vitals)
    worst = sorted(load.first.shifts, key=lambda each: -each.value)[:SHOWN]
    seen = [each for each in worst if each.source and each.value >= LEAST_SHIFT]
    places = ", ".join(f"{excerpt(each.source, 120)} ({each.value:.3f})" for each in seen)
    moved = f" Shifted most: {places}." if places else ""
    evidence: list[EvidenceItem] = [_figures(vitals.cls, load, LEAST_CLS)]
    evidence += [{"selector": excerpt(each.source, 300), "shift": round(each.value, 4)} for each in worst]
    message = f"The layout shifts by {vitals.cls.value:.3f} while the page loads"
    return _on_curve(
        vitals.cls.value, CLS, message, "", f"{_note(vitals.cls, load, vitals, '', LEAST_CLS)}{moved}", load, *evidence
    )


@check(
    "fcp",
    name="First contentful paint",
    found="Slow first contentful paint",
    why="Until the first text or image appears, visitors cannot tell whether the page works at all.",
    judged=by_curve(f"{FCP_S[0]} s", f"{FCP_S[1]} s"),
    severity=HIGH,
    fix="Let the server respond faster, without redirects, and load only what the first screen needs before it: few "
    "and small style sheets, scripts with defer.",
    references=("web.dev: First Contentful Paint", "Lighthouse: first-contentful-paint"),
    measured=True,
)
def fcp(vitals: Vitals, load: BrowserLoad) -> Finding:
    if vitals.fcp is None:
        return _unpainted(vitals)
    evidence: EvidenceItem = {
        **_figures(vitals.fcp, load),
        "seen_s": round(vitals.seen_fcp.value, 2) if vitals.seen_fcp else None,
    }
    message = f"The first text or image is painted after {vitals.fcp.value:.1f} s"
    note = _note(vitals.fcp, load, vitals)
    return _on_curve(vitals.fcp.value, FCP_S, f"{message} ({PHONE})", " s", note, load, evidence)


@check(
    "speed-index",
    name="Speed Index",
    found="High Speed Index",
    why="Until the first screen is complete, visitors see an unfinished page.",
    judged=by_curve(f"{SPEED_INDEX_S[0]} s", f"{SPEED_INDEX_S[1]} s"),
    severity=MEDIUM,
    fix="Show content before scripts have run, and let large images of the first screen be smaller or load earlier.",
    references=("Lighthouse: speed-index",),
    measured=True,
)
def speed_index(vitals: Vitals, load: BrowserLoad) -> Finding:
    if vitals.seen_fcp is None:
        return _unpainted(vitals)
    if vitals.speed_index is None:
        return NO_FRAMES
    message = f"On average, the parts of the first screen appear after {vitals.speed_index.value:.1f} s ({PHONE})"
    evidence = _figures(vitals.speed_index, load)
    note = _note(vitals.speed_index, load, vitals)
    return _on_curve(vitals.speed_index.value, SPEED_INDEX_S, message, " s", note, load, evidence)


@check(
    "lcp-lazy",
    name="LCP image is not lazily loaded",
    found="LCP image is lazily loaded",
    why="A lazily loaded image waits for the layout, so the main content appears later than necessary.",
    severity=HIGH,
    fix='Remove loading="lazy" from the image.',
    references=("web.dev: Optimize Largest Contentful Paint", "Lighthouse: lcp-lazy-loaded"),
    measured=True,
)
def lcp_lazy(load: BrowserLoad) -> Finding:
    largest = load.first.lcp
    if largest is None or not largest.url.startswith(NETWORK):
        return NO_IMAGE_FILE
    evidence = ({"selector": excerpt(largest.selector, 300), "url": excerpt(largest.url, 300)},)
    if largest.is_lazy:
        return Fail(
            f"The largest image of the first screen is lazily loaded: {excerpt(largest.snippet, 200)}.",
            evidence=evidence,
        )
    return Pass("The largest image of the first screen is not lazily loaded.", evidence)


@check(
    "lcp-priority",
    name="LCP image is discoverable and prioritized",
    found="LCP image is discovered late",
    why="An image that is discovered late, or has a low priority, waits for files that visitors need less.",
    judged=f"Low if the image is painted within {LCP_S[0]} s all the same.",
    severity=MEDIUM,
    fix='Put the image into the HTML itself as <img src="…" fetchpriority="high">, or preload it: '
    '<link rel="preload" as="image" fetchpriority="high" href="…">.',
    references=("web.dev: Optimize Largest Contentful Paint", "MDN: fetchpriority"),
    measured=True,
)
def lcp_priority(page: Page, document: Document, load: BrowserLoad, vitals: Vitals) -> Finding:
    largest = load.first.lcp
    if largest is None or not largest.url.startswith(NETWORK):
        return NO_IMAGE_FILE
    address = largest.url.partition("#")[0]
    is_found = is_in_markup(page, document, address)
    is_high = largest.is_high_priority or is_preloaded_urgently(page, document, address)
    evidence: EvidenceItem = {
        "selector": excerpt(largest.selector, 300),
        "url": excerpt(largest.url, 300),
        "in_html": is_found,
        "high": is_high,
    }
    limit_s = LCP_S[1] if _was_slow(load) else LCP_S[0]
    severity = LOW if vitals.lcp is not None and vitals.lcp.value <= limit_s else None
    if is_found and is_high:
        return Pass("The largest image is in the HTML itself, with a high priority.", (evidence,))
    image = f"The largest image ({excerpt(largest.url, 120)})"
    if is_found:
        message = f'{image} has no fetchpriority="high".'
        return Warn(message, severity, (evidence,), title="LCP image has no high priority")
    return Warn(f"{image} is not in the HTML itself.", severity, (evidence,))


@check(
    "long-tasks",
    name="No long main-thread tasks",
    found="Long main-thread tasks",
    why="A task over 50 ms delays the response to whatever visitors do in the meantime.",
    judged=f"Passes without such a task, warns up to {LONG_TASKS}, fails above that. Low if they block for less than "
    f"{TBT_S[0] * 1000:.0f} ms in all.",
    severity=MEDIUM,
    fix="Split tasks that take longer than 50 ms, and leave what can wait to idle time.",
    references=("web.dev: Optimize long tasks", "W3C Long Tasks"),
    measured=True,
)
def long_tasks(load: BrowserLoad) -> Finding:
    # Use the load with the fewest long tasks: other programs may have made tasks longer in the others.
    traced = [each.main_thread.tasks for each in load.loads if each.main_thread.tasks] or [()]
    tasks = min(([task for task in each if task.processor_s >= LONG_S] for each in traced), key=len)
    evidence: list[EvidenceItem] = [
        {"at_s": round(each.time_s, 2), "duration_ms": round(each.processor_s * 1000)} for each in tasks
    ]
    if not tasks:
        return Pass(f"No task takes longer than {LONG_S * 1000:.0f} ms on this machine.")
    longest_ms = 1000 * max(each.processor_s for each in tasks)
    number = counted(len(tasks), "task takes", "tasks take")
    message = f"{number} longer than {LONG_S * 1000:.0f} ms, the longest {longest_ms:,.0f} ms"
    if len(tasks) <= LONG_TASKS:
        is_short = sum(each.processor_s - LONG_S for each in tasks) < TBT_S[0]
        return Warn(f"{message}.", LOW if is_short else None, evidence)
    return Fail(f"{message}.", evidence=evidence)


@check(
    "script-time",
    name="JavaScript execution time",
    found="High JavaScript execution time",
    why="While scripts run, slow phones neither paint the page nor react to taps.",
    judged=by_steps(f"{SCRIPT_S[0]:.1f} s", f"{SCRIPT_S[1]} s"),
    severity=MEDIUM,
    fix="Send less JavaScript, and run only what the page needs now.",
    references=("Lighthouse: bootup-time",),
    measured=True,
)
def script_time(vitals: Vitals) -> Finding:
    return _within(vitals.script_s, SCRIPT_S, "Scripts run for")


@check(
    "main-thread",
    name="Main-thread work",
    found="Too much main-thread work",
    why="Parsing, layout and scripts share one thread with everything that visitors do.",
    judged=by_steps(f"{MAIN_THREAD_S[0]:.1f} s", f"{MAIN_THREAD_S[1]} s"),
    severity=MEDIUM,
    fix="Use fewer scripts, simpler style sheets and a smaller document: each reduces the main thread's work.",
    references=("Lighthouse: mainthread-work-breakdown",),
    measured=True,
)
def main_thread(vitals: Vitals) -> Finding:
    return _within(vitals.main_thread_s, MAIN_THREAD_S, "The main thread is busy for")


@check(
    "est-load-time",
    name="Estimated load time on a slow connection",
    found="Long estimated load time on a slow connection",
    why="Visitors on slow connections wait that long until the page is complete.",
    judged=by_steps(f"{GOOD_S:g} s", f"{POOR_S:g} s"),
    severity=MEDIUM,
    fix="Send fewer bytes before the page is complete: compress and resize images, remove unused scripts, load "
    'images further down with loading="lazy".',
    references=("MDN: network throttling",),
)
def est_load_time(page: Page, resources: Resources, timing: Timing) -> Finding:
    result = estimate(page, resources.items, statistics.median(timing.ttfb_s))
    evidence: EvidenceItem = {
        "seconds": round(result.seconds, 1),
        "document_seconds": round(result.document_s, 1),
        "wire_bytes": result.wire_bytes,
        "requests": result.requests,
        "not_counted": resources.left_out,
    }
    least = "at least " if resources.left_out else ""
    message = (
        f"On a connection of 1.6 Mbit/s with 150 ms of latency, the page would take {least}{result.seconds:.1f} s: "
        f"{size(result.wire_bytes)} in {result.requests} requests"
    )
    return by_limits(result.seconds, GOOD_S, POOR_S, message, f"up to {GOOD_S:g} s is good", [evidence])


def _unpainted(vitals: Vitals) -> Finding:
    """Return the finding for an empty page. Raises `BrowserFailed` if the page may only have been too slow."""
    if not vitals.is_complete:
        raise BrowserFailed("The browser had painted nothing when the time ran out.")
    return NO_PAINT


def _on_curve(
    value: float,
    points: tuple[float, float],
    message: str,
    unit: str,
    note: str,
    load: BrowserLoad,
    *evidence: EvidenceItem,
) -> Finding:
    """Return pass, warn or fail by the two points, with the curve's credit. Warnings of a slow machine are low."""
    good, poor = points
    credit = curve(value, good, poor)
    if value <= good:
        return Pass(f"{message}.{note}", evidence, credit=credit)
    limit = beyond(value, good, f"up to {good * 1000 if unit == ' ms' else good:g}{unit} is good")
    if value <= poor:
        severity = LOW if _was_slow(load) else None
        return Warn(f"{message}; {limit}.{note}", severity, evidence, credit=credit)
    return Fail(f"{message}; {limit}.{note}", evidence=evidence, credit=credit)


def _within(seconds: float, points: tuple[float, float], what: str) -> Finding:
    good, poor = points
    message = f"{what} {seconds:.1f} s while the page loads, {SLOWER}"
    return by_limits(seconds, good, poor, message, f"up to {good:.1f} s is good", [{"seconds": round(seconds, 2)}])


def _figures(measured: Measured, load: BrowserLoad, least: float = 0.0) -> EvidenceItem:
    return {
        "median": round(measured.value, 3),
        "least": round(measured.least, 3),
        "largest": round(measured.largest, 3),
        "loads": measured.loads,
        "stable": measured.is_stable(least),
        "host_ms": round(load.host_ms, 1) if load.host_ms is not None else None,
    }


def _note(measured: Measured, load: BrowserLoad, vitals: Vitals, unit: str = "s", least: float = 0.0) -> str:
    """Return a sentence with the reasons why the figure is less certain; empty if there are none.

    Differences of less than `least` are none.
    """
    reasons = [] if vitals.is_complete else ["the page had not finished loading when the time ran out"]
    if not measured.is_stable(least):
        low, high = (1000 * each if unit == "ms" else each for each in (measured.least, measured.largest))
        digits = 1 if unit == "s" else 0 if unit else 3
        spread = f"{low:,.{digits}f} to {high:,.{digits}f} {unit}".strip()
        reasons.append(f"it was {spread} in {measured.loads} loads")
    if _was_slow(load):
        reasons.append(f"the scanning machine was slow ({load.host_ms:.0f} ms for what takes 20 ms elsewhere)")
    return f" The figure is uncertain: {', and '.join(reasons)}." if reasons else ""


def _was_slow(load: BrowserLoad) -> bool:
    return load.host_ms is not None and load.host_ms > SLOW_HOST_MS
