"""Checks of DNS records and security.txt."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar, Self

from website_scan.catalogue import Category, check
from website_scan.findings import LOW, NotApplicable
from website_scan.messages import excerpt, some
from website_scan.net.http.response import Response
from website_scan.outcomes import Fail, Fix, Language, Pass, Verdict, Warn
from website_scan.page.encodings import charset, encoding_of_label, is_utf_8
from website_scan.page.evidence import Clock
from website_scan.places import Column, Place, PlaceUrl
from website_scan.security.dmarc import ENFORCED_POLICIES, POLICIES, dmarc_tags, has_valid_policies
from website_scan.security.evidence import CaaRecords, DnssecRecords, MailRecords, SecurityTxt
from website_scan.security.spf import MAX_LOOKUPS, MAX_MX_HOSTS, MAX_VOID_LOOKUPS, SpfError, SpfFault, read_policy
from website_scan.urls import Url, normal_form
from website_scan.values import Address, Clause, Code, Count, Excerpt, Percent, Values, Word

CATEGORY = Category("DNS and mail", weight=5)

NO_OWN_DOMAIN = NotApplicable("The host is an IP address, or its DNS belongs to a hosting service.")
# CAA property for ordinary certificates (RFC 8659, section 4).
CAA_ISSUE_PROPERTY = re.compile(r"\d{1,3} issue ", re.IGNORECASE)
SECURITY_TXT_FIELD = re.compile(r"([A-Za-z][A-Za-z-]{0,40}):(.*)")
SECURITY_TXT_FIELDS = frozenset(
    {"acknowledgments", "canonical", "contact", "encryption", "expires", "hiring", "policy", "preferred-languages"}
)
# Web addresses in these fields begin with https:// (RFC 9116, section 2.5).
SECURITY_TXT_LINKS = ("acknowledgments", "canonical", "encryption", "hiring", "policy")
SECURITY_TXT_CONTACT = re.compile(r"(?:mailto:[^\s@]+@[^\s@]+|https://\S+|tel:\S+)", re.IGNORECASE)
# Date and time format of RFC 3339, section 5.6.
RFC_3339_DATE = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)")


@dataclass(frozen=True, slots=True)
class DnsRecord(Place):
    """DNS record of the domain."""

    kind: ClassVar[str] = "dns-record"

    type: Annotated[str, Column("Type", "short")]
    record: Annotated[str, Column("Record", "code")]

    @classmethod
    def from_records(cls, type: str, records: Sequence[str]) -> list[Self]:
        return [cls(type, excerpt(record, 300)) for record in records]


@dataclass(frozen=True, slots=True)
class SecurityTxtFile(Place):
    """Published security.txt file."""

    kind: ClassVar[str] = "security-txt"

    url: PlaceUrl
    fields: Annotated[str, Column("Fields")]


@check(
    "caa",
    name="Certificate authorities restricted (CAA)",
    outcomes={"missing": "No CAA record", "no-issue": "CAA records have no issue property"},
    why="Without an issue property in a CAA record, any certificate authority may issue certificates for the domain.",
    severity=LOW,
    fix=Fix(
        "Publish a CAA record for the authority that you use.",
        {Language.DNS: 'example.com. CAA 0 issue "letsencrypt.org"'},
    ),
    references=("RFC 8659",),
)
def caa(caa_records: CaaRecords) -> Verdict:
    if caa_records.domain is None:
        return NO_OWN_DOMAIN
    if not caa_records.records:
        return Warn("missing", "{domain} has no CAA record.", domain=Excerpt(caa_records.domain))
    records = DnsRecord.from_records("CAA", caa_records.records)
    name = Excerpt(caa_records.name)
    if not any(CAA_ISSUE_PROPERTY.match(record) for record in caa_records.records):
        return Warn("no-issue", "The CAA records of {name} have no issue property.", name=name, details=records)
    return Pass("{name} has {records}.", name=name, records=Count(len(records), "CAA record"), details=records)


@check(
    "dnssec",
    name="DNSSEC is enabled",
    outcomes={
        "off": "DNSSEC is not enabled",
        "no-keys": "DNSSEC keys are missing",
        "no-ds": "DNSSEC has no DS record",
    },
    why="Without valid signatures, resolvers cannot tell a forged DNS answer from a genuine one.",
    severity=LOW,
    fix="Enable DNSSEC at your DNS provider, and give its DS record to your registrar.",
    references=("RFC 4033", "RFC 9364"),
)
def dnssec(dnssec_records: DnssecRecords) -> Verdict:
    if dnssec_records.domain is None:
        return NO_OWN_DOMAIN
    domain = Excerpt(dnssec_records.domain)
    if dnssec_records.is_authenticated or (dnssec_records.ds and dnssec_records.dnskey):
        return Pass("{domain} is signed.", domain=domain)
    if dnssec_records.ds:
        return Warn(
            "no-keys",
            "{domain} has a DS record at its parent, but no DNSKEY, so validating resolvers reject its answers.",
            domain=domain,
        )
    if dnssec_records.dnskey:
        return Warn(
            "no-ds",
            "{domain} has keys, but no DS record at its parent, so resolvers do not validate its signatures.",
            domain=domain,
        )
    return Warn("off", "{domain} is not signed.", domain=domain)


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
    },
    why="Without a valid, strict record, receivers cannot tell which servers may send mail in the domain's name.",
    severity=LOW,
    fix=Fix(
        'Publish one TXT record that names who may send mail for the domain; `"v=spf1 -all"` if nobody may.',
        {Language.DNS: '"v=spf1 include:YOUR-PROVIDER -all"'},
    ),
    references=("RFC 7208",),
)
def spf(mail: MailRecords) -> Verdict:
    if mail.domain is None:
        return NO_OWN_DOMAIN
    domain, records = Excerpt(mail.domain), DnsRecord.from_records("TXT", mail.spf)
    if not mail.spf:
        # A domain with the MX record "." receives no mail (RFC 7505).
        receives = any(record.split()[-1:] != ["."] for record in mail.mx)
        if receives:
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
    try:
        policy = read_policy(mail.domain, mail.spf, mail.included_spf, mail.host_counts)
    except SpfError as error:
        return _invalid_spf(error, mail.domain, records)
    ending = next((term for term in policy.terms if term.name == "all"), None)
    if ending is not None and ending.qualifier == "+":
        return Fail("allows-all", "The SPF record ends with +all, which allows every sender.", details=records)
    if policy.is_open or policy.default == "+":
        return Fail("allows-all", "The SPF record allows every address of the internet to send.", details=records)
    if policy.default == "?":
        return Warn("unrestricted", "The SPF record does not end with -all or ~all.", details=records)
    if any(term.name == "ptr" for term in policy.terms):
        return Warn(
            "ptr",
            "The SPF record uses ptr, which RFC 7208 advises against, because it is slow and unreliable.",
            details=records,
        )
    if ending is None:
        return Pass("The SPF record redirects to another domain's.", details=records)
    return Pass("The SPF record ends with {ending}.", ending=Word(f"{ending.qualifier}all"), details=records)


def _invalid_spf(error: SpfError, domain: str, records: Sequence[DnsRecord]) -> Verdict:
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
                details=records,
            )
        case SpfFault.VOID_LOOKUPS:
            return Warn(  # The limit is a recommendation, which not all receivers follow.
                "lookups",
                "More than {most} DNS look-ups of the SPF record find nothing, which many receivers treat as an error. "
                "“{term}” in the record of {owner} is one of them.",
                most=MAX_VOID_LOOKUPS,
                term=term,
                owner=owner,
                details=records,
            )
        case SpfFault.MX_HOSTS:
            return Fail(
                "lookups",
                "“{term}” in the SPF record of {owner} has more than {most} mail servers. Receivers reject it.",
                term=term,
                owner=owner,
                most=MAX_MX_HOSTS,
                details=records,
            )
        case SpfFault.MISSING:
            return Fail(
                "include",
                "“{term}” in the SPF record of {owner} names a domain without an SPF record, so receivers treat it as "
                "an error.",
                term=term,
                owner=owner,
                details=records,
            )
        case SpfFault.REPEATED:
            return Fail(
                "include",
                "The SPF record includes {owner}, which has more than one, so receivers treat it as an error.",
                owner=owner,
                details=records,
            )
    if error.domain == domain:
        return Fail("syntax", "Receivers reject the SPF record because of “{term}”.", term=term, details=records)
    return Fail(
        "syntax",
        "The SPF record includes {owner}, whose record receivers reject because of “{term}”.",
        owner=owner,
        term=term,
        details=records,
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
        return Fail("missing", "{domain} has no DMARC record.", domain=domain)
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
    names = [name for name, _ in pairs if name]
    if len(set(names)) < len(names):
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
    percent = tags.get("pct", "100")
    applied = min(int(percent[:3]), 100) if percent.isascii() and percent.isdecimal() else 100
    # Each tag makes a policy weaker (RFC 9989, section 4.7; RFC 7489, section 6.6.4).
    weakening = "t=y" if tags.get("t") == "y" else "pct=0" if applied == 0 else ""
    if weakening and policy == "quarantine":
        return Warn(
            "applies-to-none",
            "The DMARC policy p={policy} with {weakening} applies to no mail.",
            policy=Word(policy),
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
    return Pass(
        "The DMARC policy p={policy} applies to {share} of forged mail.",
        policy=Word(policy),
        share=Percent(applied),
        details=records,
    )


@check(
    "security-txt",
    name="security.txt is published",
    outcomes={
        "missing": "No security.txt",
        "no-fields": "security.txt has no fields",
        "media-type": "security.txt has the wrong media type",
        "no-contact": "security.txt has no valid contact",
        "no-expiry": "security.txt has no valid expiry date",
        "expired": "security.txt has expired",
        "canonical": "security.txt belongs to another address",
        "charset": "security.txt is not sent as UTF-8",
        "no-space": "security.txt lacks a space after a colon",
        "byte-order-mark": "security.txt begins with a byte order mark",
        "http-link": "security.txt has a link without HTTPS",
        "repeated": "security.txt repeats a field",
        "invalid": "security.txt is invalid",
    },
    why="People who find a vulnerability need a contact, to report it before others exploit it.",
    severity=LOW,
    fix="Serve `/.well-known/security.txt` as `text/plain` with the lines `Contact: mailto:security@example.com` and "
    "`Expires: 2030-01-01T00:00:00Z`, where the time is less than a year away.",
    references=("RFC 9116",),
)
def security_txt(file: SecurityTxt, clock: Clock) -> Verdict:
    if file.response is None:
        return Warn("missing", "There is no /.well-known/security.txt.")
    text = file.response.body.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    fields = [
        (match[1].lower(), match[2])
        for line in text.splitlines()[:500]
        if (match := SECURITY_TXT_FIELD.match(line)) and not match[2].startswith("//")
    ]
    names = {name for name, _ in fields}
    if not names & SECURITY_TXT_FIELDS:
        # Some hosts, such as APIs, answer all paths with the same content.
        return Warn("no-fields", "/.well-known/security.txt has none of the fields of such a file.")
    values = [(name, value.strip()) for name, value in fields]
    faults = [
        *_find_transport_faults(file.response),
        *_find_security_txt_faults(values, clock.now),
        *_find_syntax_faults(fields),
        *_find_canonical_faults(file, values),
    ]
    place = SecurityTxtFile(excerpt(file.response.url), some(sorted(names)))
    if faults:
        return Fail(
            faults[0][0] if len(faults) == 1 else "invalid",
            "{url} is invalid: {faults}.",
            url=Address(file.response.url),
            faults=Values([clause for _, clause in faults], "; "),
            places=[place],
        )
    contacts = Count(sum(name == "contact" for name, _ in fields), "contact")
    return Pass("security.txt names {contacts}.", contacts=contacts, details=[place])


def _find_transport_faults(response: Response) -> Iterator[tuple[str, Clause]]:
    """Yield faults in the file's media type and encoding.

    RFC 9116, section 3; RFC 5198, section 2.
    """
    content_type = response.headers.get("Content-Type") or ""
    media_type = content_type.partition(";")[0].strip().lower()
    if not media_type:
        yield "media-type", Clause.of("it is sent without a media type, not as text/plain")
    elif media_type != "text/plain":
        yield (
            "media-type",
            Clause.of("it is sent as {media_type}, not as text/plain", media_type=Excerpt(media_type, 60)),
        )
    label = charset(content_type)
    if label is not None and encoding_of_label(label) != "utf-8":
        yield "charset", Clause.of("it is sent with the charset {charset}, not utf-8", charset=Excerpt(label, 60))
    elif not is_utf_8(response.body, is_whole=not response.truncated):
        yield "charset", Clause.of("it is not encoded in UTF-8")
    if response.body.startswith(codecs.BOM_UTF8):
        yield "byte-order-mark", Clause.of("it begins with a byte order mark, which hides the first field")


def _find_syntax_faults(fields: Sequence[tuple[str, str]]) -> Iterator[tuple[str, Clause]]:
    """Yield syntax faults in known fields.

    RFC 9116, sections 2.5 and 4.
    """
    for name, value in fields:
        if name in SECURITY_TXT_FIELDS and value and not value.startswith(" "):
            yield "no-space", Clause.of("{field} has no space after the colon", field=Word(name.capitalize()))
            break
    for name, value in fields:
        if name in SECURITY_TXT_LINKS and value.strip().lower().startswith("http:"):
            yield "http-link", Clause.of("{field} is not an https: address", field=Word(name.capitalize()))
            break
    if sum(name == "preferred-languages" for name, _ in fields) > 1:
        yield "repeated", Clause.of("Preferred-Languages is given more than once")


def _find_canonical_faults(file: SecurityTxt, fields: Sequence[tuple[str, str]]) -> Iterator[tuple[str, Clause]]:
    """Yield a fault if the file's address is not among its Canonical fields.

    RFC 9116, section 2.5.2.
    """
    canonicals = [value for name, value in fields if name == "canonical"]
    urls = [Url.parse(text) for text in (file.requested_url, file.response.url if file.response else "")]
    own = {normal_form(url.href) for url in urls if url is not None}
    if canonicals and not any((url := Url.parse(value)) and normal_form(url.href) in own for value in canonicals):
        yield "canonical", Clause.of("Canonical names {url}, not this address", url=Address(canonicals[0]))


def _find_security_txt_faults(fields: Sequence[tuple[str, str]], now: datetime) -> Iterator[tuple[str, Clause]]:
    """Yield the faults of security.txt as (outcome, clause).

    The outcome applies if the file has only one fault.
    """
    contacts = [value for name, value in fields if name == "contact"]
    if not contacts:
        yield "no-contact", Clause.of("Contact is missing")
    elif not any(SECURITY_TXT_CONTACT.fullmatch(value) for value in contacts):
        yield "no-contact", Clause.of("no Contact is a mailto:, https: or tel: address")
    expiries = [value for name, value in fields if name == "expires"]
    if not expiries:
        yield "no-expiry", Clause.of("Expires is missing")
    elif len(expiries) > 1:
        yield "no-expiry", Clause.of("Expires is given more than once")
    elif (moment := _parse_date(expiries[0])) is None:
        yield "no-expiry", Clause.of("Expires cannot be read: “{expires}”", expires=Excerpt(expiries[0], 60))
    elif moment <= now:
        yield "expired", Clause.of("it expired on {day}", day=Word(str(moment.date())))


def _parse_date(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.upper().replace(" ", "T")) if RFC_3339_DATE.fullmatch(text) else None
    except ValueError:
        return None
