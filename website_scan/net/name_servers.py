"""Queries to name servers, for addresses and other records of a name. Only this module imports dnspython."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Sequence

import dns.exception
import dns.flags
import dns.resolver
from dns.rdtypes.txtbase import TXTBase

from website_scan.net.deadline import Deadline
from website_scan.net.errors import NotReachable, TimedOut

# A target must be reached within five seconds, so two remain for connecting.
ADDRESS_LIFETIME_S = 3.0
RECORD_LIFETIME_S = 4.0
MAX_RECORDS = 100
MAX_CHARACTERS = 4096


def addresses(host: str, deadline: Deadline, name_servers: Sequence[str]) -> list[str]:
    """Return every address of a name. Raises NotReachable if there is none, or no answer in time."""
    try:
        resolver = _stub_resolver(name_servers)
    except dns.resolver.NoResolverConfiguration:
        raise NotReachable("No name server is configured.") from None
    lifetime_s = min(ADDRESS_LIFETIME_S, deadline.check())

    def query(record: str) -> list[str]:
        answer = resolver.resolve(host, record, lifetime=lifetime_s, search=False, raise_on_no_answer=False)
        return [item.address for item in answer]

    # Both queries run concurrently, so that a slow AAAA query does not add to the time of a fast A query.
    with concurrent.futures.ThreadPoolExecutor(2, "dns") as pool:
        queries = [pool.submit(query, record) for record in ("A", "AAAA")]
    resolved: list[str] = []
    errors: list[Exception] = []
    for pending_query in queries:
        try:
            resolved += pending_query.result()
        except (dns.exception.DNSException, OSError) as error:
            errors.append(error)
    if any(isinstance(error, dns.exception.Timeout) for error in errors) and not resolved:
        raise NotReachable(f"The name servers did not answer for {host} in time.")
    if not resolved:
        raise NotReachable(f"{host} does not resolve to an address.")
    return resolved


def records(
    name: str, record_type: str, deadline: Deadline, name_servers: Sequence[str]
) -> tuple[tuple[str, ...], bool]:
    """Return the records as text (none for an unknown name), and whether the resolver has validated their signatures.

    Raises NotReachable or TimedOut if no name server answers.
    """
    try:
        resolver = _stub_resolver(name_servers)
        resolver.use_edns(0, dns.flags.DO, 1232)
        resolver.flags = dns.flags.RD | dns.flags.AD
        lifetime_s = min(RECORD_LIFETIME_S, deadline.check())
        answer = resolver.resolve(name, record_type, lifetime=lifetime_s, search=False, raise_on_no_answer=False)
    except dns.resolver.NXDOMAIN:
        return (), False
    except dns.resolver.NoResolverConfiguration:
        raise NotReachable("No name server is configured.") from None
    except dns.exception.Timeout:
        raise TimedOut(f"The name servers did not answer for {name} in time.") from None
    except (dns.exception.DNSException, OSError):
        raise NotReachable(f"The name servers could not tell the {record_type} records of {name}.") from None
    texts = tuple(_as_text(record) for record in list(answer.rrset or ())[:MAX_RECORDS])
    return texts, bool(answer.response.flags & dns.flags.AD)


def _stub_resolver(name_servers: Sequence[str]) -> dns.resolver.Resolver:
    """Return a resolver for these name servers, or for the system's if empty. Raises NoResolverConfiguration."""
    if not name_servers:
        return dns.resolver.Resolver()
    resolver = dns.resolver.Resolver(configure=False)
    resolver.nameservers = list(name_servers)
    return resolver


def _as_text(record: object) -> str:
    if isinstance(record, TXTBase):
        return b"".join(record.strings).decode("utf-8", "replace")[:MAX_CHARACTERS]
    return str(record)[:MAX_CHARACTERS]
