from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.cast import message, outcome, rows, severity_of, verdict
from tests.website_scan.security.cast import NOW, response
from website_scan.findings import LOW
from website_scan.outcomes import Fail
from website_scan.page.evidence import Clock
from website_scan.page.registrable_domain import own_domain
from website_scan.security.checks import domain as checks
from website_scan.security.evidence import CaaRecords, DnssecRecords, MailRecords, SecurityTxt

CLOCK = Clock(NOW)
DOMAIN = "example.com"
GOOD = "Contact: mailto:security@example.com\nExpires: 2027-01-01T00:00:00Z\n"


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (('0 issue "letsencrypt.org"',), "pass"),
        (('0 issue "ca.example.net"', '128 issuewild ";"'), "pass"),
        (('128 issuewild ";"', '0 iodef "mailto:a@example.com"'), "no-issue"),  # restricts wildcards only
        (('0 issuemail ";"', '0 issuevmc ";"'), "no-issue"),
        (('0 issue ";"',), "pass"),  # no authority may issue
        (('0 iodef "mailto:a@example.com"',), "no-issue"),
        ((), "missing"),
    ],
)
def test_caa(records: tuple[str, ...], expected: str) -> None:
    finding = checks.caa(CaaRecords(DOMAIN, DOMAIN, records))
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "warn")
    assert rows(finding) == [{"type": "CAA", "record": record} for record in records]


@pytest.mark.parametrize(
    ("dnssec_records", "expected"),
    [
        (DnssecRecords(DOMAIN, is_authenticated=True), "pass"),
        (DnssecRecords(DOMAIN, ds=("1 13 2 AB",), dnskey=("257 3 13 AB",)), "pass"),
        (DnssecRecords(DOMAIN, ds=("1 13 2 AB",)), "no-keys"),
        (DnssecRecords(DOMAIN, dnskey=("257 3 13 AB",)), "no-ds"),  # signed, but the parent does not vouch for the key
        (DnssecRecords(DOMAIN), "off"),
    ],
)
def test_dnssec(dnssec_records: DnssecRecords, expected: str) -> None:
    finding = checks.dnssec(dnssec_records)
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "warn")


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (("v=spf1 include:_spf.example.net -all",), "pass"),
        (("v=spf1 mx ~ALL",), "pass"),
        (("v=spf1 -all",), "pass"),
        (("v=spf1 redirect=_spf.example.net",), "pass"),
        (("v=spf1 include:_spf.example.net",), "unrestricted"),
        (("v=spf1 a ?all",), "unrestricted"),
        (("v=spf1 include:all.example.net",), "unrestricted"),  # not the mechanism “all”
        (("v=spf1 +all",), "allows-all"),
        (("v=spf1 a all",), "allows-all"),
        (("v=spf1 -all", "v=spf1 ~all"), "repeated"),
        ((), "missing"),
    ],
)
def test_spf(records: tuple[str, ...], expected: str) -> None:
    finding = checks.spf(MailRecords(DOMAIN, ("10 mx.example.com.",), records))
    assert outcome(finding) == expected
    assert verdict(finding) == {"pass": "pass", "unrestricted": "warn"}.get(expected, "fail")
    assert rows(finding) == [{"type": "TXT", "record": record} for record in records]


def test_dnssec_message_names_missing_ds_record() -> None:
    assert "no DS record" in message(checks.dnssec(DnssecRecords(DOMAIN, dnskey=("257 3 13 AB",))))


@pytest.mark.parametrize("mx", [(), ("0 .",)])
def test_spf_fix_for_domain_without_mail_is_minus_all_record(mx: tuple[str, ...]) -> None:
    finding = checks.spf(MailRecords(DOMAIN, mx))
    assert isinstance(finding, Fail)
    assert outcome(finding) == "missing"
    assert "receives no mail" in message(finding)
    assert finding.fix is not None
    assert '`"v=spf1 -all"`' in finding.fix.text


@pytest.mark.parametrize(
    ("records", "expected_verdict", "expected"),
    [
        (("v=DMARC1; p=reject; rua=mailto:a@example.com",), "pass", "pass"),
        (("v=DMARC1;p=QUARANTINE",), "pass", "pass"),
        (("v=DMARC1; p=quarantine; pct=10",), "pass", "pass"),
        (("v=DMARC1; p=none; sp=reject",), "warn", "monitors-only"),
        (("v=DMARC1; p=reject; pct=0",), "warn", "applies-to-none"),
        (("v=DMARC1; rua=mailto:a@example.com",), "warn", "invalid"),  # receivers apply p=none
        (("v=DMARC1; p=drop; rua=mailto:a@example.com",), "warn", "invalid"),
        (("v=DMARC1; p=drop",), "fail", "invalid"),
        (("v=DMARC1; p=reject", "v=DMARC1; p=none"), "fail", "repeated"),
        ((), "fail", "missing"),
    ],
)
def test_dmarc(records: tuple[str, ...], expected_verdict: str, expected: str) -> None:
    finding = checks.dmarc(MailRecords(DOMAIN, dmarc=records))
    assert (verdict(finding), outcome(finding)) == (expected_verdict, expected)
    assert rows(finding) == [{"type": "TXT", "record": record} for record in records]


