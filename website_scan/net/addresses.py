"""Classification of IPv4 and IPv6 addresses as public or not. Pure functions.

Python's `is_global` is not used: it differs between versions and classifies several special ranges as global. The
tables contain every row of IANA's special-purpose address registries (RFC 6890, as updated in 2025-10), also rows that
the registries classify as globally reachable, and multicast. IPv4 is public unless listed; IPv6 is public only inside
2000::/3 (the one global unicast block in use, RFC 4291) and outside of that block's special ranges. An IPv4 address
that is embedded in an IPv6 address is extracted first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network

IPV4_SPECIAL = tuple(
    (IPv4Network(network), name)
    for network, name in (
        ("0.0.0.0/8", "this network (RFC 791)"),  # 0.0.0.0 is this host (RFC 1122)
        ("10.0.0.0/8", "private (RFC 1918)"),
        ("100.64.0.0/10", "shared by carriers (RFC 6598)"),
        ("127.0.0.0/8", "loopback (RFC 1122)"),
        ("168.63.129.16/32", "a cloud's metadata service (Azure)"),  # in no registry; a public address outside Azure
        ("169.254.0.0/16", "link-local, cloud metadata among it (RFC 3927)"),
        ("172.16.0.0/12", "private (RFC 1918)"),
        # The registry's rows in this network: 192.0.0.0/29 (RFC 7335), .8 (RFC 7600), .9 (RFC 7723), .10 (RFC 8155),
        # .170 and .171 (RFC 8880). Oracle's metadata service is at .192.
        ("192.0.0.0/24", "protocol assignments (RFC 6890)"),
        ("192.0.2.0/24", "documentation (RFC 5737)"),
        ("192.31.196.0/24", "AS112 (RFC 7535)"),
        ("192.52.193.0/24", "AMT (RFC 7450)"),
        ("192.88.99.0/24", "6to4 relays (RFC 7526)"),  # 192.88.99.2 belongs to 6a44 (RFC 6751)
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
        # The registry's rows inside this network: 2001::/32 Teredo (RFC 4380), 2001:1::1 to ::3 anycast (RFC 7723,
        # RFC 8155, RFC 9665), 2001:2::/48 benchmarking (RFC 5180), 2001:3::/32 AMT (RFC 7450), 2001:4:112::/48 AS112
        # (RFC 7535), 2001:10::/28 and 2001:20::/28 ORCHID (RFC 4843, RFC 7343), 2001:30::/28 DRIP (RFC 9374).
        ("2001::/23", "protocol assignments, Teredo among them (RFC 2928, RFC 4380)"),
        ("2001:db8::/32", "documentation (RFC 3849)"),
        ("2002::/16", "6to4 (RFC 3056, RFC 7526)"),
        ("2620:4f:8000::/48", "AS112 (RFC 7534)"),
        ("3fff::/20", "documentation (RFC 9637)"),
    )
)
IPV4_COMPATIBLE = IPv6Network("::/96")  # RFC 4291, section 2.5.5.1
IPV4_TRANSLATED = IPv6Network("::ffff:0:0:0/96")  # RFC 2765, section 2.1
LOOPBACK = (IPv4Address("127.0.0.1"), IPv6Address("::1"))
LOOPBACK_NETWORK = IPv4Network("127.0.0.0/8")
# RFC 6052, section 2.1. The whole of local-use NAT64, 64:ff9b:1::/48 (RFC 8215), is refused: the position of the IPv4
# address in it depends on a prefix length that only its network knows.
NAT64 = IPv6Network("64:ff9b::/96")
ISATAP_MASK, ISATAP = 0xFDFFFFFF, 0x00005EFE  # the interface identifier's first half (RFC 5214, section 6.1)


def refusal(
    address: IPAddress,
    allowed: Iterable[IPNetwork] = (),
    own: Collection[IPAddress] = (),
    denied: Iterable[IPNetwork] = (),
) -> str | None:
    """Return why no connection to `address` is allowed, or None.

    `allowed` are the exempted networks, `own` the machine's own addresses. An exemption applies to the address itself
    and to the IPv4 address that it embeds. `denied` networks are never exempted.
    """
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return f"{address} has a scope"
    embedded = _embedded(address)
    if any(candidate in network for network in denied for candidate in (address, *embedded)):
        return f"{address} is in a network that the operator denies"
    if is_exempt(address, allowed):
        return None
    if address in own or any(inner in own for inner in embedded):
        return f"{address} is an address of this machine"
    for inner in embedded:
        if reason := _special(inner):
            return f"{address} carries {inner}, which is {reason}"
    if reason := _special(address):
        return f"{address} is {reason}"
    return None


def is_exempt(address: IPAddress, allowed: Iterable[IPNetwork]) -> bool:
    """Return True if an exempted network contains the address, or the IPv4 address that is mapped into it."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return any(candidate in network for network in allowed for candidate in (address, mapped) if candidate is not None)


