"""How the page's requests use connections: which origin closes them although more requests follow."""

from __future__ import annotations

from collections import Counter
from urllib.parse import urlsplit

from scanner.net.http.response import Headers
from scanner.page.evidence import Page
from scanner.page.references import ResourceKind
from scanner.performance.evidence import Resources

STATIC = frozenset({ResourceKind.SCRIPT, ResourceKind.STYLESHEET, ResourceKind.IMAGE, ResourceKind.FONT})


def origin_of(url: str) -> str:
    """Scheme, host and port as the address writes them."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def closed_connections(page: Page, resources: Resources) -> dict[str, int]:
    """By origin, the responses behind which a connection was closed with another request still to come.

    Errors do not count: servers close connections behind them to defend themselves.
    """
    requests = Counter([origin_of(page.target.url)])
    closed = Counter[str]()
    if _closes(page.response.http_version, page.headers):
        closed[origin_of(page.target.url)] += 1
    for each in resources.items:
        if not each.eager or each.status is None:
            continue
        requests[origin_of(each.final_url)] += 1
        if each.status < 400 and not each.is_cut and _closes(each.http_version, each.headers):
            closed[origin_of(each.final_url)] += 1
    counts = {origin: min(number, requests[origin] - 1) for origin, number in closed.items()}
    return {origin: number for origin, number in counts.items() if number}


def _closes(http_version: str, headers: Headers) -> bool:
    """RFC 9112, section 9.3. What names no length ends with its connection, too, but only HTTP/1.0 still does that."""
    tokens = {each.strip().lower() for each in (headers.get("Connection") or "").split(",")}
    return "close" in tokens or (http_version <= "1.0" and "keep-alive" not in tokens)
