"""The system's resolver: literals, the hosts file, and real name servers on loopback."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.resolver
import dns.rrset
import pytest

from scans.net import resolver
from scans.net.deadline import Deadline
from scans.net.errors import NotReachable, TimedOut
from scans.net.resolver import SystemResolver

HOST = "www.example.com"
Zone = Callable[[dns.message.Message], dns.message.Message | None]


def resolve(host: str, seconds: float = 2.0) -> tuple[str, ...]:
    return SystemResolver().resolve(host, Deadline(seconds))


def records(**answers: Sequence[str]) -> Zone:
    """A name server that knows these records of every name, by type, and says NOERROR to the rest."""

    def answer(query: dns.message.Message) -> dns.message.Message:
        response = dns.message.make_response(query)
        response.flags |= dns.flags.RA
        question = query.question[0]
        found = answers.get(dns.rdatatype.to_text(question.rdtype), ())
        if found:
            response.answer.append(dns.rrset.from_text(question.name, 60, "IN", question.rdtype, *found))
        return response

    return answer


def failing(code: dns.rcode.Rcode) -> Zone:
    def answer(query: dns.message.Message) -> dns.message.Message:
        response = dns.message.make_response(query)
        response.set_rcode(code)
        return response

    return answer


@contextlib.contextmanager
def name_server(zone: Zone, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A name server on loopback for the system to ask; gives what it was asked: `www.example.com. A`."""
    asked: list[str] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def serve() -> None:
            while data := server.recvfrom(4096):
                wire, client = data
                if wire == b"end":
                    return
                query = dns.message.from_wire(wire)
                question = query.question[0]
                asked.append(f"{question.name} {dns.rdatatype.to_text(question.rdtype)}")
                response = zone(query)
                if response is not None:
                    server.sendto(response.to_wire(), client)

        def configured(*_: object, **__: object) -> dns.resolver.Resolver:
            made = original(configure=False)
            made.nameservers = ["127.0.0.1"]
            made.port = server.getsockname()[1]
            made.search = [dns.name.from_text("search.invalid.")]
            return made

        original = dns.resolver.Resolver
        monkeypatch.setattr(dns.resolver, "Resolver", configured)
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield asked
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ender:
                ender.sendto(b"end", server.getsockname())
            thread.join(5)


@pytest.fixture(autouse=True)
def hosts_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty hosts file in the place of the machine's."""
    path = tmp_path / "hosts"
    path.write_text("")
    monkeypatch.setattr(resolver, "HOSTS_FILE", path)
    return path


@pytest.mark.parametrize(
    ("literal", "address"),
    [("93.184.215.14", "93.184.215.14"), ("2606:4700:0:0::1111", "2606:4700::1111"), ("::1", "::1")],
)
def test_an_address_is_its_own_answer_and_starts_no_thread(literal: str, address: str) -> None:
    threads = threading.active_count()
    assert resolve(literal, seconds=0) == (address,)
    assert threading.active_count() == threads


def test_localhost_is_never_asked_of_dns(monkeypatch: pytest.MonkeyPatch) -> None:
    with name_server(records(A=["93.184.215.14"]), monkeypatch) as asked:
        for host in ("localhost", "shop.localhost"):
            assert resolve(host) == ("127.0.0.1", "::1")
    assert asked == []


def test_both_kinds_of_address_are_found_ipv4_first(monkeypatch: pytest.MonkeyPatch) -> None:
    zone = records(AAAA=["2606:4700::1111"], A=["93.184.215.15", "93.184.215.14"])
    with name_server(zone, monkeypatch) as asked:
        *first, last = resolve(HOST)
        assert (sorted(first), last) == (["93.184.215.14", "93.184.215.15"], "2606:4700::1111")
    assert sorted(asked) == ["www.example.com. A", "www.example.com. AAAA"]


@pytest.mark.parametrize("kind", ["A", "AAAA"])
def test_one_kind_of_address_is_enough(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    address = {"A": "93.184.215.14", "AAAA": "2606:4700::1111"}[kind]
    with name_server(records(**{kind: [address]}), monkeypatch):
        assert resolve(HOST) == (address,)


def test_private_answers_are_reported_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    with name_server(records(A=["93.184.215.14", "10.0.0.1"]), monkeypatch):
        assert set(resolve(HOST)) == {"93.184.215.14", "10.0.0.1"}


@pytest.mark.parametrize(
    "zone", [records(), failing(dns.rcode.NXDOMAIN), failing(dns.rcode.SERVFAIL), failing(dns.rcode.REFUSED)]
)
def test_a_name_without_an_address_is_not_reachable(zone: Zone, monkeypatch: pytest.MonkeyPatch) -> None:
    with name_server(zone, monkeypatch) as asked, pytest.raises(NotReachable, match="does not resolve"):
        resolve(HOST)
    # Not in the system's search domains either: they could turn a public name into an internal one.
    assert set(asked) == {"www.example.com. A", "www.example.com. AAAA"}


def test_a_silent_name_server_ends_with_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = time.monotonic()
    with name_server(lambda query: None, monkeypatch):
        with pytest.raises(NotReachable, match="in time"):
            resolve(HOST, seconds=0.3)
        with pytest.raises(TimedOut):
            resolve(HOST, seconds=0)
    assert time.monotonic() - begin < 2


def test_a_silent_answer_for_one_kind_keeps_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    known = records(A=["93.184.215.14"])

    def zone(query: dns.message.Message) -> dns.message.Message | None:
        return known(query) if query.question[0].rdtype == dns.rdatatype.A else None

    with name_server(zone, monkeypatch):
        assert resolve(HOST, seconds=0.5) == ("93.184.215.14",)


def test_no_name_server_at_all_is_not_reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> dns.resolver.Resolver:
        raise dns.resolver.NoResolverConfiguration

    monkeypatch.setattr(dns.resolver, "Resolver", none)
    with pytest.raises(NotReachable, match="No name server"):
        resolve(HOST)


def test_the_hosts_file_speaks_before_dns(hosts_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts_file.write_text(
        "# 10.0.0.9 www.example.com\n"
        "\n"
        "2606:4700::1111 Other.Example.com WWW.Example.Com # a note\n"
        "10.0.0.1\twww.example.com alias\n"
        "10.0.0.1 www.example.com\n"
        "10.0.0.2 notwww.example.com\n"
    )
    with name_server(records(A=["93.184.215.14"]), monkeypatch) as asked:
        assert resolve(HOST) == ("10.0.0.1", "2606:4700::1111")
        assert asked == []
        assert resolve("example.com") == ("93.184.215.14",)


def test_a_missing_hosts_file_is_no_fault(hosts_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts_file.unlink()
    with name_server(records(A=["93.184.215.14"]), monkeypatch):
        assert resolve(HOST) == ("93.184.215.14",)
