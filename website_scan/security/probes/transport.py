"""Probes that load the page over the other scheme, http or https."""

from __future__ import annotations

from website_scan.catalogue import probe
from website_scan.errors import Refusal
from website_scan.net.client import Network
from website_scan.net.errors import Blocked, BudgetExceeded, NetError
from website_scan.net.http.request import Request
from website_scan.net.targets import Target
from website_scan.page.evidence import Page
from website_scan.page.fetch import ACCEPT, authority, plain_http_target
from website_scan.security.evidence import HttpsAnswer, PlainHttp, TlsPeer
from website_scan.urls import Url

# The checks need only headers, so long bodies are not read.
MAX_BODY_BYTES = 64 * 1024
CONNECT_TIMEOUT_S = 5.0


@probe(of_origin=True)
def plain_http(page: Page, network: Network) -> PlainHttp:
    """Follow the redirects from the plain HTTP URL of the requested page.

    An https page on another port than 443 has no known plain HTTP URL, because port 80 may serve another site.
    """
    if not page.requested.is_https:
        return PlainHttp(page.requested.url, page.hops)
    if page.requested.port != 443:
        return PlainHttp(None)
    plain_target = plain_http_target(page.requested)
    try:
        first = network.fetch(
            Request(plain_target, headers=ACCEPT, max_bytes=MAX_BODY_BYTES, timeout_s=CONNECT_TIMEOUT_S)
        )
    except (Blocked, BudgetExceeded):
        raise  # The scanner caused the error, not the site.
    except NetError as error:
        return PlainHttp(plain_target.url, error=str(error))
    location = first.headers.get("Location")
    if not (300 <= first.status < 400 and location):
        return PlainHttp(plain_target.url, (first,))
    try:
        following = plain_target.join(location)
        hops = network.follow(Request(following, headers=ACCEPT, max_bytes=MAX_BODY_BYTES, verify=False))
    except Refusal as error:
        return PlainHttp(plain_target.url, (first,), str(error), next_url=_absolute_url(location, plain_target))
    return PlainHttp(plain_target.url, (first, *hops))


def _absolute_url(location: str, plain_target: Target) -> str:
    url = Url.parse(location, plain_target.url)
    return url.href if url is not None else location


@probe()
def https_answer(page: Page, peer: TlsPeer, network: Network) -> HttpsAnswer:
    """Return the page's response if it was loaded over https.

    Otherwise, fetch the same path over https.
    """
    if page.target.is_https:
        return HttpsAnswer(page.response)
    if peer.handshake is None:
        return HttpsAnswer(None)
    https_url = f"https://{authority(peer.host, peer.port, 443)}{page.target.path}"
    return HttpsAnswer(network.fetch(Request(https_url, headers=ACCEPT, max_bytes=MAX_BODY_BYTES, verify=False)))
