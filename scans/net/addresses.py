"""Which addresses are public: a pure judge over IPv4 and IPv6.

Python's `is_global` is not asked: it differs between versions and calls several special ranges global.
The tables follow the IANA special-purpose address registries (RFC 6890) as of 2026-11. IPv4 is public
unless listed; IPv6 is public only inside 2000::/3 (the one global unicast block in use, RFC 4291) and
outside of that block's special ranges. An IPv6 address that carries an IPv4 address is unwrapped first.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Collection, Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import psutil

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network

IPV4_SPECIAL = tuple(
    (IPv4Network(network), name)
    for network, name in (
        ("0.0.0.0/8", "this network (RFC 791)"),
        ("10.0.0.0/8", "private (RFC 1918)"),
        ("100.64.0.0/10", "shared by carriers (RFC 6598)"),
        ("127.0.0.0/8", "loopback (RFC 1122)"),
        ("168.63.129.16/32", "a cloud's metadata service (Azure)"),
        ("169.254.0.0/16", "link-local, cloud metadata among it (RFC 3927)"),
        ("172.16.0.0/12", "private (RFC 1918)"),
        ("192.0.0.0/24", "protocol assignments (RFC 6890)"),
        ("192.0.2.0/24", "documentation (RFC 5737)"),
        ("192.31.196.0/24", "AS112 (RFC 7535)"),
        ("192.52.193.0/24", "AMT (RFC 7450)"),
        ("192.88.99.0/24", "6to4 relays (RFC 7526)"),
        ("192.168.0.0/16", "private (RFC 1918)"),
        ("192.175.48.0/24", "AS112 (RFC 7534)"),
        ("198.18.0.0/15", "benchmarking (RFC 2544)"),
        ("198.51.100.0/24", "documentation (RFC 5737)"),
        ("203.0.113.0/24", "documentation (RFC 5737)"),
        ("224.0.0.0/4", "multicast (RFC 5771)"),
        ("240.0.0.0/4", "reserved or broadcast (RFC 1112, RFC 919)"),
    )
)

IPV6_GLOBAL = IPv6Network("2000::/3")
IPV6_SPECIAL = tuple(
    (IPv6Network(network), name)
    for network, name in (
        ("2001::/23", "protocol assignments, Teredo among them (RFC 2928, RFC 4380)"),
        ("2001:db8::/32", "documentation (RFC 3849)"),
        ("2002::/16", "6to4 (RFC 3056, RFC 7526)"),
        ("2620:4f:8000::/48", "AS112 (RFC 7534)"),
        ("3fff::/20", "documentation (RFC 9637)"),
    )
)
IPV4_COMPATIBLE = IPv6Network("::/96")  # RFC 4291, section 2.5.5.1
NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052
NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")  # RFC 8215
TEREDO = IPv6Network("2001::/32")
ISATAP_MASK, ISATAP = 0xFDFFFFFF, 0x00005EFE  # the interface identifier's first half (RFC 5214, section 6.1)

OWN_ADDRESSES_TTL_S = 60


def refusal(address: IPAddress, allowed: Iterable[IPNetwork] = (), own: Collection[IPAddress] = ()) -> str | None:
    """Why `address` may not be contacted, None when it may.

    `allowed` are the exempted networks, `own` the machine's own addresses. An exemption holds for the address
    as it is and for the IPv4 address that it carries.
    """
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return f"{address} has a scope"
    embedded = _embedded(address)
    if is_exempt(address, allowed):
        return None
    if address in own or any(each in own for each in embedded):
        return f"{address} is an address of this machine"
    for each in embedded:
        if reason := _special(each):
            return f"{address} carries {each}, which is {reason}"
    if reason := _special(address):
        return f"{address} is {reason}"
    return None


def is_exempt(address: IPAddress, allowed: Iterable[IPNetwork]) -> bool:
    """Whether an exempted network holds the address, or the IPv4 address it is mapped from."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return any(each in network for network in allowed for each in (address, mapped) if each is not None)


def own_addresses() -> frozenset[IPAddress]:
    """The addresses of this machine's interfaces, read anew every minute."""
    return _own_addresses(int(time.monotonic() // OWN_ADDRESSES_TTL_S))


@functools.lru_cache(maxsize=1)
def _own_addresses(_minute: int) -> frozenset[IPAddress]:
    found = set()
    for interface in psutil.net_if_addrs().values():
        for entry in interface:
            try:
                found.add(ip_address(entry.address.partition("%")[0]))
            except ValueError:
                continue  # a hardware address
    return frozenset(found)


def _special(address: IPAddress) -> str | None:
    if isinstance(address, IPv4Address):
        return next((name for network, name in IPV4_SPECIAL if address in network), None)
    if address.ipv4_mapped is not None or address in NAT64:
        return None  # as public as the IPv4 address inside, which was judged
    if address not in IPV6_GLOBAL:
        return "not global unicast (RFC 4291)"
    return next((name for network, name in IPV6_SPECIAL if address in network), None)


def _embedded(address: IPAddress) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses that an IPv6 address carries, in whatever form."""
    if isinstance(address, IPv4Address):
        return ()
    if address.ipv4_mapped is not None:
        return (address.ipv4_mapped,)
    if address.sixtofour is not None:
        return (address.sixtofour,)
    if address in TEREDO and address.teredo is not None:
        return address.teredo
    if address in IPV4_COMPATIBLE or address in NAT64 or address in NAT64_LOCAL:
        return (IPv4Address(int(address) & 0xFFFFFFFF),)
    if (int(address) >> 32) & ISATAP_MASK == ISATAP:
        return (IPv4Address(int(address) & 0xFFFFFFFF),)
    return ()
