"""Tests for the domain probes with a real name server.

The sites run on loopback.
"""

from __future__ import annotations

from collections.abc import Iterator

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.resolver
import dns.rrset
import pytest

from tests.targets.name_server import failing, name_server, zone
from tests.website_scan.cast import target
from tests.website_scan.security.cast import NOW, response
from website_scan.net.client import Network
from website_scan.net.deadline import Deadline
from website_scan.net.dns_records import SystemLookup
from website_scan.net.dnssec.answers import Security
from website_scan.net.errors import NotReachable, TimedOut
from website_scan.net.policy import Policy
from website_scan.net.targets import Target
from website_scan.page.evidence import Clock, Page
from website_scan.security.domain_evidence import DnssecRecords, UnusedName
from website_scan.security.probes.aliases import aliases
from website_scan.security.probes.mail import mail_records
from website_scan.security.probes.name_servers import name_servers
from website_scan.security.probes.names import caa_records, dnssec_records, site_records, unused_name

CLOCK = Clock(NOW)
HOST = target("https://www.shop.example.co.uk/")


@pytest.fixture
def network() -> Iterator[Network]:
    with Network(Policy()) as network:
        yield network


def test_caa_probe_uses_nearest_parent(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    records = {"example.co.uk": {"CAA": ('0 issue "ca.example.net"',)}, "uk": {"CAA": ('0 issue "other"',)}}
    with name_server(zone(records), monkeypatch) as queries:
        evidence = caa_records(HOST, network)
    assert (evidence.domain, evidence.name, evidence.records) == (
        "example.co.uk",
        "example.co.uk",
        ('0 issue "ca.example.net"',),
    )
    assert queries == ["www.shop.example.co.uk. CAA", "shop.example.co.uk. CAA", "example.co.uk. CAA"]


def test_caa_probe_may_find_no_records(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    with name_server(zone({}), monkeypatch):
        assert caa_records(HOST, network).records == ()


def test_dnssec_probe_does_not_judge_without_signatures(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    """Home routers and some name servers of providers remove signatures."""
    key = "257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ=="
    ds = "2371 13 2 " + "1f987cc6583e92df" * 4
    with name_server(zone({"example.co.uk": {"DNSKEY": (key,), "DS": (ds,)}}), monkeypatch) as queries:
        evidence = dnssec_records(HOST, UnusedName("example.co.uk"), network, CLOCK)
    assert evidence.trust is not None
    assert evidence.trust.security is Security.UNKNOWN
    assert ". DNSKEY" in queries


def _dnssec(site: Target, network: Network) -> DnssecRecords:
    return dnssec_records(site, UnusedName(None), network, CLOCK)


@pytest.mark.parametrize("probe", [caa_records, _dnssec, mail_records, name_servers])
def test_dns_probes_need_a_name_server(probe: object, network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    with name_server(failing(dns.rcode.SERVFAIL), monkeypatch), pytest.raises((NotReachable, TimedOut)):
        probe(HOST, network)  # type: ignore[operator]


def test_dns_probes_skip_ip_addresses(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    with name_server(zone({}), monkeypatch) as queries:
        for url in ("http://127.0.0.1/", "https://somebody.github.io/"):
            assert caa_records(target(url), network).domain is None
            assert _dnssec(target(url), network).domain is None
            assert unused_name(target(url), network, CLOCK).domain is None
            assert name_servers(target(url), network).domain is None
            page = Page(target(url), target(url), (response(url),))
            assert site_records(page, network, CLOCK).domain is None
            assert aliases(page, network, CLOCK).domain is None
            assert mail_records(target(url), network).domain is None
    assert queries == []


def test_lookup_distinguishes_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    with name_server(lambda _: None, monkeypatch), pytest.raises(TimedOut):
        SystemLookup().lookup("example.co.uk", "TXT", Deadline(0.3))

    def no_resolver() -> dns.resolver.Resolver:
        raise dns.resolver.NoResolverConfiguration

    monkeypatch.setattr(dns.resolver, "Resolver", no_resolver)
    with pytest.raises(NotReachable, match="No name server"):
        SystemLookup().lookup("example.co.uk", "TXT", Deadline(1.0))
