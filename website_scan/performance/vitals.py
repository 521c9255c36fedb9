"""Web vitals on a phone with a slow connection.

They are simulated from a browser's observations of unthrottled loads.

First and largest contentful paint are computed with the simulated link (`slow_link`): the end of all requests that the
paint waited for, plus the observed time from there to the paint. Blocking time assumes that each long task takes four
times as long, as on a mid-range phone (Lighthouse's factor). Layout shifts do not depend on the link.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from website_scan.browser.evidence import Evaluation, Load, LoadedRequest, Progress
from website_scan.browser.stability import AGREEMENT, LONG_TASK_S
from website_scan.page.references import ResourceKind
from website_scan.performance.layout_shifts import cumulative_layout_shift
from website_scan.performance.processor import SLOWDOWN, Processor
from website_scan.performance.slow_link import Arrival, parsing_delay_s, simulate_requests

# Lighthouse's control points for phones: a good value and the web's median.
FCP_S, LCP_S, TBT_S, CLS, SPEED_INDEX_S = (1.8, 3.0), (2.5, 4.0), (0.2, 0.6), (0.1, 0.25), (3.4, 5.8)
SCRIPT_TIME_S, MAIN_THREAD_TIME_S = (1.282, 3.5), (2.017, 4.0)
# Paints that follow the first paint within this time count as part of the first paint.
MAX_SAME_PAINT_GAP_S = 0.05
SCREEN_REFRESH_S = 0.02  # Frames are reported up to one screen refresh before or after their paint.
MAX_IDLE_S = 1.0
# Images do not delay text.
TEXT_BLOCKING_KINDS = frozenset({ResourceKind.SCRIPT, ResourceKind.STYLESHEET})
# After this time, browsers display text in a fallback font (CSS Fonts, `font-display: block`).
FONT_BLOCK_PERIOD_S = 3.0
REDRAW_INTERVAL_S = 1.0  # Interval at which Chromium redraws a partially loaded image (ImageResource).
MEDIA_TYPES_DRAWN_AT_ONCE = frozenset({"image/svg+xml", "image/avif"})
MAX_FILM_IMAGES = 30  # progress.js lists no more images of the screen.
MIN_PAINTABLE_BYTES = 4_000  # Size of a document's beginning that suffices for a browser to paint something.


class Measured(Struct, frozen=True):
    """A page's metric over several loads, with its minimum and maximum.

    The median counts, or the figure of the fastest load. In the latter case, `second` is that of the second fastest.
    """

    value: float
    least: float
    largest: float
    loads: int = 1
    second: float | None = None

    def is_stable(self, least: float = 0.0) -> bool:
        """Return True if all loads are close to the value.

        The tolerance is 15 % or `least`, whichever is larger.

        Loads slower than the second fastest do not count if the value is that of the fastest load.
        """
        largest = self.largest if self.second is None else self.second
        return max(largest - self.value, self.value - self.least) <= max(AGREEMENT * self.value, least)

    def may_be_within(self, limit: float, least: float = 0.0) -> bool:
        """Return True if a further load could bring the value within the limit.

        The value is above the limit.

        The value is that of the fastest load. It is certain if the second fastest agrees with it.
        """
        difference = (self.value if self.second is None else self.second) - self.value
        return not self.is_stable(least) and self.value - difference <= limit < self.value


class SimulatedVitals(NamedTuple):
    """Simulated metrics of a load, or None if nothing was recorded."""

    simulated_fcp_s: float | None
    simulated_lcp_s: float | None
    simulated_tbt_s: float | None
    speed_index_s: float | None


class MarkupFacts(Struct, frozen=True):
    """Facts about the page's markup that affect its paints.

    `is_empty`: the markup alone displays nothing, so that all paints wait for scripts. `is_placeholder_page`: it shows
    only a few words. `invisible_lead_share`: the part of the source, 0 to 1, before anything visible.
    `text_blocking_fonts`: URLs of fonts that browsers wait for before they display text. `places`: positions of URLs in
    the source, 0 to 1. `redirects`: URLs that led to the page.
    """

    is_empty: bool = False
    is_placeholder_page: bool = False
    invisible_lead_share: float = 0.0
    text_blocking_fonts: frozenset[str] = frozenset()
    places: Mapping[str, float] = field(default_factory=dict)
    redirects: tuple[str, ...] = ()


class Vitals(Struct, frozen=True):
    """Web vitals of a page, in seconds except for CLS.

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
    is_complete: bool  # True if every load reached its load event.


