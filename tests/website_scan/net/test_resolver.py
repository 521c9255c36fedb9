"""Tests for the resolver.

It reads IP literals and the hosts file, and asks name servers on loopback.
"""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

import dns.message
import dns.rcode
import dns.rdatatype
import dns.resolver
import pytest

from tests.targets.name_server import Zone, failing, hosts, name_server, records, reply
from tests.website_scan.net.seams import PUBLIC
from website_scan.net import resolver
from website_scan.net.client import Network
from website_scan.net.deadline import Deadline
from website_scan.net.errors import Blocked, NotReachable, TimedOut
from website_scan.net.policy import Policy
from website_scan.net.resolver import SystemResolver

HOST = "www.example.com"


def resolve(host: str, seconds: float = 2.0) -> tuple[str, ...]:
    return SystemResolver().resolve(host, Deadline(seconds))


@pytest.fixture(autouse=True)
def hosts_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Replace the machine's hosts file with an empty file."""
    path = tmp_path / "hosts"
    path.write_text("")
    monkeypatch.setattr(resolver, "HOSTS_FILE", path)
    return path


def test_hosts_file_may_have_another_encoding(hosts_file: Path) -> None:
    hosts_file.write_bytes("# Büro\n\n93.184.215.14 büro office.example.com\n".encode("latin-1"))
    assert resolve("office.example.com") == ("93.184.215.14",)


@pytest.mark.parametrize(
    ("literal", "address"),
    [("93.184.215.14", "93.184.215.14"), ("2606:4700:0:0::1111", "2606:4700::1111"), ("::1", "::1")],
)
def test_IP_literal_needs_no_thread(literal: str, address: str) -> None:
    threads = threading.active_count()
    assert resolve(literal, seconds=0) == (address,)
    assert threading.active_count() == threads


def test_localhost_is_never_resolved_by_DNS(monkeypatch: pytest.MonkeyPatch) -> None:
    with name_server(records(A=["93.184.215.14"]), monkeypatch) as queries:
        for host in ("localhost", "shop.localhost"):
            assert resolve(host) == ("127.0.0.1", "::1")
    assert queries == []


def test_IPv4_addresses_are_returned_first(monkeypatch: pytest.MonkeyPatch) -> None:
    zone = records(AAAA=["2606:4700::1111"], A=["93.184.215.15", "93.184.215.14"])
    with name_server(zone, monkeypatch) as queries:
        *first, last = resolve(HOST)
        assert (sorted(first), last) == (["93.184.215.14", "93.184.215.15"], "2606:4700::1111")
    assert sorted(queries) == ["www.example.com. A", "www.example.com. AAAA"]


