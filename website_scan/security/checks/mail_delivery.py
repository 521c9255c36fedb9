"""Checks of the records that tell senders where to deliver a domain's mail, and how to protect it on the way."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address

from website_scan.catalogue import check
from website_scan.findings import LOW, MEDIUM, NotApplicable
from website_scan.messages import excerpt, some
from website_scan.net.addresses import refusal
from website_scan.outcomes import Fail, Fix, Language, Note, Pass, Verdict, Warn, outcome
from website_scan.page.registrable_domain import is_ip_address
from website_scan.page.soft_404 import media_type
from website_scan.security.checks import mail as mail_checks
from website_scan.security.dns_places import NO_OWN_DOMAIN, DnsRecord
from website_scan.security.evidence import MailRecords
from website_scan.security.mail_evidence import MailServer, MailServers, MtaSts, TlsReporting
from website_scan.security.mail_places import MailServerRow
from website_scan.security.mta_sts import (
    REPORT_VERSION,
    STS_VERSION,
    StsPolicy,
    permits,
    read_policy,
    report_record_fault,
    sts_record_fault,
    version_records,
)
from website_scan.values import Count, Excerpt, Lifetime, Word

CATEGORY = mail_checks.CATEGORY

NO_ANSWER = NotApplicable("The name servers of this installation did not answer.")
NO_MAIL_SERVER = NotApplicable("The domain has no mail server.")
MIN_POLICY_AGE_S = 7 * 24 * 3600


@check(
    "mx",
    name="MX records lead to mail servers",
    outcomes={
        "missing": outcome("Domain does not say that it receives no mail", LOW),
        "no-address": outcome("MX record names a host without an address", MEDIUM, LOW),
        "private": outcome("MX record leads to a private address", MEDIUM, LOW),
        "address": "MX record has an IP address instead of a name",
        "null-and-others": "Null MX record beside other MX records",
        "alias": outcome("MX record names an alias", LOW),
    },
    why="Senders cannot deliver mail to such a server, or try for days before they report the failure.",
    severity=MEDIUM,
    fix=Fix(
        "Publish MX records with names of hosts that have addresses. If the domain receives no mail, publish only the "
        "null MX record, `example.com. MX 0 .`.",
        {Language.DNS: "example.com. MX 10 mail.example.com."},
    ),
    judged="Up to five mail servers are looked up. A domain without MX records and without an address receives no "
    "mail, and needs no null MX record.",
    references=("RFC 5321, section 5.1", "RFC 7505", "RFC 2181, section 10.3"),
)
def mx(mail: MailRecords, delivery: MailServers) -> Verdict:
    if delivery.domain is None:
        return NO_OWN_DOMAIN
    domain = Excerpt(delivery.domain)
    if not delivery.servers:
        if delivery.has_address is None:
            return NO_ANSWER
        if not delivery.has_address:
            return Pass("{domain} has no MX record and no address, so it receives no mail.", domain=domain)
        return Warn(
            "missing",
            "{domain} has an address, but no MX record, so senders try to deliver mail to the web server.",
            domain=domain,
            fix=Fix("If the domain receives no mail, publish a null MX record.", {Language.DNS: "example.com. MX 0 ."}),
        )
    servers = delivery.servers
    rows = MailServerRow.of(servers)
    if mail.has_null_mx:
        return Pass("{domain} says that it receives no mail.", domain=domain, details=rows)
    if any(not server.name for server in servers):
        return Fail(
            "null-and-others",
            "{domain} has a null MX record, which says that it receives no mail, and other MX records.",
            domain=domain,
            places=rows,
        )
    unusable = _unusable_servers(servers)
    if unusable is not None:
        return unusable
    if aliases := [server for server in servers if server.aliases]:
        return Warn(
            "alias",
            "{servers} of {domain} {servers:is an alias|are aliases} (CNAME), to which some senders do not deliver.",
            servers=Count(len(aliases), "mail server"),
            domain=domain,
            places=MailServerRow.of(aliases),
            fix="Name the target of the CNAME record in the MX record instead.",
        )
    if all(server.addresses is None for server in servers):
        return NO_ANSWER
    return Pass("{domain} has {servers}.", domain=domain, servers=Count(len(mail.mx), "mail server"), details=rows)


def _unusable_servers(servers: Sequence[MailServer]) -> Verdict | None:
    """Return the finding for servers to which nobody can deliver mail. It is less severe if another server is usable.

    None if there are none.
    """
    literal = [server for server in servers if is_ip_address(server.name)]
    if literal:
        return Fail(
            "address",
            "{servers:One MX record has|Several MX records have} an IP address where a name has to be.",
            servers=Count(len(literal), "mail server"),
            places=MailServerRow.of(literal),
        )
    nameless = [server for server in servers if server.addresses == ()]
    private = [server for server in servers if server.addresses and all(map(_is_private, server.addresses))]
    for name, faulty, summary in (
        ("no-address", nameless, "{servers} {servers:has|have} no address."),
        ("private", private, "{servers} {servers:has|have} only addresses that the internet cannot reach."),
    ):
        count = Count(len(faulty), "mail server")
        if faulty and len(nameless) + len(private) == len(servers):
            return Fail(name, summary, servers=count, places=MailServerRow.of(faulty))
        if faulty:
            return Warn(name, summary, severity=LOW, servers=count, places=MailServerRow.of(faulty))
    return None


def _is_private(address: str) -> bool:
    return refusal(ip_address(address)) is not None


@check(
    "mta-sts",
    name="MTA-STS policy protects delivery",
    outcomes={
        "missing": "No MTA-STS policy",
        "record": "MTA-STS record is invalid",
        "unavailable": "MTA-STS policy is not available",
        "invalid": "MTA-STS policy is invalid",
        "other-server": outcome("MTA-STS policy does not name a mail server of the domain", MEDIUM, LOW),
        "not-enforced": "MTA-STS policy is not enforced",
        "short-lived": "MTA-STS policy is valid only for a short time",
    },
    why="Without a valid policy, an attacker between two mail servers can switch off the encryption of mail.",
    severity=LOW,
    fix=Fix(
        "Publish the record, and a policy as the text file `https://mta-sts.example.com/.well-known/mta-sts.txt`. "
        "Begin with `mode: testing`. Whenever you change the policy, change the `id`, too.",
        {Language.DNS: '_mta-sts.example.com. TXT "v=STSv1; id=20260101"'},
    ),
    judged="A missing policy does not affect the score, because DANE protects delivery, too. Policies should be valid "
    "for at least a week.",
    references=("RFC 8461",),
)
def mta_sts(mail: MailRecords, sts: MtaSts) -> Verdict:
    if sts.domain is None:
        return NO_OWN_DOMAIN
    if not mail.receives_mail:
        return NO_MAIL_SERVER
    if sts.records is None:
        return NO_ANSWER
    domain, records = Excerpt(sts.domain), DnsRecord.from_records("TXT", sts.records)
    if not records:
        return Note("missing", "{domain} has no MTA-STS policy.", domain=domain)
    fault = _record_fault(sts.records, STS_VERSION) or sts_record_fault(sts.records[0])
    if fault:
        return Warn("record", "Senders ignore the MTA-STS record: {fault}.", fault=Word(fault), details=records)
    response = sts.policy
    if response is None:
        return Fail(
            "unavailable",
            "{domain} has an MTA-STS record, but its policy cannot be loaded: {error}",
            domain=domain,
            error=Excerpt(sts.error, 200),
            details=records,
        )
    if response.status != 200:
        return Fail(
            "unavailable",
            "{domain} has an MTA-STS record, but its policy has the status {status}. Senders do not follow redirects.",
            domain=domain,
            status=response.status,
            details=records,
        )
    if media_type(response) != "text/plain":
        return Warn(
            "invalid",
            "Senders may ignore the MTA-STS policy, because its type is {type} instead of text/plain.",
            type=Excerpt(media_type(response) or "unknown", 80),
            details=records,
        )
    policy = read_policy(response.body)
    if policy.fault:
        return Fail("invalid", "Senders ignore the MTA-STS policy: {fault}.", fault=Word(policy.fault), details=records)
    return _judge_policy(mail, policy, [*records, *DnsRecord.from_records("mx", policy.mx)])


def _judge_policy(mail: MailRecords, policy: StsPolicy, rows: Sequence[DnsRecord]) -> Verdict:
    names = [name for _, name in mail.mail_servers if name]
    mode = Word(policy.mode)
    if policy.mode == "none":
        return Warn("not-enforced", "The MTA-STS policy has mode {mode}: it protects nothing.", mode=mode, details=rows)
    if others := [name for name in names if not permits(policy, name)]:
        is_enforced = policy.mode == "enforce"
        return (Fail if is_enforced else Warn)(
            "other-server",
            "The MTA-STS policy with mode {mode} does not name {servers}, to which senders then do not deliver."
            if is_enforced
            else "The MTA-STS policy with mode {mode} does not name {servers}.",
            severity=MEDIUM if is_enforced else LOW,
            mode=mode,
            servers=Excerpt(some([excerpt(name, 100) for name in others]), 300),
            details=rows,
        )
    if policy.mode == "testing":
        return Warn(
            "not-enforced", "The MTA-STS policy has mode {mode}: it only reports faults.", mode=mode, details=rows
        )
    age = Lifetime(policy.max_age_s)
    if policy.max_age_s < MIN_POLICY_AGE_S:
        return Warn("short-lived", "The MTA-STS policy is valid for {age}.", age=age, details=rows)
    return Pass("The MTA-STS policy is enforced and valid for {age}.", age=age, details=rows)


@check(
    "tls-rpt",
    name="Reports about TLS of mail are requested",
    outcomes={"missing": "No TLS-RPT record", "invalid": "TLS-RPT record is invalid"},
    why="Without reports, you do not notice that other servers cannot deliver mail to you over TLS.",
    severity=LOW,
    fix=Fix(
        "Publish one TXT record with an address for reports.",
        {Language.DNS: '_smtp._tls.example.com. TXT "v=TLSRPTv1; rua=mailto:tls@example.com"'},
    ),
    judged="A missing record is reported only if the domain has an MTA-STS record, and does not affect the score.",
    references=("RFC 8460",),
)
def tls_rpt(mail: MailRecords, sts: MtaSts, reporting: TlsReporting) -> Verdict:
    if reporting.domain is None:
        return NO_OWN_DOMAIN
    if not mail.receives_mail:
        return NO_MAIL_SERVER
    if reporting.records is None:
        return NO_ANSWER
    domain, records = Excerpt(reporting.domain), DnsRecord.from_records("TXT", reporting.records)
    if not records and not sts.records:
        return NotApplicable("The domain has no MTA-STS record.")
    if not records:
        return Note("missing", "{domain} has no TLS-RPT record.", domain=domain)
    fault = _record_fault(reporting.records, REPORT_VERSION) or report_record_fault(reporting.records[0])
    if fault:
        return Warn("invalid", "Senders ignore the TLS-RPT record: {fault}.", fault=Word(fault), details=records)
    return Pass("{domain} requests reports about TLS.", domain=domain, details=records)


def _record_fault(records: Sequence[str], version: str) -> str:
    """Return why senders use none of the records, empty if there is one with the version."""
    valid = version_records(records, version)
    if len(valid) > 1:
        return "there is more than one"
    return "" if valid and len(records) == 1 else f"it does not begin with v={version};"
