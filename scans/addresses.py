"""Addresses of hosts before their visits: visits of lists wait for each other by address (`visits/queue.py`)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv6Address, ip_address

from scans.models.domain import address_of
from website_scan.errors import Refusal
from website_scan.net.client import Network
from website_scan.net.errors import TimedOut
from website_scan.net.policy import Policy
from website_scan.net.resolver import Resolver
from website_scan.net.targets import Target

# Names that are looked up at the same time, and the time limit for all of a call.
AT_ONCE = 16
TIME_LIMIT_S = 4.0


def look_up(targets: Sequence[Target], policy: Policy, resolver: Resolver | None = None) -> list[list[str] | None]:
    """Return the addresses of each target's host, in the form of `address_of`.

    Empty for a host that has none or that may not be scanned: its visit will tell why. None if time was up before it
    was asked for; at least the first `AT_ONCE` are asked for in each call.
    """
    if not targets:
        return []
    with (
        Network(policy, resolver=resolver, time_limit_s=TIME_LIMIT_S) as network,
        ThreadPoolExecutor(min(AT_ONCE, len(targets)), "addresses") as pool,
    ):
        return list(pool.map(functools.partial(_look_up, network), targets))


def _look_up(network: Network, target: Target) -> list[str] | None:
    try:
        return known_addresses(network, target)
    except TimedOut:
        return None
    except Refusal:
        return []


def known_addresses(network: Network, target: Target) -> list[str]:
    """Return the addresses of the target's host, sorted. Raises the errors of `Network.addresses`."""
    found = network.addresses(target.host, target.port)
    return sorted({address_of(_plain(each), target.port) for each in found})


def _plain(address: str) -> str:
    """Return an address in its only spelling; one of IPv4 inside IPv6 is that of IPv4."""
    parsed = ip_address(address)
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return str(mapped or parsed)
