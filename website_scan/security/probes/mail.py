"""Probe of the DNS records of the domain's mail."""

from __future__ import annotations

from collections.abc import Mapping

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.errors import NotReachable, TimedOut
from website_scan.net.targets import Target
from website_scan.page.registrable_domain import own_domain
from website_scan.security.dmarc import ParentPolicy, is_dmarc_record, parent_policy
from website_scan.security.evidence import MailRecords
from website_scan.security.spf import MAX_LOOKUPS, HostLookup, host_lookups, included_domains, is_spf_record


@probe(of_origin=True)
def mail_records(target: Target, network: Network) -> MailRecords:
    """Look up the MX, SPF and DMARC records of the domain.

    If it has no DMARC policy, those of parent domains are looked up.

    Raises `NotReachable` or `TimedOut` if DNS fails for the domain itself.
    """
    domain = own_domain(target.host)
    if domain is None:
        return MailRecords(None)
    spf = tuple(text for text in network.records(domain, "TXT").records if is_spf_record(text))
    included_spf = _included_spf_records(spf[0], network) if len(spf) == 1 else {}
    dmarc = tuple(text for text in network.records(f"_dmarc.{domain}", "TXT").records if is_dmarc_record(text))
    return MailRecords(
        domain,
        mx=network.records(domain, "MX").records,
        spf=spf,
        dmarc=dmarc,
        parent_dmarc=None if dmarc else _parent_policy(domain, network),
        included_spf=included_spf,
        host_counts=_host_counts({domain: spf, **included_spf}, network),
    )


def _parent_policy(domain: str, network: Network) -> ParentPolicy | None:
    try:
        return parent_policy(domain, lambda name: network.records(name, "TXT").records)
    except (NotReachable, TimedOut):
        return None


def _included_spf_records(record: str, network: Network) -> dict[str, tuple[str, ...]]:
    """Look up the SPF records of included domains, recursively.

    Domains without an answer are omitted.
    """
    found: dict[str, tuple[str, ...]] = {}
    asked: set[str] = set()
    waiting = included_domains(record)
    while waiting and len(asked) < MAX_LOOKUPS:
        name = waiting.pop(0).lower().rstrip(".")
        if name in asked:
            continue
        asked.add(name)
        try:
            texts = network.records(name, "TXT").records
        except NotReachable:
            continue
        except TimedOut:
            break
        found[name] = tuple(text for text in texts if is_spf_record(text))
        waiting += [domain for text in found[name][:1] for domain in included_domains(text)]
    return found


def _host_counts(spf: Mapping[str, tuple[str, ...]], network: Network) -> dict[HostLookup, int]:
    """Count the addresses or mail servers behind the names in SPF records.

    Names without an answer are left out.
    """
    counts: dict[HostLookup, int] = {}
    wanted = [lookup for name, texts in spf.items() for text in texts[:1] for lookup in host_lookups(name, text)]
    for lookup in list(dict.fromkeys(wanted))[:MAX_LOOKUPS]:
        try:
            hosts = len(network.records(lookup.name, lookup.type).records)
            if not hosts and lookup.type == "A":
                hosts = len(network.records(lookup.name, "AAAA").records)
        except NotReachable:
            continue
        except TimedOut:
            break
        counts[lookup] = hosts
    return counts
