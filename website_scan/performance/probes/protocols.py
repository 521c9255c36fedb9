"""Probe for the HTTP versions of the page's origins.

The TLS handshake negotiates the version (ALPN, RFC 7301).
"""

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

MIN_BUSY_ORIGIN_FILES = 6
MAX_ORIGINS = 8
MAX_CONCURRENT_HANDSHAKES = 4
HANDSHAKE_TIMEOUT_S = 5.0

HTTP_3_OFFER = re.compile(r"""(?:^|[,\s])h3(?:-\d{2})?\s{0,9}=\s{0,9}["']""")


@probe()
def protocols(page: Page, resources: Resources, network: Network) -> Protocols:
    """Complete TLS handshakes with up to eight https origins.

    The busiest of the relevant origins come first.

    Relevant are origins with six static files or more (Lighthouse, uses-http2), and origins that close connections. A
    failed handshake is evidence. Raises the last error if all handshakes fail.
    """
    static = Counter(
        origin_of(resource.final_url)
        for resource in resources.items
        if resource.eager and resource.status == 200 and resource.kind in STATIC
    )
    origins = [origin for origin, count in static.most_common() if count >= MIN_BUSY_ORIGIN_FILES]
    origins += [origin for origin in closed_connections(page, resources) if origin not in origins]
    origins = [origin for origin in origins if origin.startswith("https:")][:MAX_ORIGINS]
    if not origins:
        return Protocols()
    h3 = {
        origin_of(resource.final_url)
        for resource in resources.items
        if HTTP_3_OFFER.search(resource.headers.get("Alt-Svc") or "")
    }
    with ThreadPoolExecutor(MAX_CONCURRENT_HANDSHAKES, "alpn") as pool:
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
    # The import loads OpenSSL, which few pages need in this probe.
    from website_scan.net.tls.handshake import handshake

    url = Url.of(origin)
    try:
        # A server that does not support ALPN uses HTTP/1.1.
        return handshake(network, url.host, url.port or 0, timeout_s=HANDSHAKE_TIMEOUT_S).alpn or "http/1.1"
    except (Blocked, BudgetExceeded):
        raise  # A timeout of the scan is not the site's fault.
    except (NetError, InvalidUrl) as error:
        return error
