"""Probes that send CORS requests from foreign origins."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.http.request import Request
from website_scan.net.http.response import Response
from website_scan.page.evidence import Page
from website_scan.page.fetch import ACCEPT, raise_if_rate_limited
from website_scan.page.registrable_domain import is_ip_address
from website_scan.security.evidence import Cors, CorsAnswer, OriginCors
from website_scan.security.foreign_origins import similar_origins
from website_scan.security.hsts import HEADER as HSTS_HEADER

MAX_BODY_BYTES = 64 * 1024


@probe()
def cors(page: Page, of_origin: OriginCors, network: Network) -> Cors:
    """Request the page with two foreign origins.

    They are a random origin and a sandboxed frame (`Origin: null`).

    A page that is data, or that treats origins differently, is also fetched with origins that resemble its own, unless
    it is the page that `origin_cors` has fetched. Raises `SiteProtected` if the site refuses further requests.
    """
    responses: list[Response] = [page.response]
    answers = []
    for origin in (f"https://{secrets.token_hex(8)}.example", "null"):
        response = _fetch_with_origin(page, network, origin)
        responses.append(response)
        answers.append(_answer(origin, response))
    if page.target.url != of_origin.url and (not page.is_html or any(map(_depends_on_origin, responses))):
        answers += _fetch_with_similar_origins(page, network)
    return Cors(tuple(answers))


@probe(of_origin=True)
def origin_cors(page: Page, network: Network) -> OriginCors:
    """Send CORS requests from foreign origins.

    Up to five origins resemble the page's own.

    Pages usually compare origins with the same code, so that an audit needs these requests only once.
    """
    return OriginCors(page.target.url, tuple(_fetch_with_similar_origins(page, network)))


def _fetch_with_similar_origins(page: Page, network: Network) -> Iterable[CorsAnswer]:
    is_hsts_host = any(HSTS_HEADER in hop.headers for hop in page.hops) and not is_ip_address(page.target.host)
    for origin in similar_origins(page.target, asks_plain_http=not is_hsts_host):
        yield _answer(origin, _fetch_with_origin(page, network, origin))


def _depends_on_origin(response: Response) -> bool:
    """Return True if the response depends on the Origin header.

    It has CORS headers, or a Vary header that contains Origin.
    """
    varies = any("origin" in value.lower() for value in response.headers.all("Vary"))
    return varies or any("Access-Control-Allow-" + name in response.headers for name in ("Origin", "Credentials"))


def _fetch_with_origin(page: Page, network: Network, origin: str) -> Response:
    response = network.fetch(
        Request(page.target, headers={**ACCEPT, "Origin": origin}, max_bytes=MAX_BODY_BYTES, verify=False)
    )
    raise_if_rate_limited(response)
    return response


def _answer(origin: str, response: Response) -> CorsAnswer:
    return CorsAnswer(
        origin,
        response.headers.all("Access-Control-Allow-Origin"),
        response.headers.all("Access-Control-Allow-Credentials"),
    )
