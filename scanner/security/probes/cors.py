"""What the site lets foreign origins read."""

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
    """The page asked for with a random `Origin`, then with `null`, as a sandboxed frame sends it.

    Raises `SiteProtected` when the site refuses further requests.
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
