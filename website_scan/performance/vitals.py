"""Web vitals of a phone on a slow link, computed from a browser's observations of unthrottled loads.

First and largest contentful paint are computed with the simulated link (`slow_link`): the end of all requests that the
paint waited for, plus the observed time from there to the paint. Blocking time assumes that each long task takes four
times as long, as on a mid-range phone (Lighthouse's factor). Layout shifts do not depend on the link.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from website_scan.browser.evidence import Evaluation, LayoutShift, Load, LoadedRequest
from website_scan.page.references import ResourceKind
from website_scan.performance.processor import SLOWDOWN, Processor
from website_scan.performance.slow_link import Arrival, commit_s, simulate

LONG_S = 0.05
# Session windows of layout shifts (web.dev, "Cumulative Layout Shift").
WINDOW_GAP_S, WINDOW_S = 1.0, 5.0
# A paint this soon after the first one belongs to it.
SAME_PAINT_S = 0.05
REFRESH_S = 0.02  # frames are reported up to one screen refresh before or after their paint
AGREEMENT = 0.15
MAX_IDLE_S = 1.0
# Kinds of resources that text can wait for. Images do not delay text.
TEXT_WAITS_FOR = frozenset({ResourceKind.SCRIPT, ResourceKind.STYLESHEET})
FONT_BLOCK_S = 3.0  # after this time, text is displayed in a fallback font (CSS Fonts, `font-display: block`)
REDRAW_S = 1.0  # interval at which Chromium redraws an image that is still arriving (ImageResource)
DRAWN_WHOLE = frozenset({"image/svg+xml", "image/avif"})
FIRST_BYTES = 4_000  # size of a document's beginning with which a browser paints something


@dataclass(frozen=True, slots=True)
class Measured:
    """Median, minimum and maximum of a figure over the loads in which it was measured."""

    value: float
    least: float
    largest: float
    loads: int = 1

    def is_stable(self, least: float = 0.0) -> bool:
        """Return True if minimum and maximum differ from the median by at most 15 %, or by at most `least`."""
        return max(self.largest - self.value, self.value - self.least) <= max(AGREEMENT * self.value, least)


class Simulated(NamedTuple):
    """Simulated FCP, LCP, total blocking time and Speed Index of a load; None if nothing was painted or filmed."""

    first_s: float | None
    largest_s: float | None
    blocked_s: float | None
    speed_index_s: float | None


@dataclass(frozen=True, slots=True)
class Markup:
    """Facts from the page's source that affect its paints.

    `is_empty`: the markup alone displays nothing, so that all paints wait for scripts. `is_shell`: the markup displays
    only a few words. `lead_share`: the part of the source, 0 to 1, before anything visible. `holding_fonts`: URLs of
    fonts that browsers wait for before they display text. `places`: positions of URLs in the source, 0 to 1.
    `redirects`: URLs that led to the page.
    """

    is_empty: bool = False
    is_shell: bool = False
    lead_share: float = 0.0
    holding_fonts: frozenset[str] = frozenset()
    places: Mapping[str, float] = field(default_factory=dict)
    redirects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Vitals:
    """Web vitals in seconds; CLS has no unit. None: the page painted nothing that could be measured.

    `observed_fcp` and `observed_lcp` are the observed values of the unthrottled loads.
    """

    fcp: Measured | None
    lcp: Measured | None
    cls: Measured
    tbt: Measured | None
    speed_index: Measured | None
    observed_fcp: Measured | None
    observed_lcp: Measured | None
    script_s: float
    main_thread_s: float
    loads: int
    is_complete: bool  # every load had a load event


def vitals(loads: Sequence[Load], markup: Markup) -> Vitals:
    """Compute the web vitals of a page from its loads."""
    # A load that was not traced has no main-thread tasks, and would appear too fast.
    traced = [load for load in loads if load.main_thread.tasks] or loads
    phone = [simulated(load, markup) for load in traced]
    return Vitals(
        fcp=_measured(phone_load.first_s for phone_load in phone),
        lcp=_measured(phone_load.largest_s for phone_load in phone),
        cls=_measured(cumulative_layout_shift(load.shifts) for load in loads) or Measured(0.0, 0.0, 0.0),
        tbt=_measured(phone_load.blocked_s for phone_load in phone),
        # If frames are missing in a film, its page appears complete too early, so the higher of two values is used.
        speed_index=_measured((phone_load.speed_index_s for phone_load in phone), statistics.median_high),
        observed_fcp=_measured(load.fcp_s for load in loads),
        observed_lcp=_measured(load.lcp.time_s if load.lcp else None for load in loads),
        script_s=SLOWDOWN * statistics.median_low(load.script_s for load in loads),
        main_thread_s=SLOWDOWN * statistics.median_low(load.main_thread_s for load in loads),
        loads=len(loads),
        is_complete=all(load.load_s is not None for load in loads),
    )


def cumulative_layout_shift(shifts: Sequence[LayoutShift]) -> float:
    """Return the largest sum of shifts in a session window: less than a second apart, five seconds long at most."""
    largest = total = 0.0
    start_s = last_s = -math.inf
    for shift in sorted(shifts, key=lambda shift: shift.time_s):
        if shift.time_s - last_s >= WINDOW_GAP_S or shift.time_s - start_s >= WINDOW_S:
            start_s, total = shift.time_s, 0.0
        total += shift.value
        last_s = shift.time_s
        largest = max(largest, total)
    return largest


def simulated(load: Load, markup: Markup) -> Simulated:
    """Simulate the paints and the blocking time of one load on the slow link and processor."""
    if load.fcp_s is None or not load.requests:
        return Simulated(None, None, None, None)
    return _Simulation(load, load.fcp_s, markup).run()


class _Simulation:
    """Simulation of one load: converts the time of each paint by the requests that the paint waited for."""

    def __init__(self, load: Load, fcp_s: float, markup: Markup) -> None:
        self._load = load
        self._fcp_s = fcp_s
        self._markup = markup
        self._processor = Processor(load.main_thread)
        self._first_frame_s = self._processor.frame_end_s(fcp_s)
        self._schedule = simulate(load.requests, self._processor, markup.places, markup.redirects)
        self._arrivals = self._schedule.arrivals
        self._commit_s = commit_s(load.requests[0], self._processor)

    def run(self) -> Simulated:
        needed = self._requests_before(self._fcp_s, lambda request: request.is_blocking or self._builds_first(request))
        first_s, early = self._simulate_paint(needed, self._fcp_s, is_built=self._markup.is_empty)
        return Simulated(first_s, self._largest_s(first_s), self._blocked_s(early), self._speed_index_s(first_s))

    def _largest_s(self, first_s: float) -> float | None:
        lcp = self._load.lcp
        if lcp is None:
            return None
        requests = self._load.requests
        image = next((at for at, request in enumerate(requests) if lcp.url and request.url == lcp.url), None)
        if image is not None:
            # Work before the first paint did not wait for the image.
            return max(first_s, self._simulate_paint({image}, lcp.time_s, self._first_frame_s)[0])
        return self._text_s(lcp.time_s, first_s)

    def _text_s(self, seen_s: float, first_s: float, same_s: float = SAME_PAINT_S) -> float:
        """Return the simulated time of text that was painted at `seen_s`; within `same_s` after FCP, FCP's own time."""
        fonts = self._fonts_before(seen_s)
        if seen_s - self._fcp_s <= same_s and not self._markup.is_shell:
            return max([first_s, *(self._font_s(at) for at in fonts)])
        needed = self._requests_before(seen_s, lambda request: request.is_blocking or _builds_text(request))
        return max(first_s, self._simulate_paint(needed | fonts, seen_s, is_built=self._markup.is_shell)[0])

    def _speed_index_s(self, first_s: float) -> float | None:
        """Return the Speed Index: the mean time at which the parts of the screen appear, in seconds."""
        progress = self._load.progress
        if progress is None:
            return None
        index_s, rest = 0.0, 1.0
        for url, part in progress.images:
            at = next((at for at, request in enumerate(self._load.requests) if request.url == url), None)
            if at is not None:
                index_s += part * max(first_s, _drawn_s(self._arrivals[at], self._load.requests[at]))
                rest -= part
        painted = 0.0
        for seen_s, part in progress.steps:
            if part > painted:
                index_s += rest * (part - painted) * self._text_s(seen_s, first_s, REFRESH_S)
                painted = part
        return index_s

    def _blocked_s(self, early: Collection[Evaluation]) -> float:
        """Return the total blocking time: the seconds beyond 50 ms of each task after the first paint.

        `early` are scripts that ran before the first paint in the observed load, but run after it on the slow link.
        """
        lengths = [script.processor_s for script in early]
        for task in self._load.main_thread.tasks:
            after_s = task.time_s + task.duration_s - self._first_frame_s
            if after_s > 0:
                lengths.append(task.processor_s * min(1.0, after_s / task.duration_s))
        return sum(max(0.0, SLOWDOWN * length - LONG_S) for length in lengths)

    def _builds_first(self, request: LoadedRequest) -> bool:
        return self._markup.is_empty and _builds_text(request)

    def _requests_before(self, painted_s: float, is_needed: Callable[[LoadedRequest], bool]) -> set[int]:
        """Return the indexes of the document and of the needed requests that had ended before the paint."""
        return {0} | {
            at
            for at, request in enumerate(self._load.requests)
            if request.end_s is not None and request.end_s <= painted_s and is_needed(request)
        }

    def _fonts_before(self, painted_s: float) -> set[int]:
        """Return the indexes of the fonts that text waited for and that had arrived before the paint."""
        return {
            at
            for at, request in enumerate(self._load.requests)
            if request.kind is ResourceKind.FONT
            and request.end_s is not None
            and request.end_s <= painted_s
            and request.url in self._markup.holding_fonts
        }

    def _font_s(self, at: int) -> float:
        return min(self._arrivals[at].end_s, self._arrivals[at].requested_s + FONT_BLOCK_S)

    def _simulate_paint(
        self, needed: set[int], seen_s: float, since_s: float = 0.0, *, is_built: bool = False
    ) -> tuple[float, list[Evaluation]]:
        """Return the simulated time of an observed paint, and the scripts that no longer run before the paint.

        Each request that the paint waited for is followed by the work between its arrival, or its script's run, and the
        paint. Only work from `since_s` on counts. With `is_built`, scripts of the whole document painted the content.
        """
        arrived_s = {at: self._font_s(at) if self._is_font(at) else self._arrivals[at].end_s for at in needed}
        share = 1.0
        if 0 in needed:
            parsed_s = self._arrivals[0].first_byte_s + self._commit_s
            others_s = max([parsed_s, *(end for at, end in arrived_s.items() if at)])
            share = 1.0 if is_built else self._share_of_document(others_s)
            arrived_s[0] = max(parsed_s, self._schedule.arrived_s(share))
        link_s = max(arrived_s.values())
        frame_end_s = self._processor.frame_end_s(seen_s)
        late = self._late_scripts(needed, seen_s, link_s)
        painted_s = link_s
        for at, end_s in arrived_s.items():
            request = self._load.requests[at]
            run = self._processor.evaluation_of(request.url, seen_s) if at else None
            seen_from_s = (request.end_s if at else request.response_s) or 0.0
            from_s = max(since_s, run.time_s if run else seen_from_s)
            work_s = SLOWDOWN * self._processor.work_s(from_s, frame_end_s, late) - (0.0 if at else self._commit_s)
            # If only a part of the document has arrived, only this part is laid out.
            saved_s = SLOWDOWN * (1 - share) * self._processor.rendering_work_s(from_s, frame_end_s)
            painted_s = max(painted_s, end_s + max(0.0, work_s - saved_s))
        last_s = max(self._load.requests[at].end_s or 0.0 for at in needed)
        idle_s = self._processor.idle_s(last_s, frame_end_s) + max(0.0, seen_s - max(frame_end_s, last_s))
        return painted_s + min(idle_s, MAX_IDLE_S), late

    def _is_font(self, at: int) -> bool:
        return self._load.requests[at].kind is ResourceKind.FONT

    def _share_of_document(self, others_s: float) -> float:
        """Return the share of the document that has arrived at the first paint, at least enough to paint something."""
        enough = max(self._markup.lead_share, FIRST_BYTES / max(self._load.requests[0].wire_bytes, 1))
        return min(1.0, max(self._schedule.share_at(others_s), enough))

    def _late_scripts(self, needed: set[int], seen_s: float, link_s: float) -> list[Evaluation]:
        """Return scripts that ran before the observed paint, but arrive after the simulated paint on the slow link.

        Scripts that the paint needs are not included.
        """
        by_url = {request.url: at for at, request in reversed(list(enumerate(self._load.requests)))}
        return [
            evaluation
            for evaluation in self._processor.evaluations
            if evaluation.time_s < seen_s
            and (at := by_url.get(evaluation.url)) is not None
            and at not in needed
            and self._arrivals[at].end_s > link_s
        ]


