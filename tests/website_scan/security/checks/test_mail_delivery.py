from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.cast import message, outcome, response, rows, severity_of, verdict
from website_scan import catalogue
from website_scan.findings import ScanType
from website_scan.security.checks import mail_delivery as checks
from website_scan.security.evidence import MailRecords
from website_scan.security.mail_evidence import MailServer, MailServers, MtaSts, TlsReporting
from website_scan.security.mta_sts import read_policy, report_record_fault, sts_record_fault, version_records

DOMAIN = "example.com"
PUBLIC = "93.184.215.14"
RECEIVING = MailRecords(DOMAIN, ("10 mail.example.com.",))
POLICY = "version: STSv1\r\nmode: enforce\r\nmx: mail.example.com\r\nmax_age: 1209600\r\n"
RECORD = "v=STSv1; id=20260101"


def server(name: str, *addresses: str, aliases: tuple[str, ...] = (), preference: int = 10) -> MailServer:
    return MailServer(preference, name, aliases, addresses)


def judge_mx(servers: Sequence[MailServer], has_address: bool | None = None) -> tuple[str, str]:
    mx = tuple(f"{found.preference} {found.name}." for found in servers)
    finding = checks.mx(MailRecords(DOMAIN, mx), MailServers(DOMAIN, tuple(servers), has_address))
    return verdict(finding), outcome(finding)


@pytest.mark.parametrize(
    ("servers", "expected"),
    [
        ([server("mail.example.com", PUBLIC)], ("pass", "pass")),
        ([server("mail.example.com", "2606:2800::1")], ("pass", "pass")),
        ([server("")], ("pass", "pass")),
        ([server(""), server("mail.example.com", PUBLIC)], ("fail", "null-and-others")),
        ([server("192.0.2.25")], ("fail", "address")),
        ([server("2001:db8::25")], ("fail", "address")),
        ([server("gone.example.com")], ("fail", "no-address")),
        ([server("gone.example.com"), server("mail.example.com", PUBLIC)], ("warn", "no-address")),
        ([server("lan.example.com", "10.0.0.25")], ("fail", "private")),
        ([server("lan.example.com", "::ffff:127.0.0.1")], ("fail", "private")),
        ([server("lan.example.com", "10.0.0.25"), server("mail.example.com", PUBLIC)], ("warn", "private")),
        # No server is usable.
        ([server("lan.example.com", "10.0.0.25"), server("gone.example.com")], ("fail", "no-address")),
        ([server("both.example.com", "10.0.0.25", PUBLIC)], ("pass", "pass")),
        ([server("www.example.com", PUBLIC, aliases=("host.example.net",))], ("warn", "alias")),
        # The name servers did not answer.
        ([MailServer(10, "mail.example.com")], ("n/a", "n/a")),
        ([MailServer(10, "mail.example.com"), server("mx.example.com", PUBLIC)], ("pass", "pass")),
    ],
)
def test_mail_servers_have_public_addresses(servers: list[MailServer], expected: tuple[str, str]) -> None:
    """RFC 5321, section 5.1; RFC 7505; RFC 2181, section 10.3."""
    assert judge_mx(servers) == expected


@pytest.mark.parametrize(
    ("has_address", "expected"), [(True, ("warn", "missing")), (False, ("pass", "pass")), (None, ("n/a", "n/a"))]
)
def test_domain_without_mx_says_that_it_receives_no_mail(has_address: bool | None, expected: tuple[str, str]) -> None:
    """RFC 5321, section 5.1: without an MX record, senders use the domain's address."""
    assert judge_mx([], has_address) == expected


def test_table_of_mail_servers_shows_faulty_ones() -> None:
    servers = (server("gone.example.com"), server("mail.example.com", PUBLIC, preference=20))
    finding = checks.mx(MailRecords(DOMAIN, ("10 gone.example.com.",)), MailServers(DOMAIN, servers))
    assert rows(finding) == [{"server": "gone.example.com", "preference": 10}]
    assert severity_of(checks.mx, finding) == "low"


def judge_policy(body: str, mx: Sequence[str] = ("10 mail.example.com.",), media_type: str = "text/plain") -> str:
    answer = response("https://mta-sts.example.com/", ("Content-Type", media_type), body=body.encode())
    return outcome(checks.mta_sts(MailRecords(DOMAIN, tuple(mx)), MtaSts(DOMAIN, (RECORD,), answer)))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (POLICY, "pass"),
        (POLICY.replace("\r\n", "\n"), "pass"),
        (POLICY.replace("mail.", "*."), "pass"),
        (POLICY.replace("mail.example", "MAIL.Example"), "pass"),
        (POLICY + "other: field\r\n", "pass"),
        (POLICY + "max_age: 1\r\n", "pass"),  # The first of repeated fields counts.
        (POLICY.replace("mail.example.com", "*.com"), "other-server"),
        (POLICY.replace("mail.example.com", "mx.example.com"), "other-server"),
        (POLICY.replace("enforce", "testing"), "not-enforced"),
        ("version: STSv1\nmode: none\nmax_age: 86400\n", "not-enforced"),
        (POLICY.replace("1209600", "86400"), "short-lived"),
        (POLICY.replace("STSv1", "STSv2"), "invalid"),
        (POLICY.replace("enforce", "enforced"), "invalid"),
        (POLICY.replace("max_age", "maxage"), "invalid"),
        (POLICY.replace("1209600", "two weeks"), "invalid"),
        (POLICY.replace("mx: mail.example.com\r\n", ""), "invalid"),
        (POLICY.replace("mail.example.com", "https://mail.example.com"), "invalid"),
        ("<!doctype html>", "invalid"),
        ("", "invalid"),
    ],
)
def test_mta_sts_policy_is_read_by_its_grammar(body: str, expected: str) -> None:
    """RFC 8461, sections 3.2 and 4.1."""
    assert judge_policy(body) == expected


