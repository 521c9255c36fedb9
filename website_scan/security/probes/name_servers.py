"""Probe of the domain's name servers."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from msgspec.structs import replace

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.errors import Blocked, BudgetExceeded, NetError, TimedOut
from website_scan.net.targets import Target
from website_scan.page.registrable_domain import own_domain
from website_scan.security.domain_evidence import NameServer, NameServers, ServerAddress, ServerState

# Domains have two to four name servers; more only add to the queries.
MAX_SERVERS = 4
MAX_SERVERS_FOR_IPV6 = 8
# IPv6 is tested at as many servers as a domain needs with it.
MAX_SERVERS_TESTED_OVER_IPV6 = 2
CONCURRENT_SERVERS = 4


@probe(of_origin=True)
def name_servers(target: Target, network: Network) -> NameServers:
    """Query the domain's name servers: whether they answer for it, and whether they transfer its zone to anybody.

    Raises `NotReachable`, `TimedOut` or `BudgetExceeded` if DNS fails.
    """
    domain = own_domain(target.host)
    if domain is None:
        return NameServers(None)
    names = sorted({record.lower().rstrip(".") for record in network.records(domain, "NS").records})
    servers = [_look_up(name, network) for name in names[:MAX_SERVERS]]
    for name in names[MAX_SERVERS:MAX_SERVERS_FOR_IPV6]:
        # IPv6 of two name servers suffices.
        if sum(any(address.is_ipv6 for address in server.addresses) for server in servers) >= 2:
            break
        servers.append(_look_up(name, network))
    with_ipv6 = [server.name for server in servers if any(address.is_ipv6 for address in server.addresses)]
    test = partial(_test, domain, tested_over_ipv6=with_ipv6[:MAX_SERVERS_TESTED_OVER_IPV6], network=network)
    with ThreadPoolExecutor(CONCURRENT_SERVERS, "name server") as pool:
        tested = list(pool.map(test, servers[:MAX_SERVERS]))
    return NameServers(domain, tuple(_without_own_network(tested + servers[MAX_SERVERS:])), len(names))


def _look_up(name: str, network: Network) -> NameServer:
    try:
        addresses = [address for kind in ("A", "AAAA") for address in network.records(name, kind).records]
    except NetError:
        return NameServer(name, is_resolved=False)
    return NameServer(name, tuple(ServerAddress(address, ServerState.NOT_TESTED) for address in addresses))


def _test(domain: str, server: NameServer, *, tested_over_ipv6: Sequence[str], network: Network) -> NameServer:
    """Query the first address of each family, and request the transfer of the zone at one that answers."""
    tested: dict[bool, ServerAddress] = {}
    for address in server.addresses:
        is_wanted = not address.is_ipv6 or server.name in tested_over_ipv6
        if is_wanted and address.is_ipv6 not in tested:
            tested[address.is_ipv6] = _state(domain, server, address, network)
    addresses = tuple(
        tested[address.is_ipv6]
        if address.is_ipv6 in tested and tested[address.is_ipv6].address == address.address
        else address
        for address in server.addresses
    )
    answering = [address for address in addresses if address.state is ServerState.ANSWERS]
    transfers = _transfers(domain, server, answering[0], network) if answering else None
    return replace(server, addresses=addresses, transfers=transfers)


def _state(domain: str, server: NameServer, address: ServerAddress, network: Network) -> ServerAddress:
    try:
        answer = network.dns.ask_server(server.name, address.address, domain, "SOA")
    except (Blocked, BudgetExceeded):
        return replace(address, state=ServerState.REFUSED)
    except NetError:
        if address.is_ipv6 and not network.dns.has_ipv6():
            return address
        return replace(address, state=ServerState.SILENT)
    if answer.is_authoritative and answer.code == "NOERROR" and answer.records:
        return replace(address, state=ServerState.ANSWERS)
    return replace(address, state=ServerState.LAME, code=answer.code)


def _transfers(domain: str, server: NameServer, address: ServerAddress, network: Network) -> bool | None:
    try:
        return network.dns.transfers_zone(server.name, address.address, domain)
    except (Blocked, BudgetExceeded, TimedOut):
        return None
    except NetError:
        return False  # Servers may close the connection instead of refusing a transfer.


def _without_own_network(servers: Sequence[NameServer]) -> list[NameServer]:
    """Mark all addresses of a family as not tested if none answers.

    This installation may have no way to other name servers: its network may allow DNS only to its own ones.
    """
    marked = list(servers)
    for family in (False, True):
        states = [each.state for server in servers for each in server.addresses if each.is_ipv6 is family]
        if ServerState.SILENT in states and not {ServerState.ANSWERS, ServerState.LAME}.intersection(states):
            marked = [replace(server, addresses=_untested(server.addresses, family)) for server in marked]
    return marked


def _untested(addresses: Sequence[ServerAddress], is_ipv6: bool) -> tuple[ServerAddress, ...]:
    return tuple(
        replace(address, state=ServerState.NOT_TESTED)
        if address.is_ipv6 is is_ipv6 and address.state is ServerState.SILENT
        else address
        for address in addresses
    )
