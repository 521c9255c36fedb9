"""Waterfall chart of a load's requests for the report, limited in size."""

from __future__ import annotations

from website_scan.browser.evidence import Load
from website_scan.messages import excerpt
from website_scan.page.registrable_domain import is_same_site
from website_scan.result import Waterfall, WaterfallRow
from website_scan.urls import host_of

MAX_WATERFALL_ROWS = 60
MAX_URL_LENGTH = 200


def waterfall(load: Load) -> Waterfall | None:
    """Return the waterfall of an unthrottled page load.

    None if the load has no requests.
    """
    if not load.requests:
        return None
    marks = {
        "First paint": load.fcp_s,
        "Largest paint": load.lcp.time_s if load.lcp else None,
        "Loaded": load.load_s,
    }
    paint_marks = [(name, round(1000 * at_s)) for name, at_s in marks.items() if at_s is not None]
    requests = load.requests[:MAX_WATERFALL_ROWS]
    ends = [request.end_s for request in requests if request.end_s is not None]
    total_ms = max([1, *(at for _, at in paint_marks), *(round(1000 * end) for end in ends)])
    page_host = host_of(requests[0].url)
    rows = []
    for request in requests:
        start_ms = min(round(1000 * request.start_s), total_ms)
        end_ms = total_ms if request.end_s is None else max(start_ms, round(1000 * request.end_s))
        response_ms = (
            end_ms if request.response_s is None else min(max(start_ms, round(1000 * request.response_s)), end_ms)
        )
        rows.append(
            WaterfallRow(
                url=excerpt(request.url, MAX_URL_LENGTH),
                kind=str(request.kind) if request.kind else "document",
                start_ms=start_ms,
                response_ms=response_ms,
                end_ms=end_ms,
                wire_bytes=request.wire_bytes,
                status=request.status,
                is_blocking=request.is_blocking,
                is_failed=bool(request.error) or (request.status or 0) >= 400,
                is_third_party=not is_same_site(host_of(request.url), page_host),
            )
        )
    return Waterfall(tuple(rows), tuple(paint_marks), total_ms, len(load.requests) - len(requests) + load.left_out)
