"""DNS and mail checks: protection of the registered domain against forged certificates, DNS answers and mail."""

from __future__ import annotations

import re
from datetime import datetime

from website_scan.catalogue import Category, check
from website_scan.findings import LOW, EvidenceItem, Fail, Finding, NotApplicable, Pass, Warn
from website_scan.messages import counted, excerpt, some
from website_scan.page.evidence import Clock
from website_scan.security.evidence import CaaRecords, DnssecRecords, MailRecords, SecurityTxt

CATEGORY = Category("DNS and mail", weight=5)

NOT_OWN = NotApplicable("The host is an IP address, or its DNS belongs to a hosting service.")
ALL = re.compile(r"(?:^| )([-~?+]?)all(?: |$)", re.IGNORECASE)
REDIRECT = re.compile(r"(?:^| )redirect=\S", re.IGNORECASE)
# Only issue records restrict ordinary certificates, not those for wildcards, mail or logos (RFC 8659, section 4).
ISSUE = re.compile(r"\d{1,3} issue ", re.IGNORECASE)
FIELD = re.compile(r"([A-Za-z][A-Za-z-]{0,40}):[ \t]*(.*)")
FIELDS = frozenset(
    {"acknowledgments", "canonical", "contact", "encryption", "expires", "hiring", "policy", "preferred-languages"}
)
CONTACT = re.compile(r"(?:mailto:[^\s@]+@[^\s@]+|https://\S+|tel:\S+)", re.IGNORECASE)
# RFC 3339, section 5.6.
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)")


def _records(kind: str, records: tuple[str, ...]) -> list[EvidenceItem]:
    return [{"type": kind, "record": excerpt(record, 300)} for record in records]


@check(
    "caa",
    name="Certificate authorities restricted (CAA)",
    found="No CAA record",
    why="Without an issue property in a CAA record, any certificate authority may issue certificates for the domain.",
    severity=LOW,
    fix='Publish a record for the authority that you use: example.com. CAA 0 issue "letsencrypt.org"',
    references=("RFC 8659",),
)
def caa(found: CaaRecords) -> Finding:
    if found.domain is None:
        return NOT_OWN
    if not found.records:
        return Warn(f"{found.domain} has no CAA record.")
    if not any(ISSUE.match(record) for record in found.records):
        return Warn(
            f"The CAA records of {found.name} have no issue property.",
            evidence=_records("CAA", found.records),
            title="CAA records have no issue property",
        )
    return Pass(f"{counted(len(found.records), 'CAA record')} at {found.name}.", _records("CAA", found.records))


@check(
    "dnssec",
    name="DNSSEC is enabled",
    found="DNSSEC is not enabled",
    why="Without valid signatures, resolvers cannot tell a forged DNS answer from a genuine one.",
    severity=LOW,
    fix="Enable DNSSEC at your DNS provider, and give its DS record to your registrar.",
    references=("RFC 4033", "RFC 9364"),
)
def dnssec(found: DnssecRecords) -> Finding:
    if found.domain is None:
        return NOT_OWN
    if found.is_authenticated or (found.ds and found.dnskey):
        return Pass(f"{found.domain} is signed.")
    if found.ds:
        return Warn(
            f"{found.domain} has a DS record at its parent, but no DNSKEY, so validating resolvers reject it.",
            title="DNSSEC keys are missing",
        )
    if found.dnskey:
        return Warn(
            f"{found.domain} has keys, but no DS record at its parent, so resolvers do not validate its signatures.",
            title="DNSSEC has no DS record",
        )
    return Warn(f"{found.domain} is not signed.")


@check(
    "spf",
    name="SPF restricts who may send mail",
    found="No SPF record",
    why="Without a valid, strict record, receivers cannot tell which servers may send mail in the domain's name.",
    severity=LOW,
    fix='Publish a TXT record: "v=spf1 include:YOUR-PROVIDER -all", or "v=spf1 -all" where the domain sends no mail.',
    references=("RFC 7208",),
)
def spf(mail: MailRecords) -> Finding:
    if mail.domain is None:
        return NOT_OWN
    evidence = _records("TXT", mail.spf)
    if not mail.spf:
        # An MX record of a lone dot says that the domain receives no mail (RFC 7505).
        receives = any(record.split()[-1:] != ["."] for record in mail.mx)
        if receives:
            return Fail(f"{mail.domain} has no SPF record.")
        return Fail(
            f"{mail.domain}, which receives no mail, has no SPF record.",
            fix='If the domain sends no mail either, publish the TXT record "v=spf1 -all".',
        )
    if len(mail.spf) > 1:
        return Fail(
            f"{mail.domain} has {len(mail.spf)} SPF records; receivers treat that as an error and apply none.",
            evidence=evidence,
            title="More than one SPF record",
        )
    ending = ALL.search(mail.spf[0])
    if ending is None and REDIRECT.search(mail.spf[0]):
        return Pass("The SPF record redirects to another domain's.", evidence)
    if ending is not None and ending[1] in ("", "+"):
        return Fail(
            "The SPF record ends with +all, which allows every sender.",
            evidence=evidence,
            title="SPF allows every sender",
        )
    if ending is None or ending[1] == "?":
        return Warn(
            "The SPF record does not end with -all or ~all.",
            evidence=evidence,
            title="SPF does not restrict senders",
        )
    return Pass(f"The SPF record ends with {ending[1]}all.", evidence)


