"""Count the connections that origins close too early.

The page sends these origins more requests.
"""

from __future__ import annotations

from collections import Counter

from website_scan.net.http.response import Headers
from website_scan.page.evidence import Page
from website_scan.page.references import ResourceKind
from website_scan.performance.evidence import Resources
from website_scan.urls import origin_of

STATIC = frozenset({ResourceKind.SCRIPT, ResourceKind.STYLESHEET, ResourceKind.IMAGE, ResourceKind.FONT})


def closed_connections(page: Page, resources: Resources) -> dict[str, int]:
    """Count by origin the connections that were closed too early.

    Another request followed.

    Error responses do not count: servers close connections after errors to defend themselves.
    """
    requests = Counter([page.target.origin])
    closed = Counter[str]()
    if _closes_connection(page.response.http_version, page.headers):
        closed[page.target.origin] += 1
    for resource in resources.items:
        if not resource.eager or resource.status is None:
            continue
        requests[origin_of(resource.final_url)] += 1
        if (
            resource.status < 400
            and not resource.is_cut
            and _closes_connection(resource.http_version, resource.headers)
        ):
            closed[origin_of(resource.final_url)] += 1
    counts = {origin: min(number, requests[origin] - 1) for origin, number in closed.items()}
    return {origin: number for origin, number in counts.items() if number}


def _closes_connection(http_version: str, headers: Headers) -> bool:
    """Return True if the server closes the connection after the response.

    RFC 9112, section 9.3.

    A response without a length closes its connection as well, but only HTTP/1.0 servers still send such responses.
    """
    tokens = {token.strip().lower() for token in (headers.get("Connection") or "").split(",")}
    return "close" in tokens or (http_version <= "1.0" and "keep-alive" not in tokens)
