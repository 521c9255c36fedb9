"""Probe that compares the CSP nonces of two responses."""

from __future__ import annotations

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.http.request import Request
from website_scan.page.evidence import Page
from website_scan.page.fetch import ACCEPT, MAX_PAGE_BYTES, parse_document, raise_if_rate_limited
from website_scan.security.csp import Policies, read_policies
from website_scan.security.evidence import SecondFetch


@probe()
def second_fetch(page: Page, policies: Policies, network: Network) -> SecondFetch:
    """Fetch the page again, bypassing caches, if its policy has a nonce.

    Otherwise, `page` of the result is None. Raises `SiteProtected` if the site refuses further requests.
    """
    if not policies.nonces:
        return SecondFetch()
    response = network.fetch(
        Request(
            page.target,
            headers={**ACCEPT, "Cache-Control": "no-cache"},
            max_bytes=MAX_PAGE_BYTES,
            verify=False,
            with_credentials=True,
        )
    )
    raise_if_rate_limited(response)
    again = Page(requested=page.target, target=page.target, hops=(response,))
    return SecondFetch(again, read_policies(again, parse_document(again)))