@check(
    "dmarc",
    name="DMARC policy is enforced",
    found="No DMARC record",
    why="Without an enforced policy, receivers may deliver mail that only claims to come from the domain.",
    severity=LOW,
    fix='Publish a TXT record at _dmarc: "v=DMARC1; p=quarantine; rua=mailto:you@example.com", later p=reject.',
    references=("RFC 7489",),
)
def dmarc(mail: MailRecords) -> Finding:
    if mail.domain is None:
        return NOT_OWN
    evidence = _records("TXT", mail.dmarc)
    if len(mail.dmarc) != 1:
        what = "no DMARC record" if not mail.dmarc else f"{len(mail.dmarc)} DMARC records, of which none counts"
        title = "More than one DMARC record" if mail.dmarc else ""
        return Fail(f"{mail.domain} has {what}.", evidence=evidence, title=title)
    tags = dict(_tags(mail.dmarc[0]))
    policy = tags.get("p", "")
    # Without a valid p, a record that asks for reports counts as p=none (RFC 7489, section 6.6.3).
    if policy not in ("none", "quarantine", "reject") and "mailto:" in tags.get("rua", ""):
        return Warn(
            "The DMARC record has no valid p, which receivers treat as p=none.",
            evidence=evidence,
            title="DMARC policy is invalid",
        )
    if policy == "none":
        return Warn("The DMARC policy p=none only monitors.", evidence=evidence, title="DMARC policy only monitors")
    if policy not in ("quarantine", "reject"):
        return Fail(
            "The DMARC record has no valid p, so it does not count.", evidence=evidence, title="DMARC policy is invalid"
        )
    percent = tags.get("pct", "100")
    if percent.isdecimal() and int(percent[:3]) == 0:
        return Warn(
            f"The DMARC policy p={policy} with pct=0 applies to no mail.",
            evidence=evidence,
            title="DMARC policy applies to no mail",
        )
    if percent.isdecimal() and int(percent[:3]) < 100:
        return Pass(f"p={policy} for {int(percent[:3])}% of forged mail.", evidence)
    return Pass(f"p={policy} for all forged mail.", evidence)


def _tags(record: str) -> list[tuple[str, str]]:
    parts = (part.partition("=") for part in record.split(";"))
    return [(name.strip().lower(), value.strip().lower()) for name, _, value in parts]


@check(
    "security-txt",
    name="security.txt is published",
    found="No security.txt",
    why="People who find a vulnerability need a contact, to report it before others exploit it.",
    severity=LOW,
    fix="Serve /.well-known/security.txt as text/plain with the lines Contact: mailto:security@example.com and "
    "Expires: 2030-01-01T00:00:00Z, a time within a year.",
    references=("RFC 9116",),
)
def security_txt(file: SecurityTxt, clock: Clock) -> Finding:
    if file.response is None:
        return Warn("There is no /.well-known/security.txt.")
    text = file.response.body.decode("utf-8", "replace")
    fields = [(found[1].lower(), found[2].strip()) for line in text.splitlines()[:500] if (found := FIELD.match(line))]
    if not {name for name, _ in fields} & FIELDS:
        # Hosts that answer every request with the same content, such as APIs, have no such file.
        return Warn(
            "/.well-known/security.txt has none of the fields of such a file.", title="security.txt has no fields"
        )
    faults = []
    media_type = (file.response.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    if media_type != "text/plain":
        sent = f"as {excerpt(media_type, 60)}" if media_type else "without a media type"
        faults.append(f"it is sent {sent}, not as text/plain")
    contacts = [value for name, value in fields if name == "contact"]
    if not contacts:
        faults.append("Contact is missing")
    elif not any(CONTACT.fullmatch(value) for value in contacts):
        faults.append("no Contact is a mailto:, https: or tel: address")
    faults += _expiry_faults([value for name, value in fields if name == "expires"], clock.now)
    evidence = [{"url": excerpt(file.response.url), "fields": some(sorted({name for name, _ in fields}))}]
    if faults:
        return Fail(
            f"security.txt is invalid: {'; '.join(faults)}.", evidence=evidence, title="security.txt is invalid"
        )
    return Pass(f"security.txt names {counted(len(contacts), 'contact')}.", evidence)


def _expiry_faults(values: list[str], now: datetime) -> list[str]:
    if len(values) != 1:
        return ["Expires is missing" if not values else "Expires is given more than once"]
    if not MOMENT.fullmatch(values[0]):
        return [f"Expires can't be read: “{excerpt(values[0], 60)}”"]
    try:
        moment = datetime.fromisoformat(values[0].upper().replace(" ", "T"))
    except ValueError:
        return [f"Expires can't be read: “{excerpt(values[0], 60)}”"]
    return [f"it expired on {moment.date()}"] if moment <= now else []
