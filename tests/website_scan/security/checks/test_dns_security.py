from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.cast import message, outcome, rows, severity_of, verdict
from tests.website_scan.security.cast import NO_PEER, NOW, peer
from website_scan.findings import HIGH, LOW
from website_scan.net.dnssec.answers import (
    Delegation,
    Key,
    Nsec3,
    Security,
    Signature,
    SignatureFault,
    SignedAnswer,
    ZoneTrust,
)
from website_scan.outcomes import Note
from website_scan.page.evidence import Clock
from website_scan.security.checks import dns_security as checks
from website_scan.security.domain_evidence import CaaRecords, DnssecRecords, TlsaRecords

CLOCK = Clock(NOW)
DOMAIN = "example.com"
DAY = timedelta(days=1)
DS, KEY = (Delegation(1, 13, 2),), (Key(1, 13, 0, is_entry_point=True),)


def signature(before: timedelta, after: timedelta) -> Signature:
    return Signature(DOMAIN, "DNSKEY", 13, 1, NOW - before, NOW + after)


FRESH = signature(3 * DAY, 11 * DAY)


def trust(security: Security = Security.SECURE, fault: SignatureFault | None = None, **others: object) -> ZoneTrust:
    values = {"delegations": DS, "keys": KEY, "signatures": (FRESH,)} | others
    return ZoneTrust(DOMAIN, security, fault, DOMAIN if fault else "", **values)  # type: ignore[arg-type]


def answer(security: Security = Security.SECURE, fault: SignatureFault | None = None, **others: object) -> SignedAnswer:
    return SignedAnswer(DOMAIN, "A", "NOERROR", security=security, fault=fault, **others)  # type: ignore[arg-type]


UNSIGNED = ZoneTrust(DOMAIN, Security.INSECURE)


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (DnssecRecords(DOMAIN, trust(), (answer(),)), "pass"),
        (DnssecRecords(DOMAIN, UNSIGNED), "off"),
        (DnssecRecords(DOMAIN, UNSIGNED, has_keys=True), "no-ds"),
        # Nobody can publish a DS record in a zone that is not signed.
        (DnssecRecords(DOMAIN, UNSIGNED, is_parent_signed=False), "n/a"),
        # Name servers that remove signatures, and a wrong clock, are no fault of the domain.
        (DnssecRecords(DOMAIN, ZoneTrust(DOMAIN, Security.UNKNOWN)), "n/a"),
        (DnssecRecords(DOMAIN, trust(Security.BOGUS, SignatureFault.NO_KEYS)), "no-keys"),
        (DnssecRecords(DOMAIN, trust(Security.BOGUS, SignatureFault.EXPIRED)), "expired"),
        (DnssecRecords(DOMAIN, trust(Security.BOGUS, SignatureFault.DS_MISMATCH)), "broken"),
        (DnssecRecords(DOMAIN, trust(), (answer(Security.BOGUS, SignatureFault.WRONG_SIGNATURE),)), "broken"),
        # A validating resolver accepts what this scanner rejects, so the scanner may be wrong.
        (DnssecRecords(DOMAIN, trust(Security.BOGUS, SignatureFault.DS_MISMATCH), is_authenticated=True), "n/a"),
        # A subdomain may be delegated without signatures.
        (DnssecRecords(DOMAIN, trust(), (answer(Security.INSECURE),)), "pass"),
        (DnssecRecords(DOMAIN, trust(), (answer(Security.UNKNOWN),)), "pass"),
        (DnssecRecords(DOMAIN, trust(Security.INSECURE, has_unsupported_algorithms=True)), "unsupported"),
        (DnssecRecords(DOMAIN, trust(signatures=(signature(29 * DAY, DAY),))), "expires-soon"),
        (DnssecRecords(DOMAIN, trust(), (answer(signatures=(signature(14 * DAY, DAY / 2),)),)), "expires-soon"),
        # PowerDNS renews signatures of three weeks after two, BIND after three quarters of their lifetime.
        (DnssecRecords(DOMAIN, trust(signatures=(signature(14 * DAY, 7 * DAY),))), "pass"),
        (DnssecRecords(DOMAIN, trust(signatures=(signature(28 * DAY, 2 * DAY),))), "pass"),
        # Cloudflare signs each answer for two days, and a cache keeps it.
        (DnssecRecords(DOMAIN, trust(signatures=(signature(1.9 * DAY, 0.1 * DAY),))), "pass"),
        (DnssecRecords(None), "n/a"),
    ],
)
def test_dnssec_check_verdict(records: DnssecRecords, expected: str) -> None:
    assert outcome(checks.dnssec(records, CLOCK)) == expected


