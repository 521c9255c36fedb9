"""Name server on loopback with configured answers.

The system's resolver uses it.
"""

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
    """Return a zone in which every name has these records, by type.

    Other types get NOERROR without records.
    """

    def answer_query(query: dns.message.Message) -> dns.message.Message:
        question = query.question[0]
        values = answers.get(dns.rdatatype.to_text(question.rdtype), ())
        return reply(query, (question.name.to_text(), *values) if values else ())

    return answer_query


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


def hosts(answers_by_host: Mapping[str, tuple[str, ...] | list[tuple[str, ...]]], longest: int = 5) -> Zone:
    """Return a zone with the IPv4 addresses of these hosts.

    A name in place of an address becomes a CNAME record.

    A list of answers is given one by one; the last one repeats. `longest` limits a chain of aliases.
    """
    answers: dict[str, list[tuple[str, ...]]]
    answers = {host: list(answer) if isinstance(answer, list) else [answer] for host, answer in answers_by_host.items()}

    def answer_query(query: dns.message.Message) -> dns.message.Message | None:
        question = query.question[0]
        host = question.name.to_text(omit_final_dot=True)
        if host not in answers:
            return failing(dns.rcode.NXDOMAIN)(query)
        if question.rdtype != dns.rdatatype.A:
            return reply(query)
        chain: list[tuple[str, ...]] = []
        while host in answers and len(chain) < longest:
            values = answers[host].pop(0) if len(answers[host]) > 1 else answers[host][0]
            chain.append((f"{host}.", *values))
            host = values[0].rstrip(".")
        return reply(query, *chain)

    return answer_query


def reply(query: dns.message.Message, *chain: Sequence[str]) -> dns.message.Message:
    """Return a response with this chain of records.

    A name in place of an address becomes a CNAME record.
    """
    response = dns.message.make_response(query)
    response.flags |= dns.flags.RA
    for owner, *values in filter(None, chain):
        kind = dns.rdatatype.CNAME if values[0].endswith(".") else query.question[0].rdtype
        response.answer.append(dns.rrset.from_text(owner, 60, "IN", kind, *values))
    return response


def failing(code: dns.rcode.Rcode) -> Zone:
    """Return a zone that answers every query with this response code."""

    def answer_query(query: dns.message.Message) -> dns.message.Message:
        response = dns.message.make_response(query)
        response.set_rcode(code)
        return response

    return answer_query


def _open_sockets() -> tuple[socket.socket, socket.socket]:
    """Open a TCP socket and a UDP socket on the same free port."""
    while True:
        stream = socket.create_server(("127.0.0.1", 0))
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            datagrams.bind(stream.getsockname())
        except OSError:  # Another process uses the UDP port.
            stream.close()
            datagrams.close()
        else:
            return stream, datagrams


@contextlib.contextmanager
def name_server(  # noqa: C901 -- the loops for UDP and for TCP are nested functions, which count here
    zone: Zone, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[str]]:
    """Run the name server and direct the resolver to it.

    Yield queries such as `www.example.com. A`.

    Answers that do not fit into a datagram are truncated there, as by real servers.
    """
    queries: list[str] = []
    with contextlib.ExitStack() as cleanup:
        stream, datagrams = (cleanup.enter_context(listener) for listener in _open_sockets())
        port: int = stream.getsockname()[1]

        def answer_query(wire: bytes) -> dns.message.Message | None:
            query = dns.message.from_wire(wire)
            question = query.question[0]
            queries.append(f"{question.name} {dns.rdatatype.to_text(question.rdtype)}")
            return zone(query)

        def serve_datagrams() -> None:
            while True:
                wire, client = datagrams.recvfrom(4096)
                if wire == b"end":
                    return
                response = answer_query(wire)
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
                    response = answer_query(connection.recv(length, socket.MSG_WAITALL))
                    if response is not None:
                        packed = response.to_wire(max_size=65535)
                        connection.sendall(len(packed).to_bytes(2) + packed)

        def make_resolver(*_: object, **__: object) -> dns.resolver.Resolver:
            resolver = original(configure=False)
            resolver.nameservers = ["127.0.0.1"]
            resolver.port = port
            resolver.search = [dns.name.from_text("search.invalid.")]
            return resolver

        original = dns.resolver.Resolver
        monkeypatch.setattr(dns.resolver, "Resolver", make_resolver)
        threads = [threading.Thread(target=serve, daemon=True) for serve in (serve_datagrams, serve_streams)]
        for thread in threads:
            thread.start()
        try:
            yield queries
        finally:
            monkeypatch.setattr(dns.resolver, "Resolver", original)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ender:
                ender.sendto(b"end", ("127.0.0.1", port))
            with socket.create_connection(("127.0.0.1", port)) as ender:
                ender.sendall(b"\0\0")
            for thread in threads:
                thread.join(5)
