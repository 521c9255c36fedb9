"""Priorities of a page's requests in browsers.

The module also says what each request waits for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from website_scan.browser.evidence import Evaluation, LoadedRequest
from website_scan.page.references import ResourceKind
from website_scan.performance.processor import SLOWDOWN, Processor

# A longer pause between a request and its parent has another cause, such as a timer.
MIN_PAUSE_S = 0.1
MAX_PAUSE_S = 2.0

# Priorities of requests, roughly as in Chrome: shares of a connection's bandwidth, and order of waiting requests.
BLOCKING_SCRIPT_URGENCY = 6.0
URGENCY: Mapping[ResourceKind | None, float] = {
    None: 8.0,
    ResourceKind.STYLESHEET: 8.0,
    ResourceKind.FONT: 6.0,
    ResourceKind.SCRIPT: 4.0,
    ResourceKind.OTHER: 3.0,
    ResourceKind.IMAGE: 1.0,
    ResourceKind.ICON: 1.0,
    ResourceKind.MEDIA: 1.0,
}


def request_urgency(request: LoadedRequest) -> float:
    if request.is_blocking:
        return BLOCKING_SCRIPT_URGENCY if request.kind is ResourceKind.SCRIPT else URGENCY[ResourceKind.STYLESHEET]
    return URGENCY[request.kind]


def is_urgent_request(request: LoadedRequest) -> bool:
    return request_urgency(request) > URGENCY[ResourceKind.OTHER]


def find_layout_blockers(requests: Sequence[LoadedRequest], index: int, parent: int, *, is_in_markup: bool) -> set[int]:
    """Return the render-blocking requests before the layout.

    The layout caused the request `index`.

    Returns an empty set if layout did not cause it. Layout causes requests for fonts and for images of style sheets: it
    decides which rules apply.
    """
    is_initiated_by_style_sheet = requests[parent].kind is ResourceKind.STYLESHEET
    is_font_from_css = requests[index].kind is ResourceKind.FONT and not is_in_markup
    if not is_font_from_css and (not is_initiated_by_style_sheet or requests[index].kind is ResourceKind.STYLESHEET):
        return set()
    request_start_s = requests[index].start_s
    return {
        at
        for at, request in enumerate(requests[:index])
        if request.is_blocking and request.end_s is not None and request.end_s <= request_start_s
    }


def request_delay_s(
    parent: LoadedRequest, request: LoadedRequest, run: Evaluation | None, processor: Processor, *, is_in_markup: bool
) -> float:
    """Return the delay between the parent's arrival and the request.

    It consists of work on a slow processor and idle pauses. With `is_in_markup` there is no work: the preload scanner
    found the URL in the markup of the document.
    """
    parent_arrival_s = parent.end_s
    if parent_arrival_s is not None and parent.kind is None:
        # Urgent requests wait only until parsing starts.
        parse_start_s = processor.parsing_start_s(parent.response_s or 0.0)
        parent_arrival_s = parse_start_s if is_urgent_request(request) else max(parent_arrival_s, parse_start_s)
    if parent_arrival_s is None or request.start_s <= parent_arrival_s:
        return 0.0
    work_s = (
        0.0 if is_in_markup else processor.work_s(max(parent_arrival_s, run.time_s if run else 0.0), request.start_s)
    )
    idle_time_s = processor.idle_time_s(parent_arrival_s, request.start_s)
    return SLOWDOWN * work_s + (min(idle_time_s, MAX_PAUSE_S) if idle_time_s > MIN_PAUSE_S else 0.0)
