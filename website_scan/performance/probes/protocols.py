"""Probe of the HTTP versions of the page's origins, as negotiated in the TLS handshake (ALPN, RFC 7301)."""

from __future__ import annotations

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.errors import Blocked, BudgetExceeded, NetError
from website_scan.net.targets import InvalidUrl
from website_scan.page.evidence import Page
from website_scan.performance.connections import STATIC, closed_connections
from website_scan.performance.evidence import OriginProtocol, Protocols, Resources
from website_scan.urls import Url, origin_of

MANY_REQUESTS = 6
MAX_ORIGINS = 8
AT_ONCE = 4
TIMEOUT_S = 5.0

OFFERS_H3 = re.compile(r"""(?:^|[,\s])h3(?:-\d{2})?\s{0,9}=\s{0,9}["']""")


@probe()
def protocols(page: Page, resources: Resources, network: Network) -> Protocols:
    """Complete TLS handshakes with the relevant https origins: at most eight, the origins with most requests first.

    Relevant are origins with six static files or more (Lighthouse, uses-http2), and origins that close connections. A
    failed handshake is evidence. Raises the last error if all handshakes fail.
    """
    static = Counter(
        origin_of(resource.final_url)
        for resource in resources.items
        if resource.eager and resource.status == 200 and resource.kind in STATIC
    )
    origins = [origin for origin, count in static.most_common() if count >= MANY_REQUESTS]
    origins += [origin for origin in closed_connections(page, resources) if origin not in origins]
    origins = [origin for origin in origins if origin.startswith("https:")][:MAX_ORIGINS]
    if not origins:
        return Protocols()
    h3 = {
        origin_of(resource.final_url)
        for resource in resources.items
        if OFFERS_H3.search(resource.headers.get("Alt-Svc") or "")
    }
    with ThreadPoolExecutor(AT_ONCE, "alpn") as pool:
        answers = list(pool.map(lambda origin: _negotiated_protocol(network, origin), origins))
    errors = [answer for answer in answers if isinstance(answer, NetError | InvalidUrl)]
    if len(errors) == len(answers):
        raise errors[-1]
    return Protocols(
        tuple(
            OriginProtocol(origin, static[origin], answer, origin in h3)
            if isinstance(answer, str)
            else OriginProtocol(origin, static[origin], None, origin in h3, str(answer))
            for origin, answer in zip(origins, answers, strict=True)
        )
    )


def _negotiated_protocol(network: Network, origin: str) -> str | NetError | InvalidUrl:
    from website_scan.net.tls.handshake import handshake  # imports OpenSSL, which few pages need in this probe

    url = Url.of(origin)
    try:
        # A server that does not choose a protocol speaks HTTP/1.1, as before ALPN.
        return handshake(network, url.host, url.port or 0, timeout_s=TIMEOUT_S).alpn or "http/1.1"
    except (Blocked, BudgetExceeded):
        raise  # a limit of the scanner, not a fault of the site
    except (NetError, InvalidUrl) as error:
        return error
