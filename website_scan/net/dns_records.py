"""Lookup of DNS records other than addresses, such as those about mail, certificates and signatures of a domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from website_scan.net.deadline import Deadline


@dataclass(frozen=True, slots=True)
class DnsAnswer:
    """Records of a name and type as text, with TXT strings joined. Empty if there is no such record.

    `is_authenticated`: the resolver has validated the signatures (RFC 4035, section 3.2.3).
    """

    records: tuple[str, ...] = ()
    is_authenticated: bool = False


class Lookup(Protocol):
    """Protocol of a lookup of DNS records; tests provide their own."""

    def lookup(self, name: str, record_type: str, deadline: Deadline) -> DnsAnswer:
        """Return the records. Raises NotReachable or TimedOut if no name server answers."""


class SystemLookup:
    """Lookup with the given name servers, or with the system's if the sequence is empty."""

    def __init__(self, name_servers: Sequence[str] = ()) -> None:
        self._name_servers = name_servers

    def lookup(self, name: str, record_type: str, deadline: Deadline) -> DnsAnswer:
        """Return the records; none for an unknown name. Raises NotReachable or TimedOut if no name server answers."""
        from website_scan.net.name_servers import records  # loads dnspython, which pages without a domain do not need

        texts, is_authenticated = records(name, record_type, deadline, self._name_servers)
        return DnsAnswer(texts, is_authenticated)
