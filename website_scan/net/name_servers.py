"""DNS queries for addresses and other records.

Only this module imports dnspython.
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import Sequence

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.resolver
from dns.rdtypes.txtbase import TXTBase

from website_scan.net.deadline import Deadline
from website_scan.net.errors import NotReachable, TimedOut

# A target must be reached within five seconds, so that two seconds remain for connecting.
ADDRESS_QUERY_TIMEOUT_S = 3.0
RECORD_QUERY_TIMEOUT_S = 4.0
MAX_RECORDS = 100
# Larger datagrams would be fragmented (https://dnsflagday.net/2020/).
MAX_DATAGRAM_BYTES = 1232
MAX_RECORD_CHARACTERS = 4096


def addresses(host: str, deadline: Deadline, name_servers: Sequence[str]) -> list[str]:
    """Resolve a name to all its addresses.

    Raises NotReachable if there is no address, or no answer in time.
    """
    try:
        resolver = _stub_resolver(name_servers)
    except dns.resolver.NoResolverConfiguration:
        raise NotReachable("No name server is configured.") from None
    query_timeout_s = min(ADDRESS_QUERY_TIMEOUT_S, deadline.check())

    def query(record: str) -> list[str]:
        answer = resolver.resolve(host, record, lifetime=query_timeout_s, search=False, raise_on_no_answer=False)
        return [item.address for item in answer]

    # Both queries run concurrently, so that a slow AAAA query does not delay a fast A query.
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
    """Return DNS records as text.

    The second value is True if the resolver has validated their signatures.

    Returns no records for an unknown name. Raises NotReachable or TimedOut if no name server answers.
    """
    try:
        answer = _resolve(name, record_type, deadline, name_servers, dns.flags.RD | dns.flags.AD)
    except dns.resolver.NXDOMAIN:
        return (), False
    texts = tuple(record_text(record) for record in list(answer.rrset or ())[:MAX_RECORDS])
    return texts, bool(answer.response.flags & dns.flags.AD)


def signed_response(
    name: str, record_type: str, deadline: Deadline, name_servers: Sequence[str]
) -> dns.message.Message:
    """Return a response with its signatures, also if a validating name server would refuse it.

    The caller validates it. Raises NotReachable or TimedOut if no name server answers.
    """
    try:
        answer = _resolve(name, record_type, deadline, name_servers, dns.flags.RD | dns.flags.CD)
    except dns.resolver.NXDOMAIN as error:
        responses: dict[dns.name.Name, dns.message.Message] = error.kwargs["responses"]
        return responses[error.kwargs["qnames"][-1]]
    return answer.response


def _resolve(
    name: str, record_type: str, deadline: Deadline, name_servers: Sequence[str], flags: int
) -> dns.resolver.Answer:
    try:
        resolver = _stub_resolver(name_servers)
        resolver.use_edns(0, dns.flags.DO, MAX_DATAGRAM_BYTES)
        resolver.flags = flags
        query_timeout_s = min(RECORD_QUERY_TIMEOUT_S, deadline.check())
        return resolver.resolve(
            dns.name.from_text(name), record_type, lifetime=query_timeout_s, search=False, raise_on_no_answer=False
        )
    except dns.resolver.NXDOMAIN:
        raise
    except dns.resolver.NoResolverConfiguration:
        raise NotReachable("No name server is configured.") from None
    except dns.exception.Timeout:
        raise TimedOut(f"The name servers did not answer for {name} in time.") from None
    except (dns.exception.DNSException, OSError):
        raise NotReachable(f"The name servers could not provide the {record_type} records of {name}.") from None


def _stub_resolver(name_servers: Sequence[str]) -> dns.resolver.Resolver:
    """Return a resolver with these name servers.

    Without servers, it uses the system's. Raises NoResolverConfiguration.
    """
    if not name_servers:
        return dns.resolver.Resolver()
    resolver = dns.resolver.Resolver(configure=False)
    resolver.nameservers = list(name_servers)
    return resolver


def record_text(record: object) -> str:
    """Return a record as text, with TXT strings joined."""
    if isinstance(record, TXTBase):
        return b"".join(record.strings).decode("utf-8", "replace")[:MAX_RECORD_CHARACTERS]
    return str(record)[:MAX_RECORD_CHARACTERS]
