"""Probe of the page over IPv6."""

from __future__ import annotations

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded, NetError
from website_scan.net.http.request import Request
from website_scan.net.http.response import Response
from website_scan.page.evidence import Page
from website_scan.security.domain_evidence import Ipv6Site, SiteRecords
from website_scan.security.similar_pages import is_similar

TIME_LIMIT_S = 10.0
MAX_BODY_BYTES = 256 * 1024
MAX_ADDRESSES = 4


@probe(of_origin=True)
def ipv6_site(page: Page, records: SiteRecords, network: Network) -> Ipv6Site:
    """Fetch the page over IPv6, and over IPv4 if the response differs from the page.

    Raises `BudgetExceeded`.
    """
    addresses = records.ipv6.records[:MAX_ADDRESSES] if records.ipv6 is not None else ()
    if not addresses or page.has_credentials:
        return Ipv6Site(is_tested=False)
    try:
        over_ipv6 = _fetch(page, addresses, network)
    except BudgetExceeded:
        raise
    except NetError as error:
        if not network.dns.has_ipv6():
            return Ipv6Site(is_tested=False, has_ipv6=False)
        return Ipv6Site(is_tested=True, error=str(error))
    if is_similar(over_ipv6, page.response):
        return Ipv6Site(is_tested=True, over_ipv6=over_ipv6, over_ipv4=page.response)
    return Ipv6Site(is_tested=True, over_ipv6=over_ipv6, over_ipv4=_fetch_over_ipv4(page, records, network))


def _fetch_over_ipv4(page: Page, records: SiteRecords, network: Network) -> Response | None:
    addresses = records.ipv4.records[:MAX_ADDRESSES] if records.ipv4 is not None else ()
    try:
        return _fetch(page, addresses, network)
    except BudgetExceeded:
        raise
    except NetError:
        return None


def _fetch(page: Page, addresses: tuple[str, ...], network: Network) -> Response:
    with network.only_at(page.target.host, addresses, TIME_LIMIT_S) as family:
        return family.fetch(Request(page.target, max_bytes=MAX_BODY_BYTES, verify=False))
