"""DNS lookups for queued visits.

They are needed because visits from lists to the same IP address run one after the other.
"""

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

# Maximum number of concurrent DNS lookups, and time limit of `resolve_targets` in seconds.
MAX_CONCURRENT_LOOKUPS = 16
LOOKUP_TIME_LIMIT_S = 4.0


def resolve_targets(
    targets: Sequence[Target], policy: Policy, resolver: Resolver | None = None
) -> list[list[str] | None]:
    """Resolve the hosts of targets and return the addresses of each host.

    The format is that of `address_of`. The list is empty for a host that has no address or may not be scanned; the scan
    itself will report the reason. It is None for a host whose lookup could not start or end in time. Each call starts
    at least the first `MAX_CONCURRENT_LOOKUPS` lookups.
    """
    if not targets:
        return []
    with (
        Network(policy, resolver=resolver, time_limit_s=LOOKUP_TIME_LIMIT_S) as network,
        ThreadPoolExecutor(min(MAX_CONCURRENT_LOOKUPS, len(targets)), "addresses") as pool,
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
    """Return the sorted addresses of the target's host.

    Raises the errors of `Network.addresses`.
    """
    addresses = network.addresses(target.host, target.port)
    return sorted({address_of(_normalized(address), target.port) for address in addresses})


def _normalized(address: str) -> str:
    """Return an IP address in canonical form.

    An IPv4 address that is mapped into IPv6 becomes plain IPv4.
    """
    parsed = ip_address(address)
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return str(mapped or parsed)
