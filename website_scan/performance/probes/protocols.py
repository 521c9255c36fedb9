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
    """Complete handshakes with the relevant https origins: at most eight, those with the most requests first.

    Relevant are origins with six static files or more (Lighthouse, uses-http2), and those that close connections. An
    origin that fails is evidence; if all fail, the last error is raised.
    """
    static = Counter(
        origin_of(each.final_url)
        for each in resources.items
        if each.eager and each.status == 200 and each.kind in STATIC
    )
    wanted = [origin for origin, count in static.most_common() if count >= MANY_REQUESTS]
    wanted += [origin for origin in closed_connections(page, resources) if origin not in wanted]
    wanted = [origin for origin in wanted if origin.startswith("https:")][:MAX_ORIGINS]
    if not wanted:
        return Protocols()
    h3 = {origin_of(each.final_url) for each in resources.items if OFFERS_H3.search(each.headers.get("Alt-Svc") or "")}
    with ThreadPoolExecutor(AT_ONCE, "alpn") as pool:
        answers = list(pool.map(lambda origin: _ask(network, origin), wanted))
    errors = [answer for answer in answers if isinstance(answer, NetError | InvalidUrl)]
    if len(errors) == len(answers):
        raise errors[-1]
    return Protocols(
        tuple(
            OriginProtocol(origin, static[origin], answer, origin in h3)
            if isinstance(answer, str)
            else OriginProtocol(origin, static[origin], None, origin in h3, str(answer))
            for origin, answer in zip(wanted, answers, strict=True)
        )
    )


def _ask(network: Network, origin: str) -> str | NetError | InvalidUrl:
    from website_scan.net.tls.handshake import handshake  # loads OpenSSL, which few pages need here

    url = Url.of(origin)
    try:
        # A server that does not choose a protocol speaks HTTP/1.1, as before ALPN.
        return handshake(network, url.host, url.port or 0, timeout_s=TIMEOUT_S).alpn or "http/1.1"
    except (Blocked, BudgetExceeded):
        raise  # a limit of the scanner, which says nothing about the site
    except (NetError, InvalidUrl) as error:
        return error
