"""Tests for the name servers of `benchmarks/registry.py`."""

from __future__ import annotations

import dns.message
import dns.rcode
import dns.rdatatype
import pytest

from benchmarks.registry import MISSING_EVERY, Domain, Zones
from tests.targets.typical import SITES


@pytest.fixture(scope="module")
def zones() -> Zones:
    return Zones()


def ask(zones: Zones, name: str, record_type: str, *, is_resolver: bool = True) -> dns.message.Message:
    query = dns.message.make_query(name, record_type, want_dnssec=True)
    return dns.message.from_wire(zones.answer(query.to_wire(), is_resolver=is_resolver))


def keys(answer: dns.message.Message) -> set[str]:
    return {record.to_text() for rrset in answer.answer for record in rrset if rrset.rdtype == dns.rdatatype.DNSKEY}


@pytest.mark.parametrize(
    ("name", "number"), [("d7.se.", 7), ("www.D12.se", 12), ("se.", None), ("example.net.", None), ("dx.se.", None)]
)
def test_domain_of_a_name(name: str, number: int | None) -> None:
    assert Domain.named(name) == (None if number is None else Domain(number))


def test_addresses_of_domains_differ(zones: Zones) -> None:
    answers = [str(ask(zones, f"d{number}.se.", "A").answer[0][0]) for number in range(30)]
    assert len(set(answers)) == 30


def test_missing_domain_has_no_addresses(zones: Zones) -> None:
    assert ask(zones, f"d{MISSING_EVERY - 1}.se.", "A").rcode() == dns.rcode.NXDOMAIN


def test_only_careful_sites_have_signed_zones(zones: Zones) -> None:
    careful = [number for number, site in enumerate(SITES) if "DS" in site.dns]
    signed = [number for number in range(len(SITES)) if keys(ask(zones, f"d{number}.se.", "DNSKEY"))]
    assert signed == careful


def test_all_domains_share_the_keys_of_the_zones_above(zones: Zones) -> None:
    signed = next(number for number, site in enumerate(SITES) if "DS" in site.dns)
    for name in (".", "se."):
        own_zone = zones.with_domain(Domain(signed)).zones[dns.name.from_text(name)]
        assert own_zone.key is not None
        assert keys(ask(zones, name, "DNSKEY", is_resolver=False)) == {own_zone.key[1].to_text()}
