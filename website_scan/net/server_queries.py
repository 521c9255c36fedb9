"""Queries to the name servers of domains, which may be hostile.

A message has a limited size and number of records, and its parsing a limited processor time: names in it may be
compressed in a way that older versions of dnspython need seconds to read.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable, Iterator

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
from msgspec import Struct

from website_scan.net.deadline import Deadline, GuardedSocket
from website_scan.net.errors import NetError, NotReachable, TimedOut
from website_scan.net.name_servers import MAX_DATAGRAM_BYTES, record_text
from website_scan.time_limit import OutOfTime, limited

MAX_MESSAGE_BYTES = 64 * 1024
MAX_MESSAGE_RECORDS = 2_000
MAX_ANSWER_RECORDS = 100
MAX_PARSE_CPU_S = 0.2
MAX_PARSE_S = 2.0
# Other hosts may send datagrams with a forged sender.
MAX_FOREIGN_DATAGRAMS = 20
HEADER = struct.Struct("!6H")

# Opens a connection to the server: over TCP if the argument is True.
Open = Callable[[bool], GuardedSocket]


class ServerAnswer(Struct, frozen=True):
    """Answer of one name server.

    `code` is the response code, such as NOERROR or REFUSED. `is_authoritative`: the server is responsible for the zone
    (AA flag). `records` are those of the queried name and type.
    """

    code: str
    is_authoritative: bool = False
    records: tuple[str, ...] = ()


def query_server(open_connection: Open, name: str, record_type: str, deadline: Deadline) -> ServerAnswer:
    """Query a name server over UDP, and over TCP if its answer is cut off.

    Raises NotReachable or TimedOut without an answer, and the errors of `open_connection`.
    """
    query = dns.message.make_query(
        name, record_type, use_edns=0, payload=MAX_DATAGRAM_BYTES, flags=0, request_payload=MAX_DATAGRAM_BYTES
    )
    with _named_errors():
        with open_connection(False) as connection:
            response = _exchange_datagrams(connection, query, deadline)
        if response.flags & dns.flags.TC:
            with open_connection(True) as connection:
                response = _parse(_exchange_stream(connection, query), query)
    owner, wanted = query.question[0].name, query.question[0].rdtype
    records = [record for rrset in response.answer if (rrset.name, rrset.rdtype) == (owner, wanted) for record in rrset]
    return ServerAnswer(
        dns.rcode.to_text(response.rcode()),
        bool(response.flags & dns.flags.AA),
        tuple(record_text(record) for record in records[:MAX_ANSWER_RECORDS]),
    )


def transfers_zone(open_connection: Open, zone: str) -> bool:
    """Return True if a name server begins to transfer a zone to this scanner (RFC 5936).

    Only the first message is read. Raises NotReachable or TimedOut without an answer, and the errors of
    `open_connection`.
    """
    query = dns.message.make_query(zone, dns.rdatatype.AXFR, flags=0)
    with _named_errors(), open_connection(True) as connection:
        response = _parse(_exchange_stream(connection, query), query)
    if response.rcode() != dns.rcode.NOERROR or not response.answer:
        return False
    # A transfer begins with the zone's SOA record. One without other records transfers nothing.
    first = response.answer[0]
    begins_zone = (first.name, first.rdtype) == (query.question[0].name, dns.rdatatype.SOA)
    return begins_zone and sum(len(rrset) for rrset in response.answer) > 1


def _exchange_datagrams(
    connection: GuardedSocket, query: dns.message.Message, deadline: Deadline
) -> dns.message.Message:
    """Send a query twice at most, and return the first response to it."""
    wire = query.to_wire()
    for _ in range(2):
        connection.send(wire)
        connection.settimeout(max(0.01, deadline.check() / 2))
        with contextlib.suppress(TimeoutError):
            for _ in range(MAX_FOREIGN_DATAGRAMS):
                answer = connection.recv(MAX_MESSAGE_BYTES)
                if answer[:2] == wire[:2]:
                    return _parse(answer, query)
    raise TimeoutError


def _exchange_stream(connection: GuardedSocket, query: dns.message.Message) -> bytes:
    """Send a query over TCP and return the first message of the answer (RFC 7766)."""
    wire = query.to_wire()
    connection.sendall(len(wire).to_bytes(2) + wire)
    size = int.from_bytes(_read_exactly(connection, 2))
    return _read_exactly(connection, size)


def _read_exactly(connection: GuardedSocket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            raise ConnectionError
        parts += part
    return bytes(parts)


def _parse(wire: bytes, query: dns.message.Message) -> dns.message.Message:
    """Return a response to the query.

    Raises NotReachable if the message is malformed, has too many records or belongs to another query.
    """
    try:
        counts = HEADER.unpack_from(wire)
    except struct.error:
        raise NotReachable("The name server's answer cannot be read.") from None
    if sum(counts[2:]) > MAX_MESSAGE_RECORDS:
        raise NotReachable("The name server's answer has too many records.")
    try:
        response = limited(
            lambda: dns.message.from_wire(wire, ignore_trailing=True, xfr=_is_transfer(query)),
            MAX_PARSE_S,
            MAX_PARSE_CPU_S,
        )
    except (dns.exception.DNSException, ValueError, OutOfTime):
        raise NotReachable("The name server's answer cannot be read.") from None
    if not query.is_response(response):
        raise NotReachable("The name server's answer belongs to another query.")
    return response


def _is_transfer(query: dns.message.Message) -> bool:
    return query.question[0].rdtype == dns.rdatatype.AXFR


@contextlib.contextmanager
def _named_errors() -> Iterator[None]:
    """Convert errors of sockets to a NetError."""
    try:
        yield
    except NetError:
        raise
    except TimeoutError:
        raise TimedOut("The name server did not answer in time.") from None
    except OSError:
        raise NotReachable("The name server did not answer.") from None