def _drawn_s(arrival: Arrival, image: LoadedRequest) -> float:
    """Return the mean time at which the parts of an image are drawn: once a second, and at the end."""
    duration_s = arrival.end_s - arrival.first_byte_s
    if image.media_type in DRAWN_WHOLE or duration_s <= 0:
        return arrival.end_s
    steps = math.floor(duration_s / REDRAW_S)
    in_steps_s = REDRAW_S * steps * (steps + 1) / 2 * REDRAW_S / duration_s
    return arrival.first_byte_s + in_steps_s + duration_s - steps * REDRAW_S


def curve(value: float, good: float, median: float) -> float:
    """Return the credit, 0 to 1, for a value: Lighthouse's log-normal curve.

    The curve passes through 0.9 at `good` (the 10th percentile) and 0.5 at `median`. Despite rounding, a value as good
    as `good` earns at least 0.9, and a value as good as `median` at least 0.5.
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
    return request.is_sent_by_code or request.kind in TEXT_WAITS_FOR


def _measured(
    values: Iterable[float | None], middle: Callable[[Sequence[float]], float] = statistics.median_low
) -> Measured | None:
    figures = [value for value in values if value is not None]
    # Of two loads, use the faster one: other programs may slow a load down, but never speed it up.
    return Measured(middle(figures), min(figures), max(figures), len(figures)) if figures else None