def vitals(loads: Sequence[Load], markup: MarkupFacts) -> Vitals:
    """Compute the web vitals of a page from the observations of its loads."""
    # A load without a trace has no main-thread tasks, so its simulation would be too fast.
    traced = [load for load in loads if load.main_thread.tasks] or loads
    simulations = [simulate_load(load, markup) for load in traced]
    return Vitals(
        fcp=_summarize_fastest(simulation.simulated_fcp_s for simulation in simulations),
        lcp=_summarize_fastest(simulation.simulated_lcp_s for simulation in simulations),
        cls=_summarize(cumulative_layout_shift(load.shifts) for load in loads) or Measured(0.0, 0.0, 0.0),
        tbt=_summarize_fastest(simulation.simulated_tbt_s for simulation in simulations),
        # If video frames are missing, the page seems complete too early.
        speed_index=_summarize((simulation.speed_index_s for simulation in simulations), statistics.median_high),
        observed_fcp=_summarize(load.fcp_s for load in loads),
        observed_lcp=_summarize(load.lcp.time_s if load.lcp else None for load in loads),
        script_s=SLOWDOWN * statistics.median_low(load.script_s for load in loads),
        main_thread_s=SLOWDOWN * statistics.median_low(load.main_thread_s for load in loads),
        loads=len(loads),
        is_complete=all(load.load_s is not None for load in loads),
    )


def simulate_load(load: Load, markup: MarkupFacts) -> SimulatedVitals:
    """Simulate the paints and the blocking time of one load.

    Connection and processor are slow.
    """
    if load.fcp_s is None or not load.requests:
        return SimulatedVitals(None, None, None, None)
    return _Simulation(load, load.fcp_s, markup).run()


def latest_paint_s(load: Load, markup: MarkupFacts) -> float | None:
    """Return a simulated time in seconds after which the screen no longer changes.

    No film of the load can have a larger Speed Index, even if this one misses frames. None if the time is unknown.
    """
    if load.fcp_s is None or load.observed_s < load.fcp_s or not load.requests:
        return None
    if load.progress is None or len(load.progress.images) >= MAX_FILM_IMAGES:
        return None
    return _Simulation(load, load.fcp_s, markup).latest_paint_s(load.progress)


