"""Checks of HTTP versions, keep-alive, header size and preconnects."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar

from website_scan.catalogue import Category, check
from website_scan.findings import LOW, MEDIUM, NotApplicable, Server
from website_scan.messages import KB, counted, cut, document_thresholds, excerpt, size
from website_scan.outcomes import Fail, Fix, Pass, Verdict, judge_by_limits
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, live, resolve
from website_scan.performance.connections import closed_connections
from website_scan.performance.evidence import Protocols, Resources
from website_scan.places import Column, Identity, Place, PlaceUrl, as_written
from website_scan.values import Address, Bytes, Count, Values

CATEGORY = Category("Network", weight=4, html=True)

# Browsers open at most six HTTP/1.1 connections per origin, so further files have to wait.
MIN_BUSY_ORIGIN_FILES = 6
GOOD_CLOSED_CONNECTIONS, POOR_CLOSED_CONNECTIONS = 0, 4
MAX_HEADER_BYTES = 20 * KB
PRECONNECTS = 4
LINK_HEADER_VALUE = re.compile(r"<([^<>]{1,2000})>([^<>,]{0,500})")
PRECONNECT = re.compile(r""";\s{0,9}rel\s{0,9}=\s{0,9}"?[^";]{0,99}\bpreconnect\b""", re.IGNORECASE)

Origin = Annotated[str, Identity(as_written), Column("Origin", "mono")]


class BusyOrigin(Place, frozen=True):
    """Origin of many static files, and the HTTP versions that the origin offers."""

    kind: ClassVar[str] = "busy-origin"

    origin: Origin
    alpn: Annotated[str | None, Column("Protocol", "mono")]
    http_3_offered: Annotated[bool, Column("HTTP/3 offered", "short")]
    static_requests: Annotated[int, Column("Static files", "number")]

    @property
    def label(self) -> str:
        """Return the origin and its number of files.

        Empty if the origin offers HTTP/2 or HTTP/3.
        """
        offers_modern_http = self.http_3_offered or self.alpn == "h2"
        return "" if offers_modern_http else f"{self.origin} ({counted(self.static_requests, 'static file')})"


class ClosingOrigin(Place, frozen=True):
    """Origin that closes connections too early.

    The page sends more requests.
    """

    kind: ClassVar[str] = "closing-origin"

    origin: Origin
    closed: Annotated[int, Column("Connections closed", "number")]

    @property
    def label(self) -> str:
        return f"{self.origin} ({counted(self.closed, 'time')})"


class LargeHeaders(Place, frozen=True):
    """Response with large headers."""

    kind: ClassVar[str] = "large-headers"

    url: PlaceUrl
    header_bytes: Annotated[int, Column("Headers", "number", "bytes")]

    @property
    def label(self) -> str:
        return f"{cut(self.url, 120)} ({size(self.header_bytes)})"


class PreconnectedOrigin(Place, frozen=True):
    """Origin in a preconnect hint of the page."""

    kind: ClassVar[str] = "preconnected-origin"

    origin: Origin


@check(
    "http-version",
    name="HTTP/2 or HTTP/3",
    outcomes={"http-1-1": "Static files are sent over HTTP/1.1"},
    why="HTTP/1.1 loads one file at a time per connection; HTTP/2 and HTTP/3 load all of them at once.",
    judged=f"Only origins with at least {MIN_BUSY_ORIGIN_FILES} static files count, and only https, which HTTP/2 "
    "requires.",
    severity=MEDIUM,
    fix=Fix(
        "Enable HTTP/2.",
        {
            Server.NGINX: "http2 on;",
            Server.APACHE: "Protocols h2 http/1.1",
            Server.IIS: "# Windows Server 2016 or later supports HTTP/2 without a setting",
        },
    ),
    references=("RFC 9113, section 3.2", "Lighthouse: uses-http2"),
)
def http_version(protocols: Protocols) -> Verdict:
    """Judge only https origins with six static files or more.

    Browsers use HTTP/2 only over https.
    """
    busy = [
        protocol
        for protocol in protocols.origins
        if protocol.static_requests >= MIN_BUSY_ORIGIN_FILES and (protocol.alpn or protocol.h3)
    ]
    if not busy:
        return NotApplicable(f"No HTTPS origin serves {MIN_BUSY_ORIGIN_FILES} static files or more of the page.")
    old = [protocol for protocol in busy if not protocol.is_multiplexed]
    origins = [
        BusyOrigin(
            excerpt(protocol.origin), excerpt(protocol.alpn or "") or None, protocol.h3, protocol.static_requests
        )
        for protocol in busy
    ]
    if not old:
        names = Values([Address(protocol.origin, 80) for protocol in busy])
        return Pass("{origins} {origins:uses|use} HTTP/2 or newer.", details=origins, origins=names)
    return Fail(
        "http-1-1",
        "{files} {files:is|are} sent over HTTP/1.1, at most six at a time, because "
        "{servers:the server negotiates|the servers negotiate} nothing newer in the TLS handshake.",
        files=Count(sum(protocol.static_requests for protocol in old), "static file"),
        servers=Count(len(old)),
        places=origins,
    )


@check(
    "keep-alive",
    name="Connections are kept alive",
    outcomes={"closed": "Connections are closed too early"},
    why="A new connection for each file costs one to three round trips every time.",
    judged=document_thresholds(GOOD_CLOSED_CONNECTIONS, POOR_CLOSED_CONNECTIONS) + " Origins with HTTP/2 are left out.",
    severity=MEDIUM,
    fix=Fix(
        "Let the server keep connections open, and do not send `Connection: close`.",
        {
            Server.NGINX: "keepalive_timeout 65s;",
            Server.APACHE: "KeepAlive On",
            Server.IIS: '<httpProtocol allowKeepAlive="true"/>',
        },
    ),
    references=("RFC 9112, section 9.3", "MDN: Keep-Alive"),
)
def keep_alive(page: Page, resources: Resources, protocols: Protocols) -> Verdict:
    """Judge only origins without HTTP/2.

    The scanner uses HTTP/1.1 everywhere, but browsers prefer HTTP/2.
    """
    if not resources.items:
        return NotApplicable("The page loads no resources.")
    protocol_by_origin = {item.origin: item for item in protocols.origins}
    closed: dict[str, int] = {}
    for origin, count in closed_connections(page, resources).items():
        protocol = protocol_by_origin.get(origin)
        is_http_1_certain = origin.startswith("http:") or (protocol is not None and protocol.alpn is not None)
        if is_http_1_certain and not (protocol is not None and protocol.is_multiplexed):
            closed[origin] = count
    total = sum(closed.values())
    if not closed:
        return Pass("No server closes connections that are still needed.")
    return judge_by_limits(
        "closed",
        "{responses} closed the connection although more requests followed",
        total,
        (GOOD_CLOSED_CONNECTIONS, POOR_CLOSED_CONNECTIONS),
        responses=Count(total, "response"),
        places=[ClosingOrigin(excerpt(origin), count) for origin, count in closed.items()],
    )


@check(
    "header-size",
    name="Small response headers",
    outcomes={"large": "Large response headers"},
    why="Headers come before the content, and large ones need another round trip.",
    judged=f"Responses with headers of more than {size(MAX_HEADER_BYTES)} count.",
    severity=LOW,
    fix="Remove headers that nothing uses, and shorten `Content-Security-Policy` and `Set-Cookie`.",
    references=("RFC 9110, section 5.4",),
)
def header_size(page: Page, resources: Resources) -> Verdict:
    sizes = [(hop.header_bytes, hop.url) for hop in page.hops]
    sizes += [
        (resource.header_bytes, resource.url)
        for resource in resources.items
        if resource.status is not None and resource.is_fetched
    ]
    largest = Bytes(max(size_bytes for size_bytes, _ in sizes))
    large = sorted((pair for pair in sizes if pair[0] > MAX_HEADER_BYTES), reverse=True)
    if not large:
        responses = Count(len(sizes), "response")
        return Pass("The headers of {responses} take up to {largest}.", responses=responses, largest=largest)
    return Fail(
        "large",
        "The headers of {responses} are larger than {limit}.",
        responses=Count(len(large), "response"),
        limit=Bytes(MAX_HEADER_BYTES),
        places=[LargeHeaders(excerpt(url), size_bytes) for size_bytes, url in large],
    )


@check(
    "preconnects",
    name="Few preconnect hints",
    outcomes={"too-many": "Too many preconnect hints"},
    why="Each connection that is opened early competes with the content that is needed now.",
    judged=f"More than {PRECONNECTS} count as too many.",
    severity=LOW,
    fix='Keep `<link rel="preconnect">` for the few origins that the first screen needs; use `rel="dns-prefetch"` for '
    "others.",
    references=("Lighthouse: uses-rel-preconnect", "HTML, link type preconnect", "MDN: preconnect"),
)
def preconnects(page: Page, document: Document) -> Verdict:
    addresses = [
        attribute(node, "href") or ""
        for node in live(document, "link[rel][href]")
        if "preconnect" in (attribute(node, "rel") or "").lower().split()
    ]
    for header in page.headers.all("Link"):
        addresses += [
            address for address, parameters in LINK_HEADER_VALUE.findall(header) if PRECONNECT.search(parameters)
        ]
    origins = dict.fromkeys(origin for address in addresses if (origin := _origin_of_link(document, address)))
    if not origins:
        return Pass("The page has no preconnect hints.")
    return judge_by_limits(
        "too-many",
        "The page preconnects to {origins}",
        len(origins),
        (PRECONNECTS, PRECONNECTS),
        limit=Count(PRECONNECTS),
        origins=Count(len(origins), "origin"),
        places=[PreconnectedOrigin(excerpt(origin)) for origin in origins],
    )


def _origin_of_link(document: Document, address: str) -> str:
    url = resolve(document, address.strip())
    return url.origin if url is not None and url.is_http else ""