def test_other_server_is_severe_only_if_policy_is_enforced() -> None:
    for mode, expected in (("enforce", "medium"), ("testing", "low")):
        body = POLICY.replace("mail.example.com", "mx.example.com").replace("enforce", mode)
        answer = response("https://mta-sts.example.com/", ("Content-Type", "text/plain"), body=body.encode())
        finding = checks.mta_sts(RECEIVING, MtaSts(DOMAIN, (RECORD,), answer))
        assert severity_of(checks.mta_sts, finding) == expected


def test_policy_of_another_type_is_invalid() -> None:
    assert judge_policy(POLICY, media_type="text/html") == "invalid"
    assert judge_policy(POLICY, media_type="text/plain; charset=utf-8") == "pass"


@pytest.mark.parametrize(
    ("sts", "expected"),
    [
        (MtaSts(DOMAIN, ()), ("warn", "missing")),
        (MtaSts(DOMAIN, None), ("n/a", "n/a")),
        (MtaSts(None), ("n/a", "n/a")),
        (MtaSts(DOMAIN, ("v=STSv1;",)), ("warn", "record")),
        (MtaSts(DOMAIN, ("v=STSv1; id=a-b",)), ("warn", "record")),
        # No space is allowed around the equals sign (RFC 8461, section 3.1; RFC 8460, section 3).
        (MtaSts(DOMAIN, ("v=STSv1; id = 1",)), ("warn", "record")),
        (MtaSts(DOMAIN, ("v=STSv1; id= 1",)), ("warn", "record")),
        (MtaSts(DOMAIN, ("v=STSV1; id=1",)), ("warn", "record")),
        (MtaSts(DOMAIN, (RECORD, "v=STSv1; id=2")), ("warn", "record")),
        (MtaSts(DOMAIN, (RECORD,), None, "The certificate is not trusted."), ("fail", "unavailable")),
        (MtaSts(DOMAIN, (RECORD,), response(status=404)), ("fail", "unavailable")),
        (MtaSts(DOMAIN, (RECORD,), response(status=301)), ("fail", "unavailable")),
    ],
)
def test_mta_sts_policy_has_to_be_available(sts: MtaSts, expected: tuple[str, str]) -> None:
    finding = checks.mta_sts(RECEIVING, sts)
    assert (verdict(finding), outcome(finding)) == expected


def test_domain_without_mail_server_needs_no_mta_sts() -> None:
    for mx in ((), ("0 .",)):
        mail = MailRecords(DOMAIN, mx)
        assert outcome(checks.mta_sts(mail, MtaSts(DOMAIN))) == "n/a"
        assert outcome(checks.tls_rpt(mail, MtaSts(DOMAIN), TlsReporting(DOMAIN))) == "n/a"


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (("v=TLSRPTv1; rua=mailto:tls@example.com",), "pass"),
        (("v=TLSRPTv1;rua=mailto:a@example.com,https://example.com/tls",), "pass"),
        (("v=TLSRPTv1; rua=tls@example.com",), "invalid"),
        (("v=TLSRPTv1; rua=http://example.com/",), "invalid"),
        (("v=TLSRPTv1;",), "invalid"),
        (("v=TLSRPTv1; rua = mailto:tls@example.com",), "invalid"),
        (("v=TLSRPTv1; rua= mailto:tls@example.com",), "invalid"),
        (("v=TLSRPTv1; rua=mailto:a@example.com , mailto:b@example.com ;",), "pass"),
        (("v=TLSRPT1; rua=mailto:a@example.com",), "invalid"),
        (("v=TLSRPTv1; rua=mailto:a@example.com", "v=TLSRPTv1; rua=mailto:b@example.com"), "invalid"),
        ((), "missing"),
        (None, "n/a"),
    ],
)
def test_tls_rpt_record_is_read_by_its_grammar(records: tuple[str, ...] | None, expected: str) -> None:
    """RFC 8460, section 3."""
    finding = checks.tls_rpt(RECEIVING, MtaSts(DOMAIN, (RECORD,)), TlsReporting(DOMAIN, records))
    assert outcome(finding) == expected


def test_reports_about_tls_are_expected_only_with_mta_sts() -> None:
    finding = checks.tls_rpt(RECEIVING, MtaSts(DOMAIN, ()), TlsReporting(DOMAIN, ()))
    assert verdict(finding) == "n/a"
    assert "MTA-STS" in message(finding)


@given(st.binary(max_size=300), st.text(max_size=100))
def test_parsers_accept_any_content(body: bytes, text: str) -> None:
    read_policy(body)
    sts_record_fault(text)
    report_record_fault(text)
    version_records([text], "STSv1")


def test_files_of_mail_checks_are_one_category() -> None:
    categories = {found.id: found.category_id for found in catalogue.checks(ScanType.SECURITY)}
    assert {categories[name] for name in ("spf", "mx", "mta-sts", "dkim", "bimi")} == {"mail"}
