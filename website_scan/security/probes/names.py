"""Probes of the records of the domain and of the page's host in DNS."""

from __future__ import annotations

import secrets

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.dnssec.answers import Security, SignedAnswer
from website_scan.net.errors import NetError
from website_scan.net.targets import Target
from website_scan.page.evidence import Clock, Page
from website_scan.page.registrable_domain import own_domain
from website_scan.security.domain_evidence import CaaRecords, DnssecRecords, SiteRecords, TlsaRecords, UnusedName

MAX_DOMAIN_LABELS = 10
RANDOM_NAME_BYTES = 8


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
def unused_name(target: Target, network: Network, clock: Clock) -> UnusedName:
    """Look up a random name in the domain."""
    domain = own_domain(target.host)
    if domain is None:
        return UnusedName(None)
    name = f"{secrets.token_hex(RANDOM_NAME_BYTES)}.{domain}"
    return UnusedName(domain, _answer(network, name, "A", domain, clock))


@probe(of_origin=True)
def dnssec_records(target: Target, unused: UnusedName, network: Network, clock: Clock) -> DnssecRecords:
    """Validate the chain of trust to the domain, the records of the host, and the answer for a name that is not used.

    Raises `NotReachable`, `TimedOut` or `BudgetExceeded` if DNS fails.
    """
    domain = own_domain(target.host)
    if domain is None:
        return DnssecRecords(None)
    host = network.dns.signed_records(target.host, "A", domain, clock.now)
    trust = network.dns.trust(domain, clock.now)
    answers = tuple(answer for answer in (host, unused.answer) if answer is not None)
    is_bogus = Security.BOGUS in (trust.security, *(answer.security for answer in answers))
    is_unsigned = trust.security is Security.INSECURE and not trust.delegations
    parent = network.dns.trust(domain.partition(".")[2], clock.now) if is_unsigned else None
    return DnssecRecords(
        domain,
        trust,
        answers,
        is_authenticated=is_bogus and network.records(domain, "SOA").is_authenticated,
        has_keys=is_unsigned and bool(network.records(domain, "DNSKEY").records),
        is_parent_signed=parent is None or parent.security is Security.SECURE,
    )


@probe(of_origin=True)
def site_records(page: Page, network: Network, clock: Clock) -> SiteRecords:
    """Look up the addresses and HTTPS records of the page's host."""
    host = page.target.host
    domain = own_domain(host)
    if domain is None:
        return SiteRecords(None)
    port = page.target.port
    is_default = not page.target.is_https or port == 443
    # RFC 9460, section 2.3: the name for another port begins with a label for the port.
    service = host if is_default else f"_{port}._https.{host}"
    return SiteRecords(
        domain,
        host,
        ipv4=_answer(network, host, "A", domain, clock),
        ipv6=_answer(network, host, "AAAA", domain, clock),
        https=_answer(network, service, "HTTPS", domain, clock),
    )


@probe(of_origin=True)
def tlsa_records(page: Page, dnssec: DnssecRecords, network: Network, clock: Clock) -> TlsaRecords:
    """Look up the TLSA records of the page's server, if the domain is signed."""
    domain = own_domain(page.target.host)
    if domain is None or not page.target.is_https:
        return TlsaRecords(None)
    if domain != dnssec.domain or dnssec.trust is None or dnssec.trust.security is not Security.SECURE:
        return TlsaRecords(domain)
    name = f"_{page.target.port}._tcp.{page.target.host}"
    return TlsaRecords(domain, _answer(network, name, "TLSA", domain, clock))


def _answer(network: Network, name: str, record_type: str, domain: str, clock: Clock) -> SignedAnswer | None:
    """Return the validated answer, None if no name server answers."""
    try:
        return network.dns.signed_records(name, record_type, domain, clock.now)
    except NetError:
        return None
