"""Name servers on loopback that play the DNS: a resolver, the root, top-level domains and domains.

Public addresses of name servers are simulated: the dialers connect to loopback, and the server learns from the client's
port which address was meant.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.resolver
import dns.rrset
import pytest
from msgspec import Struct, field

from tests.targets.domains.zones import Signing, Zone, make_zone, sign
from website_scan.net.deadline import before_connect

MAX_ALIASES = 8
RESOLVER = "127.0.0.1"
# Queries to name servers come from this address, those to the resolver do not: ports are used again.
CLIENT = "127.0.0.2"
MAX_DATAGRAM_BYTES = 1232
# Answer of a name server as messages: none if it is silent. A second argument is True over TCP.
Behaviour = Callable[[dns.message.Message, bool], Iterable[bytes]]


class Unframed(bytes):
    """Bytes that are sent over TCP without the length of a message."""


class Dns:
    """Zones of the world, from which a resolver and name servers answer."""

    def __init__(self, zones: Iterable[Zone]) -> None:
        self.zones = {zone.origin: zone for zone in zones}
        for zone in sorted(self.zones.values(), key=lambda zone: -len(zone.origin)):
            # DS records are in the parent before it is signed, so children come first.
            if zone.origin != dns.name.root and (records := zone.ds_records()):
                parent = self.zone_of(zone.origin.parent())
                parent.rrsets[zone.origin, dns.rdatatype.DS] = dns.rrset.from_text_list(
                    zone.origin, 300, "IN", "DS", records
                )
            sign(zone)

    @property
    def trust_anchors(self) -> tuple[str, ...]:
        return tuple(self.zones[dns.name.root].ds_records())

    def zone_of(self, name: dns.name.Name) -> Zone:
        """Return the deepest zone that has a name."""
        while name not in self.zones:
            name = name.parent()
        return self.zones[name]

    def resolve(self, query: dns.message.Message) -> dns.message.Message:
        """Return the answer of a resolver, which follows aliases."""
        response = dns.message.make_response(query)
        response.flags |= dns.flags.RA
        name, wanted = query.question[0].name, query.question[0].rdtype
        for _ in range(MAX_ALIASES):
            zone = self.zone_of(name.parent() if wanted == dns.rdatatype.DS and name != dns.name.root else name)
            if zone.delegation_above(name) not in (None, name) or (
                zone.delegation_above(name) == name and wanted != dns.rdatatype.DS
            ):
                response.set_rcode(dns.rcode.SERVFAIL)  # The zone below is not served by anybody.
                return response
            alias = answer_from_zone(zone, name, wanted, response)
            if alias is None:
                return _without_signatures(query, response)
            name = alias
        response.set_rcode(dns.rcode.SERVFAIL)
        return response

    def authoritative(self, *origins: str, transfers: bool = False) -> Behaviour:
        """Return the behaviour of a name server of zones. It refuses other names, and transfers on demand."""
        names = {dns.name.from_text(origin) for origin in origins}

        def answer(query: dns.message.Message, over_tcp: bool) -> Iterable[bytes]:
            question = query.question[0]
            response = dns.message.make_response(query)
            zone = self.zone_of(question.name)
            if zone.origin not in names:
                response.set_rcode(dns.rcode.REFUSED)
            elif question.rdtype == dns.rdatatype.AXFR:
                if transfers and over_tcp:
                    return [self._transfer(query, zone)]
                response.set_rcode(dns.rcode.REFUSED)
            else:
                response.flags |= dns.flags.AA
                answer_from_zone(zone, question.name, question.rdtype, response)
            return [_without_signatures(query, response).to_wire(max_size=65535)]

        return answer

    def _transfer(self, query: dns.message.Message, zone: Zone) -> bytes:
        response = dns.message.make_response(query)
        response.flags |= dns.flags.AA
        soa = zone.rrsets[zone.origin, dns.rdatatype.SOA]
        others = [rrset for rrset in zone.rrsets.values() if rrset.rdtype != dns.rdatatype.SOA]
        response.answer = [soa, *others]
        return response.to_wire(max_size=65535)


def answer_from_zone(
    zone: Zone, name: dns.name.Name, wanted: dns.rdatatype.RdataType, response: dns.message.Message
) -> dns.name.Name | None:
    """Add the records of a name to a response (RFC 4035, section 3.1). Return the target of an alias."""
    found = zone.find(name, wanted)
    if found is not None:
        response.answer += zone.with_signature(found)
        return None
    if (alias := zone.find(name, dns.rdatatype.CNAME)) is not None:
        response.answer += zone.with_signature(alias)
        return _target(alias)
    soa = zone.with_signature(zone.rrsets[zone.origin, dns.rdatatype.SOA])
    if zone.exists(name):
        response.authority += [*soa, *zone.proofs_for(name)]
        return None
    encloser = zone.closest_encloser(name)
    next_closer = dns.name.Name(name.labels[-len(encloser) - 1 :])
    wildcard = dns.name.Name([b"*", *encloser.labels])
    for rdtype in (wanted, dns.rdatatype.CNAME):
        if (synthesized := zone.find(wildcard, rdtype)) is not None:
            response.answer += zone.with_signature(synthesized, name)
            response.authority += zone.proofs_for(next_closer)
            return _target(synthesized) if rdtype == dns.rdatatype.CNAME and wanted != rdtype else None
    is_nsec3 = zone.signing is not None and zone.signing.chain is not None
    if zone.exists(wildcard):
        response.authority += [*soa, *zone.proofs_for(next_closer, wildcard, *([encloser] if is_nsec3 else []))]
        return None
    response.set_rcode(dns.rcode.NXDOMAIN)
    proven = (encloser, next_closer, wildcard) if is_nsec3 else (name, wildcard)
    response.authority += [*soa, *zone.proofs_for(*proven)]
    return None


def _target(alias: dns.rrset.RRset) -> dns.name.Name:
    target: dns.name.Name = alias[0].target
    return target


def _without_signatures(query: dns.message.Message, response: dns.message.Message) -> dns.message.Message:
    """Remove DNSSEC records that the client did not request."""
    if not query.ednsflags & dns.flags.DO:
        wanted = query.question[0].rdtype
        hidden = {dns.rdatatype.RRSIG, dns.rdatatype.NSEC, dns.rdatatype.NSEC3} - {wanted}
        for section in (response.answer, response.authority):
            section[:] = [rrset for rrset in section if rrset.rdtype not in hidden]
    return response


class _Claimed(socket.socket):
    """Socket on loopback that reports a public peer address."""

    claimed: tuple[str, int]

    def getpeername(self) -> tuple[str, int]:
        return self.claimed


class NameServers(Struct):
    """Running name servers. `queries` are those to the resolver, such as `example.com. A`, `asked` those to servers."""

    dns: Dns
    behaviours: Mapping[str, Behaviour]
    port: int
    sites: Callable[[str, int, float], socket.socket] | None = None
    queries: list[str] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    _addresses: dict[tuple[int, bool], str] = field(default_factory=dict)

    def dial(self, address: str, port: int, timeout_s: float) -> socket.socket:
        """Connect over TCP: to a name server on port 53, else to a site."""
        if port == 53:
            return self._connect(address, port, timeout_s, socket.SOCK_STREAM)
        if self.sites is None:
            raise ConnectionRefusedError
        return self.sites(address, port, timeout_s)

    def dial_datagrams(self, address: str, port: int, timeout_s: float) -> socket.socket:
        return self._connect(address, port, timeout_s, socket.SOCK_DGRAM)

    def _connect(self, address: str, port: int, timeout_s: float, kind: socket.SocketKind) -> socket.socket:
        if address not in self.behaviours:
            raise OSError("network is unreachable")
        connection = _Claimed(socket.AF_INET, kind)
        before_connect.get()(connection)
        connection.settimeout(timeout_s)
        connection.bind((CLIENT, 0))
        self._addresses[connection.getsockname()[1], kind == socket.SOCK_STREAM] = address
        connection.connect((RESOLVER, self.port))
        connection.claimed = (address, port)
        return connection

    def answer(self, wire: bytes, client: tuple[str, int], *, over_tcp: bool) -> Iterable[bytes]:
        query = dns.message.from_wire(wire)
        question = query.question[0]
        text = f"{question.name} {dns.rdatatype.to_text(question.rdtype)}"
        if client[0] == CLIENT:
            address = self._addresses[client[1], over_tcp]
            self.asked.append((address, text))
            return self.behaviours[address](query, over_tcp)
        self.queries.append(text)
        return [self.dns.resolve(query).to_wire(max_size=65535)]


def truncated(wire: bytes, query: bytes) -> bytes:
    """Return an empty DNS answer with the flag TC, which UDP carries instead of the too long answer `wire`."""
    response = dns.message.make_response(dns.message.from_wire(query))
    response.flags |= dns.flags.TC | (int.from_bytes(wire[2:4]) & dns.flags.AA)
    return response.to_wire()


def _open_sockets() -> tuple[socket.socket, socket.socket]:
    """Open a TCP socket and a UDP socket on the same free port."""
    while True:
        stream = socket.create_server((RESOLVER, 0))
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            datagrams.bind(stream.getsockname())
        except OSError:  # Another process uses the UDP port.
            stream.close()
            datagrams.close()
        else:
            return stream, datagrams


def _serve_datagrams(servers: NameServers, datagrams: socket.socket) -> None:
    while True:
        wire, client = datagrams.recvfrom(65535)
        if wire == b"end":
            return
        for answer in servers.answer(wire, client, over_tcp=False):
            fits = len(answer) <= MAX_DATAGRAM_BYTES
            datagrams.sendto(answer if fits else truncated(answer, wire), client)


def _serve_streams(servers: NameServers, stream: socket.socket) -> None:
    while True:
        connection, client = stream.accept()
        with connection, contextlib.suppress(OSError):
            length = int.from_bytes(connection.recv(2, socket.MSG_WAITALL))
            if not length:
                return
            for answer in servers.answer(connection.recv(length, socket.MSG_WAITALL), client, over_tcp=True):
                connection.sendall(answer if isinstance(answer, Unframed) else len(answer).to_bytes(2) + answer)


@contextlib.contextmanager
def running_name_servers(
    dns_zones: Dns,
    behaviours: Mapping[str, Behaviour],
    monkeypatch: pytest.MonkeyPatch,
    sites: Callable[[str, int, float], socket.socket] | None = None,
) -> Iterator[NameServers]:
    """Run the name servers, and direct the system's resolver to them."""
    with contextlib.ExitStack() as cleanup:
        stream, datagrams = (cleanup.enter_context(listener) for listener in _open_sockets())
        port: int = stream.getsockname()[1]
        servers = NameServers(dns_zones, behaviours, port, sites)
        original = dns.resolver.Resolver

        def make_resolver(*_: object, **__: object) -> dns.resolver.Resolver:
            resolver = original(configure=False)
            resolver.nameservers = [RESOLVER]
            resolver.port = port
            return resolver

        monkeypatch.setattr(dns.resolver, "Resolver", make_resolver)
        loops = ((_serve_datagrams, datagrams), (_serve_streams, stream))
        threads = [threading.Thread(target=loop, args=(servers, listener), daemon=True) for loop, listener in loops]
        for thread in threads:
            thread.start()
        try:
            yield servers
        finally:
            monkeypatch.setattr(dns.resolver, "Resolver", original)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ender:
                ender.sendto(b"end", (RESOLVER, port))
            with socket.create_connection((RESOLVER, port)) as ender:
                ender.sendall(b"\0\0")
            for thread in threads:
                thread.join(5)


def zone_file(origin: str, records: str, name_servers: Sequence[str]) -> str:
    """Return a zone file with SOA and NS records, and the records of a text."""
    servers = "".join(f"{origin} NS {server}\n" for server in name_servers)
    return f"{origin} SOA {name_servers[0]} hostmaster.com. 1 3600 600 86400 300\n{servers}{records}"


def unsigned_zone(origin: str, records: str, name_servers: Sequence[str]) -> Zone:
    return make_zone(origin, zone_file(origin, records, name_servers), None)


def signed_zone(origin: str, records: str, name_servers: Sequence[str], signing: Signing | None = None) -> Zone:
    return make_zone(origin, zone_file(origin, records, name_servers), signing or Signing())