@pytest.mark.parametrize(("percent", "share"), [("", "100%"), ("; pct=10", "10%"), ("; pct=250", "100%")])
def test_dmarc_message_names_share_of_forged_mail(percent: str, share: str) -> None:
    finding = checks.dmarc(MailRecords(DOMAIN, dmarc=(f"v=DMARC1; p=quarantine{percent}",)))
    assert f"p=quarantine applies to {share} of forged mail" in message(finding)


@pytest.mark.parametrize(
    ("body", "media_type", "expected", "expected_text"),
    [
        (GOOD, "text/plain; charset=utf-8", "pass", ""),
        (f"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n# ours\r\n{GOOD}", "text/plain", "pass", ""),
        ("contact: https://example.com/report\nexpires: 2027-01-01t00:00:00+02:00", "TEXT/PLAIN", "pass", ""),
        ("Contact: tel:+49-30-123\nContact: nonsense\nExpires: 2027-01-01T00:00:00.5Z", "text/plain", "pass", ""),
        (GOOD, "application/octet-stream", "media-type", "not as text/plain"),
        (GOOD, "", "media-type", "not as text/plain"),
        ("Expires: 2027-01-01T00:00:00Z", "text/plain", "no-contact", "Contact is missing"),
        ("Contact: security@example.com\nExpires: 2027-01-01T00:00:00Z", "text/plain", "no-contact", "no Contact is"),
        ("Contact: mailto:a@example.com", "text/plain", "no-expiry", "Expires is missing"),
        (f"{GOOD}Expires: 2027-01-01T00:00:00Z", "text/plain", "no-expiry", "more than once"),
        ("Contact: mailto:a@b.c\nExpires: 2026-11-20T00:00:00Z", "text/plain", "expired", "expired on 2026-11-20"),
        ("Contact: mailto:a@example.com\nExpires: next year", "text/plain", "no-expiry", "cannot be read"),
        ("Contact: mailto:a@example.com\nExpires: 2027-02-30T00:00:00Z", "text/plain", "no-expiry", "cannot be read"),
        ("Contact: mailto:a@b.c\nExpires: 0001-01-01T00:00:00+14:00", "text/plain", "expired", "on 0001-01-01"),
        ("Policy: https://example.com/", "text/plain", "invalid", "Contact is missing; Expires is missing"),
    ],
)
def test_security_txt(body: str, media_type: str, expected: str, expected_text: str) -> None:
    headers = [("Content-Type", media_type)] if media_type else []
    url = "https://example.com/.well-known/security.txt"
    finding = checks.security_txt(SecurityTxt(response(url, *headers, body=body.encode())), CLOCK)
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "fail")
    assert expected_text in message(finding)
    assert [row["url"] for row in rows(finding)] == [url]


def test_missing_security_txt_is_warning() -> None:
    finding = checks.security_txt(SecurityTxt(None), CLOCK)
    assert (verdict(finding), outcome(finding)) == ("warn", "missing")
    assert severity_of(checks.security_txt, finding) == LOW


@pytest.mark.parametrize("body", ["", "ok", "Not found: /.well-known/security.txt"])
def test_security_txt_without_any_field_is_reported_as_no_fields(body: str) -> None:
    file = response("https://api.example.com/", ("Content-Type", "text/plain"), body=body.encode())
    finding = checks.security_txt(SecurityTxt(file), CLOCK)
    assert (verdict(finding), outcome(finding)) == ("warn", "no-fields")


@given(st.text(max_size=200))
def test_security_txt_check_accepts_any_text(text: str) -> None:
    file = response("https://example.com/", body=f"Expires: {text}\n{text}".encode())
    assert verdict(checks.security_txt(SecurityTxt(file), CLOCK)) in ("pass", "fail")


def test_dns_checks_do_not_apply_without_own_domain() -> None:
    for finding in (
        checks.caa(CaaRecords(None)),
        checks.dnssec(DnssecRecords(None)),
        checks.spf(MailRecords(None)),
        checks.dmarc(MailRecords(None)),
    ):
        assert verdict(finding) == "n/a"


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("www.example.co.uk", "example.co.uk"),
        ("example.com", "example.com"),
        ("somebody.github.io", None),
        ("co.uk", None),
        ("127.0.0.1", None),
        ("::1", None),
        ("localhost", None),
    ],
)
def test_own_domain_is_registrable_domain_or_none(host: str, expected: str | None) -> None:
    assert own_domain(host) == expected
