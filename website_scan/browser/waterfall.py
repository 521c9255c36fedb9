"""Waterfall of a load's requests for the report, limited so that a report stays small."""

from __future__ import annotations

from website_scan.browser.evidence import Load
from website_scan.messages import excerpt
from website_scan.page.registrable_domain import is_same_site
from website_scan.result import Waterfall, WaterfallRow
from website_scan.urls import host_of

MAX_ROWS = 60
URL_LENGTH = 200


def waterfall(load: Load) -> Waterfall | None:
    """Return the waterfall of an unthrottled load; None if nothing was requested."""
    if not load.requests:
        return None
    marks = {
        "First paint": load.fcp_s,
        "Largest paint": load.lcp.time_s if load.lcp else None,
        "Loaded": load.load_s,
    }
    seen = [(name, round(1000 * at_s)) for name, at_s in marks.items() if at_s is not None]
    shown = load.requests[:MAX_ROWS]
    ends = [each.end_s for each in shown if each.end_s is not None]
    total_ms = max([1, *(at for _, at in seen), *(round(1000 * end) for end in ends)])
    own = host_of(shown[0].url)
    rows = []
    for each in shown:
        start_ms = min(round(1000 * each.start_s), total_ms)
        end_ms = total_ms if each.end_s is None else max(start_ms, round(1000 * each.end_s))
        response_ms = end_ms if each.response_s is None else min(max(start_ms, round(1000 * each.response_s)), end_ms)
        rows.append(
            WaterfallRow(
                url=excerpt(each.url, URL_LENGTH),
                kind=str(each.kind) if each.kind else "document",
                start_ms=start_ms,
                response_ms=response_ms,
                end_ms=end_ms,
                wire_bytes=each.wire_bytes,
                status=each.status,
                is_blocking=each.is_blocking,
                is_failed=bool(each.error) or (each.status or 0) >= 400,
                is_third_party=not is_same_site(host_of(each.url), own),
            )
        )
    return Waterfall(tuple(rows), tuple(seen), total_ms, len(load.requests) - len(shown) + load.left_out)
