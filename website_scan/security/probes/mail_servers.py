"""Probe of the domain's mail servers."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from msgspec.structs import replace

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.dnssec.answers import Security, SignedAnswer
from website_scan.net.errors import NetError
from website_scan.net.mail_servers import MailDialog, contact_mail_server
from website_scan.net.smtp import MailState
from website_scan.net.targets import Target
from website_scan.page.evidence import Clock
from website_scan.page.registrable_domain import own_domain
from website_scan.security.mail_evidence import MtaSts
from website_scan.security.mail_server_evidence import ANSWERING_STATES, MailDialogs, MailServer
from website_scan.security.mta_sts import read_policy
from website_scan.security.mx_records import has_null_mx, read_mx
from website_scan.security.probes.mail import records_of

# Most domains have one to four mail servers. Senders use the others only if these do not answer.
MAX_SERVERS = 4
CONCURRENT_DIALOGS = 8


@probe(of_origin=True)
def mail_dialogs(target: Target, network: Network, clock: Clock, sts: MtaSts | None) -> MailDialogs:
    """Connect to the domain's mail servers, if this installation allows it, and look up their TLSA records.

    Raises `NotReachable`, `TimedOut` or `BudgetExceeded` if DNS fails for the domain itself.
    """
    domain = own_domain(target.host)
    if domain is None:
        return MailDialogs(None)
    if not network.policy.contacts_mail_servers:
        return MailDialogs(domain, is_allowed=False)
    mx = _mx_records(domain, network, clock)
    records = read_mx(mx.records)
    if not records:
        return MailDialogs(domain, refuses_mail=has_null_mx(mx.records), security=mx.security)
    servers = [_look_up(MailServer(*record), network, clock) for record in records[:MAX_SERVERS]]
    dialogs = _contact(servers, network)
    return MailDialogs(
        domain,
        servers=tuple(
            replace(server, dialogs=tuple(dialogs[server.name, address] for address in _first_addresses(server)))
            for server in servers
        ),
        total=len(records),
        security=mx.security,
        must_authenticate=_is_enforced(sts),
    )


def _mx_records(domain: str, network: Network, clock: Clock) -> SignedAnswer:
    """Return the MX records with their DNSSEC status.

    Records of unsigned domains need no second query, because other probes look them up, too.
    """
    status = network.dns.trust(domain, clock.now).security
    if status in (Security.INSECURE, Security.UNKNOWN):
        return SignedAnswer(domain, "MX", "NOERROR", records_of(domain, "MX", network), security=status)
    return network.dns.signed_records(domain, "MX", ".", clock.now)


def _look_up(server: MailServer, network: Network, clock: Clock) -> MailServer:
    """Look up a server's addresses, and its TLSA records if DNSSEC protects the addresses (RFC 7672, section 2.2.2)."""
    try:
        answers = [network.dns.signed_records(server.name, kind, ".", clock.now) for kind in ("A", "AAAA")]
    except NetError:
        return replace(server, is_resolved=False)
    addresses = tuple(record for answer in answers for record in answer.records)
    statuses = {answer.security for answer in answers}
    security = next(
        status
        for status in (Security.BOGUS, Security.UNKNOWN, Security.INSECURE, Security.SECURE)
        if status in statuses
    )
    found = replace(server, addresses=addresses, security=security)
    return _with_tlsa(found, answers[0].aliases, network, clock) if security is Security.SECURE else found


def _with_tlsa(server: MailServer, aliases: Sequence[str], network: Network, clock: Clock) -> MailServer:
    """Look up TLSA records, first at the target of an alias, then at the name itself (RFC 7672, section 2.2.3)."""
    answer = None
    for name in (*aliases[-1:], server.name):
        try:
            answer = network.dns.signed_records(f"_25._tcp.{name}", "TLSA", ".", clock.now)
        except NetError:
            return replace(server, tlsa_failed=True)
        if answer.records or answer.security is not Security.SECURE:
            break
    is_failed = answer is not None and (answer.security is Security.BOGUS or answer.code not in ("NOERROR", "NXDOMAIN"))
    return replace(server, tlsa=answer, tlsa_failed=is_failed)


def _first_addresses(server: MailServer) -> tuple[str, ...]:
    """Return the first address of each family."""
    by_family: dict[bool, str] = {}
    for address in server.addresses:
        by_family.setdefault(":" in address, address)
    return tuple(by_family.values())


def _contact(servers: Sequence[MailServer], network: Network) -> dict[tuple[str, str], MailDialog]:
    """Contact each server once at each family's first address. Returns dialogs by the server's name and address."""
    ends = [(server.name, address) for server in servers for address in _first_addresses(server)]
    if not ends:
        return {}
    with ThreadPoolExecutor(CONCURRENT_DIALOGS, "mail server") as pool:
        dialogs = list(pool.map(lambda end: contact_mail_server(network, *end), ends))
    return dict(zip(ends, _without_own_network(dialogs, network), strict=True))


def _without_own_network(dialogs: Sequence[MailDialog], network: Network) -> list[MailDialog]:
    """Mark silent addresses of a family as not tested if none of the family answers.

    Many networks block connections to port 25, so the fault may be this installation's. If IPv4 works, servers of the
    root zone show whether the installation has IPv6.
    """
    answering = {dialog.is_ipv6 for dialog in dialogs if dialog.state in ANSWERING_STATES}
    has_silent_ipv6 = any(dialog.is_ipv6 and dialog.state is MailState.SILENT for dialog in dialogs)
    if False in answering and has_silent_ipv6 and network.dns.has_ipv6():
        answering.add(True)
    untested = partial(replace, state=MailState.NOT_TESTED)
    return [
        untested(dialog) if dialog.state is MailState.SILENT and dialog.is_ipv6 not in answering else dialog
        for dialog in dialogs
    ]


def _is_enforced(sts: MtaSts | None) -> bool:
    """Return True if the domain has an MTA-STS policy in mode "enforce" (RFC 8461, section 3)."""
    if sts is None or sts.policy is None or sts.policy.status != 200:
        return False
    return read_policy(sts.policy.body).mode == "enforce"