@pytest.mark.parametrize("fault", SignatureFault)
def test_broken_chain_is_severe(fault: SignatureFault) -> None:
    finding = checks.dnssec(DnssecRecords(DOMAIN, trust(Security.BOGUS, fault)), CLOCK)
    assert verdict(finding) == "fail"
    assert severity_of(checks.dnssec, finding) == HIGH
    assert "validating resolvers reject" in message(finding).lower()


def test_unsigned_domain_is_minor() -> None:
    finding = checks.dnssec(DnssecRecords(DOMAIN, UNSIGNED), CLOCK)
    assert (verdict(finding), severity_of(checks.dnssec, finding)) == ("warn", LOW)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (trust(), "pass"),
        (trust(keys=(Key(1, 8, 2048, is_entry_point=True),), delegations=(Delegation(1, 8, 2),)), "pass"),
        (trust(keys=(Key(1, 10, 2048, is_entry_point=True),), delegations=(Delegation(1, 10, 2),)), "pass"),
        (trust(keys=(Key(1, 8, 2048, is_entry_point=True), Key(2, 8, 1024, is_entry_point=False))), "short-key"),
        (trust(keys=(Key(1, 5, 2048, is_entry_point=True),)), "sha-1"),
        (trust(keys=(Key(1, 7, 2048, is_entry_point=True),)), "sha-1"),
        (trust(Security.INSECURE, keys=(), delegations=(Delegation(1, 12, 2),)), "obsolete"),
        (trust(delegations=(Delegation(1, 13, 1),)), "sha-1-digest"),
        (trust(delegations=(Delegation(1, 13, 1), Delegation(1, 13, 2))), "pass"),
        (UNSIGNED, "n/a"),
        (ZoneTrust(DOMAIN, Security.UNKNOWN), "n/a"),
    ],
)
def test_dnssec_algorithms_check_verdict(found: ZoneTrust, expected: str) -> None:
    assert outcome(checks.dnssec_algorithms(DnssecRecords(DOMAIN, found))) == expected


@pytest.mark.parametrize(
    ("nsec3", "expected_verdict", "expected"),
    [
        (None, "n/a", "n/a"),
        (Nsec3(0, 0, opts_out=False), "pass", "pass"),
        (Nsec3(0, 0, opts_out=True), "pass", "pass"),
        (Nsec3(0, 8, opts_out=False), "warn", "salt"),
        (Nsec3(1, 0, opts_out=False), "warn", "iterations"),
        (Nsec3(100, 8, opts_out=False), "warn", "iterations"),
        (Nsec3(101, 0, opts_out=False), "fail", "many-iterations"),
    ],
)
def test_dnssec_nsec3_check_verdict(nsec3: Nsec3 | None, expected_verdict: str, expected: str) -> None:
    finding = checks.dnssec_nsec3(DnssecRecords(DOMAIN, trust(), (answer(), answer(nsec3=nsec3))))
    assert (verdict(finding), outcome(finding)) == (expected_verdict, expected)
    assert isinstance(finding, Note) == (expected == "salt")


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (('0 issue "letsencrypt.org"',), "pass"),
        (('0 issue "ca.example.net"', '128 issuewild ";"'), "pass"),
        # The property issuewild restricts only wildcard certificates.
        (('128 issuewild ";"', '0 iodef "mailto:a@example.com"'), "no-issue"),
        (('0 issuemail ";"', '0 issuevmc ";"'), "no-issue"),
        (('0 issue ";"',), "pass"),  # The CAA record permits no authority to issue certificates.
        (('0 issue ""',), "pass"),
        (('0 iodef "mailto:a@example.com"',), "no-issue"),
        (('0 issue "pki.goog; cansignhttpexchanges=yes"',), "pass"),
        (('0 issue "letsencrypt.org;validationmethods=http-01"',), "pass"),
        (('0 issue "letsencrypt.org; validationmethods=dns-01,ca-own"',), "pass"),
        # Authorities compare the names of methods exactly.
        (('0 issue "letsencrypt.org; validationmethods=DNS-01"',), "invalid"),
        (('0 issue "letsencrypt.org; validationmethods=_x,dns-01"',), "invalid"),
        (('0 issue "letsencrypt.org; validationmethods=,dns-01"',), "invalid"),
        # A parameter must not be empty, and a record without parameters may end with a semicolon (RFC 8659, 4.2).
        (('0 issue "letsencrypt.org;"',), "pass"),
        (('0 issue "letsencrypt.org; validationmethods=dns-01;"',), "invalid"),
        (('0 issue "letsencrypt.org;;"',), "invalid"),
        (('0 issue "letsencrypt.org; a-=1"',), "invalid"),
        (('0 issue "letsencrypt.org"', '0 iodef "mailto:"'), "invalid"),
        (('0 issue "letsencrypt.org"', '0 iodef "https://"'), "invalid"),
        (('0 issue "letsencrypt.org"', '0 iodef "https://example.com/caa"'), "pass"),
        # A mailto URI may have several addresses and headers (RFC 6068, 2).
        (('0 issue "letsencrypt.org"', '0 iodef "mailto:a@example.com,b@example.com"'), "pass"),
        (('0 issue "letsencrypt.org"', '0 iodef "mailto:a@example.com?cc=b@example.com"'), "pass"),
        (('0 issue "letsencrypt.org; validationmethods=email"',), "invalid"),
        (('0 issue "letsencrypt.org; accounturi"',), "invalid"),
        (('0 issue "lets encrypt"',), "invalid"),
        (('0 issue "-.org"',), "invalid"),
        (('0 Issue "LetsEncrypt.org"',), "pass"),
        (('128 future "x"', '0 issue "letsencrypt.org"'), "critical"),
        (('0 future "x"', '0 issue "letsencrypt.org"'), "pass"),
        ((), "missing"),
    ],
)
def test_caa_check_verdict(records: tuple[str, ...], expected: str) -> None:
    finding = checks.caa(CaaRecords(DOMAIN, DOMAIN, records))
    assert outcome(finding) == expected
    assert [row["record"] for row in rows(finding)] == list(records)