class _Simulation:
    """Simulation of one load."""

    def __init__(self, load: Load, fcp_s: float, markup: MarkupFacts) -> None:
        self._load = load
        self._fcp_s = fcp_s
        self._markup = markup
        self._processor = Processor(load.main_thread)
        self._first_frame_s = self._processor.frame_end_s(fcp_s)
        self._schedule = simulate_requests(load.requests, self._processor, markup.places, markup.redirects)
        self._arrivals = self._schedule.arrivals
        self._parsing_delay_s = parsing_delay_s(load.requests[0], self._processor)

    def run(self) -> SimulatedVitals:
        simulated_fcp_s, early = self._simulate_fcp()
        return SimulatedVitals(
            simulated_fcp_s,
            self._simulate_lcp_s(simulated_fcp_s),
            self._total_blocking_time_s(early),
            self._simulate_speed_index_s(simulated_fcp_s),
        )

    def _simulate_fcp(self) -> tuple[float, list[Evaluation]]:
        """Return the simulated first contentful paint, and the scripts that run after it in the simulation."""
        needed = self._needed_requests_before(
            self._fcp_s, lambda request: request.is_blocking or self._may_build_first_paint(request)
        )
        return self._simulate_paint(needed, self._fcp_s, is_built=self._markup.is_empty)

    def latest_paint_s(self, progress: Progress) -> float:
        simulated_fcp_s = self._simulate_fcp()[0]
        urls = {url for url, _ in progress.images}
        requests = zip(self._arrivals, self._load.requests, strict=True)
        images_s = [arrival.end_s for arrival, request in requests if request.url in urls]
        return max([self._simulate_text_paint_s(self._load.observed_s, simulated_fcp_s), *images_s])

    def _simulate_lcp_s(self, simulated_fcp_s: float) -> float | None:
        lcp = self._load.lcp
        if lcp is None:
            return None
        requests = self._load.requests
        image = next((at for at, request in enumerate(requests) if lcp.url and request.url == lcp.url), None)
        if image is not None:
            # The image did not delay work before the first paint.
            return max(simulated_fcp_s, self._simulate_paint({image}, lcp.time_s, self._first_frame_s)[0])
        return self._simulate_text_paint_s(lcp.time_s, simulated_fcp_s)

    def _simulate_text_paint_s(
        self, observed_s: float, simulated_fcp_s: float, same_s: float = MAX_SAME_PAINT_GAP_S
    ) -> float:
        """Return the simulated time of a text paint at `observed_s`.

        Within `same_s` after the FCP, it counts as the FCP.
        """
        fonts = self._fonts_before(observed_s)
        if observed_s - self._fcp_s <= same_s and not self._markup.is_placeholder_page:
            return max([simulated_fcp_s, *(self._font_end_s(at) for at in fonts)])
        needed = self._needed_requests_before(
            observed_s, lambda request: request.is_blocking or _may_build_text(request)
        )
        return max(
            simulated_fcp_s,
            self._simulate_paint(needed | fonts, observed_s, is_built=self._markup.is_placeholder_page)[0],
        )

    def _simulate_speed_index_s(self, simulated_fcp_s: float) -> float | None:
        """Return the Speed Index in seconds.

        This is the mean time after which the parts of the screen appear.
        """
        progress = self._load.progress
        if progress is None:
            return None
        speed_index_s, rest = 0.0, 1.0
        for url, part in progress.images:
            at = next((at for at, request in enumerate(self._load.requests) if request.url == url), None)
            if at is not None:
                speed_index_s += part * max(
                    simulated_fcp_s, _mean_draw_time_s(self._arrivals[at], self._load.requests[at])
                )
                rest -= part
        painted = 0.0
        for observed_s, part in progress.steps:
            if part > painted:
                speed_index_s += (
                    rest * (part - painted) * self._simulate_text_paint_s(observed_s, simulated_fcp_s, SCREEN_REFRESH_S)
                )
                painted = part
        return speed_index_s

    def _total_blocking_time_s(self, early: Collection[Evaluation]) -> float:
        """Return the total blocking time in seconds.

        It is the time beyond 50 ms of every main-thread task after the first paint. `early` are scripts that ran before
        the first paint in the observed load, but run after it on the slow link.
        """
        lengths = [script.processor_s for script in early]
        for task in self._load.main_thread.tasks:
            time_after_paint_s = task.time_s + task.duration_s - self._first_frame_s
            if time_after_paint_s > 0:
                lengths.append(task.processor_s * min(1.0, time_after_paint_s / task.duration_s))
        return sum(max(0.0, SLOWDOWN * length - LONG_TASK_S) for length in lengths)

    def _may_build_first_paint(self, request: LoadedRequest) -> bool:
        return self._markup.is_empty and _may_build_text(request)

    def _needed_requests_before(self, paint_s: float, is_needed: Callable[[LoadedRequest], bool]) -> set[int]:
        """Return the document and the needed requests before the paint."""
        return {0} | {
            at
            for at, request in enumerate(self._load.requests)
            if request.end_s is not None and request.end_s <= paint_s and is_needed(request)
        }

    def _fonts_before(self, paint_s: float) -> set[int]:
        """Return the indexes of text-blocking fonts before the paint."""
        return {
            at
            for at, request in enumerate(self._load.requests)
            if request.kind is ResourceKind.FONT
            and request.end_s is not None
            and request.end_s <= paint_s
            and request.url in self._markup.text_blocking_fonts
        }

    def _font_end_s(self, at: int) -> float:
        return min(self._arrivals[at].end_s, self._arrivals[at].requested_s + FONT_BLOCK_PERIOD_S)

    def _simulate_paint(
        self, needed: set[int], observed_s: float, since_s: float = 0.0, *, is_built: bool = False
    ) -> tuple[float, list[Evaluation]]:
        """Return the simulated time of an observed paint.

        The second value has the scripts that run after it in the simulation.

        Each request that the paint waited for is followed by the work between its arrival, or its script's run, and the
        paint. Only work from `since_s` on counts. With `is_built`, scripts of the whole document painted the content.
        """
        arrival_times_s = {
            at: self._font_end_s(at) if self._is_font_request(at) else self._arrivals[at].end_s for at in needed
        }
        share = 1.0
        if 0 in needed:
            parse_start_s = self._arrivals[0].first_byte_s + self._parsing_delay_s
            other_arrivals_s = max([parse_start_s, *(end for at, end in arrival_times_s.items() if at)])
            share = 1.0 if is_built else self._share_of_document(other_arrivals_s)
            arrival_times_s[0] = max(parse_start_s, self._schedule.document_arrival_s(share))
        last_arrival_s = max(arrival_times_s.values())
        frame_end_s = self._processor.frame_end_s(observed_s)
        late = self._late_scripts(needed, observed_s, last_arrival_s)
        paint_s = last_arrival_s
        for at, end_s in arrival_times_s.items():
            request = self._load.requests[at]
            run = self._processor.find_evaluation(request.url, observed_s) if at else None
            observed_arrival_s = (request.end_s if at else request.response_s) or 0.0
            work_start_s = max(since_s, run.time_s if run else observed_arrival_s)
            work_s = SLOWDOWN * self._processor.work_s(work_start_s, frame_end_s, late) - (
                0.0 if at else self._parsing_delay_s
            )
            # Browsers lay out only the part of the document that has arrived.
            saved_work_s = SLOWDOWN * (1 - share) * self._processor.rendering_work_s(work_start_s, frame_end_s)
            paint_s = max(paint_s, end_s + max(0.0, work_s - saved_work_s))
        last_request_end_s = max(self._load.requests[at].end_s or 0.0 for at in needed)
        idle_time_s = self._processor.idle_time_s(last_request_end_s, frame_end_s) + max(
            0.0, observed_s - max(frame_end_s, last_request_end_s)
        )
        return paint_s + min(idle_time_s, MAX_IDLE_S), late

    def _is_font_request(self, at: int) -> bool:
        return self._load.requests[at].kind is ResourceKind.FONT

    def _share_of_document(self, other_arrivals_s: float) -> float:
        """Return the share of the document that had arrived at the first paint.

        The share is between 0 and 1.
        """
        enough = max(self._markup.invisible_lead_share, MIN_PAINTABLE_BYTES / max(self._load.requests[0].wire_bytes, 1))
        return min(1.0, max(self._schedule.document_share_at(other_arrivals_s), enough))

    def _late_scripts(self, needed: set[int], observed_s: float, last_arrival_s: float) -> list[Evaluation]:
        """Return the scripts that arrive after the simulated paint.

        They ran before the observed paint.

        Scripts that the paint needs are not included.
        """
        index_by_url = {request.url: at for at, request in reversed(list(enumerate(self._load.requests)))}
        return [
            evaluation
            for evaluation in self._processor.evaluations
            if evaluation.time_s < observed_s
            and (at := index_by_url.get(evaluation.url)) is not None
            and at not in needed
            and self._arrivals[at].end_s > last_arrival_s
        ]


