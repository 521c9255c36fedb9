"""A name server on loopback whose answers are data, for the system's resolver."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.resolver
import dns.rrset
import pytest

Zone = Callable[[dns.message.Message], dns.message.Message | None]


def records(**answers: Sequence[str]) -> Zone:
    """Return a zone in which every name has these records, by type. Other types get NOERROR without records."""

    def answer(query: dns.message.Message) -> dns.message.Message:
        question = query.question[0]
        found = answers.get(dns.rdatatype.to_text(question.rdtype), ())
        return reply(query, (question.name.to_text(), *found) if found else ())

    return answer


def hosts(known: Mapping[str, tuple[str, ...] | list[tuple[str, ...]]], longest: int = 5) -> Zone:
    """Return a zone of these names: with IPv4 addresses, or with another name, which makes a CNAME.

    A list of answers is given one by one; the last one repeats. `longest` limits a chain of aliases.
    """
    answers: dict[str, list[tuple[str, ...]]]
    answers = {host: list(each) if isinstance(each, list) else [each] for host, each in known.items()}

    def answer(query: dns.message.Message) -> dns.message.Message | None:
        question = query.question[0]
        host = question.name.to_text(omit_final_dot=True)
        if host not in answers:
            return failing(dns.rcode.NXDOMAIN)(query)
        if question.rdtype != dns.rdatatype.A:
            return reply(query)
        chain: list[tuple[str, ...]] = []
        while host in answers and len(chain) < longest:
            found = answers[host].pop(0) if len(answers[host]) > 1 else answers[host][0]
            chain.append((f"{host}.", *found))
            host = found[0].rstrip(".")
        return reply(query, *chain)

    return answer


def reply(query: dns.message.Message, *chain: Sequence[str]) -> dns.message.Message:
    """Return an answer with these records, each a name and its values. A name in place of an address makes a CNAME."""
    response = dns.message.make_response(query)
    response.flags |= dns.flags.RA
    for owner, *values in filter(None, chain):
        kind = dns.rdatatype.CNAME if values[0].endswith(".") else query.question[0].rdtype
        response.answer.append(dns.rrset.from_text(owner, 60, "IN", kind, *values))
    return response


def failing(code: dns.rcode.Rcode) -> Zone:
    """Return a zone that answers every query with this code."""

    def answer(query: dns.message.Message) -> dns.message.Message:
        response = dns.message.make_response(query)
        response.set_rcode(code)
        return response

    return answer


def _listeners() -> tuple[socket.socket, socket.socket]:
    """Open listeners for TCP and UDP on the same port, one that is free for both."""
    while True:
        stream = socket.create_server(("127.0.0.1", 0))
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            datagrams.bind(stream.getsockname())
        except OSError:  # another process has the UDP port
            stream.close()
            datagrams.close()
        else:
            return stream, datagrams


@contextlib.contextmanager
def name_server(  # noqa: C901 -- the loops for UDP and for TCP are nested functions, which count here
    zone: Zone, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[str]]:
    """Run the name server for the system's resolver, over UDP and TCP. Yields the queries: `www.example.com. A`.

    Answers that do not fit into a datagram are truncated there, as by real servers.
    """
    asked: list[str] = []
    with contextlib.ExitStack() as cleanup:
        stream, datagrams = (cleanup.enter_context(each) for each in _listeners())
        port: int = stream.getsockname()[1]

        def answer(wire: bytes) -> dns.message.Message | None:
            query = dns.message.from_wire(wire)
            question = query.question[0]
            asked.append(f"{question.name} {dns.rdatatype.to_text(question.rdtype)}")
            return zone(query)

        def serve_datagrams() -> None:
            while True:
                wire, client = datagrams.recvfrom(4096)
                if wire == b"end":
                    return
                response = answer(wire)
                if response is None:
                    continue
                packed = response.to_wire(max_size=65535)
                if len(packed) > 1232:
                    response.answer.clear()
                    response.flags |= dns.flags.TC
                    packed = response.to_wire()
                datagrams.sendto(packed, client)

        def serve_streams() -> None:
            while True:
                connection, _ = stream.accept()
                with connection, contextlib.suppress(OSError):
                    length = int.from_bytes(connection.recv(2, socket.MSG_WAITALL))
                    if not length:
                        return
                    response = answer(connection.recv(length, socket.MSG_WAITALL))
                    if response is not None:
                        packed = response.to_wire(max_size=65535)
                        connection.sendall(len(packed).to_bytes(2) + packed)

        def configured(*_: object, **__: object) -> dns.resolver.Resolver:
            made = original(configure=False)
            made.nameservers = ["127.0.0.1"]
            made.port = port
            made.search = [dns.name.from_text("search.invalid.")]
            return made

        original = dns.resolver.Resolver
        monkeypatch.setattr(dns.resolver, "Resolver", configured)
        threads = [threading.Thread(target=serve, daemon=True) for serve in (serve_datagrams, serve_streams)]
        for thread in threads:
            thread.start()
        try:
            yield asked
        finally:
            monkeypatch.setattr(dns.resolver, "Resolver", original)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ender:
                ender.sendto(b"end", ("127.0.0.1", port))
            with socket.create_connection(("127.0.0.1", port)) as ender:
                ender.sendall(b"\0\0")
            for thread in threads:
                thread.join(5)