@pytest.mark.parametrize("kind", ["A", "AAAA"])
def test_addresses_of_one_family_are_sufficient(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    address = {"A": "93.184.215.14", "AAAA": "2606:4700::1111"}[kind]
    with name_server(records(**{kind: [address]}), monkeypatch):
        assert resolve(HOST) == (address,)


def test_resolver_returns_private_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    with name_server(records(A=["93.184.215.14", "10.0.0.1"]), monkeypatch):
        assert set(resolve(HOST)) == {"93.184.215.14", "10.0.0.1"}


@pytest.mark.parametrize(
    "zone", [records(), failing(dns.rcode.NXDOMAIN), failing(dns.rcode.SERVFAIL), failing(dns.rcode.REFUSED)]
)
def test_name_without_an_address_raises_NotReachable(zone: Zone, monkeypatch: pytest.MonkeyPatch) -> None:
    with name_server(zone, monkeypatch) as queries, pytest.raises(NotReachable, match="does not resolve"):
        resolve(HOST)
    # The system's search domains could resolve a public name to an internal host.
    assert set(queries) == {"www.example.com. A", "www.example.com. AAAA"}


def test_CNAME_chain_is_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    zone = hosts({HOST: ("a.example.net.",), "a.example.net": ("b.internal.",), "b.internal": ("10.0.0.1", PUBLIC)})
    with name_server(zone, monkeypatch):
        assert set(resolve(HOST)) == {"10.0.0.1", PUBLIC}


@pytest.mark.parametrize(
    "aliases",
    [
        {HOST: ("nowhere.example.net.",)},
        {HOST: (f"{HOST}.",)},
        {HOST: ("a.example.net.",), "a.example.net": (f"{HOST}.",)},
    ],
    ids=["to nothing", "to itself", "in a circle"],
)
def test_endless_CNAME_chain_raises_NotReachable(
    aliases: dict[str, tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with name_server(hosts(aliases, longest=20), monkeypatch), pytest.raises(NotReachable, match="does not resolve"):
        resolve(HOST)


def test_DNS_answer_about_another_name_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    def zone(query: dns.message.Message) -> dns.message.Message:
        return (
            reply(query, ("www.example.org.", PUBLIC)) if query.question[0].rdtype == dns.rdatatype.A else reply(query)
        )

    with name_server(zone, monkeypatch), pytest.raises(NotReachable, match="does not resolve"):
        resolve(HOST)


def test_DNS_answer_to_another_question_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    def zone(query: dns.message.Message) -> dns.message.Message:
        other = dns.message.make_query("www.example.org", query.question[0].rdtype, id=query.id)
        return reply(other)

    with name_server(zone, monkeypatch), pytest.raises(NotReachable, match="in time"):
        resolve(HOST, seconds=0.3)


def test_DNS_answer_with_another_ID_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    def zone(query: dns.message.Message) -> dns.message.Message:
        response = records(A=[PUBLIC])(query)
        assert response is not None
        response.id ^= 1
        return response

    with name_server(zone, monkeypatch), pytest.raises(NotReachable, match="in time"):
        resolve(HOST, seconds=0.3)


def test_truncated_answer_is_requested_over_TCP(monkeypatch: pytest.MonkeyPatch) -> None:
    ipv4_addresses = [f"93.184.{number // 250}.{number % 250}" for number in range(1000)]
    with name_server(records(A=ipv4_addresses, AAAA=["2606:4700::1111"]), monkeypatch) as queries:
        assert set(resolve(HOST)) == {*ipv4_addresses, "2606:4700::1111"}
    assert queries.count(f"{HOST}. A") == 2


def test_failed_IPv6_query_keeps_IPv4_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    answering, broken = records(A=[PUBLIC]), failing(dns.rcode.SERVFAIL)

    def zone(query: dns.message.Message) -> dns.message.Message | None:
        return (answering if query.question[0].rdtype == dns.rdatatype.A else broken)(query)

    with name_server(zone, monkeypatch):
        assert resolve(HOST) == (PUBLIC,)


def test_silent_name_server_ends_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = time.monotonic()
    with name_server(lambda query: None, monkeypatch):
        with pytest.raises(NotReachable, match="in time"):
            resolve(HOST, seconds=0.3)
        with pytest.raises(TimedOut):
            resolve(HOST, seconds=0)
    assert time.monotonic() - begin < 2


def test_unanswered_query_keeps_the_other_family(monkeypatch: pytest.MonkeyPatch) -> None:
    answering = records(A=["93.184.215.14"])

    def zone(query: dns.message.Message) -> dns.message.Message | None:
        return answering(query) if query.question[0].rdtype == dns.rdatatype.A else None

    with name_server(zone, monkeypatch):
        assert resolve(HOST, seconds=0.5) == ("93.184.215.14",)


def test_missing_name_server_raises_NotReachable(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> dns.resolver.Resolver:
        raise dns.resolver.NoResolverConfiguration

    monkeypatch.setattr(dns.resolver, "Resolver", none)
    with pytest.raises(NotReachable, match="No name server"):
        resolve(HOST)


def test_SCAN_NAME_SERVERS_replaces_system_servers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used_servers: list[list[object]] = []

    def answer(resolver: dns.resolver.Resolver, *_: object, **__: object) -> dns.resolver.Answer:
        used_servers.append(list(resolver.nameservers))
        raise dns.resolver.NXDOMAIN

    monkeypatch.setattr(dns.resolver.Resolver, "resolve", answer)
    with Network(Policy(name_servers=("192.0.2.53",))) as network:
        with pytest.raises(NotReachable):
            network.addresses(HOST, 80)
        network.records(HOST, "CAA")
    assert used_servers == [["192.0.2.53"]] * 3


def test_hosts_file_takes_precedence_over_DNS(hosts_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts_file.write_text(
        "# 10.0.0.9 www.example.com\n"
        "\n"
        "2606:4700::1111 Other.Example.com WWW.Example.Com # a note\n"
        "10.0.0.1\twww.example.com alias\n"
        "10.0.0.1 www.example.com\n"
        "10.0.0.2 notwww.example.com\n"
    )
    with name_server(records(A=["93.184.215.14"]), monkeypatch) as queries:
        assert resolve(HOST) == ("10.0.0.1", "2606:4700::1111")
        assert queries == []
        assert resolve("example.com") == ("93.184.215.14",)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("10.0.0.1", "private"),
        ("fe80::1%eth0", "not global unicast"),
        ("::ffff:10.0.0.1", "carries 10.0.0.1, which is private"),
        ("0177.0.0.1", "something that is not an address"),
        ("elsewhere.example.net", "something that is not an address"),
    ],
)
def test_addresses_of_the_hosts_file_are_checked(
    line: str, reason: str, hosts_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    hosts_file.write_text(f"{line} {HOST}\n")
    with Network(Policy()) as network, pytest.raises(Blocked) as refusal:
        network.addresses(HOST, 80)
    assert reason in f"{refusal.value} {caplog.text}"


def test_missing_hosts_file_is_ignored(hosts_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts_file.unlink()
    with name_server(records(A=["93.184.215.14"]), monkeypatch):
        assert resolve(HOST) == ("93.184.215.14",)
