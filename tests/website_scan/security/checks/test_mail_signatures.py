from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.targets.domains.mail_zones import dkim_record
from tests.website_scan.cast import message, outcome, response, rows, severity_of, verdict
from website_scan.security.checks import mail_signatures as checks
from website_scan.security.dkim import is_key_record, mail_services, read_key, usual_selectors
from website_scan.security.dmarc import report_addresses
from website_scan.security.evidence import MailRecords
from website_scan.security.mail_evidence import Bimi, DkimKeys, DmarcReports

DOMAIN = "example.com"
SENDING = MailRecords(DOMAIN, ("10 mail.example.com.",), ("v=spf1 mx -all",), ("v=DMARC1; p=reject",))
LOGO = b'<svg version="1.2" baseProfile="tiny-ps" xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>'
BIMI_RECORD = "v=BIMI1; l=https://example.com/logo.svg; a=https://example.com/certificate.pem"


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (dkim_record(2048), ("pass", "pass")),
        (dkim_record(2048).removeprefix("v=DKIM1; "), ("pass", "pass")),
        (dkim_record(2048).replace("k=rsa; ", ""), ("pass", "pass")),
        (dkim_record(0), ("pass", "pass")),
        (dkim_record(2048, "; t=s; n=note"), ("pass", "pass")),
        (dkim_record(2048, "; h=sha1:sha256"), ("pass", "pass")),
        (dkim_record(2048).replace("p=", "p= ").replace("MII", "MII \t"), ("pass", "pass")),
        ("v=DKIM1; p=", ("pass", "pass")),
        (dkim_record(1024), ("warn", "short")),
        (dkim_record(512), ("fail", "weak")),
        (dkim_record(2048, "; h=sha1"), ("fail", "weak")),
        (dkim_record(2048, "; t=y:s"), ("warn", "test-mode")),
        (dkim_record(2048)[:300], ("fail", "invalid")),
        (dkim_record(2048).replace("MII", "M*I"), ("fail", "invalid")),
        (dkim_record(2048).replace("k=rsa", "k=ed25519"), ("fail", "invalid")),
        (dkim_record(2048).replace("k=rsa", "k=ecdsa"), ("fail", "invalid")),
        (dkim_record(2048, "; p=AAAA"), ("fail", "invalid")),
        ("k=rsa; v=DKIM1; p=AAAA", ("fail", "invalid")),
    ],
    # The keys are new in each process.
    ids=lambda value: value[-1] if isinstance(value, tuple) else "record",
)
def test_dkim_key_is_read_by_its_grammar(record: str, expected: tuple[str, str]) -> None:
    """RFC 6376, section 3.6.1; RFC 8301; RFC 8463."""
    finding = checks.dkim(SENDING, DkimKeys(DOMAIN, "NOERROR", {"mail": (record,)}))
    assert (verdict(finding), outcome(finding)) == expected
    assert rows(finding)[0]["selector"] == "mail"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (DkimKeys(DOMAIN, "NXDOMAIN"), "missing"),
        (DkimKeys(DOMAIN, "NOERROR"), "pass"),
        (DkimKeys(DOMAIN, "NOERROR", has_wildcard=True), "n/a"),
        (DkimKeys(DOMAIN, "SERVFAIL"), "n/a"),
        (DkimKeys(DOMAIN, ""), "n/a"),
        (DkimKeys(None), "n/a"),
        # Some name servers answer NXDOMAIN for a name that has only names below it, against RFC 8020.
        (DkimKeys(DOMAIN, "NXDOMAIN", {"google": (dkim_record(2048),)}), "pass"),
    ],
)
def test_existence_of_dkim_keys_is_seen_by_names(keys: DkimKeys, expected: str) -> None:
    assert outcome(checks.dkim(SENDING, keys)) == expected


@pytest.mark.parametrize(
    "mail",
    [
        MailRecords(DOMAIN, ("0 .",)),
        MailRecords(DOMAIN, ("10 mx.example.com.",), ("v=spf1 -all",)),
        MailRecords(DOMAIN),
    ],
)
def test_domain_that_sends_no_mail_needs_no_key(mail: MailRecords) -> None:
    assert outcome(checks.dkim(mail, DkimKeys(DOMAIN, "NXDOMAIN"))) == "n/a"


def test_worst_key_is_reported() -> None:
    keys = {"old": (dkim_record(1024),), "new": (dkim_record(2048),), "weak": (dkim_record(512),)}
    finding = checks.dkim(SENDING, DkimKeys(DOMAIN, "NOERROR", keys))
    assert outcome(finding) == "weak"
    assert severity_of(checks.dkim, finding) == "medium"
    assert rows(finding) == [{"selector": "weak", "type": "rsa", "bits": 512}]


def test_other_texts_are_no_key_records() -> None:
    assert is_key_record("p=MII")
    assert not is_key_record("v=spf1 -all")
    assert not is_key_record("v=DKIM2; p=MII")
    assert not is_key_record("o=~; r=postmaster@example.com")


def test_selectors_belong_to_services_of_domain() -> None:
    names = ["in1-smtp.messagingengine.com", "_spf.google.com"]
    assert usual_selectors(names) == ["google", "fm1", "fm2", "fm3"]
    assert usual_selectors(["notgoogle.com", "google.com.example"]) == []


