"""Checks of the records about signatures of a domain's mail, reports about forged mail, and its logo."""

from __future__ import annotations

from website_scan.catalogue import check
from website_scan.findings import LOW, MEDIUM, NotApplicable
from website_scan.outcomes import Fail, Fix, Language, Note, Pass, Verdict, Warn, outcome
from website_scan.security import bimi as bimi_records
from website_scan.security.checks import mail as mail_checks
from website_scan.security.dkim import MIN_RSA_BITS, RECOMMENDED_RSA_BITS, DkimKey, read_key
from website_scan.security.dmarc import ENFORCED_POLICIES, dmarc_tags, report_addresses
from website_scan.security.dns_places import NO_OWN_DOMAIN, DnsRecord
from website_scan.security.evidence import MailRecords
from website_scan.security.mail_evidence import Bimi, DkimKeys, DmarcReports
from website_scan.security.mail_places import DkimKeyRow, ReportAddressRow
from website_scan.values import Count, Excerpt, Values, Word

CATEGORY = mail_checks.CATEGORY

NO_ANSWER = NotApplicable("The name servers of this installation did not answer.")


@check(
    "dkim",
    name="DKIM keys exist and are strong",
    outcomes={
        "missing": "No DKIM key",
        "weak": outcome("DKIM key is too weak for receivers", MEDIUM),
        "invalid": outcome("DKIM key is invalid", MEDIUM),
        "short": "DKIM key is short",
        "test-mode": "DKIM key is in test mode",
    },
    why="Without a valid signature, receivers cannot tell genuine mail that was forwarded from forged mail.",
    severity=LOW,
    fix=Fix(
        "Switch on DKIM at the service that sends your mail, with a key of 2048 bits, and publish the record that the "
        "service shows.",
        {Language.DNS: 'SELECTOR._domainkey.example.com. TXT "v=DKIM1; k=rsa; p=PUBLIC-KEY"'},
    ),
    judged="Names of keys (selectors) are secret, so a scan can only see whether names below `_domainkey` exist, and "
    "read the keys whose names a mail service gives to all customers. Services are recognised by MX and SPF records; "
    "the file `website_scan/security/dkim_selectors.toml` lists them. Revoked keys are no fault.",
    references=("RFC 6376", "RFC 8301", "RFC 8020"),
)
def dkim(mail: MailRecords, dkim: DkimKeys) -> Verdict:
    if dkim.domain is None:
        return NO_OWN_DOMAIN
    if not mail.sends_mail:
        return NotApplicable("The domain sends no mail.")
    domain = Excerpt(dkim.domain)
    keys = [read_key(selector, record) for selector, records in dkim.records.items() for record in records]
    rows = DkimKeyRow.of(keys)
    if (fault := _find_key_fault(keys)) is not None:
        return fault
    if keys:
        return Pass(
            "{domain} has {keys} under {selectors}.",
            domain=domain,
            keys=Count(len(keys), "DKIM key"),
            selectors=Values([Excerpt(selector) for selector in dkim.records]),
            details=rows,
        )
    if not dkim.code:
        return NO_ANSWER
    if dkim.has_wildcard:
        return NotApplicable("Not visible from outside: a wildcard record answers for all names, also those of keys.")
    if dkim.code == "NOERROR":
        return Pass("{domain} has names for DKIM keys. The keys are not visible without their names.", domain=domain)
    if dkim.code != "NXDOMAIN":
        return NO_ANSWER
    return Warn("missing", "{domain} has no name below _domainkey, so it has no DKIM key.", domain=domain)


def _find_key_fault(keys: list[DkimKey]) -> Verdict | None:
    used = [key for key in keys if not key.is_revoked]
    invalid = [key for key in used if key.fault]
    weak = [key for key in used if key.has_only_sha1 or 0 < key.bits < MIN_RSA_BITS]
    short = [key for key in used if 0 < key.bits < RECOMMENDED_RSA_BITS]
    testing = [key for key in used if key.is_testing]
    if weak:
        return Fail(
            "weak",
            "Receivers reject {keys}: an RSA key needs at least {least} bits, and SHA-256.",
            keys=Count(len(weak), "DKIM key"),
            least=MIN_RSA_BITS,
            places=DkimKeyRow.of(weak),
        )
    if invalid:
        return Fail(
            "invalid",
            "Receivers cannot use {keys}: {fault}.",
            keys=Count(len(invalid), "DKIM key"),
            fault=Word(invalid[0].fault),
            places=DkimKeyRow.of(invalid),
        )
    if short:
        return Warn(
            "short",
            "{keys} {keys:has|have} fewer than {least} bits.",
            keys=Count(len(short), "DKIM key"),
            least=RECOMMENDED_RSA_BITS,
            places=DkimKeyRow.of(short),
        )
    if testing:
        return Note(
            "test-mode",
            "{keys} {keys:is|are} in test mode (t=y), so receivers treat signed mail as unsigned.",
            keys=Count(len(testing), "DKIM key"),
            places=DkimKeyRow.of(testing),
        )
    return None