def is_loopback_name(host: str) -> bool:
    """Return True if the name is a loopback name by definition, which DNS must not resolve (RFC 6761, section 6.3)."""
    return host == "localhost" or host.endswith(".localhost")


def loopback_addresses(host: str) -> tuple[IPAddress, ...]:
    """Return the addresses of a loopback host: those of a literal, or of `localhost` and its subdomains; else none."""
    if is_loopback_name(host):
        return LOOPBACK
    try:
        address = ip_address(host)
    except ValueError:
        return ()
    return (address,) if address in LOOPBACK or address in LOOPBACK_NETWORK else ()


def own_addresses() -> frozenset[IPAddress]:
    """Return the current addresses of this machine's interfaces. They change, and reading them is fast: don't cache."""
    import psutil  # takes 12 ms, and commands that open no connection do not need it

    own = set()
    for interface in psutil.net_if_addrs().values():
        for entry in interface:
            try:
                own.add(ip_address(entry.address.partition("%")[0]))
            except ValueError:
                continue  # hardware address
    return frozenset(own)


def _special(address: IPAddress) -> str | None:
    if isinstance(address, IPv4Address):
        return next((name for network, name in IPV4_SPECIAL if address in network), None)
    if address.ipv4_mapped is not None or address in NAT64:
        return None  # `refusal` judges the IPv4 address inside
    if address not in IPV6_GLOBAL:
        return "not global unicast (RFC 4291)"
    return next((name for network, name in IPV6_SPECIAL if address in network), None)


def _embedded(address: IPAddress) -> tuple[IPv4Address, ...]:
    """Return the IPv4 addresses that an IPv6 address embeds, in all forms: the same bits can match two forms."""
    if isinstance(address, IPv4Address):
        return ()
    return tuple(dict.fromkeys(inner for unwrap in UNWRAPPERS.values() for inner in unwrap(address)))


def _last_bits(address: IPv6Address) -> tuple[IPv4Address, ...]:
    return (IPv4Address(int(address) & 0xFFFFFFFF),)


def _mapped(address: IPv6Address) -> tuple[IPv4Address, ...]:
    return () if address.ipv4_mapped is None else (address.ipv4_mapped,)


def _compatible(address: IPv6Address) -> tuple[IPv4Address, ...]:
    return _last_bits(address) if address in IPV4_COMPATIBLE else ()


def _translated(address: IPv6Address) -> tuple[IPv4Address, ...]:
    return _last_bits(address) if address in IPV4_TRANSLATED else ()


def _nat64(address: IPv6Address) -> tuple[IPv4Address, ...]:
    return _last_bits(address) if address in NAT64 else ()


def _six_to_four(address: IPv6Address) -> tuple[IPv4Address, ...]:
    return () if address.sixtofour is None else (address.sixtofour,)


def _teredo(address: IPv6Address) -> tuple[IPv4Address, ...]:
    """Return the addresses of the Teredo server and client (RFC 4380, section 4); the client's bits are inverted."""
    return address.teredo or ()


def _isatap(address: IPv6Address) -> tuple[IPv4Address, ...]:
    return _last_bits(address) if (int(address) >> 32) & ISATAP_MASK == ISATAP else ()


UNWRAPPERS: dict[str, Callable[[IPv6Address], tuple[IPv4Address, ...]]] = {
    "mapped": _mapped,
    "compatible": _compatible,
    "translated": _translated,
    "NAT64": _nat64,
    "6to4": _six_to_four,
    "Teredo": _teredo,
    "ISATAP": _isatap,
}
