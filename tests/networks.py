"""Compare IPv4 and IPv6 networks."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network

Network = IPv4Network | IPv6Network


def is_within(inner: Network, outer: Network) -> bool:
    """Return True if all addresses of `inner` are in `outer`.

    Networks of different IP versions share no addresses.
    """
    if isinstance(inner, IPv4Network):
        return isinstance(outer, IPv4Network) and inner.subnet_of(outer)
    return isinstance(outer, IPv6Network) and inner.subnet_of(outer)
