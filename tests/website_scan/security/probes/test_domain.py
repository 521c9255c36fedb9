"""Tests for the domain probes with a real name server.

The sites run on loopback.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.resolver
import dns.rrset
import pytest

from tests.targets.name_server import Zone, failing, name_server
from tests.targets.server import Answer, Certificate, Request, Site
from tests.website_scan.cast import message, outcome, target, verdict
from tests.website_scan.net.loopback import NETWORKS, loopback_network
from tests.website_scan.security.cast import NOW
from website_scan.net.client import Network
from website_scan.net.deadline import Deadline
from website_scan.net.dns_records import SystemLookup
from website_scan.net.errors import NotReachable, TimedOut
from website_scan.net.policy import Policy
from website_scan.page.evidence import Clock, Page
from website_scan.page.fetch import SiteProtected, fetch_page
from website_scan.security.checks.domain import security_txt as security_txt_check
from website_scan.security.dmarc import ParentPolicy
from website_scan.security.probes.domain import caa_records, dnssec_records, mail_records, security_txt
from website_scan.security.spf import HostLookup

HOST = target("https://www.shop.example.co.uk/")


def zone(records: Mapping[str, Mapping[str, tuple[str, ...]]], *, validating: bool = False) -> Zone:
    """Return a DNS zone with these records, by name and type.

    Other names do not exist (NXDOMAIN).
    """

    def answer(query: dns.message.Message) -> dns.message.Message | None:
        question = query.question[0]
        name = question.name.to_text(omit_final_dot=True)
        if name not in records:
            return failing(dns.rcode.NXDOMAIN)(query)
        values = records[name].get(dns.rdatatype.to_text(question.rdtype), ())
        response = dns.message.make_response(query)
        response.flags |= dns.flags.RA
        if values:
            response.answer.append(dns.rrset.from_text(f"{name}.", 60, "IN", question.rdtype, *values))
        if validating:
            response.flags |= dns.flags.AD
        return response

    return answer


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


def test_dnssec_probe_queries_registrable_domain(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ=="
    ds = "2371 13 2 " + "1f987cc6583e92df" * 4
    with name_server(zone({"example.co.uk": {"DNSKEY": (key,), "DS": (ds,)}}), monkeypatch):
        evidence = dnssec_records(HOST, network)
    assert not evidence.is_authenticated
    assert evidence.ds
    assert evidence.dnskey
    validated = zone({"example.co.uk": {"DNSKEY": (key,)}}, validating=True)
    with name_server(validated, monkeypatch), Network(Policy()) as other_network:
        assert dnssec_records(HOST, other_network).is_authenticated


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
        "example.co.uk": {"TXT": ('"v=spf1 include:A.example. include:gone.example include:%{i}.example -all"',)},
        "a.example": {"TXT": ('"other"', '"v=spf1 include:a.example redirect=b.example"')},
        "b.example": {"TXT": ('"v=spf1 -all"',)},
    }
    with name_server(zone(records), monkeypatch) as queries:
        evidence = mail_records(HOST, network)
    assert evidence.included_spf == {
        "a.example": ("v=spf1 include:a.example redirect=b.example",),
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


@pytest.mark.parametrize("probe", [caa_records, dnssec_records, mail_records])
def test_dns_probes_need_a_name_server(probe: object, network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    with name_server(failing(dns.rcode.SERVFAIL), monkeypatch), pytest.raises((NotReachable, TimedOut)):
        probe(HOST, network)  # type: ignore[operator]


def test_dns_probes_skip_ip_addresses(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    with name_server(zone({}), monkeypatch) as queries:
        for url in ("http://127.0.0.1/", "https://somebody.github.io/"):
            assert caa_records(target(url), network).domain is None
            assert dnssec_records(target(url), network).domain is None
            assert mail_records(target(url), network).domain is None
    assert queries == []


GOOD = "Contact: mailto:security@example.com\nExpires: 2027-01-01T00:00:00Z\n"
TEXT = {"Content-Type": "text/plain"}


def load_page(site: Site) -> tuple[Page, Network]:
    network = Network(Policy(allowed_networks=NETWORKS, ca_bundle=site.ca_file))
    return fetch_page(target(f"{site.url}/"), network), network


def test_security_txt_redirects_are_followed() -> None:
    routes = {
        "/": Answer("Hello"),
        "/.well-known/security.txt": Answer.redirect("/security.txt"),
        "/security.txt": Answer("Contact: mailto:a@example.com", headers=TEXT),
    }
    with Site(routes, certificate=Certificate.VALID) as site:
        page, network = load_page(site)
        with network:
            file = security_txt(page, network)
    assert file.response is not None
    assert file.response.body == b"Contact: mailto:a@example.com"


def test_security_txt_needs_its_media_type() -> None:
    page_type = {"Content-Type": "text/html; charset=utf-8"}
    routes = {"/": Answer("Hello"), "/.well-known/security.txt": Answer(GOOD, headers=page_type)}
    with Site(routes, certificate=Certificate.VALID) as site:
        page, network = load_page(site)
        with network:
            finding = security_txt_check(security_txt(page, network), Clock(NOW))
    assert (verdict(finding), outcome(finding)) == ("fail", "media-type")
    assert message(finding).endswith("is invalid: it is sent as text/html, not as text/plain.")


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=404),
        Answer("Contact: <a href=/contact>write to us</a>"),
        Answer("<!doctype html><title>Our app</title>"),
        Answer("<html>everything</html>", headers=TEXT),
        Answer('{"error": "no"}', headers={"Content-Type": "application/json"}),
        Answer(status=403),
    ],
)
def test_other_response_is_not_security_txt(answer: Answer) -> None:
    with Site({"/": Answer("Hello"), "/.well-known/security.txt": answer}, certificate=Certificate.VALID) as site:
        page, network = load_page(site)
        with network:
            assert security_txt(page, network).response is None


def test_security_txt_probe_stops_after_status_429() -> None:
    routes = {"/": Answer("Hello"), "/.well-known/security.txt": Answer(status=429)}
    with Site(routes, certificate=Certificate.VALID) as site:
        page, network = load_page(site)
        with network, pytest.raises(SiteProtected):
            security_txt(page, network)


def test_security_txt_applies_to_hosts_of_domain() -> None:
    class LoopbackResolver:
        def resolve(self, host: str, deadline: Deadline) -> tuple[str, ...]:
            return ("127.0.0.1",)

    def answer(request: Request) -> Answer:
        return Answer(GOOD, headers=TEXT) if request.header("Host") == "example.co.uk" else Answer(status=404)

    with Site({"*": answer}, certificate=Certificate.VALID) as site:

        def dial(address: str, port: int, timeout_s: float) -> socket.socket:
            return socket.create_connection((address, site.port), timeout_s)

        page = Page(HOST, HOST, ())
        with Network(Policy(allowed_networks=NETWORKS), resolver=LoopbackResolver(), dialer=dial) as network:
            file = security_txt(page, network)
    assert file.response is not None
    assert file.response.url == "https://example.co.uk/.well-known/security.txt"


def test_lookup_distinguishes_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    with name_server(lambda _: None, monkeypatch), pytest.raises(TimedOut):
        SystemLookup().lookup("example.co.uk", "TXT", Deadline(0.3))

    def no_resolver() -> dns.resolver.Resolver:
        raise dns.resolver.NoResolverConfiguration

    monkeypatch.setattr(dns.resolver, "Resolver", no_resolver)
    with pytest.raises(NotReachable, match="No name server"):
        SystemLookup().lookup("example.co.uk", "TXT", Deadline(1.0))


def test_security_txt_over_http_does_not_count() -> None:
    with Site({"*": Answer("Contact: mailto:a@example.com", headers=TEXT)}) as site, loopback_network() as network:
        page = fetch_page(target(f"{site.url}/"), network)
        assert security_txt(page, network).response is None
