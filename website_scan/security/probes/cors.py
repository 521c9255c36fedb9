"""CORS probe: access that the site grants to foreign origins."""

from __future__ import annotations

import secrets

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.http.request import Request
from website_scan.page.evidence import Page
from website_scan.page.fetch import ACCEPT, raise_if_rate_limited
from website_scan.security.evidence import Cors, CorsAnswer

MAX_BYTES = 64 * 1024


@probe()
def cors(page: Page, network: Network) -> Cors:
    """Fetch the page with a random `Origin`, then with `null`, which sandboxed frames send.

    Raises `SiteProtected` if the site refuses further requests.
    """
    origins = (f"https://{secrets.token_hex(8)}.example", "null")
    return Cors(tuple(_fetch_with_origin(page, network, origin) for origin in origins))


def _fetch_with_origin(page: Page, network: Network, origin: str) -> CorsAnswer:
    response = network.fetch(
        Request(page.target, headers={**ACCEPT, "Origin": origin}, max_bytes=MAX_BYTES, verify=False)
    )
    raise_if_rate_limited(response)
    return CorsAnswer(
        origin,
        response.headers.all("Access-Control-Allow-Origin"),
        response.headers.all("Access-Control-Allow-Credentials"),
    )
