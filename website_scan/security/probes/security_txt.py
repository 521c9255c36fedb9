"""Probe of security.txt."""

from __future__ import annotations

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded, NetError, TimedOut
from website_scan.net.http.request import Request
from website_scan.net.http.response import Response
from website_scan.net.targets import InvalidUrl, Target
from website_scan.page.evidence import Page
from website_scan.page.fetch import authority, raise_if_rate_limited
from website_scan.page.registrable_domain import own_domain
from website_scan.page.soft_404 import media_type
from website_scan.security.evidence import SecurityTxt
from website_scan.security.file_signatures import has_markup, is_html
from website_scan.security.sensitive_files import HTML_MEDIA_TYPES

MAX_BODY_BYTES = 64 * 1024
SECURITY_TXT_PATH = "/.well-known/security.txt"


@probe(of_origin=True)
def security_txt(page: Page, network: Network) -> SecurityTxt:
    """Fetch the security.txt of the host, then of its domain.

    RFC 9116, section 3.

    A host that does not answer counts as one without the file. Raises `SiteProtected` if the site refuses requests.
    """
    target = page.target
    origins = [f"https://{authority(target.host, target.port if target.is_https else 443, 443)}"]
    domain = own_domain(target.host)
    if domain is not None and domain != target.host:
        origins.append(f"https://{domain}")
    for origin in origins:
        response = _fetch(network, target, origin)
        if response is not None and response.status == 200 and not _is_catch_all_page(response):
            return SecurityTxt(response, f"{origin}{SECURITY_TXT_PATH}")
    return SecurityTxt(None)


def _fetch(network: Network, target: Target, origin: str) -> Response | None:
    try:
        response = network.follow(
            Request(target.join(f"{origin}{SECURITY_TXT_PATH}"), max_bytes=MAX_BODY_BYTES, verify=False)
        )[-1]
    except (TimedOut, BudgetExceeded):
        raise
    except (NetError, InvalidUrl):
        return None
    raise_if_rate_limited(response)
    return response


def _is_catch_all_page(response: Response) -> bool:
    """Return True if the body is HTML, XML or JSON instead of text.

    Some sites send it for any path.
    """
    body = response.body
    is_markup_body = is_html(body) or (media_type(response) in HTML_MEDIA_TYPES and has_markup(body))
    return is_markup_body or body[:512].lstrip().startswith((b"<?xml", b"{"))