@check(
    "dmarc-reports",
    name="DMARC reports reach you",
    outcomes={
        "missing": "No address for DMARC reports",
        "invalid": "Address for DMARC reports is invalid",
        "refused": "Domain of the address does not accept DMARC reports",
    },
    why="Without reports, you do not learn who sends mail in the domain's name, nor which of your mail fails.",
    severity=LOW,
    fix=Fix(
        "Put `mailto:` before each address, and commas between addresses. If reports go to another domain, such as "
        "example.net, that domain has to publish the TXT record `v=DMARC1` at "
        "`example.com._report._dmarc.example.net`.",
        {Language.DNS: '_dmarc.example.com. TXT "v=DMARC1; p=reject; rua=mailto:reports@example.net"'},
    ),
    judged="A missing address does not affect the score. The first two domains elsewhere are looked up.",
    references=("RFC 9990, section 4", "RFC 9991"),
)
def dmarc_reports(mail: MailRecords, reports: DmarcReports) -> Verdict:
    if reports.domain is None:
        return NO_OWN_DOMAIN
    if len(mail.dmarc) != 1:
        return NotApplicable("The domain has no DMARC record, or more than one.")
    domain, addresses = Excerpt(reports.domain), report_addresses(mail.dmarc[0])
    rows = ReportAddressRow.of(addresses, reports.consents)
    if invalid := [address for address in addresses if not address.host]:
        return Warn(
            "invalid",
            "Receivers send no DMARC reports to {addresses} that {addresses:does|do} not have the form mailto:address.",
            addresses=Count(len(invalid), "address", "addresses"),
            places=ReportAddressRow.of(invalid, {}),
        )
    if refused := [address for address in addresses if reports.consents.get(address.host) is False]:
        return Warn(
            "refused",
            "{host} has no record {record}, so receivers send it no reports.",
            host=Excerpt(refused[0].host),
            record=Excerpt(f"{reports.domain}._report._dmarc.{refused[0].host}", 255),
            places=ReportAddressRow.of(refused, reports.consents),
        )
    if any(address.tag == "rua" for address in addresses):
        return Pass(
            "{domain} receives DMARC reports at {addresses}.",
            domain=domain,
            addresses=Count(len(addresses), "address", "addresses"),
            details=rows,
        )
    if not mail.sends_mail:
        return NotApplicable("The domain sends no mail.")
    return Note("missing", "The DMARC record of {domain} has no address for reports (rua).", domain=domain)


@check(
    "bimi",
    name="BIMI logo can be shown",
    outcomes={
        "invalid": "BIMI record is invalid",
        "dmarc": "BIMI without an enforced DMARC policy",
        "logo": "BIMI logo cannot be shown",
    },
    why="Mail programs show a brand's logo only if record, DMARC policy and image follow their rules.",
    severity=LOW,
    fix=Fix(
        "Publish an SVG image with the profile Tiny Portable/Secure, and enforce DMARC for all mail and subdomains.",
        {
            Language.DNS: 'default._bimi.example.com. TXT "v=BIMI1; l=https://example.com/logo.svg; '
            'a=https://example.com/certificate.pem"'
        },
    ),
    judged="A domain without a BIMI record is not judged.",
    references=("BIMI draft", "RFC 9989"),
)
def bimi(mail: MailRecords, evidence: Bimi) -> Verdict:
    if evidence.domain is None:
        return NO_OWN_DOMAIN
    if not evidence.records:
        return NotApplicable("The domain has no BIMI record.")
    rows = DnsRecord.from_records("TXT", evidence.records)
    if len(evidence.records) > 1:
        return Warn("invalid", "The domain has more than one BIMI record.", details=rows)
    if fault := bimi_records.record_fault(evidence.records[0]):
        return Warn("invalid", "Mail programs ignore the BIMI record: {fault}.", fault=Word(fault), details=rows)
    if not bimi_records.logo_url(evidence.records[0]):
        return Pass("The BIMI record says that the domain has no logo.", details=rows)
    if not _enforces_dmarc(mail):
        return Warn("dmarc", "The DMARC policy is not enforced for all mail and subdomains.", details=rows)
    if evidence.logo is None or evidence.logo.status != 200:
        reason = evidence.error if evidence.logo is None else f"the status is {evidence.logo.status}."
        return Warn("logo", "The logo cannot be loaded: {reason}", reason=Excerpt(reason, 200), details=rows)
    if fault := bimi_records.logo_fault(evidence.logo.body):
        return Warn("logo", "Mail programs refuse the logo: {fault}.", fault=Word(fault), details=rows)
    return Pass("Mail programs can show the logo of the BIMI record.", details=rows)


def _enforces_dmarc(mail: MailRecords) -> bool:
    if len(mail.dmarc) != 1:
        return False
    tags = dict(dmarc_tags(mail.dmarc[0]))
    policies = {tags.get("p", "none"), tags.get("sp", tags.get("p", "none"))}
    is_partial = tags.get("p") == "quarantine" and tags.get("pct", "100") != "100"
    return policies <= ENFORCED_POLICIES and not is_partial and tags.get("t") != "y"
