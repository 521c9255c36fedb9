"""Web vitals: converted from the browser's observations of an unthrottled load to a phone on a slow link.

First and largest contentful paint are computed with the simulated link (`slow_link`): the end of all that the paint
waited for, plus the time that the browser was seen to take. Blocking time assumes that each long task takes four times
as long, as on a mid-range phone (Lighthouse's factor). Layout shifts do not depend on the link.
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
REFRESH_S = 0.02  # frames are told up to one refresh apart from paints
AGREEMENT = 0.15
MAX_IDLE_S = 1.0
# Kinds that text can wait for. Images do not delay it.
TEXT_WAITS_FOR = frozenset({ResourceKind.SCRIPT, ResourceKind.STYLESHEET})
FONT_BLOCK_S = 3.0  # then text is shown in a fallback font (CSS Fonts, `font-display: block`)
REDRAW_S = 1.0  # Chromium draws an image that is still arriving once in this time (ImageResource)
DRAWN_WHOLE = frozenset({"image/svg+xml", "image/avif"})
FIRST_BYTES = 4_000  # of a document that suffice to show a part of it


@dataclass(frozen=True, slots=True)
class Measured:
    """The median of a figure over the loads that tell it, with its minimum and maximum."""

    value: float
    least: float
    largest: float
    loads: int = 1

    def is_stable(self, least: float = 0.0) -> bool:
        """Return True if the loads agree: within 15 % of the median, or within `least`."""
        return max(self.largest - self.value, self.value - self.least) <= max(AGREEMENT * self.value, least)


class Simulated(NamedTuple):
    """FCP, LCP, total blocking time and Speed Index of a load; None if nothing was painted or filmed."""

    first_s: float | None
    largest_s: float | None
    blocked_s: float | None
    speed_index_s: float | None


@dataclass(frozen=True, slots=True)
class Markup:
    """Facts from the page's source that affect its paints.

    `is_empty`: it shows nothing by itself, so that all paints wait for scripts; `is_shell`: it shows only a few words.
    `lead_share`: the part of the source, 0 to 1, before anything visible. `holding_fonts`: URLs of fonts whose text
    browsers hide until they are loaded. `places`: positions of URLs in the source, 0 to 1. `redirects`: URLs that led
    to the page.
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

    `seen_fcp` and `seen_lcp` are those of the unthrottled loads.
    """

    fcp: Measured | None
    lcp: Measured | None
    cls: Measured
    tbt: Measured | None
    speed_index: Measured | None
    seen_fcp: Measured | None
    seen_lcp: Measured | None
    script_s: float
    main_thread_s: float
    loads: int
    is_complete: bool  # every load had a load event


def vitals(loads: Sequence[Load], markup: Markup) -> Vitals:
    """Compute the vitals of a page."""
    # Not every load is traced; one without its tasks would appear too fast.
    traced = [each for each in loads if each.main_thread.tasks] or loads
    phone = [simulated(each, markup) for each in traced]
    return Vitals(
        fcp=_measured(each.first_s for each in phone),
        lcp=_measured(each.largest_s for each in phone),
        cls=_measured(cumulative_layout_shift(each.shifts) for each in loads) or Measured(0.0, 0.0, 0.0),
        tbt=_measured(each.blocked_s for each in phone),
        # A film that misses frames shows a page as complete too early: then the other load tells more.
        speed_index=_measured((each.speed_index_s for each in phone), statistics.median_high),
        seen_fcp=_measured(each.fcp_s for each in loads),
        seen_lcp=_measured(each.lcp.time_s if each.lcp else None for each in loads),
        script_s=SLOWDOWN * statistics.median_low(each.script_s for each in loads),
        main_thread_s=SLOWDOWN * statistics.median_low(each.main_thread_s for each in loads),
        loads=len(loads),
        is_complete=all(each.load_s is not None for each in loads),
    )


def cumulative_layout_shift(shifts: Sequence[LayoutShift]) -> float:
    """Return the largest session window: shifts less than a second apart, for at most five seconds."""
    largest = total = 0.0
    began_s = last_s = -math.inf
    for each in sorted(shifts, key=lambda each: each.time_s):
        if each.time_s - last_s >= WINDOW_GAP_S or each.time_s - began_s >= WINDOW_S:
            began_s, total = each.time_s, 0.0
        total += each.value
        last_s = each.time_s
        largest = max(largest, total)
    return largest


def simulated(load: Load, markup: Markup) -> Simulated:
    """Simulate the paints and blocking time of one load on the slow link and processor."""
    if load.fcp_s is None or not load.requests:
        return Simulated(None, None, None, None)
    return _Simulation(load, load.fcp_s, markup).run()


class _Simulation:
    """Simulation of one load. Observed times become times of the slow phone through the requests they waited for."""

    def __init__(self, load: Load, fcp_s: float, markup: Markup) -> None:
        self._load = load
        self._fcp_s = fcp_s
        self._markup = markup
        self._processor = Processor(load.main_thread)
        self._first_frame_s = self._processor.handed_over_s(fcp_s)
        self._schedule = simulate(load.requests, self._processor, markup.places, markup.redirects)
        self._arrivals = self._schedule.arrivals
        self._commit_s = commit_s(load.requests[0], self._processor)

    def run(self) -> Simulated:
        needed = self._waited_for(self._fcp_s, lambda each: each.is_blocking or self._builds_first(each))
        first_s, early = self._painted(needed, self._fcp_s, is_built=self._markup.is_empty)
        return Simulated(first_s, self._largest_s(first_s), self._blocked_s(early), self._speed_index_s(first_s))

    def _largest_s(self, first_s: float) -> float | None:
        lcp = self._load.lcp
        if lcp is None:
            return None
        requests = self._load.requests
        image = next((at for at, each in enumerate(requests) if lcp.url and each.url == lcp.url), None)
        if image is not None:
            # Work before the first paint did not wait for the image.
            return max(first_s, self._painted({image}, lcp.time_s, self._first_frame_s)[0])
        return self._text_s(lcp.time_s, first_s)

    def _text_s(self, seen_s: float, first_s: float, same_s: float = SAME_PAINT_S) -> float:
        """Return the simulated time of text that was seen, at the latest `same_s` after the first paint with it."""
        fonts = self._holding_fonts(seen_s)
        if seen_s - self._fcp_s <= same_s and not self._markup.is_shell:
            return max([first_s, *(self._font_s(at) for at in fonts)])
        needed = self._waited_for(seen_s, lambda each: each.is_blocking or _builds_text(each))
        return max(first_s, self._painted(needed | fonts, seen_s, is_built=self._markup.is_shell)[0])

    def _speed_index_s(self, first_s: float) -> float | None:
        """Return the mean time at which the parts of the screen appear."""
        progress = self._load.progress
        if progress is None:
            return None
        index_s, rest = 0.0, 1.0
        for url, part in progress.images:
            at = next((at for at, each in enumerate(self._load.requests) if each.url == url), None)
            if at is not None:
                index_s += part * max(first_s, _drawn_s(self._arrivals[at], self._load.requests[at]))
                rest -= part
        shown = 0.0
        for seen_s, part in progress.steps:
            if part > shown:
                index_s += rest * (part - shown) * self._text_s(seen_s, first_s, REFRESH_S)
                shown = part
        return index_s

    def _blocked_s(self, early: Collection[Evaluation]) -> float:
        """Return the time beyond 50 ms of each task after the first paint.

        `early` are scripts that ran before it only because everything arrived at once: on the slow link they run later.
        """
        lengths = [each.processor_s for each in early]
        for task in self._load.main_thread.tasks:
            after_s = task.time_s + task.duration_s - self._first_frame_s
            if after_s > 0:
                lengths.append(task.processor_s * min(1.0, after_s / task.duration_s))
        return sum(max(0.0, SLOWDOWN * each - LONG_S) for each in lengths)

    def _builds_first(self, request: LoadedRequest) -> bool:
        return self._markup.is_empty and _builds_text(request)

    def _waited_for(self, painted_s: float, is_needed: Callable[[LoadedRequest], bool]) -> set[int]:
        """Return the document and the needed requests that had ended before the paint."""
        return {0} | {
            at
            for at, each in enumerate(self._load.requests)
            if each.end_s is not None and each.end_s <= painted_s and is_needed(each)
        }

    def _holding_fonts(self, painted_s: float) -> set[int]:
        """Return the fonts without which text is not shown, of those that had arrived before the paint."""
        return {
            at
            for at, each in enumerate(self._load.requests)
            if each.kind is ResourceKind.FONT
            and each.end_s is not None
            and each.end_s <= painted_s
            and each.url in self._markup.holding_fonts
        }

    def _font_s(self, at: int) -> float:
        return min(self._arrivals[at].ended_s, self._arrivals[at].asked_s + FONT_BLOCK_S)

    def _painted(
        self, needed: set[int], seen_s: float, since_s: float = 0.0, *, is_built: bool = False
    ) -> tuple[float, list[Evaluation]]:
        """Return the simulated time of an observed paint, and the scripts that no longer run before it.

        Each request that the paint waited for is followed by the work between its arrival, or its script's run, and the
        paint. Only work from `since_s` on counts. With `is_built`, scripts of the whole document led to it.
        """
        arrived_s = {at: self._font_s(at) if self._is_font(at) else self._arrivals[at].ended_s for at in needed}
        share = 1.0
        if 0 in needed:
            parsed_s = self._arrivals[0].began_s + self._commit_s
            others_s = max([parsed_s, *(end for at, end in arrived_s.items() if at)])
            share = 1.0 if is_built else self._share_of_document(others_s)
            arrived_s[0] = max(parsed_s, self._schedule.arrived_s(share))
        link_s = max(arrived_s.values())
        handed_s = self._processor.handed_over_s(seen_s)
        late = self._late(needed, seen_s, link_s)
        painted_s = link_s
        for at, end_s in arrived_s.items():
            request = self._load.requests[at]
            run = self._processor.evaluated(request.url, seen_s) if at else None
            seen_from_s = (request.end_s if at else request.response_s) or 0.0
            from_s = max(since_s, run.time_s if run else seen_from_s)
            work_s = SLOWDOWN * self._processor.worked_s(from_s, handed_s, late) - (0.0 if at else self._commit_s)
            # If only a part of the document has arrived, only that part is laid out.
            spared_s = SLOWDOWN * (1 - share) * self._processor.rendered_s(from_s, handed_s)
            painted_s = max(painted_s, end_s + max(0.0, work_s - spared_s))
        last_s = max(self._load.requests[at].end_s or 0.0 for at in needed)
        idle_s = self._processor.idle_s(last_s, handed_s) + max(0.0, seen_s - max(handed_s, last_s))
        return painted_s + min(idle_s, MAX_IDLE_S), late

    def _is_font(self, at: int) -> bool:
        return self._load.requests[at].kind is ResourceKind.FONT

    def _share_of_document(self, others_s: float) -> float:
        """Return the share of the document that has arrived when something can be shown, at least enough to show it."""
        enough = max(self._markup.lead_share, FIRST_BYTES / max(self._load.requests[0].wire_bytes, 1))
        return min(1.0, max(self._schedule.share_at(others_s), enough))

    def _late(self, needed: set[int], seen_s: float, link_s: float) -> list[Evaluation]:
        """Return scripts that ran before the observed paint, but arrive too late for it on the slow link.

        Scripts that the paint needs are not among them.
        """
        by_url = {each.url: at for at, each in reversed(list(enumerate(self._load.requests)))}
        return [
            each
            for each in self._processor.evaluations
            if each.time_s < seen_s
            and (at := by_url.get(each.url)) is not None
            and at not in needed
            and self._arrivals[at].ended_s > link_s
        ]


def _drawn_s(arrival: Arrival, image: LoadedRequest) -> float:
    """Return the mean time at which the parts of an image are drawn: what is there, once a second, and the rest."""
    took_s = arrival.ended_s - arrival.began_s
    if image.media_type in DRAWN_WHOLE or took_s <= 0:
        return arrival.ended_s
    steps = math.floor(took_s / REDRAW_S)
    in_steps_s = REDRAW_S * steps * (steps + 1) / 2 * REDRAW_S / took_s
    return arrival.began_s + in_steps_s + took_s - steps * REDRAW_S


def curve(value: float, good: float, median: float) -> float:
    """Return the credit, 0 to 1, for a value: Lighthouse's log-normal curve.

    It passes through 0.9 at `good` (its 10th percentile) and 0.5 at `median`; a value as good as `good` earns at least
    0.9, one as good as `median` at least 0.5.
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


def _measured(
    values: Iterable[float | None], middle: Callable[[Sequence[float]], float] = statistics.median_low
) -> Measured | None:
    found = [each for each in values if each is not None]
    # The lower median of two, because other work makes a load slower, never faster.
    return Measured(middle(found), min(found), max(found), len(found)) if found else None