def test_mail_services_have_sources() -> None:
    for service in mail_services():
        assert service.source.startswith("https://")
        assert service.domains
        assert service.selectors


@given(st.text(max_size=200))
def test_key_parser_accepts_any_text(text: str) -> None:
    read_key("selector", text)
    report_addresses(text)


@pytest.mark.parametrize(
    ("record", "consents", "expected"),
    [
        ("rua=mailto:a@example.com", {}, ("pass", "pass")),
        ("rua=mailto:a@example.com,mailto:b@example.com", {}, ("pass", "pass")),
        ("rua=mailto:a@example.com , mailto:b@example.com!10m", {}, ("pass", "pass")),
        ("rua=MAILTO:a@example.com", {}, ("pass", "pass")),
        ("rua=mailto:a@example.com?subject=x", {}, ("pass", "pass")),
        ("rua=https://example.com/dmarc,mailto:a@example.com", {}, ("pass", "pass")),
        ("rua=mailto:a@example.net", {"example.net": True}, ("pass", "pass")),
        ("rua=mailto:a@example.net", {"example.net": None}, ("pass", "pass")),
        ("rua=mailto:a@example.net", {"example.net": False}, ("warn", "refused")),
        ("rua=mailto:a@example.com; ruf=mailto:a@example.net", {"example.net": False}, ("warn", "refused")),
        ("rua=a@example.com", {}, ("warn", "invalid")),
        ("rua=mailto:a@example.com mailto:b@example.com", {}, ("warn", "invalid")),
        ("rua=mailto:example.com", {}, ("warn", "invalid")),
        ("rua=mailto:a@example.com; ruf=b", {}, ("warn", "invalid")),
        ("", {}, ("warn", "missing")),
        ("ruf=mailto:a@example.com", {}, ("warn", "missing")),
    ],
)
def test_dmarc_reports_have_addresses_that_accept_them(
    record: str, consents: dict[str, bool | None], expected: tuple[str, str]
) -> None:
    """RFC 9990, section 4, and RFC 9991."""
    mail = MailRecords(DOMAIN, ("10 mx.example.com.",), dmarc=(f"v=DMARC1; p=reject; {record}",))
    finding = checks.dmarc_reports(mail, DmarcReports(DOMAIN, consents))
    assert (verdict(finding), outcome(finding)) == expected


def test_missing_consent_is_named() -> None:
    mail = MailRecords(DOMAIN, dmarc=("v=DMARC1; p=reject; rua=mailto:a@example.net",))
    finding = checks.dmarc_reports(mail, DmarcReports(DOMAIN, {"example.net": False}))
    assert "example.com._report._dmarc.example.net" in message(finding)
    assert rows(finding) == [
        {"address": "mailto:a@example.net", "tag": "rua", "consent": "does not accept reports"},
    ]


@pytest.mark.parametrize(
    ("dmarc", "expected"),
    [
        ("v=DMARC1; p=reject", "pass"),
        ("v=DMARC1; p=quarantine; sp=reject", "pass"),
        ("v=DMARC1; p=none", "dmarc"),
        ("v=DMARC1; p=reject; sp=none", "dmarc"),
        ("v=DMARC1; p=quarantine; pct=50", "dmarc"),
        ("v=DMARC1; p=reject; t=y", "dmarc"),
    ],
)
def test_bimi_needs_enforced_dmarc(dmarc: str, expected: str) -> None:
    mail = MailRecords(DOMAIN, dmarc=(dmarc,))
    finding = checks.bimi(mail, Bimi(DOMAIN, (BIMI_RECORD,), response(body=LOGO)))
    assert outcome(finding) == expected


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (Bimi(DOMAIN, ()), "n/a"),
        (Bimi(DOMAIN, None), "n/a"),
        (Bimi(None), "n/a"),
        (Bimi(DOMAIN, (BIMI_RECORD, BIMI_RECORD)), "invalid"),
        (Bimi(DOMAIN, ("v=BIMI1;",)), "invalid"),
        (Bimi(DOMAIN, ("v=BIMI1; l=http://example.com/logo.svg",)), "invalid"),
        (Bimi(DOMAIN, ("v=BIMI1; l=https://example.com/logo.svg; a=http://example.com/a.pem",)), "invalid"),
        (Bimi(DOMAIN, ("v=BIMI1; l=; a=;",)), "pass"),
        (Bimi(DOMAIN, (BIMI_RECORD,), None, "The host does not answer."), "logo"),
        (Bimi(DOMAIN, (BIMI_RECORD,), response(status=404)), "logo"),
        (Bimi(DOMAIN, (BIMI_RECORD,), response(body=b"\x89PNG")), "logo"),
        (Bimi(DOMAIN, (BIMI_RECORD,), response(body=LOGO.replace(b"tiny-ps", b"tiny"))), "logo"),
        (Bimi(DOMAIN, (BIMI_RECORD,), response(body=LOGO.replace(b"<path", b"<image"))), "logo"),
    ],
)
def test_bimi_logo_follows_its_profile(evidence: Bimi, expected: str) -> None:
    assert outcome(checks.bimi(SENDING, evidence)) == expected
