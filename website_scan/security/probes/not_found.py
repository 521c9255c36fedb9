"""Probe of responses for paths that do not exist.

Other probes and checks compare responses with them.
"""

from __future__ import annotations

import secrets

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded, NetError
from website_scan.net.http.request import Request
from website_scan.net.http.response import Response
from website_scan.page.evidence import Page
from website_scan.page.fetch import ACCEPT, SiteProtected, detect_challenge, raise_if_rate_limited
from website_scan.security.evidence import NotFoundBaseline

MAX_BODY_BYTES = 256 * 1024
REQUEST_TIMEOUT_S = 10.0


@probe(of_origin=True)
def not_found_baseline(page: Page, network: Network) -> NotFoundBaseline:
    """Request three random paths on the page's origin.

    One of them has invalid UTF-8.

    Invalid UTF-8 makes some frameworks fail with a debug page. Redirects are not followed. Raises `SiteProtected` if a
    bot protection or rate limit answers, and `NetError` if one of the first two paths gets no response.
    """
    answers = [_fetch(page, network, f"/{secrets.token_hex(number_of_bytes)}") for number_of_bytes in (5, 12)]
    try:
        answers.append(_fetch(page, network, f"/%C0{secrets.token_hex(5)}"))
    except (SiteProtected, BudgetExceeded):
        raise
    except NetError:
        pass  # The malformed path is optional evidence, because a firewall may block it.
    return NotFoundBaseline(tuple(answers))


def _fetch(page: Page, network: Network, path: str) -> Response:
    response = network.fetch(
        Request(
            page.target.join(path), headers=ACCEPT, max_bytes=MAX_BODY_BYTES, timeout_s=REQUEST_TIMEOUT_S, verify=False
        )
    )
    raise_if_rate_limited(response)
    if sign := detect_challenge(response):
        raise SiteProtected(f"The site's protection answered a further request: {sign}.")
    return response
