"""Classify IPv4 and IPv6 addresses as public or special-purpose.

Python's `is_global` is not used: it differs between versions and classifies several special ranges as global. The
tables contain every row of IANA's special-purpose address registries (RFC 6890, as updated in 2025-10), also rows that
the registries classify as globally reachable, and multicast. IPv4 is public unless listed; IPv6 is public only inside
2000::/3 (the one global unicast block in use, RFC 4291) and outside of that block's special ranges. An IPv4 address
that is embedded in an IPv6 address is extracted first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network

IPV4_SPECIAL_NETWORKS = tuple(
    (IPv4Network(network), name)
    for network, name in (
        ("0.0.0.0/8", "this network (RFC 791)"),  # 0.0.0.0 means this host (RFC 1122).
        ("10.0.0.0/8", "private (RFC 1918)"),
        ("100.64.0.0/10", "shared by carriers (RFC 6598)"),
        ("127.0.0.0/8", "loopback (RFC 1122)"),
        # Azure's wire server is in no registry, because its address is public elsewhere.
        ("168.63.129.16/32", "a cloud's metadata service (Azure)"),
        ("169.254.0.0/16", "link-local, cloud metadata among it (RFC 3927)"),
        ("172.16.0.0/12", "private (RFC 1918)"),
        # IANA's registry lists parts of this network: 192.0.0.0/29 (RFC 7335), .8 (RFC 7600), .9 (RFC 7723), .10
        # (RFC 8155), .170 and .171 (RFC 8880). Oracle's metadata service is at .192.
        ("192.0.0.0/24", "protocol assignments (RFC 6890)"),
        ("192.0.2.0/24", "documentation (RFC 5737)"),
        ("192.31.196.0/24", "AS112 (RFC 7535)"),
        ("192.52.193.0/24", "AMT (RFC 7450)"),
        ("192.88.99.0/24", "6to4 relays (RFC 7526)"),  # 192.88.99.2 is an address of 6a44 (RFC 6751).
        ("192.168.0.0/16", "private (RFC 1918)"),
        ("192.175.48.0/24", "AS112 (RFC 7534)"),
        ("198.18.0.0/15", "benchmarking (RFC 2544)"),
        ("198.51.100.0/24", "documentation (RFC 5737)"),
        ("203.0.113.0/24", "documentation (RFC 5737)"),
        ("224.0.0.0/4", "multicast (RFC 5771)"),
        ("240.0.0.0/4", "reserved or broadcast (RFC 1112, RFC 919)"),
    )
)

IPV6_GLOBAL_UNICAST = IPv6Network("2000::/3")
IPV6_SPECIAL_NETWORKS = tuple(
    (IPv6Network(network), name)
    for network, name in (
        # IANA's registry lists parts of this network: 2001::/32 Teredo (RFC 4380), 2001:1::1 to ::3 anycast
        # (RFC 7723, RFC 8155, RFC 9665), 2001:2::/48 benchmarking (RFC 5180), 2001:3::/32 AMT (RFC 7450),
        # 2001:4:112::/48 AS112 (RFC 7535), 2001:10::/28 and 2001:20::/28 ORCHID (RFC 4843, RFC 7343), 2001:30::/28
        # DRIP (RFC 9374).
        ("2001::/23", "protocol assignments, Teredo among them (RFC 2928, RFC 4380)"),
        ("2001:db8::/32", "documentation (RFC 3849)"),
        ("2002::/16", "6to4 (RFC 3056, RFC 7526)"),
        ("2620:4f:8000::/48", "AS112 (RFC 7534)"),
        ("3fff::/20", "documentation (RFC 9637)"),
    )
)
IPV4_COMPATIBLE_NETWORK = IPv6Network("::/96")  # IPv4-compatible addresses (RFC 4291, section 2.5.5.1).
IPV4_TRANSLATED_NETWORK = IPv6Network("::ffff:0:0:0/96")  # IPv4-translated addresses (RFC 2765, section 2.1).
LOOPBACK = (IPv4Address("127.0.0.1"), IPv6Address("::1"))
LOOPBACK_NETWORK = IPv4Network("127.0.0.0/8")
# Well-known prefix of NAT64 (RFC 6052, section 2.1). Local-use NAT64, 64:ff9b:1::/48 (RFC 8215), is refused as a whole,
# because the position of the IPv4 address depends on an unknown prefix length.
NAT64 = IPv6Network("64:ff9b::/96")
ISATAP_MASK, ISATAP = 0xFDFFFFFF, 0x00005EFE  # First half of the interface identifier (RFC 5214, section 6.1).


def refusal(
    address: IPAddress,
    allowed: Iterable[IPNetwork] = (),
    own: Collection[IPAddress] = (),
    denied: Iterable[IPNetwork] = (),
) -> str | None:
    """Return why connections to `address` are refused.

    None if they are allowed. `allowed` are the exempted networks, `own` the machine's own addresses. An exemption
    applies to the address itself and to the IPv4 address that it embeds. `denied` networks are never exempted.
    """
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return f"{address} has a scope"
    embedded = _embedded_ipv4_addresses(address)
    if any(candidate in network for network in denied for candidate in (address, *embedded)):
        return f"{address} is in a network that the operator denies"
    if is_exempted(address, allowed):
        return None
    if address in own or any(inner in own for inner in embedded):
        return f"{address} is an address of this machine"
    for inner in embedded:
        if reason := _special_network_name(inner):
            return f"{address} carries {inner}, which is {reason}"
    if reason := _special_network_name(address):
        return f"{address} is {reason}"
    return None


def is_exempted(address: IPAddress, allowed: Iterable[IPNetwork]) -> bool:
    """Return True if the address is in an exempted network.

    For an IPv6 address with a mapped IPv4 address, the mapped address counts, too.
    """
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return any(candidate in network for network in allowed for candidate in (address, mapped) if candidate is not None)


def is_loopback_name(host: str) -> bool:
    """Return True for `localhost` and its subdomains.

    DNS must not resolve them (RFC 6761, section 6.3).
    """
    return host == "localhost" or host.endswith(".localhost")


def loopback_addresses(host: str) -> tuple[IPAddress, ...]:
    """Return the loopback addresses of a host.

    The host is a literal address, or `localhost` or its subdomain. Empty for other hosts.
    """
    if is_loopback_name(host):
        return LOOPBACK
    try:
        address = ip_address(host)
    except ValueError:
        return ()
    return (address,) if address in LOOPBACK or address in LOOPBACK_NETWORK else ()


def own_addresses() -> frozenset[IPAddress]:
    """Return the current addresses of this machine's network interfaces.

    They are read for each connection, because they may change.
    """
    # The import takes 12 ms, and some commands open no connection.
    import psutil

    return _parsed(tuple(entry.address for interface in psutil.net_if_addrs().values() for entry in interface))


@functools.lru_cache(1)
def _parsed(texts: tuple[str, ...]) -> frozenset[IPAddress]:
    """Return the addresses in these texts.

    Parsing takes most of the time, and the texts rarely change.
    """
    own = set()
    for text in texts:
        try:
            own.add(ip_address(text.partition("%")[0]))
        except ValueError:
            continue  # The entry is a hardware address.
    return frozenset(own)


def _special_network_name(address: IPAddress) -> str | None:
    if isinstance(address, IPv4Address):
        return next((name for network, name in IPV4_SPECIAL_NETWORKS if address in network), None)
    if address.ipv4_mapped is not None or address in NAT64:
        return None  # `refusal` judges the embedded IPv4 address instead.
    if address not in IPV6_GLOBAL_UNICAST:
        return "not global unicast (RFC 4291)"
    return next((name for network, name in IPV6_SPECIAL_NETWORKS if address in network), None)


def _embedded_ipv4_addresses(address: IPAddress) -> tuple[IPv4Address, ...]:
    """Return all IPv4 addresses that an IPv6 address embeds.

    The same bits can match several embedding formats.
    """
    if isinstance(address, IPv4Address):
        return ()
    return tuple(dict.fromkeys(inner for unwrap in UNWRAPPERS.values() for inner in unwrap(address)))


def _last_32_bits(address: IPv6Address) -> tuple[IPv4Address, ...]:
    return (IPv4Address(int(address) & 0xFFFFFFFF),)


def _ipv4_mapped(address: IPv6Address) -> tuple[IPv4Address, ...]:
    return () if address.ipv4_mapped is None else (address.ipv4_mapped,)


def _ipv4_compatible(address: IPv6Address) -> tuple[IPv4Address, ...]:
    return _last_32_bits(address) if address in IPV4_COMPATIBLE_NETWORK else ()


def _ipv4_translated(address: IPv6Address) -> tuple[IPv4Address, ...]:
    return _last_32_bits(address) if address in IPV4_TRANSLATED_NETWORK else ()


def _nat64(address: IPv6Address) -> tuple[IPv4Address, ...]:
    return _last_32_bits(address) if address in NAT64 else ()


def _six_to_four(address: IPv6Address) -> tuple[IPv4Address, ...]:
    return () if address.sixtofour is None else (address.sixtofour,)


def _teredo(address: IPv6Address) -> tuple[IPv4Address, ...]:
    """Return the server's and client's IPv4 addresses in a Teredo address.

    RFC 4380, section 4.
    """
    return address.teredo or ()


def _isatap(address: IPv6Address) -> tuple[IPv4Address, ...]:
    return _last_32_bits(address) if (int(address) >> 32) & ISATAP_MASK == ISATAP else ()


UNWRAPPERS: dict[str, Callable[[IPv6Address], tuple[IPv4Address, ...]]] = {
    "mapped": _ipv4_mapped,
    "compatible": _ipv4_compatible,
    "translated": _ipv4_translated,
    "NAT64": _nat64,
    "6to4": _six_to_four,
    "Teredo": _teredo,
    "ISATAP": _isatap,
}
