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
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.security.dmarc import ParentPolicy
from website_scan.security.probes.mail import mail_records
from website_scan.security.spf import HostLookup

HOST = target("https://www.shop.example.co.uk/")


@pytest.fixture
def network() -> Iterator[Network]:
    with Network(Policy()) as network:
        yield network


def test_mail_probe_selects_txt_records(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    records: dict[str, dict[str, tuple[str, ...]]] = {
        "example.co.uk": {
            "MX": ("10 mx.example.co.uk.",),
            "TXT": ('"google-site-verification=x"', '"V=spf1 include:a " "-all"', '"v=spf10 -all"'),
        },
        "_dmarc.example.co.uk": {"TXT": ('"v=DMARC1; p=reject"', '"wildcard text"')},
    }
    with name_server(zone(records), monkeypatch):
        evidence = mail_records(HOST, network)
    assert evidence.mx == ("10 mx.example.co.uk.",)
    assert evidence.spf == ("V=spf1 include:a -all",)
    assert evidence.dmarc == ("v=DMARC1; p=reject",)


def test_mail_probe_counts_spf_hosts(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    records: dict[str, dict[str, tuple[str, ...]]] = {
        "example.co.uk": {
            "TXT": ('"v=spf1 mx a:six.example a:gone.example a:%{d}.x.example include:inc.example -all"',),
            "MX": ("10 a.example.", "20 b.example."),
        },
        "six.example": {"AAAA": ("2001:db8::1",)},
        "inc.example": {"TXT": ('"v=spf1 a -all"',), "A": ("192.0.2.1",)},
    }
    with name_server(zone(records), monkeypatch):
        evidence = mail_records(HOST, network)
    assert evidence.host_counts == {
        HostLookup("MX", "example.co.uk"): 2,
        HostLookup("A", "six.example"): 1,
        HostLookup("A", "gone.example"): 0,
        HostLookup("A", "inc.example"): 1,
    }


def test_mail_probe_finds_parent_policy(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    records: dict[str, dict[str, tuple[str, ...]]] = {"_dmarc.co.uk": {"TXT": ('"v=DMARC1; p=reject; psd=y"',)}}
    with name_server(zone(records), monkeypatch) as queries:
        evidence = mail_records(HOST, network)
    assert evidence.parent_dmarc == ParentPolicy("co.uk", "v=DMARC1; p=reject; psd=y")
    assert "_dmarc.uk. TXT" not in queries


def test_mail_probe_follows_included_records(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    records: dict[str, dict[str, tuple[str, ...]]] = {
        "example.co.uk": {"TXT": ('"v=spf1 include:A.example. include:%{i}.example include:gone.example -all"',)},
        "a.example": {"TXT": ('"other"', '"v=spf1 redirect=b.example"')},
        "b.example": {"TXT": ('"v=spf1 -all"',)},
    }
    with name_server(zone(records), monkeypatch) as queries:
        evidence = mail_records(HOST, network)
    assert evidence.included_spf == {
        "a.example": ("v=spf1 redirect=b.example",),
        "gone.example": (),
        "b.example": ("v=spf1 -all",),
    }
    # The domain needs three queries, and its parents' DMARC policy needs two.
    assert len(queries) == 8


def test_mail_probe_limits_included_records(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test that a chain of records does not cause hundreds of queries.

    Each record includes two others.
    """

    def answer(query: dns.message.Message) -> dns.message.Message | None:
        name = query.question[0].name.to_text(omit_final_dot=True)
        return zone({name: {"TXT": (f'"v=spf1 include:1.{name} include:2.{name} -all"',)}})(query)

    with name_server(answer, monkeypatch) as queries:
        evidence = mail_records(HOST, network)
    assert len(evidence.included_spf) == 10
    assert len(queries) == 15


def test_mail_probe_ignores_unanswered_records(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(query: dns.message.Message) -> dns.message.Message | None:
        if query.question[0].name.to_text() == "broken.example.":
            return failing(dns.rcode.SERVFAIL)(query)
        return zone({"example.co.uk": {"TXT": ('"v=spf1 include:broken.example -all"',)}})(query)

    with name_server(answer, monkeypatch):
        evidence = mail_records(HOST, network)
    assert evidence.spf
    assert evidence.included_spf == {}


def test_unknown_domain_has_empty_records(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    with name_server(zone({}), monkeypatch):
        evidence = mail_records(HOST, network)
    assert (evidence.mx, evidence.spf, evidence.dmarc) == ((), (), ())
