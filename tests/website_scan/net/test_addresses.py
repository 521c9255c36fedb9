"""Tests for public and special IP addresses.

Source: IANA's special-purpose address registries (RFC 6890).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from types import SimpleNamespace

import psutil
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.networks import is_within
from website_scan.net.addresses import (
    IPV4_SPECIAL_NETWORKS,
    IPV6_GLOBAL_UNICAST,
    IPV6_SPECIAL_NETWORKS,
    UNWRAPPERS,
    IPNetwork,
    is_exempted,
    own_addresses,
    refusal,
)
from website_scan.net.errors import Blocked
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target

PUBLIC4 = IPv4Address("93.184.215.14")
PUBLIC6 = IPv6Address("2606:2800:21f:cb07:6820:80da:af6b:8b2c")

# Rows of IANA's registries for IPv4 (https://www.iana.org/assignments/iana-ipv4-special-registry) and IPv6
# (https://www.iana.org/assignments/iana-ipv6-special-registry) as of 2025-10-09, with the RFC of each row.
REGISTRY_IPV4 = {
    "0.0.0.0/8": "this network, RFC 791",
    "0.0.0.0/32": "this host on this network, RFC 1122",
    "10.0.0.0/8": "private use, RFC 1918",
    "100.64.0.0/10": "shared address space, RFC 6598",
    "127.0.0.0/8": "loopback, RFC 1122",
    "169.254.0.0/16": "link local, RFC 3927",
    "172.16.0.0/12": "private use, RFC 1918",
    "192.0.0.0/24": "IETF protocol assignments, RFC 6890",
    "192.0.0.0/29": "IPv4 service continuity prefix, RFC 7335",
    "192.0.0.8/32": "IPv4 dummy address, RFC 7600",
    "192.0.0.9/32": "Port Control Protocol anycast, RFC 7723",
    "192.0.0.10/32": "TURN anycast, RFC 8155",
    "192.0.0.170/32": "NAT64/DNS64 discovery, RFC 8880",
    "192.0.0.171/32": "NAT64/DNS64 discovery, RFC 8880",
    "192.0.2.0/24": "documentation, RFC 5737",
    "192.31.196.0/24": "AS112, RFC 7535",
    "192.52.193.0/24": "AMT, RFC 7450",
    "192.88.99.0/24": "deprecated 6to4 relay anycast, RFC 7526",
    "192.88.99.2/32": "6a44 relay anycast, RFC 6751",
    "192.168.0.0/16": "private use, RFC 1918",
    "192.175.48.0/24": "direct delegation AS112 service, RFC 7534",
    "198.18.0.0/15": "benchmarking, RFC 2544",
    "198.51.100.0/24": "documentation, RFC 5737",
    "203.0.113.0/24": "documentation, RFC 5737",
    "240.0.0.0/4": "reserved, RFC 1112",
    "255.255.255.255/32": "limited broadcast, RFC 919",
}
REGISTRY_IPV6 = {
    "::1/128": "loopback address, RFC 4291",
    "::/128": "unspecified address, RFC 4291",
    "64:ff9b:1::/48": "IPv4-IPv6 translation for local use, RFC 8215",
    "100::/64": "discard only, RFC 6666",
    "100:0:0:1::/64": "dummy prefix, RFC 9780",
    "2001::/23": "IETF protocol assignments, RFC 2928",
    "2001::/32": "Teredo, RFC 4380",
    "2001:1::1/128": "Port Control Protocol anycast, RFC 7723",
    "2001:1::2/128": "TURN anycast, RFC 8155",
    "2001:1::3/128": "DNS-SD Service Registration Protocol anycast, RFC 9665",
    "2001:2::/48": "benchmarking, RFC 5180",
    "2001:3::/32": "AMT, RFC 7450",
    "2001:4:112::/48": "AS112, RFC 7535",
    "2001:10::/28": "deprecated ORCHID, RFC 4843",
    "2001:20::/28": "ORCHIDv2, RFC 7343",
    "2001:30::/28": "drone remote ID, RFC 9374",
    "2001:db8::/32": "documentation, RFC 3849",
    "2002::/16": "6to4, RFC 3056",
    "2620:4f:8000::/48": "direct delegation AS112 service, RFC 7534",
    "3fff::/20": "documentation, RFC 9637",
    "5f00::/16": "segment routing, RFC 9602",
    "fc00::/7": "unique local, RFC 4193",
    "fe80::/10": "link-local unicast, RFC 4291",
}
# The other two IPv6 ranges embed an IPv4 address, which decides.
REGISTRY_WRAPPERS = {"::ffff:0:0/96": "mapped, RFC 4291", "64:ff9b::/96": "IPv4-IPv6 translation, RFC 6052"}
# Special ranges that are not in IANA's registries.
ELSEWHERE = {
    "168.63.129.16/32": "Azure's host services",
    "224.0.0.0/4": "multicast, RFC 5771",
    "::/96": "IPv4-compatible, RFC 4291",
    "::ffff:0:0:0/96": "IPv4-translated, RFC 2765",
    "200::/7": "OSI NSAP, RFC 4048",
    "4000::/3": "unassigned, RFC 4291",
    "fec0::/10": "deprecated site-local, RFC 3879",
    "ff00::/8": "multicast, RFC 4291",
}
METADATA = {
    "169.254.169.254": "AWS, Azure, Google, DigitalOcean, Hetzner, OpenStack, Oracle, Vultr",
    "169.254.170.2": "AWS ECS credentials",
    "169.254.170.23": "AWS EKS credentials",
    "169.254.42.42": "Scaleway",
    "169.254.0.23": "Tencent Cloud",
    "168.63.129.16": "Azure WireServer",
    "192.0.0.192": "Oracle Cloud Classic",
    "100.100.100.200": "Alibaba Cloud",
    "fd00:ec2::254": "AWS over IPv6",
    "fd00:ec2::23": "AWS EKS credentials over IPv6",
    "fd20:ce::254": "Google over IPv6",
    "fd00:42::42": "Scaleway over IPv6",
    "fd00:c1::a9fe:a9fe": "Oracle over IPv6",
    "fd00:a9fe:a9fe::1": "Linode over IPv6",
    "fe80::a9fe:a9fe": "OpenStack over IPv6",
}


@pytest.mark.parametrize("network", [*REGISTRY_IPV4, *REGISTRY_IPV6, *ELSEWHERE])
def test_every_address_of_a_special_range_is_refused(network: str) -> None:
    block = ip_network(network)
    middle = block[block.num_addresses // 2]
    for address in (block[0], middle, block[-1]):
        assert refusal(address) is not None


@pytest.mark.parametrize("address", METADATA)
def test_cloud_metadata_address_is_refused(address: str) -> None:
    assert refusal(ip_address(address)) is not None


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "93.184.215.14", "100.63.255.255", "100.128.0.0",
        "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
        "192.0.1.0", "192.0.3.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
        "223.255.255.255", "2001:200::1", "2003::1", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e",
        "3ffe:ffff::1", "64:ff9b::5db8:d70e", "::ffff:93.184.215.14", "2606:4700::5efe:5db8:d70e",
    ],
)  # fmt: skip
def test_address_next_to_a_special_range_is_accepted(address: str) -> None:
    assert refusal(ip_address(address)) is None


@pytest.mark.parametrize("form", ["::ffff:{}", "::{}", "::ffff:0:{}", "64:ff9b::{}", "2002:0a01:0203::1"])
def test_denied_IPv4_address_is_refused_as_IPv6(form: str) -> None:
    address = ip_address(form.format("10.1.2.3"))
    everything = (ip_network("::/0"), ip_network("0.0.0.0/0"))
    assert refusal(address, everything) is None
    assert refusal(address, everything, denied=[ip_network("10.1.2.0/24")]) is not None


@pytest.mark.parametrize("inside", ["127.0.0.1", "10.1.2.3", "169.254.169.254"])
def test_6to4_and_Teredo_are_always_refused(inside: str) -> None:
    number = int(IPv4Address(inside))
    six_to_four = IPv6Address((0x2002 << 112) | (number << 80) | 1)
    teredo_with_server = IPv6Address((0x20010000 << 96) | (number << 64) | (int(PUBLIC4) ^ 0xFFFFFFFF))
    teredo_with_client = IPv6Address((0x20010000 << 96) | (int(PUBLIC4) << 64) | (number ^ 0xFFFFFFFF))
    for address in (six_to_four, teredo_with_server, teredo_with_client):
        assert f"carries {inside}" in (refusal(address) or "")


@pytest.mark.parametrize("address", ["fe80::1%eth0", "2606:4700::1%1", "::1%lo"])
def test_address_with_a_scope_is_refused(address: str) -> None:
    assert "scope" in (refusal(ip_address(address), [IPv6Network("::/0")]) or "")


def test_own_addresses_of_the_machine_are_refused() -> None:
    own: set[IPv4Address | IPv6Address] = {PUBLIC4, PUBLIC6}
    for address in (PUBLIC4, PUBLIC6, *map(ip_address, (f"::ffff:{PUBLIC4}", f"64:ff9b::{PUBLIC4}"))):
        assert refusal(address) is None
        assert "this machine" in (refusal(address, own=own) or "")


def test_own_addresses_are_those_of_the_interfaces(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ip_address("127.0.0.1") in own_addresses()

    listed = (str(PUBLIC4), "02:42:ac:11:00:02", "fe80::1%eth0")
    interfaces = {"eth0": [SimpleNamespace(address=text) for text in listed]}
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: interfaces)
    assert own_addresses() == {PUBLIC4, IPv6Address("fe80::1")}
    # Addresses of interfaces change while the service runs.
    interfaces["eth1"] = [SimpleNamespace(address=str(PUBLIC6))]
    assert own_addresses() == {PUBLIC4, IPv6Address("fe80::1"), PUBLIC6}


@pytest.mark.parametrize(
    ("network", "address"),
    [
        ("10.0.0.0/8", "10.1.2.3"),
        ("127.0.0.0/8", "127.0.0.1"),
        ("127.0.0.0/8", "::ffff:127.0.0.1"),
        ("::1/128", "::1"),
        ("fd00::/8", "fd12::1"),
        ("192.0.2.7/32", "::ffff:192.0.2.7"),
    ],
)
def test_exemption_includes_IPv4_mapped_addresses(network: str, address: str) -> None:
    allowed = [ip_network(network)]
    assert refusal(ip_address(address)) is not None
    assert refusal(ip_address(address), allowed, own={ip_address(address)}) is None
    assert is_exempted(ip_address(address), allowed)


@pytest.mark.parametrize(
    "address", ["93.184.215.14", "::ffff:93.184.215.14", "64:ff9b::5db8:d70e", "2002:5db8:d70e::1"]
)
def test_denied_network_is_refused_as_IPv6(address: str) -> None:
    denied = [ip_network("93.184.215.0/24")]
    assert "operator denies" in (refusal(ip_address(address), denied=denied) or "")
    assert refusal(ip_address(address), [ip_network("0.0.0.0/0"), ip_network("::/0")], denied=denied) is not None
    assert refusal(ip_address("93.184.216.14"), denied=denied) is None


@pytest.mark.parametrize("address", ["10.0.1.0", "::ffff:10.0.1.0", "::1", "fd00::1", "127.0.0.1"])
def test_exemption_applies_only_to_its_network(address: str) -> None:
    assert refusal(ip_address(address), [ip_network("10.0.0.0/24"), ip_network("2606::/16")]) is not None


# Property tests of address rules.


def _integer_spellings(number: int) -> tuple[int, int, int, int]:
    first, second, third, fourth = number.to_bytes(4)
    return first, second, third, fourth


def _dotted_spelling(number: int) -> str:
    return str(IPv4Address(number))


# Spellings of the same number as a URL's host (WHATWG URL, "IPv4 parser").
SPELLINGS: dict[str, Callable[[int], str]] = {
    "dotted": _dotted_spelling,
    "number": str,
    "hexadecimal": hex,
    "octal": lambda number: f"0{number:o}",
    "octal parts": lambda number: ".".join(f"0{part:o}" for part in _integer_spellings(number)),
    "hexadecimal parts": lambda number: ".".join(f"0X{part:02X}" for part in _integer_spellings(number)),
    "two parts": lambda number: f"{number >> 24}.{number & 0xFFFFFF}",
    "three parts": lambda number: f"{number >> 24}.{number >> 16 & 0xFF}.0x{number & 0xFFFF:x}",
    "leading zeros": lambda number: ".".join(f"0{part:04o}" for part in _integer_spellings(number)),
    "final dot": lambda number: f"{_dotted_spelling(number)}.",
    "percent-encoded": lambda number: "".join(f"%{ord(char):02x}" for char in _dotted_spelling(number)),
    "full-width": lambda number: "".join(chr(ord(char) + 0xFEE0) for char in _dotted_spelling(number)),
    "bold digits": lambda number: "".join(
        chr(ord(char) + 0x1D79E) if char != "." else "." for char in _dotted_spelling(number)
    ),
    "ideographic stops": lambda number: _dotted_spelling(number).replace(".", "\u3002"),
    "soft hyphens": lambda number: "\u00ad".join(_dotted_spelling(number)),
    "mapped": lambda number: f"[::ffff:{_dotted_spelling(number)}]",
    "mapped hexadecimal": lambda number: f"[::FFFF:{number >> 16:x}:{number & 0xFFFF:x}]",
    "mapped in full": lambda number: f"[0:0:0:0:0:ffff:{_dotted_spelling(number)}]",
    "compatible": lambda number: f"[::{_dotted_spelling(number)}]",
    "NAT64": lambda number: f"[64:ff9b::{_dotted_spelling(number)}]",
    "6to4": lambda number: f"[2002:{number >> 16:x}:{number & 0xFFFF:x}::]",
    "ISATAP": lambda number: f"[2606:4700::5efe:{_dotted_spelling(number)}]",
}


def _address_in_network(networks: Iterable[IPNetwork]) -> st.SearchStrategy[IPv4Address | IPv6Address]:
    return st.sampled_from(list(networks)).flatmap(lambda each: st.ip_addresses(network=each))


SPECIAL_IPV4 = tuple(IPv4Network(network) for network in (*REGISTRY_IPV4, "168.63.129.16/32", "224.0.0.0/4"))
TABLES = [network for table in (IPV4_SPECIAL_NETWORKS, IPV6_SPECIAL_NETWORKS) for network, _ in table]
ADDRESSES = st.one_of(st.ip_addresses(), st.ip_addresses(network=str(IPV6_GLOBAL_UNICAST)), _address_in_network(TABLES))
# Functions that embed an IPv4 address in an IPv6 address, by format.
WRAPPED = {
    "mapped": lambda inner: 0xFFFF << 32 | inner,
    "compatible": lambda inner: inner,
    "translated": lambda inner: 0xFFFF << 48 | inner,
    "NAT64": lambda inner: 0x64FF9B << 96 | inner,
    "6to4": lambda inner: 0x2002 << 112 | inner << 80 | 0x1234,
    "Teredo": lambda inner: 0x20010000 << 96 | int(PUBLIC4) << 64 | 0x8000 << 48 | inner ^ 0xFFFFFFFF,
    "Teredo, server": lambda inner: 0x20010000 << 96 | inner << 64 | int(PUBLIC4) ^ 0xFFFFFFFF,
    "ISATAP": lambda inner: 0x26064700 << 96 | 0x5EFE << 32 | inner,
    "ISATAP, unique": lambda inner: 0x26064700 << 96 | 0x02005EFE << 32 | inner,
    # RFC 6052, section 2.2: bits 64 to 71 are skipped. RFC 8215's block allows these prefix lengths.
    "local NAT64 /48": lambda inner: NAT64_LOCAL | inner >> 16 << 64 | (inner & 0xFFFF) << 40,
    "local NAT64 /56": lambda inner: NAT64_LOCAL | inner >> 24 << 64 | (inner & 0xFFFFFF) << 32,
    "local NAT64 /64": lambda inner: NAT64_LOCAL | inner << 24,
    "local NAT64 /96": lambda inner: NAT64_LOCAL | inner,
}
NAT64_LOCAL = 0x64FF9B0001 << 80


@given(ADDRESSES)
@example(IPv6Address("::ffff:10.0.0.1"))
def test_special_addresses_of_Python_are_refused(address: IPv4Address | IPv6Address) -> None:
    inner = (address.ipv4_mapped if isinstance(address, IPv6Address) else None) or address
    is_special = (
        inner.is_private
        or inner.is_loopback
        or inner.is_link_local
        or inner.is_multicast
        or inner.is_reserved
        or inner.is_unspecified
        or (isinstance(inner, IPv6Address) and inner.is_site_local)
    )
    # Python classifies 64:ff9b::/96 as reserved, but the guard judges the embedded address.
    if is_special and inner not in IPv6Network("64:ff9b::/96"):
        assert refusal(address) is not None


@given(st.one_of(st.ip_addresses(v=4), _address_in_network(SPECIAL_IPV4)))
@example(IPv4Address("192.0.0.9"))
def test_unlisted_IPv4_address_is_public(address: IPv4Address | IPv6Address) -> None:
    is_listed = any(address in network for network in SPECIAL_IPV4)
    assert (refusal(address) is not None) is is_listed


@given(_address_in_network(SPECIAL_IPV4), st.sampled_from(sorted(WRAPPED)))
def test_embedding_never_makes_an_address_public(inner: IPv4Address | IPv6Address, form: str) -> None:
    assert refusal(IPv6Address(WRAPPED[form](int(inner)))) is not None


@given(_address_in_network(SPECIAL_IPV4), st.sampled_from(sorted(SPELLINGS)))
@example(IPv4Address("127.0.0.1"), "full-width")
def test_spelling_never_makes_an_address_public(address: IPv4Address | IPv6Address, form: str) -> None:
    for policy in (Policy(), Policy(allowed_networks=(IPv6Network("2a00::/16"),))):
        with pytest.raises(Blocked):
            parse_target(f"http://{SPELLINGS[form](int(address))}/", policy)


@given(st.ip_addresses(v=4))
def test_IPv6_forms_of_an_address_are_judged_the_same(address: IPv4Address) -> None:
    is_refused = refusal(address) is not None
    for form in ("::ffff:{}", "64:ff9b::{}"):
        assert (refusal(ip_address(form.format(address))) is not None) is is_refused
    if is_refused:
        assert refusal(ip_address(f"2606:4700::5efe:{address}")) is not None


@given(st.ip_addresses(v=6))
def test_IPv6_needs_global_unicast_or_a_public_IPv4(address: IPv6Address) -> None:
    if refusal(address) is None:
        carries = address.ipv4_mapped is not None or address in IPv6Network("64:ff9b::/96")
        assert address in IPV6_GLOBAL_UNICAST or carries


def test_address_tables_cover_every_registry_row() -> None:
    for table, rows in ((IPV4_SPECIAL_NETWORKS, REGISTRY_IPV4), (IPV6_SPECIAL_NETWORKS, REGISTRY_IPV6)):
        networks = [network for network, _ in table]
        assert len(set(networks)) == len(networks)
        for row in map(ip_network, rows):
            is_outside = row.version == 6 and not is_within(row, IPV6_GLOBAL_UNICAST)
            assert is_outside or any(is_within(row, network) for network in networks), row
        assert all(re.search(r"RFC \d+|cloud", name) for _, name in table)
    for wrapper in REGISTRY_WRAPPERS:
        assert any(unwrap(IPv6Network(wrapper)[1]) for unwrap in UNWRAPPERS.values())