def test_caa_table_lists_parameters() -> None:
    record = '0 issue "ca.example.net; accounturi=https://ca.example.net/1; validationmethods=dns-01"'
    finding = checks.caa(CaaRecords(DOMAIN, DOMAIN, (record,)))
    assert rows(finding) == [
        {
            "record": record,
            "authority": "ca.example.net",
            "account": "https://ca.example.net/1",
            "methods": "dns-01",
        }
    ]
    assert "1 of them bound to an account" in message(finding)


@given(st.text(max_size=100))
def test_caa_check_accepts_any_text(text: str) -> None:
    finding = checks.caa(CaaRecords(DOMAIN, DOMAIN, (f'0 issue "{text}"', text)))
    assert verdict(finding) in ("pass", "warn")


@pytest.mark.parametrize(
    ("records", "security"),
    [((), Security.SECURE), (("3 1 1 " + "ab" * 32,), Security.INSECURE), (("3 1 1 " + "ab" * 32,), Security.BOGUS)],
)
def test_dane_needs_dnssec_and_records(records: tuple[str, ...], security: Security) -> None:
    tlsa = TlsaRecords(DOMAIN, SignedAnswer(DOMAIN, "TLSA", "NOERROR", records, security=security))
    assert verdict(checks.dane(tlsa, peer())) == "n/a"


def test_dane_needs_a_certificate() -> None:
    tlsa = TlsaRecords(
        DOMAIN, SignedAnswer(DOMAIN, "TLSA", "NOERROR", ("3 1 1 " + "ab" * 32,), security=Security.SECURE)
    )
    assert verdict(checks.dane(tlsa, NO_PEER)) == "n/a"
    assert outcome(checks.dane(tlsa, peer())) == "mismatch"


@given(st.text(max_size=60))
def test_dane_check_accepts_any_text(text: str) -> None:
    tlsa = TlsaRecords(DOMAIN, SignedAnswer(DOMAIN, "TLSA", "NOERROR", (text,), security=Security.SECURE))
    assert verdict(checks.dane(tlsa, peer())) in ("warn", "fail")


def test_dns_security_checks_need_own_domain() -> None:
    for finding in (
        checks.caa(CaaRecords(None)),
        checks.dnssec(DnssecRecords(None), CLOCK),
        checks.dnssec_algorithms(DnssecRecords(None)),
        checks.dnssec_nsec3(DnssecRecords(None)),
        checks.dane(TlsaRecords(None), peer()),
    ):
        assert verdict(finding) == "n/a"


@pytest.mark.parametrize(
    ("records", "prevents_certificates"),
    [
        (('0 issue "a b"',), True),
        (('0 issue "a b"', '0 issue "letsencrypt.org"'), False),
        (('0 issue "letsencrypt.org"', '0 iodef "tel:1"'), False),
        (('0 issuemail "a b"',), False),
    ],
)
def test_invalid_caa_record_prevents_certificates_only_without_a_valid_one(
    records: tuple[str, ...], prevents_certificates: bool
) -> None:
    """RFC 8659, sections 4.2 to 4.4."""
    finding = checks.caa(CaaRecords(DOMAIN, DOMAIN, records))
    assert ("issue no certificates" in message(finding)) is prevents_certificates
