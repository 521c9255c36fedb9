"""Requests without a response when the wait for the page ended."""

from __future__ import annotations

from website_scan.browser.evidence import Load, LoadedRequest
from website_scan.page.references import ResourceKind

# Seconds after which a file that has not arrived counts as not loaded.
MIN_PENDING_S = 5.0
BLOCKING_KINDS = frozenset({ResourceKind.SCRIPT, ResourceKind.STYLESHEET})


def unanswered_requests(load: Load) -> tuple[LoadedRequest, ...]:
    """Return the requests that the load event was still waiting for.

    They had been waiting for `MIN_PENDING_S` seconds. A picture whose answer has begun may be a stream, and scripts may
    leave their requests open.
    """
    if load.load_s is not None:
        return ()
    return tuple(
        request
        for request in load.requests[1:]
        if request.end_s is None
        and not (request.is_sent_by_script or request.is_in_frame)
        and (request.kind in BLOCKING_KINDS or (request.kind is ResourceKind.IMAGE and request.status is None))
        and load.observed_s - request.start_s >= MIN_PENDING_S
    )


def unanswered_blocking_requests(load: Load) -> list[LoadedRequest]:
    """Return the missing files without which nothing is drawn.

    They block rendering and never arrived.
    """
    return [request for request in unanswered_requests(load) if request.is_blocking] if load.fcp_s is None else []
