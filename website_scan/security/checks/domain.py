"""DNS and mail checks: protection of the registered domain against forged certificates, DNS answers and mail."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar, Self

from website_scan.catalogue import Category, check
from website_scan.findings import LOW, NotApplicable
from website_scan.messages import excerpt, some
from website_scan.outcomes import Fail, Fix, Language, Pass, Verdict, Warn
from website_scan.page.evidence import Clock
from website_scan.places import Column, Place, PlaceUrl
from website_scan.security.evidence import CaaRecords, DnssecRecords, MailRecords, SecurityTxt
from website_scan.values import Address, Clause, Count, Excerpt, Percent, Values, Word

CATEGORY = Category("DNS and mail", weight=5)

NO_OWN_DOMAIN = NotApplicable("The host is an IP address, or its DNS belongs to a hosting service.")
SPF_ALL = re.compile(r"(?:^| )([-~?+]?)all(?: |$)", re.IGNORECASE)
SPF_REDIRECT = re.compile(r"(?:^| )redirect=\S", re.IGNORECASE)
# Only issue properties restrict ordinary certificates; others are for wildcards, mail or logos (RFC 8659, section 4).
CAA_ISSUE = re.compile(r"\d{1,3} issue ", re.IGNORECASE)
SECURITY_TXT_FIELD = re.compile(r"([A-Za-z][A-Za-z-]{0,40}):[ \t]*(.*)")
SECURITY_TXT_FIELDS = frozenset(
    {"acknowledgments", "canonical", "contact", "encryption", "expires", "hiring", "policy", "preferred-languages"}
)
SECURITY_TXT_CONTACT = re.compile(r"(?:mailto:[^\s@]+@[^\s@]+|https://\S+|tel:\S+)", re.IGNORECASE)
# RFC 3339, section 5.6.
RFC_3339_DATE = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)")


@dataclass(frozen=True, slots=True)
class DnsRecord(Place):
    """DNS record of the domain. The finding concerns all records of the type together."""

    kind: ClassVar[str] = "dns-record"

    type: Annotated[str, Column("Type", "short")]
    record: Annotated[str, Column("Record", "code")]

    @classmethod
    def of(cls, type: str, records: Sequence[str]) -> list[Self]:
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
    records = DnsRecord.of("CAA", caa_records.records)
    name = Excerpt(caa_records.name)
    if not any(CAA_ISSUE.match(record) for record in caa_records.records):
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
    domain, records = Excerpt(mail.domain), DnsRecord.of("TXT", mail.spf)
    if not mail.spf:
        # The MX record "." declares that the domain receives no mail (RFC 7505).
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
    ending = SPF_ALL.search(mail.spf[0])
    if ending is None and SPF_REDIRECT.search(mail.spf[0]):
        return Pass("The SPF record redirects to another domain's.", details=records)
    if ending is not None and ending[1] in ("", "+"):
        return Fail("allows-all", "The SPF record ends with +all, which allows every sender.", details=records)
    if ending is None or ending[1] == "?":
        return Warn("unrestricted", "The SPF record does not end with -all or ~all.", details=records)
    return Pass("The SPF record ends with {ending}.", ending=Word(f"{ending[1]}all"), details=records)


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
    references=("RFC 7489",),
)
def dmarc(mail: MailRecords) -> Verdict:
    if mail.domain is None:
        return NO_OWN_DOMAIN
    domain, records = Excerpt(mail.domain), DnsRecord.of("TXT", mail.dmarc)
    if not records:
        return Fail("missing", "{domain} has no DMARC record.", domain=domain)
    if len(records) > 1:
        return Fail(
            "repeated",
            "{domain} has {records}, so receivers apply none.",
            domain=domain,
            records=Count(len(records), "DMARC record"),
            details=records,
        )
    tags = dict(_dmarc_tags(mail.dmarc[0]))
    policy = tags.get("p", "")
    # Without a valid p, a record with an address for reports counts as p=none (RFC 7489, section 6.6.3).
    if policy not in ("none", "quarantine", "reject") and "mailto:" in tags.get("rua", ""):
        return Warn("invalid", "The DMARC record has no valid p, which receivers treat as p=none.", details=records)
    if policy == "none":
        return Warn("monitors-only", "The DMARC policy p=none only monitors.", details=records)
    if policy not in ("quarantine", "reject"):
        return Fail("invalid", "The DMARC record has no valid p, so it does not count.", details=records)
    percent = tags.get("pct", "100")
    applied = min(int(percent[:3]), 100) if percent.isdecimal() else 100
    if applied == 0:
        return Warn(
            "applies-to-none",
            "The DMARC policy p={policy} with pct=0 applies to no mail.",
            policy=Word(policy),
            details=records,
        )
    return Pass(
        "The DMARC policy p={policy} applies to {share} of forged mail.",
        policy=Word(policy),
        share=Percent(applied),
        details=records,
    )


def _dmarc_tags(record: str) -> list[tuple[str, str]]:
    parts = (part.partition("=") for part in record.split(";"))
    return [(name.strip().lower(), value.strip().lower()) for name, _, value in parts]


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
    text = file.response.body.decode("utf-8", "replace")
    fields = [
        (match[1].lower(), match[2].strip())
        for line in text.splitlines()[:500]
        if (match := SECURITY_TXT_FIELD.match(line))
    ]
    names = {name for name, _ in fields}
    if not names & SECURITY_TXT_FIELDS:
        # Some hosts, such as APIs, answer every path with the same content.
        return Warn("no-fields", "/.well-known/security.txt has none of the fields of such a file.")
    media_type = (file.response.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    faults = list(_security_txt_faults(media_type, fields, clock.now))
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


def _security_txt_faults(
    media_type: str, fields: Sequence[tuple[str, str]], now: datetime
) -> Iterator[tuple[str, Clause]]:
    """Yield (outcome, clause) for each fault of security.txt. The outcome applies if the file has no other fault."""
    if not media_type:
        yield "media-type", Clause.of("it is sent without a media type, not as text/plain")
    elif media_type != "text/plain":
        yield (
            "media-type",
            Clause.of("it is sent as {media_type}, not as text/plain", media_type=Excerpt(media_type, 60)),
        )
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
