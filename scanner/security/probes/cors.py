"""CORS probe: the permissions that the site gives to foreign origins."""

from __future__ import annotations

import secrets

from scanner.catalogue import probe
from scanner.net.client import Network
from scanner.page.evidence import Page
from scanner.page.fetch import ACCEPT, raise_if_rate_limited
from scanner.security.evidence import Cors, CorsAnswer

MAX_BYTES = 64 * 1024


@probe()
def cors(page: Page, network: Network) -> Cors:
    """Fetch the page with a random `Origin`, then with `null`, which sandboxed frames send.

    Raises `SiteProtected` if the site refuses further requests.
    """
    origins = (f"https://{secrets.token_hex(8)}.example", "null")
    return Cors(tuple(_ask(page, network, origin) for origin in origins))


def _ask(page: Page, network: Network, origin: str) -> CorsAnswer:
    response = network.fetch(page.target, headers={**ACCEPT, "Origin": origin}, max_bytes=MAX_BYTES, verify=False)
    raise_if_rate_limited(response)
    return CorsAnswer(
        origin,
        response.headers.all("Access-Control-Allow-Origin"),
        response.headers.all("Access-Control-Allow-Credentials"),
    )
