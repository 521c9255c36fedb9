"""Checks of connections to the page's servers: HTTP versions, keep-alive, headers, preconnects."""

from __future__ import annotations

import re

from website_scan.catalogue import Category, check
from website_scan.findings import LOW, MEDIUM, EvidenceItem, Fail, Finding, Fix, NotApplicable, Pass, Server, by_limits
from website_scan.messages import KB, by_steps, counted, excerpt, size, some
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, live, resolve
from website_scan.performance.connections import closed_connections
from website_scan.performance.evidence import Protocols, Resources

CATEGORY = Category("Network", weight=4, html=True)

# From this number of files of one origin on, browsers with HTTP/1.1 wait for one of their six connections.
MANY_REQUESTS = 6
CLOSED_GOOD, CLOSED_POOR = 0, 4
HEADER_BYTES = 20 * KB
PRECONNECTS = 4
LINK_VALUE = re.compile(r"<([^<>]{1,2000})>([^<>,]{0,500})")
PRECONNECT = re.compile(r""";\s{0,9}rel\s{0,9}=\s{0,9}"?[^";]{0,99}\bpreconnect\b""", re.IGNORECASE)


@check(
    "http-version",
    name="HTTP/2 or HTTP/3",
    found="Static files are sent over HTTP/1.1",
    why="HTTP/1.1 loads one file at a time per connection; HTTP/2 and HTTP/3 load all of them at once.",
    judged=f"Only origins with at least {MANY_REQUESTS} static files count, and only https, which HTTP/2 requires.",
    severity=MEDIUM,
    fix=Fix(
        "Enable HTTP/2 ({example}).",
        {
            Server.NGINX: "http2 on;",
            Server.APACHE: "Protocols h2 http/1.1",
            Server.IIS: "Windows Server 2016 or later has it",
        },
    ),
    references=("RFC 9113, section 3.2", "Lighthouse: uses-http2"),
)
def http_version(protocols: Protocols) -> Finding:
    """Judge origins with six static files or more; over plain HTTP browsers use no newer version."""
    busy = [each for each in protocols.origins if each.static_requests >= MANY_REQUESTS and (each.alpn or each.h3)]
    if not busy:
        return NotApplicable(f"No https origin serves {MANY_REQUESTS} static files or more of the page.")
    old = [each for each in busy if not each.is_multiplexed]
    evidence: list[EvidenceItem] = [
        {
            "origin": excerpt(each.origin),
            "alpn": excerpt(each.alpn or "") or None,
            "http_3_offered": each.h3,
            "static_requests": each.static_requests,
        }
        for each in busy
    ]
    if not old:
        shown = some([f"{excerpt(each.origin, 80)} ({each.static_requests} files)" for each in busy])
        return Pass(f"HTTP/2 or newer: {shown}.", evidence)
    requests = sum(each.static_requests for each in old)
    return Fail(
        f"{counted(requests, 'static file is', 'static files are')} sent over HTTP/1.1, at most six at a time, because "
        f"{some([excerpt(each.origin, 80) for each in old])} "
        f"{'negotiates' if len(old) == 1 else 'negotiate'} nothing newer in the TLS handshake.",
        evidence=evidence,
    )


@check(
    "keep-alive",
    name="Connections are kept alive",
    found="Connections are closed too early",
    why="A new connection for each file costs one to three round trips every time.",
    judged=by_steps(CLOSED_GOOD, CLOSED_POOR) + " Origins with HTTP/2 are left out.",
    severity=MEDIUM,
    fix=Fix(
        "Let the server keep connections open, and do not send Connection: close ({example}).",
        {
            Server.NGINX: "keepalive_timeout 65s;",
            Server.APACHE: "KeepAlive On",
            Server.IIS: '<httpProtocol allowKeepAlive="true"/>',
        },
    ),
    references=("RFC 9112, section 9.3", "MDN: Keep-Alive"),
)
def keep_alive(page: Page, resources: Resources, protocols: Protocols) -> Finding:
    """Judge origins without HTTP/2 only: with others, browsers speak another version than the scanner."""
    if not resources.items:
        return NotApplicable("The page loads no resources.")
    asked = {each.origin: each for each in protocols.origins}
    closed: dict[str, int] = {}
    for origin, count in closed_connections(page, resources).items():
        protocol = asked.get(origin)
        is_certain = origin.startswith("http:") or (protocol is not None and protocol.alpn is not None)
        if is_certain and not (protocol is not None and protocol.is_multiplexed):
            closed[origin] = count
    total = sum(closed.values())
    if not closed:
        return Pass("No server closes connections that are still needed.")
    return by_limits(
        total,
        CLOSED_GOOD,
        CLOSED_POOR,
        f"{counted(total, 'response')} closed the connection although more requests followed: "
        f"{some([f'{excerpt(origin, 80)} ({count})' for origin, count in closed.items()])}",
        evidence=[{"origin": excerpt(origin), "closed": count} for origin, count in closed.items()],
    )


@check(
    "header-size",
    name="Small response headers",
    found="Large response headers",
    why="Headers come before the content, and large ones need another round trip.",
    judged=f"Responses with headers of more than {size(HEADER_BYTES)} count.",
    severity=LOW,
    fix="Remove headers that nothing uses, and shorten Content-Security-Policy and Set-Cookie.",
    references=("RFC 9110, section 5.4",),
)
def header_size(page: Page, resources: Resources) -> Finding:
    sizes = [(hop.header_bytes, hop.url) for hop in page.hops]
    sizes += [(each.header_bytes, each.url) for each in resources.items if each.status is not None and each.is_fetched]
    largest, url = max(sizes)
    large = sorted((pair for pair in sizes if pair[0] > HEADER_BYTES), reverse=True)
    if not large:
        return Pass(f"The largest of {counted(len(sizes), 'response header')} takes {size(largest)}.")
    return Fail(
        f"The headers of {counted(len(large), 'response')} are larger than {size(HEADER_BYTES)}; the "
        f"largest take {size(largest)} ({excerpt(url, 80)}).",
        evidence=[{"url": excerpt(each), "header_bytes": number} for number, each in large],
    )


@check(
    "preconnects",
    name="Few preconnect hints",
    found="Too many preconnect hints",
    why="Each connection that is opened early competes with the content that is needed now.",
    judged=f"More than {PRECONNECTS} count as too many.",
    severity=LOW,
    fix='Keep <link rel="preconnect"> for the few origins that the first screen needs; use rel="dns-prefetch" for '
    "others.",
    references=("Lighthouse: uses-rel-preconnect", "HTML, link type preconnect", "MDN: preconnect"),
)
def preconnects(page: Page, document: Document) -> Finding:
    addresses = [
        attribute(node, "href") or ""
        for node in live(document, "link[rel][href]")
        if "preconnect" in (attribute(node, "rel") or "").lower().split()
    ]
    for header in page.headers.all("Link"):
        addresses += [address for address, parameters in LINK_VALUE.findall(header) if PRECONNECT.search(parameters)]
    origins = dict.fromkeys(origin for address in addresses if (origin := _origin(document, address)))
    message = f"The page preconnects to {counted(len(origins), 'origin')}"
    evidence: list[EvidenceItem] = [{"origin": excerpt(origin)} for origin in origins]
    return by_limits(
        len(origins),
        PRECONNECTS,
        PRECONNECTS,
        f"{message}: {some([excerpt(origin, 60) for origin in origins])}" if origins else "No preconnects",
        f"up to {PRECONNECTS} is good",
        evidence,
    )


def _origin(document: Document, address: str) -> str:
    url = resolve(document, address.strip())
    return url.origin if url is not None and url.is_http else ""
