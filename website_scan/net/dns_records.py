"""Lookup of DNS records other than addresses.

Examples are MX, CAA and DNSKEY.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from website_scan.net.deadline import Deadline

if TYPE_CHECKING:
    from dns.message import Message


class DnsAnswer(Struct, frozen=True):
    """DNS records of a name and type as text, with TXT strings joined.

    Empty if there are no records. `is_authenticated` is True if the resolver has validated the signatures (RFC 4035,
    section 3.2.3).
    """

    records: tuple[str, ...] = ()
    is_authenticated: bool = False


class Lookup(Protocol):
    """Interface for DNS record lookups.

    Tests provide another implementation.
    """

    def lookup(self, name: str, record_type: str, deadline: Deadline) -> DnsAnswer:
        """Return the DNS records.

        Raises NotReachable or TimedOut if no name server answers.
        """

    def signed_response(self, name: str, record_type: str, deadline: Deadline) -> Message:
        """Return a response with its signatures, which are not validated.

        Raises NotReachable or TimedOut if no name server answers.
        """


class SystemLookup:
    """Lookup of DNS records with the given name servers.

    An empty sequence means the system's name servers.
    """

    def __init__(self, name_servers: Sequence[str] = ()) -> None:
        self._name_servers = name_servers

    def lookup(self, name: str, record_type: str, deadline: Deadline) -> DnsAnswer:
        """Return the DNS records, which may be none.

        An unknown name has none. Raises NotReachable or TimedOut if no server answers.
        """
        # Pages without a domain do not need dnspython.
        from website_scan.net.name_servers import records

        texts, is_authenticated = records(name, record_type, deadline, self._name_servers)
        return DnsAnswer(texts, is_authenticated)

    def signed_response(self, name: str, record_type: str, deadline: Deadline) -> Message:
        """Return a response with its signatures, which are not validated.

        Raises NotReachable or TimedOut if no server answers.
        """
        from website_scan.net.name_servers import signed_response

        return signed_response(name, record_type, deadline, self._name_servers)
