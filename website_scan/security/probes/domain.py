"""Probes of the domain's DNS records and security.txt."""

from __future__ import annotations

from collections.abc import Mapping

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded, NetError, NotReachable, TimedOut
from website_scan.net.http.request import Request
from website_scan.net.http.response import Response
from website_scan.net.targets import InvalidUrl, Target
from website_scan.page.evidence import Page
from website_scan.page.fetch import authority, raise_if_rate_limited
from website_scan.page.registrable_domain import own_domain
from website_scan.page.soft_404 import media_type
from website_scan.security.dmarc import ParentPolicy, is_dmarc_record, parent_policy
from website_scan.security.evidence import CaaRecords, DnssecRecords, MailRecords, SecurityTxt
from website_scan.security.file_signatures import has_markup, is_html
from website_scan.security.sensitive_files import HTML_MEDIA_TYPES
from website_scan.security.spf import MAX_LOOKUPS, HostLookup, host_lookups, included_domains, is_spf_record

MAX_DOMAIN_LABELS = 10
MAX_BODY_BYTES = 64 * 1024
SECURITY_TXT_PATH = "/.well-known/security.txt"


@probe(of_origin=True)
def caa_records(target: Target, network: Network) -> CaaRecords:
    """Look up the CAA records of the host and its parent domains.

    RFC 8659, section 3.

    Raises `NotReachable` or `TimedOut` if DNS fails.
    """
    domain = own_domain(target.host)
    if domain is None:
        return CaaRecords(None)
    labels = target.host.split(".")
    for start in range(max(0, len(labels) - MAX_DOMAIN_LABELS), len(labels)):
        name = ".".join(labels[start:])
        if records := network.records(name, "CAA").records:
            return CaaRecords(domain, name, records)
    return CaaRecords(domain)


@probe(of_origin=True)
def dnssec_records(target: Target, network: Network) -> DnssecRecords:
    """Look up the DS and DNSKEY records of the domain.

    Raise `NotReachable` or `TimedOut` if DNS fails.
    """
    domain = own_domain(target.host)
    if domain is None:
        return DnssecRecords(None)
    keys = network.records(domain, "DNSKEY")
    return DnssecRecords(domain, keys.is_authenticated, network.records(domain, "DS").records, keys.records)


@probe(of_origin=True)
def mail_records(target: Target, network: Network) -> MailRecords:
    """Look up the MX, SPF and DMARC records of the domain.

    If it has no DMARC policy, those of parent domains are looked up.

    Raises `NotReachable` or `TimedOut` if DNS fails for the domain itself.
    """
    domain = own_domain(target.host)
    if domain is None:
        return MailRecords(None)
    spf = tuple(text for text in network.records(domain, "TXT").records if is_spf_record(text))
    included_spf = _included_spf_records(spf[0], network) if len(spf) == 1 else {}
    dmarc = tuple(text for text in network.records(f"_dmarc.{domain}", "TXT").records if is_dmarc_record(text))
    return MailRecords(
        domain,
        mx=network.records(domain, "MX").records,
        spf=spf,
        dmarc=dmarc,
        parent_dmarc=None if dmarc else _parent_policy(domain, network),
        included_spf=included_spf,
        host_counts=_host_counts({domain: spf, **included_spf}, network),
    )


def _parent_policy(domain: str, network: Network) -> ParentPolicy | None:
    try:
        return parent_policy(domain, lambda name: network.records(name, "TXT").records)
    except (NotReachable, TimedOut):
        return None


def _included_spf_records(record: str, network: Network) -> dict[str, tuple[str, ...]]:
    """Look up the SPF records of included domains, recursively.

    Domains without an answer are omitted.
    """
    found: dict[str, tuple[str, ...]] = {}
    asked: set[str] = set()
    waiting = included_domains(record)
    while waiting and len(asked) < MAX_LOOKUPS:
        name = waiting.pop(0).lower().rstrip(".")
        if name in asked:
            continue
        asked.add(name)
        try:
            texts = network.records(name, "TXT").records
        except NotReachable:
            continue
        except TimedOut:
            break
        found[name] = tuple(text for text in texts if is_spf_record(text))
        waiting += [domain for text in found[name][:1] for domain in included_domains(text)]
    return found


def _host_counts(spf: Mapping[str, tuple[str, ...]], network: Network) -> dict[HostLookup, int]:
    """Count the addresses or mail servers behind the names in SPF records.

    Names without an answer are left out.
    """
    counts: dict[HostLookup, int] = {}
    wanted = [lookup for name, texts in spf.items() for text in texts[:1] for lookup in host_lookups(name, text)]
    for lookup in list(dict.fromkeys(wanted))[:MAX_LOOKUPS]:
        try:
            hosts = len(network.records(lookup.name, lookup.type).records)
            if not hosts and lookup.type == "A":
                hosts = len(network.records(lookup.name, "AAAA").records)
        except NotReachable:
            continue
        except TimedOut:
            break
        counts[lookup] = hosts
    return counts


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
