"""What the site lets foreign origins read."""

from __future__ import annotations

import secrets

from scans.engine.catalogue import probe
from scans.engine.page.evidence import Page
from scans.engine.page.fetch import ACCEPT, raise_if_rate_limited
from scans.engine.security.evidence import Cors, CorsAnswer
from scans.net.client import Network

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