def _mean_draw_time_s(arrival: Arrival, image: LoadedRequest) -> float:
    """Return the mean time at which the parts of an image are drawn."""
    duration_s = arrival.end_s - arrival.first_byte_s
    if image.media_type in MEDIA_TYPES_DRAWN_AT_ONCE or duration_s <= 0:
        return arrival.end_s
    steps = math.floor(duration_s / REDRAW_INTERVAL_S)
    redraw_time_s = REDRAW_INTERVAL_S * steps * (steps + 1) / 2 * REDRAW_INTERVAL_S / duration_s
    return arrival.first_byte_s + redraw_time_s + duration_s - steps * REDRAW_INTERVAL_S


def _may_build_text(request: LoadedRequest) -> bool:
    return request.is_sent_by_script or request.kind in TEXT_BLOCKING_KINDS


def _summarize_fastest(values: Iterable[float | None]) -> Measured | None:
    """Return the lowest of the processor times of several loads."""
    figures = sorted(value for value in values if value is not None)
    if not figures:
        return None
    second = figures[1] if len(figures) > 1 else None
    return Measured(figures[0], figures[0], figures[-1], len(figures), second)


def _summarize(
    values: Iterable[float | None], middle: Callable[[Sequence[float]], float] = statistics.median_low
) -> Measured | None:
    figures = [value for value in values if value is not None]
    # Other programs may slow a load down, but never speed it up.
    return Measured(middle(figures), min(figures), max(figures), len(figures)) if figures else None
