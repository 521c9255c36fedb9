"""Domain probes: DNS records (CAA, DNSSEC, mail) and security.txt."""

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
from website_scan.security.evidence import CaaRecords, DnssecRecords, MailRecords, SecurityTxt
from website_scan.security.file_signatures import has_markup, is_html
from website_scan.security.sensitive_files import HTML_TYPES

MAX_LABELS = 10
MAX_BYTES = 64 * 1024
SECURITY_TXT_PATH = "/.well-known/security.txt"


@probe(of_origin=True)
def caa_records(target: Target, network: Network) -> CaaRecords:
    """Look up CAA records of the host, then of each parent (RFC 8659, section 3).

    Raises `NotReachable` or `TimedOut` if DNS fails.
    """
    domain = own_domain(target.host)
    if domain is None:
        return CaaRecords(None)
    labels = target.host.split(".")
    for start in range(max(0, len(labels) - MAX_LABELS), len(labels)):
        name = ".".join(labels[start:])
        if records := network.records(name, "CAA").records:
            return CaaRecords(domain, name, records)
    return CaaRecords(domain)


@probe(of_origin=True)
def dnssec_records(target: Target, network: Network) -> DnssecRecords:
    """Look up DS and DNSKEY of the domain. Raises `NotReachable` or `TimedOut` if DNS fails."""
    domain = own_domain(target.host)
    if domain is None:
        return DnssecRecords(None)
    keys = network.records(domain, "DNSKEY")
    return DnssecRecords(domain, keys.is_authenticated, network.records(domain, "DS").records, keys.records)


@probe(of_origin=True)
def mail_records(target: Target, network: Network) -> MailRecords:
    """Look up MX, SPF and DMARC of the domain. Raises `NotReachable` or `TimedOut` if DNS fails."""
    domain = own_domain(target.host)
    if domain is None:
        return MailRecords(None)
    texts = network.records(domain, "TXT").records
    policies = network.records(f"_dmarc.{domain}", "TXT").records
    return MailRecords(
        domain,
        mx=network.records(domain, "MX").records,
        # The first word identifies SPF and DMARC records (RFC 7208, section 4.5, and RFC 7489, section 6.6.3).
        spf=tuple(text for text in texts if text.lower() == "v=spf1" or text.lower().startswith("v=spf1 ")),
        dmarc=tuple(text for text in policies if text.split(";")[0].strip().lower() == "v=dmarc1"),
    )


@probe(of_origin=True)
def security_txt(page: Page, network: Network) -> SecurityTxt:
    """Fetch security.txt of the host, then of its domain (RFC 9116, section 3).

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
            return SecurityTxt(response)
    return SecurityTxt(None)


def _fetch(network: Network, target: Target, origin: str) -> Response | None:
    try:
        response = network.follow(
            Request(target.join(f"{origin}{SECURITY_TXT_PATH}"), max_bytes=MAX_BYTES, verify=False)
        )[-1]
    except (TimedOut, BudgetExceeded):
        raise
    except (NetError, InvalidUrl):
        return None
    raise_if_rate_limited(response)
    return response


def _is_catch_all_page(response: Response) -> bool:
    """Return True if the body is HTML, XML or JSON, which some sites send for any path instead of text."""
    body = response.body
    is_markup = is_html(body) or (media_type(response) in HTML_TYPES and has_markup(body))
    return is_markup or body[:512].lstrip().startswith((b"<?xml", b"{"))
