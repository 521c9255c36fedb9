"""Probes of the DNS records of the domain's mail."""

from __future__ import annotations

from msgspec import Struct, field

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded, NetError, NotReachable, TimedOut
from website_scan.net.targets import Target
from website_scan.page.registrable_domain import is_ip_address, own_domain
from website_scan.security.dmarc import ParentPolicy, is_dmarc_record, parent_policy
from website_scan.security.evidence import MailRecords
from website_scan.security.mail_evidence import MailServer, MailServers
from website_scan.security.spf import MAX_CHARACTERS, HostLookup, is_spf_record
from website_scan.security.spf_lookups import SpfLookups

# Domains have one to five mail servers. More only add to the queries.
MAX_MAIL_SERVERS = 5


@probe(of_origin=True)
def mail_records(target: Target, network: Network) -> MailRecords:
    """Look up the MX, SPF and DMARC records of the domain.

    If it has no DMARC policy, those of parent domains are looked up.

    Raises `NotReachable`, `TimedOut` or `BudgetExceeded` if DNS fails for the domain itself.
    """
    domain = own_domain(target.host)
    if domain is None:
        return MailRecords(None)
    spf = tuple(text for text in records_of(domain, "TXT", network) if is_spf_record(text))
    queries = _SpfQueries(network)
    if len(spf) == 1:
        SpfLookups(queries.records_of, queries.hosts_of).of(domain, spf[0])
    dmarc = tuple(text for text in records_of(f"_dmarc.{domain}", "TXT", network) if is_dmarc_record(text))
    return MailRecords(
        domain,
        mx=records_of(domain, "MX", network),
        spf=spf,
        dmarc=dmarc,
        parent_dmarc=None if dmarc else _parent_policy(domain, network),
        included_spf=queries.included_spf,
        host_counts=queries.host_counts,
    )


@probe(of_origin=True)
def mail_servers(mail: MailRecords, network: Network) -> MailServers:
    """Look up the addresses of the domain's mail servers, or those of a domain without MX records."""
    if mail.domain is None:
        return MailServers(None)
    if not mail.mx:
        return MailServers(mail.domain, has_address=_has_address(mail.domain, network))
    servers: list[MailServer] = []
    has_timed_out = False
    for preference, name in mail.mail_servers[:MAX_MAIL_SERVERS]:
        server = MailServer(preference, name)
        if name and not is_ip_address(name) and not has_timed_out:
            try:
                server = _look_up(server, network)
            except (TimedOut, BudgetExceeded):
                has_timed_out = True
            except NetError:
                pass
        servers.append(server)
    return MailServers(mail.domain, tuple(servers))


def records_of(name: str, record_type: str, network: Network) -> tuple[str, ...]:
    """Return the records of a name, from the answer that other probes use, too."""
    return network.dns.unvalidated_records(name, record_type).records


def _look_up(server: MailServer, network: Network) -> MailServer:
    answer = network.dns.unvalidated_records(server.name, "A")
    addresses = answer.records or records_of(server.name, "AAAA", network)
    return MailServer(server.preference, server.name, answer.aliases, addresses)


def _has_address(domain: str, network: Network) -> bool | None:
    try:
        return bool(records_of(domain, "A", network) or records_of(domain, "AAAA", network))
    except NetError:
        return None


def _parent_policy(domain: str, network: Network) -> ParentPolicy | None:
    try:
        return parent_policy(domain, lambda name: records_of(name, "TXT", network))
    except (NotReachable, TimedOut):
        return None


class _SpfQueries(Struct):
    """Queries for an SPF record, until one of them is too slow."""

    network: Network
    included_spf: dict[str, tuple[str, ...]] = field(default_factory=dict)
    host_counts: dict[HostLookup, int] = field(default_factory=dict)
    has_timed_out: bool = False

    def records_of(self, domain: str) -> tuple[str, ...] | None:
        """Return the SPF records of an included domain, None without an answer."""
        texts = self._records(domain, "TXT")
        if texts is None:
            return None
        found = tuple(text for text in texts if is_spf_record(text))
        if any(len(text) >= MAX_CHARACTERS for text in found):
            return None  # The evaluation of a part would be wrong.
        self.included_spf[domain] = found
        return found

    def hosts_of(self, lookup: HostLookup) -> int | None:
        """Return the number of addresses or mail servers, None without an answer. AAAA records count without A."""
        hosts = self._records(lookup.name, lookup.type)
        if hosts == () and lookup.type == "A":
            hosts = self._records(lookup.name, "AAAA")
        if hosts is None:
            return None
        self.host_counts[lookup] = len(hosts)
        return len(hosts)

    def _records(self, name: str, record_type: str) -> tuple[str, ...] | None:
        if self.has_timed_out:
            return None
        try:
            return records_of(name, record_type, self.network)
        except (TimedOut, BudgetExceeded):
            self.has_timed_out = True
        except NetError:
            pass
        return None
