"""Probe of the routes to the addresses of the site, its name servers and mail servers."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.errors import NetError
from website_scan.net.operator_services import fetch_from_operator
from website_scan.net.policy import RouteValidator
from website_scan.security.domain_evidence import NameServers, SiteRecords
from website_scan.security.mx_records import read_mx
from website_scan.security.probes.mail import records_of
from website_scan.security.route_origins import (
    AddressRoute,
    IPAddress,
    Route,
    Routes,
    read_origins,
    read_payloads,
    validate_address,
)

MAX_ADDRESSES_OF_KIND = 8
MAX_MAIL_SERVERS = 2
MAX_ORIGIN_QUERIES = 12
MAX_RESPONSE_BYTES = 1024 * 1024
TIMEOUT_S = 5.0
IPV4_LABEL, IPV6_LABEL = "origin", "origin6"


@probe(of_origin=True)
def routes(site: SiteRecords, servers: NameServers, validator: RouteValidator, network: Network) -> Routes:
    """Look up which authorizations of the RPKI cover the addresses, at the operator's validator."""
    if site.domain is None:
        return Routes(None)
    purposes = _addresses(site, servers, network)
    if not purposes:
        return Routes(site.domain)
    known = {str(address): address for address in map(ip_address, purposes)}
    query = "&".join(f"select-prefix={address}/{address.max_prefixlen}" for address in known.values())
    try:
        body = fetch_from_operator(
            network, f"{validator.url}/json?{query}", timeout_s=TIMEOUT_S, max_bytes=MAX_RESPONSE_BYTES
        )
        payloads = read_payloads(body)
    except (NetError, ValueError) as error:
        return Routes(site.domain, error=str(error))
    origins = _origins(known.values(), validator.origin_zone, network)
    return Routes(
        site.domain,
        tuple(
            AddressRoute(purpose, address, validate_address(address, origins[address], payloads), origins[address])
            for address, purpose in purposes.items()
        ),
    )


def _addresses(site: SiteRecords, servers: NameServers, network: Network) -> dict[str, str]:
    """Return addresses with their purposes, without duplicates and unreadable ones."""
    of_site = [record for answer in (site.ipv4, site.ipv6) if answer is not None for record in answer.records]
    of_servers = [address.address for address in servers.addresses]
    kinds = {"site": of_site, "name server": of_servers, "mail server": _mail_addresses(site.domain or "", network)}
    purposes: dict[str, str] = {}
    for purpose, texts in kinds.items():
        for text in texts[:MAX_ADDRESSES_OF_KIND]:
            try:
                purposes.setdefault(str(ip_address(text)), purpose)
            except ValueError:
                continue
    return purposes


def _mail_addresses(domain: str, network: Network) -> list[str]:
    try:
        names = [name for name, _ in read_mx(records_of(domain, "MX", network))][:MAX_MAIL_SERVERS]
        return [record for name in names for kind in ("A", "AAAA") for record in records_of(name, kind, network)]
    except NetError:
        return []


def _origins(addresses: Iterable[IPAddress], zone: str, network: Network) -> dict[str, tuple[Route, ...]]:
    """Look up the origins of addresses in the operator's zone, if there is one. Unknown ones are empty."""
    found: dict[str, tuple[Route, ...]] = {}
    for number, address in enumerate(addresses):
        routes: tuple[Route, ...] = ()
        if zone and number < MAX_ORIGIN_QUERIES:
            try:
                routes = read_origins(network.records(origin_name(address, zone), "TXT").records, address)
            except NetError:
                routes = ()
        found[str(address)] = routes
    return found


def origin_name(address: IPAddress, zone: str) -> str:
    """Return the name of an address's record: reversed octets, or reversed hexadecimal digits, in the zone."""
    reversed_labels, _, _ = address.reverse_pointer.removesuffix(".arpa").rpartition(".")
    return f"{reversed_labels}.{IPV6_LABEL if address.version == 6 else IPV4_LABEL}.{zone}"
