"""Which addresses are public. Sources: IANA's special-purpose address registries (RFC 6890)."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from types import SimpleNamespace

import psutil
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scans.net import addresses
from scans.net.addresses import (
    IPV4_SPECIAL,
    IPV6_GLOBAL,
    IPV6_SPECIAL,
    IPNetwork,
    is_exempt,
    own_addresses,
    refusal,
)

PUBLIC4 = IPv4Address("93.184.215.14")
PUBLIC6 = IPv6Address("2606:2800:21f:cb07:6820:80da:af6b:8b2c")

# The registries' rows, in their own words, with the RFC that each names.
REFUSED_IPV4 = {
    "0.0.0.0/8": "This network, RFC 791",
    "10.0.0.0/8": "Private-Use, RFC 1918",
    "100.64.0.0/10": "Shared Address Space, RFC 6598",
    "127.0.0.0/8": "Loopback, RFC 1122",
    "168.63.129.16/32": "Azure's host services",
    "169.254.0.0/16": "Link Local, RFC 3927",
    "172.16.0.0/12": "Private-Use, RFC 1918",
    "192.0.0.0/24": "IETF Protocol Assignments, RFC 6890",
    "192.0.2.0/24": "TEST-NET-1, RFC 5737",
    "192.31.196.0/24": "AS112-v4, RFC 7535",
    "192.52.193.0/24": "AMT, RFC 7450",
    "192.88.99.0/24": "Deprecated 6to4 Relay Anycast, RFC 7526",
    "192.168.0.0/16": "Private-Use, RFC 1918",
    "192.175.48.0/24": "Direct Delegation AS112 Service, RFC 7534",
    "198.18.0.0/15": "Benchmarking, RFC 2544",
    "198.51.100.0/24": "TEST-NET-2, RFC 5737",
    "203.0.113.0/24": "TEST-NET-3, RFC 5737",
    "224.0.0.0/4": "Multicast, RFC 5771",
    "240.0.0.0/4": "Reserved, RFC 1112",
    "255.255.255.255/32": "Limited Broadcast, RFC 919",
}
REFUSED_IPV6 = {
    "::/128": "Unspecified Address, RFC 4291",
    "::1/128": "Loopback Address, RFC 4291",
    "::/96": "IPv4-Compatible, RFC 4291",
    "::ffff:0:0:0/96": "IPv4-translated, RFC 2765",
    "64:ff9b:1::/48": "IPv4-IPv6 Translation, local use, RFC 8215",
    "100::/64": "Discard-Only, RFC 6666",
    "100:0:0:1::/64": "Dummy, RFC 9780",
    "2001::/32": "Teredo, RFC 4380",
    "2001:2::/48": "Benchmarking, RFC 5180",
    "2001:3::/32": "AMT, RFC 7450",
    "2001:4:112::/48": "AS112-v6, RFC 7535",
    "2001:10::/28": "Deprecated ORCHID, RFC 4843",
    "2001:20::/28": "ORCHIDv2, RFC 7343",
    "2001:30::/28": "Drone Remote ID, RFC 9374",
    "2001:db8::/32": "Documentation, RFC 3849",
    "2002::/16": "6to4, RFC 3056",
    "2620:4f:8000::/48": "Direct Delegation AS112 Service, RFC 7534",
    "3fff::/20": "Documentation, RFC 9637",
    "4000::/3": "unassigned, RFC 4291",
    "5f00::/16": "Segment Routing SIDs, RFC 9602",
    "fc00::/7": "Unique-Local, RFC 4193",
    "fe80::/10": "Link-Local Unicast, RFC 4291",
    "fec0::/10": "Deprecated site-local, RFC 3879",
    "ff00::/8": "Multicast, RFC 4291",
}
METADATA = {
    "169.254.169.254": "AWS, Azure, Google, DigitalOcean, OpenStack",
    "169.254.170.2": "AWS ECS credentials",
    "168.63.129.16": "Azure WireServer",
    "192.0.0.192": "Oracle Cloud",
    "100.100.100.200": "Alibaba Cloud",
    "fd00:ec2::254": "AWS over IPv6",
    "fd20:ce::254": "Google over IPv6",
}


@pytest.mark.parametrize("network", [*REFUSED_IPV4, *REFUSED_IPV6], ids=str)
def test_a_special_range_is_refused_from_its_first_address_to_its_last(network: str) -> None:
    block = ip_network(network)
    middle = block[block.num_addresses // 2]
    for address in (block[0], middle, block[-1]):
        assert refusal(address) is not None


@pytest.mark.parametrize("address", METADATA)
def test_a_clouds_metadata_address_is_refused(address: str) -> None:
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
def test_a_public_address_beside_the_special_ranges_is_accepted(address: str) -> None:
    assert refusal(ip_address(address)) is None


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("::ffff:{}", "mapped, RFC 4291"),
        ("::{}", "compatible, RFC 4291"),
        ("64:ff9b::{}", "NAT64, RFC 6052"),
        ("64:ff9b:1::{}", "local NAT64, RFC 8215"),
        ("::ffff:0:{}", "translated, RFC 2765"),
        ("2606:4700::5efe:{}", "ISATAP, RFC 5214"),
        ("2606:4700::200:5efe:{}", "ISATAP with a unique address, RFC 5214"),
    ],
)
@pytest.mark.parametrize("inside", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.0.1"])
def test_an_ipv6_address_that_carries_a_private_one_is_refused(form: str, name: str, inside: str) -> None:
    assert refusal(ip_address(form.format(inside))) is not None, name


@pytest.mark.parametrize("inside", ["127.0.0.1", "10.1.2.3", "169.254.169.254"])
def test_6to4_and_teredo_are_refused_by_what_they_carry(inside: str) -> None:
    number = int(IPv4Address(inside))
    six_to_four = IPv6Address((0x2002 << 112) | (number << 80) | 1)
    as_server = IPv6Address((0x20010000 << 96) | (number << 64) | (int(PUBLIC4) ^ 0xFFFFFFFF))
    as_client = IPv6Address((0x20010000 << 96) | (int(PUBLIC4) << 64) | (number ^ 0xFFFFFFFF))
    for address in (six_to_four, as_server, as_client):
        assert f"carries {inside}" in (refusal(address) or "")


@pytest.mark.parametrize("address", ["fe80::1%eth0", "2606:4700::1%1", "::1%lo"])
def test_an_address_with_a_scope_is_refused_even_when_exempted(address: str) -> None:
    assert "scope" in (refusal(ip_address(address), [IPv6Network("::/0")]) or "")


def test_the_machines_own_addresses_are_refused_in_every_form() -> None:
    own = {PUBLIC4, PUBLIC6}
    for address in (PUBLIC4, PUBLIC6, *map(ip_address, (f"::ffff:{PUBLIC4}", f"64:ff9b::{PUBLIC4}"))):
        assert refusal(address) is None
        assert "this machine" in (refusal(address, own=own) or "")


def test_own_addresses_are_those_of_the_interfaces(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ip_address("127.0.0.1") in own_addresses()

    listed = (str(PUBLIC4), "fe80::1%eth0", "02:42:ac:11:00:02")
    found = {"eth0": [SimpleNamespace(address=each) for each in listed]}
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: found)
    addresses._own_addresses.cache_clear()
    assert own_addresses() == {PUBLIC4, IPv6Address("fe80::1")}
    addresses._own_addresses.cache_clear()


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
def test_an_exempted_network_is_accepted_with_its_mapped_addresses(network: str, address: str) -> None:
    allowed = [ip_network(network)]
    assert refusal(ip_address(address)) is not None
    assert refusal(ip_address(address), allowed, own={ip_address(address)}) is None
    assert is_exempt(ip_address(address), allowed)


@pytest.mark.parametrize("address", ["10.0.1.0", "::ffff:10.0.1.0", "::1", "fd00::1", "127.0.0.1"])
def test_an_exemption_reaches_no_further_than_its_network(address: str) -> None:
    assert refusal(ip_address(address), [ip_network("10.0.0.0/24"), ip_network("2606::/16")]) is not None


def _inside(networks: tuple[tuple[IPNetwork, str], ...]) -> st.SearchStrategy[IPv4Address | IPv6Address]:
    return st.sampled_from([network for network, _ in networks]).flatmap(lambda each: st.ip_addresses(network=each))


ADDRESSES = st.one_of(
    st.ip_addresses(), st.ip_addresses(network=str(IPV6_GLOBAL)), _inside(IPV4_SPECIAL), _inside(IPV6_SPECIAL)
)


@given(ADDRESSES)
@example(IPv6Address("::ffff:10.0.0.1"))
def test_nothing_that_python_calls_special_is_accepted(address: IPv4Address | IPv6Address) -> None:
    inner = (address.ipv4_mapped if isinstance(address, IPv6Address) else None) or address
    is_special = (
        inner.is_private
        or inner.is_loopback
        or inner.is_link_local
        or inner.is_multicast
        or inner.is_reserved
        or inner.is_unspecified
    )
    # 64:ff9b::/96 is reserved to Python; for the guard it is what it carries.
    if is_special and inner not in IPv6Network("64:ff9b::/96"):
        assert refusal(address) is not None


@given(st.ip_addresses(v=4))
def test_an_address_is_judged_the_same_however_it_is_wrapped(address: IPv4Address) -> None:
    is_refused = refusal(address) is not None
    for form in ("::ffff:{}", "64:ff9b::{}"):
        assert (refusal(ip_address(form.format(address))) is not None) is is_refused
    if is_refused:
        assert refusal(ip_address(f"2606:4700::5efe:{address}")) is not None


@given(st.ip_addresses(v=6))
def test_ipv6_is_accepted_only_as_global_unicast_or_for_what_it_carries(address: IPv6Address) -> None:
    if refusal(address) is None:
        carries = address.ipv4_mapped is not None or address in IPv6Network("64:ff9b::/96")
        assert address in IPV6_GLOBAL or carries


def test_the_tables_list_no_range_twice_and_none_that_is_public() -> None:
    assert {str(network) for network, _ in IPV4_SPECIAL} == set(REFUSED_IPV4) - {"255.255.255.255/32"}
    for table in (IPV4_SPECIAL, IPV6_SPECIAL):
        networks = [network for network, _ in table]
        assert len(set(networks)) == len(networks)
    assert all(isinstance(network, IPv4Network) for network, _ in IPV4_SPECIAL)
