"""Probe of names in the domain that are aliases of names at hosting services."""

from __future__ import annotations

import re
from collections.abc import Iterator

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.errors import NetError
from website_scan.net.http.request import Request
from website_scan.net.targets import InvalidUrl
from website_scan.page.evidence import Clock, Page
from website_scan.page.registrable_domain import own_domain
from website_scan.security.claimable_services import ClaimableService, service_of
from website_scan.security.domain_evidence import Alias, Aliases

# The host, the domain and www, and names that the page uses.
MAX_NAMES = 6
MAX_SEARCHED_BYTES = 512 * 1024
MAX_BODY_BYTES = 16 * 1024
TIMEOUT_S = 4.0


@probe(of_origin=True)
def aliases(page: Page, network: Network, clock: Clock) -> Aliases:
    """Look up names of the domain, and what a hosting service answers for its aliases."""
    domain = own_domain(page.target.host)
    if domain is None:
        return Aliases(None)
    names = list(dict.fromkeys(_names(page, domain)))[:MAX_NAMES]
    found = tuple(alias for name in names if (alias := _alias(name, domain, network, clock)) is not None)
    return Aliases(domain, found, len(names))


def _names(page: Page, domain: str) -> Iterator[str]:
    """Yield the names to look up, the host first."""
    yield page.target.host
    yield domain
    yield f"www.{domain}"
    for match in re.finditer(
        rb"//((?:[a-z0-9_-]{1,63}\.){1,4}" + re.escape(domain.encode()) + rb")(?![a-z0-9.-])",
        page.response.body[:MAX_SEARCHED_BYTES].lower(),
    ):
        yield match[1].decode("ascii")


def _alias(name: str, domain: str, network: Network, clock: Clock) -> Alias | None:
    try:
        answer = network.dns.signed_records(name, "A", domain, clock.now)
        if not answer.aliases:
            return None
        target = answer.aliases[-1]
        is_missing = answer.code == "NXDOMAIN"
        service = service_of(target)
        free_domain = _free_domain(target, domain, network) if is_missing else ""
    except NetError:
        return None
    says_unused = not is_missing and service is not None and _says_unused(name, service, network)
    return Alias(name, answer.aliases, service.name if service else "", is_missing, free_domain, says_unused)


def _free_domain(target: str, domain: str, network: Network) -> str:
    """Return the registrable domain of a missing target if nobody has registered it, else an empty string."""
    registrable = own_domain(target)
    if registrable is None or registrable == domain:
        return ""
    if network.records(registrable, "NS").records or network.records(registrable, "SOA").records:
        return ""
    # A top-level domain without name servers means that these name servers do not know public names.
    suffix = registrable.partition(".")[2]
    return registrable if network.records(suffix, "NS").records else ""


def _says_unused(name: str, service: ClaimableService, network: Network) -> bool:
    if not service.unused_text:
        return False
    try:
        response = network.fetch(
            Request(f"http://{name}/", max_bytes=MAX_BODY_BYTES, timeout_s=TIMEOUT_S, verify=False)
        )
    except (NetError, InvalidUrl):
        return False
    return response.status >= 400 and service.unused_text.encode() in response.body
