"""Lookup of DNS records other than addresses: those on mail, certificates and signatures of a domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import dns.exception
import dns.flags
import dns.rdatatype
import dns.resolver
from dns.rdtypes.txtbase import TXTBase

from scanner.net.deadline import Deadline
from scanner.net.errors import NotReachable, TimedOut
from scanner.net.resolver import stub_resolver

LIFETIME_S = 4.0
MAX_RECORDS = 100
MAX_CHARACTERS = 4096


@dataclass(frozen=True, slots=True)
class DnsAnswer:
    """The records of a name and type as text; TXT strings are joined. Empty if there is no such record.

    `is_authenticated`: the resolver has validated the signatures (RFC 4035, section 3.2.3).
    """

    records: tuple[str, ...] = ()
    is_authenticated: bool = False


class Lookup(Protocol):
    """Protocol of a lookup of DNS records; tests provide their own."""

    def lookup(self, name: str, record_type: str, deadline: Deadline) -> DnsAnswer:
        """Return the records. Raises NotReachable or TimedOut if no name server gave an answer."""


class SystemLookup:
    """Lookup with the given name servers, or with the system's if none are given."""

    def __init__(self, name_servers: Sequence[str] = ()) -> None:
        self._name_servers = name_servers

    def lookup(self, name: str, record_type: str, deadline: Deadline) -> DnsAnswer:
        """Return the records, none for an unknown name. Raises NotReachable or TimedOut without an answer."""
        try:
            resolver = stub_resolver(self._name_servers)
            resolver.use_edns(0, dns.flags.DO, 1232)
            resolver.flags = dns.flags.RD | dns.flags.AD
            lifetime_s = min(LIFETIME_S, deadline.check())
            answer = resolver.resolve(name, record_type, lifetime=lifetime_s, search=False, raise_on_no_answer=False)
        except dns.resolver.NXDOMAIN:
            return DnsAnswer()
        except dns.resolver.NoResolverConfiguration:
            raise NotReachable("No name server is configured.") from None
        except dns.exception.Timeout:
            raise TimedOut(f"The name servers did not answer for {name} in time.") from None
        except (dns.exception.DNSException, OSError):
            raise NotReachable(f"The name servers could not tell the {record_type} records of {name}.") from None
        found = tuple(_as_text(record) for record in list(answer.rrset or ())[:MAX_RECORDS])
        return DnsAnswer(found, bool(answer.response.flags & dns.flags.AD))


def _as_text(record: object) -> str:
    if isinstance(record, TXTBase):
        return b"".join(record.strings).decode("utf-8", "replace")[:MAX_CHARACTERS]
    return str(record)[:MAX_CHARACTERS]
