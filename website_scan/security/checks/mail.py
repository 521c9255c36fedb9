"""Checks of DNS records that protect a domain's mail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from website_scan.catalogue import Category, check
from website_scan.findings import LOW
from website_scan.outcomes import Fail, Fix, Language, Pass, Verdict, Warn
from website_scan.places import Place
from website_scan.security.dmarc import (
    ENFORCED_POLICIES,
    POLICIES,
    applied_percent,
    dmarc_tags,
    has_valid_policies,
    repeats_a_tag,
    weakening_of,
)
from website_scan.security.dns_places import NO_OWN_DOMAIN, DnsRecord
from website_scan.security.evidence import MailRecords
from website_scan.security.mail_places import SpfLookupRow
from website_scan.security.spf import (
    MAX_CHARACTERS,
    MAX_LOOKUPS,
    MAX_MX_HOSTS,
    MAX_VOID_LOOKUPS,
    SpfError,
    SpfFault,
    SpfPolicy,
    largest_network,
    permits_nobody,
    read_policy,
)
from website_scan.security.spf_lookups import SpfLookups
from website_scan.values import Code, Count, Excerpt, Percent, Word

CATEGORY = Category("Mail", weight=2)


@check(
    "spf",
    name="SPF restricts who may send mail",
    outcomes={
        "missing": "No SPF record",
        "repeated": "More than one SPF record",
        "allows-all": "SPF allows every sender",
        "unrestricted": "SPF does not restrict senders",
        "syntax": "SPF record is invalid",
        "include": "SPF includes a domain without a policy",
        "lookups": "SPF needs too many DNS look-ups",
        "ptr": "SPF uses the mechanism ptr",
        "large-network": "SPF allows a very large network",
        "long": "SPF record is too long",
        "null-mx": "SPF allows senders although the domain takes part in no mail",
    },
    why="Without a valid, strict record, receivers cannot tell which servers may send mail in the domain's name.",
    severity=LOW,
    fix=Fix(
        'Publish one TXT record that names who may send mail for the domain; `"v=spf1 -all"` if nobody may.',
        {Language.DNS: '"v=spf1 include:YOUR-PROVIDER -all"'},
    ),
    judged="Networks are very large if they have more than a /8 of IPv4 or a /16 of IPv6 addresses.",
    references=("RFC 7208", "RFC 7208, section 3.4", "RFC 7505, section 4.2"),
)
def spf(mail: MailRecords) -> Verdict:
    if mail.domain is None:
        return NO_OWN_DOMAIN
    domain, records = Excerpt(mail.domain), DnsRecord.from_records("TXT", mail.spf)
    if not mail.spf:
        if mail.receives_mail:
            return Fail("missing", "{domain} has no SPF record.", domain=domain)
        return Fail(
            "missing",
            "{domain}, which receives no mail, has no SPF record.",
            domain=domain,
            fix='If the domain sends no mail either, publish the TXT record `"v=spf1 -all"`.',
        )
    if len(mail.spf) > 1:
        return Fail(
            "repeated",
            "{domain} has {records}; receivers treat that as an error and apply none.",
            domain=domain,
            records=Count(len(records), "SPF record"),
            details=records,
        )
    if len(mail.spf[0]) >= MAX_CHARACTERS:
        return Warn(
            "long",
            "The SPF record has {most} characters or more, so receivers need several attempts to load it, or fail.",
            most=MAX_CHARACTERS,
            details=records,
        )
    lookups = SpfLookups(mail.included_spf.get, mail.host_counts.get).of(mail.domain, mail.spf[0])
    rows = [*records, *SpfLookupRow.of(lookups)]
    try:
        policy = read_policy(mail.domain, mail.spf, mail.included_spf, mail.host_counts)
    except SpfError as error:
        return _invalid_spf(error, mail.domain, rows)
    if (fault := _find_spf_weakness(mail, policy, rows)) is not None:
        return fault
    ending = next((term for term in policy.terms if term.name == "all"), None)
    count = Count(len(lookups), "DNS look-up")
    if ending is None:
        return Pass("The SPF record redirects to another domain's, and needs {count}.", count=count, details=rows)
    return Pass(
        "The SPF record ends with {ending}, and needs {count}.",
        ending=Word(f"{ending.qualifier}all"),
        count=count,
        details=rows,
    )


def _find_spf_weakness(mail: MailRecords, policy: SpfPolicy, rows: Sequence[Place]) -> Verdict | None:
    """Return the worst weakness of a valid policy, None if it has none."""
    if any(term.name == "all" and term.qualifier == "+" for term in policy.terms):
        return Fail("allows-all", "The SPF record ends with +all, which allows every sender.", details=rows)
    if policy.is_open or policy.default == "+":
        return Fail("allows-all", "The SPF record allows every address of the internet to send.", details=rows)
    if policy.default == "?":
        return Warn("unrestricted", "The SPF record does not end with -all or ~all.", details=rows)
    if mail.has_null_mx and not permits_nobody(mail.spf[0]):
        return Warn(
            "null-mx",
            "{domain} has a null MX record, but its SPF record does not refuse all senders.",
            domain=Excerpt(mail.domain or ""),
            details=rows,
            fix='If the domain sends no mail, publish the TXT record `"v=spf1 -all"`. If it does, give it a mail '
            "server, because receivers reject mail of a domain with a null MX record.",
        )
    if (network := largest_network(policy)) is not None:
        return Warn(
            "large-network",
            "The SPF record allows all addresses of {network} to send.",
            network=Word(str(network)),
            details=rows,
        )
    if any(term.name == "ptr" for term in policy.terms):
        return Warn(
            "ptr",
            "The SPF record uses ptr, which RFC 7208 advises against, because it is slow and unreliable.",
            details=rows,
        )
    return None


def _invalid_spf(error: SpfError, domain: str, rows: Sequence[Place]) -> Verdict:
    """Return the failure for a policy that receivers reject with "permerror".

    RFC 7208, section 2.6.7.
    """
    term, owner = Code(error.term, 80), Excerpt(error.domain)
    match error.fault:
        case SpfFault.LOOKUPS:
            return Fail(
                "lookups",
                "The SPF record causes more than {most} DNS look-ups, so receivers treat it as an error.",
                most=MAX_LOOKUPS,
                details=rows,
            )
        case SpfFault.VOID_LOOKUPS:
            return Warn(  # The limit is a recommendation, which not all receivers follow.
                "lookups",
                "More than {most} DNS look-ups of the SPF record find nothing, which many receivers treat as an error. "
                "“{term}” in the record of {owner} is one of them.",
                most=MAX_VOID_LOOKUPS,
                term=term,
                owner=owner,
                details=rows,
            )
        case SpfFault.MX_HOSTS:
            return Fail(
                "lookups",
                "“{term}” in the SPF record of {owner} has more than {most} mail servers. Receivers reject it.",
                term=term,
                owner=owner,
                most=MAX_MX_HOSTS,
                details=rows,
            )
        case SpfFault.MISSING:
            return Fail(
                "include",
                "“{term}” in the SPF record of {owner} names a domain without an SPF record, so receivers treat it as "
                "an error.",
                term=term,
                owner=owner,
                details=rows,
            )
        case SpfFault.REPEATED:
            return Fail(
                "include",
                "The SPF record includes {owner}, which has more than one, so receivers treat it as an error.",
                owner=owner,
                details=rows,
            )
    if error.domain == domain:
        return Fail("syntax", "Receivers reject the SPF record because of “{term}”.", term=term, details=rows)
    return Fail(
        "syntax",
        "The SPF record includes {owner}, whose record receivers reject because of “{term}”.",
        owner=owner,
        term=term,
        details=rows,
    )


@check(
    "dmarc",
    name="DMARC policy is enforced",
    outcomes={
        "missing": "No DMARC record",
        "repeated": "More than one DMARC record",
        "invalid": "DMARC policy is invalid",
        "monitors-only": "DMARC policy only monitors",
        "applies-to-none": "DMARC policy applies to no mail",
        "public-suffix": "DMARC record says that the domain is a public suffix",
    },
    why="Without an enforced policy, receivers may deliver mail that only claims to come from the domain.",
    severity=LOW,
    fix=Fix(
        "Publish one TXT record at `_dmarc`. Change to `p=reject` when the reports show that your own mail passes.",
        {Language.DNS: '"v=DMARC1; p=quarantine; rua=mailto:you@example.com"'},
    ),
    references=("RFC 9989", "RFC 7489"),
)
def dmarc(mail: MailRecords) -> Verdict:
    if mail.domain is None:
        return NO_OWN_DOMAIN
    domain, records = Excerpt(mail.domain), DnsRecord.from_records("TXT", mail.dmarc)
    if not records:
        parent = mail.parent_dmarc
        if parent is not None and parent.policy in ENFORCED_POLICIES:
            return Pass(
                "{domain} has no DMARC record. The policy {policy} of {parent} applies.",
                domain=domain,
                policy=Word(parent.policy),
                parent=Excerpt(parent.domain),
                details=DnsRecord.from_records("TXT", [parent.record]),
            )
        return Fail(
            "missing",
            "{domain} has no DMARC record.",
            domain=domain,
            fix=None if mail.sends_mail else 'Publish the TXT record `"v=DMARC1; p=reject"` at `_dmarc`.',
        )
    if len(records) > 1:
        return Fail(
            "repeated",
            "{domain} has {records}, so receivers apply none.",
            domain=domain,
            records=Count(len(records), "DMARC record"),
            details=records,
        )
    pairs = dmarc_tags(mail.dmarc[0])
    tags = dict(pairs)
    policy = tags.get("p", "")
    if repeats_a_tag(pairs):
        return Fail("invalid", "The DMARC record repeats a tag, so it does not count.", details=records)
    # Without a valid policy, a record with an address for reports counts as p=none (RFC 7489, section 6.6.3).
    if not has_valid_policies(tags):
        faulty = "p" if policy not in POLICIES else "sp or np"
        if "mailto:" in tags.get("rua", ""):
            return Warn(
                "invalid",
                "The DMARC record has no valid {tag}, which receivers treat as p=none.",
                tag=Word(faulty),
                details=records,
            )
        return Fail(
            "invalid", "The DMARC record has no valid {tag}, so it does not count.", tag=Word(faulty), details=records
        )
    return _judge_dmarc_policies(mail.domain, tags, records)


def _judge_dmarc_policies(domain: str, tags: Mapping[str, str], records: Sequence[DnsRecord]) -> Verdict:
    """Judge a record whose policies are valid."""
    policy = tags["p"]
    if tags.get("psd") == "y":
        return Warn(
            "public-suffix",
            "The DMARC record has psd=y, so receivers treat each subdomain of {domain} as another organization's.",
            domain=Excerpt(domain),
            details=records,
            fix="Delete `psd=y`, which is only for registries such as those of .bank and .gov.uk.",
        )
    if policy == "none":
        return Warn("monitors-only", "The DMARC policy p=none only monitors.", details=records)
    subdomain_tag = next((name for name in ("np", "sp") if name in tags), "p")
    if tags[subdomain_tag] == "none":
        return Warn(
            "monitors-only",
            "The DMARC policy p={policy} does not protect subdomains, because {tag}=none only monitors.",
            policy=Word(policy),
            tag=Word(subdomain_tag),
            details=records,
        )
    applied, weakening = applied_percent(tags), weakening_of(tags)
    if weakening and policy == "quarantine":
        return Warn(
            "applies-to-none",
            "The DMARC policy p={policy} with {weakening} applies to no mail.",
            policy=Word(policy),
            weakening=Word(weakening),
            details=records,
        )
    if weakening and tags[subdomain_tag] == "quarantine":
        return Warn(
            "monitors-only",
            "The DMARC policy p={policy} does not protect subdomains, because {tag}=quarantine with {weakening} "
            "applies to no mail.",
            policy=Word(policy),
            tag=Word(subdomain_tag),
            weakening=Word(weakening),
            details=records,
        )
    if weakening:
        return Pass(
            "The DMARC policy p={policy} with {weakening} lets receivers quarantine forged mail.",
            policy=Word(policy),
            weakening=Word(weakening),
            details=records,
        )
    if applied < 100:
        return Pass(
            "The DMARC policy p={policy} applies to {share} of forged mail at receivers that follow RFC 7489, and to "
            "all at newer ones, which ignore pct.",
            policy=Word(policy),
            share=Percent(applied),
            details=records,
        )
    return Pass(
        "The DMARC policy p={policy} applies to {share} of forged mail.",
        policy=Word(policy),
        share=Percent(applied),
        details=records,
    )
