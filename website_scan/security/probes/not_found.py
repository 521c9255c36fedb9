"""Baseline probe: the site's responses for paths that do not exist. Other findings are compared with them."""

from __future__ import annotations

import secrets

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded, NetError
from website_scan.net.http.request import Request
from website_scan.net.http.response import Response
from website_scan.page.evidence import Page
from website_scan.page.fetch import ACCEPT, SiteProtected, challenge_sign, raise_if_rate_limited
from website_scan.security.evidence import NotFoundBaseline

MAX_BYTES = 256 * 1024
TIMEOUT_S = 10.0


@probe(of_origin=True)
def not_found_baseline(page: Page, network: Network) -> NotFoundBaseline:
    """Request two random paths of different lengths and one that can't be decoded, on the page's origin.

    The last makes some frameworks fail. No redirect is followed. Raises `SiteProtected` if a protection or a rate
    limit answers, and a `NetError` if one of the first two gets no response.
    """
    answers = [_ask(page, network, f"/{secrets.token_hex(number_of_bytes)}") for number_of_bytes in (5, 12)]
    try:
        answers.append(_ask(page, network, f"/%C0{secrets.token_hex(5)}"))
    except (SiteProtected, BudgetExceeded):
        raise
    except NetError:
        pass  # a firewall may block it, and nothing depends on it
    return NotFoundBaseline(tuple(answers))


def _ask(page: Page, network: Network, path: str) -> Response:
    response = network.fetch(
        Request(page.target.join(path), headers=ACCEPT, max_bytes=MAX_BYTES, timeout_s=TIMEOUT_S, verify=False)
    )
    raise_if_rate_limited(response)
    if sign := challenge_sign(response):
        raise SiteProtected(f"The site's protection answered a further request: {sign}.")
    return response
