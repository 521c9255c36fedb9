from __future__ import annotations

from datetime import timedelta
from hashlib import sha256, sha512
from typing import Any

import pytest
from msgspec.structs import replace

from tests.website_scan.cast import message, outcome, rows, severity_of, verdict
from tests.website_scan.security.cast import INTERMEDIATE, LEAF, NOW, peer
from website_scan.findings import LOW, MEDIUM
from website_scan.net.dnssec.answers import Security, SignedAnswer
from website_scan.net.mail_servers import MailDialog
from website_scan.net.smtp import MailState
from website_scan.net.tls.certificates import CertificateDigests
from website_scan.net.tls.ciphers import TlsVersion
from website_scan.net.tls.trust import Distrust, Handshake, Trust
from website_scan.outcomes import Note
from website_scan.page.evidence import Clock
from website_scan.security.checks import mail_servers as checks
from website_scan.security.mail_server_evidence import MailDialogs, MailServer

CLOCK = Clock(NOW)
DOMAIN, HOST = "example.com", "mx.example.com"
V4, V6 = "93.184.215.25", "2606:2800:21f:cb07::25"


def digests(name: str) -> CertificateDigests:
    data = name.encode()
    return CertificateDigests(*(digest(data).hexdigest() for digest in (sha256, sha512, sha256, sha512)))


SERVER_LEAF = replace(LEAF, dns_names=(HOST,), digests=digests("leaf"))
ISSUER = replace(INTERMEDIATE, digests=digests("issuer"))
KEY, ISSUER_KEY = digests("leaf").key_sha256, digests("issuer").key_sha256
ROLLOVER = (f"3 1 1 {KEY}", f"2 1 1 {ISSUER_KEY}")


def handshake(**changes: object) -> Handshake:
    found = peer(SERVER_LEAF, ISSUER).handshake
    assert found is not None
    return replace(found, trust=Trust(), **changes)


def encrypted(address: str = V4, **changes: Any) -> MailDialog:
    return MailDialog(address, MailState.ENCRYPTS, handshake=handshake(**changes))


def tlsa(*records: str, security: Security = Security.SECURE) -> SignedAnswer:
    return SignedAnswer(f"_25._tcp.{HOST}", "TLSA", "NOERROR", records, security=security)


def server(*dialogs: MailDialog, name: str = HOST, **others: object) -> MailServer:
    values: dict[str, object] = {"addresses": tuple(dialog.address for dialog in dialogs), "security": Security.SECURE}
    return MailServer(name, 10, dialogs=dialogs, **values | others)  # type: ignore[arg-type]


def mail(*servers: MailServer, **others: object) -> MailDialogs:
    values: dict[str, object] = {"security": Security.SECURE, "total": len(servers)}
    return MailDialogs(DOMAIN, servers=servers, **values | others)  # type: ignore[arg-type]


GOOD = mail(server(encrypted(), encrypted(V6), tlsa=tlsa(*ROLLOVER)))
EVERY_CHECK = (
    checks.mail_server_reachable,
    checks.mail_server_ipv6,
    checks.mail_server_starttls,
    checks.mail_server_tls,
    lambda evidence: checks.mail_server_certificate(evidence, CLOCK),
    checks.mail_server_dnssec,
    lambda evidence: checks.mail_server_dane(evidence, CLOCK),
)


@pytest.mark.parametrize(
    "evidence",
    [
        MailDialogs(None),
        MailDialogs(DOMAIN, is_allowed=False),
        MailDialogs(DOMAIN, refuses_mail=True),
        MailDialogs(DOMAIN),
    ],
)
def test_without_mail_servers_to_test_no_check_applies(evidence: MailDialogs) -> None:
    assert {outcome(check(evidence)) for check in EVERY_CHECK} == {"n/a"}


def test_report_names_the_setting_that_allows_the_test() -> None:
    for check in EVERY_CHECK:
        assert "SCAN_MAIL_SERVERS=on" in message(check(MailDialogs(DOMAIN, is_allowed=False)))


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([MailState.ENCRYPTS], "pass"),
        ([MailState.REJECTS], "pass"),
        ([MailState.SLOW], "pass"),
        ([MailState.NOT_SMTP], "not-smtp"),
        ([MailState.NOT_TESTED], "n/a"),
        ([MailState.REFUSED], "n/a"),
        ([MailState.ENCRYPTS, MailState.SILENT], "unreachable"),
        ([MailState.ENCRYPTS, MailState.REFUSED], "pass"),
    ],
)
def test_mail_server_reachable(states: list[MailState], expected: str) -> None:
    servers = [server(MailDialog(V4, state), name=f"mx{number}.example.com") for number, state in enumerate(states)]
    assert outcome(checks.mail_server_reachable(mail(*servers))) == expected


def test_mail_server_without_address() -> None:
    finding = checks.mail_server_reachable(mail(server()))
    assert outcome(finding) == "no-address"
    assert rows(finding) == [{"server": HOST, "state": "has no address"}]
    assert outcome(checks.mail_server_reachable(mail(server(is_resolved=False)))) == "n/a"


def test_server_that_answers_over_one_family_is_reachable() -> None:
    evidence = mail(server(encrypted(), MailDialog(V6, MailState.SILENT)))
    assert outcome(checks.mail_server_reachable(evidence)) == "pass"
    assert outcome(checks.mail_server_ipv6(evidence)) == "unreachable"
    assert severity_of(checks.mail_server_ipv6, checks.mail_server_ipv6(evidence)) is MEDIUM


@pytest.mark.parametrize(
    ("servers", "expected"),
    [
        ([server(encrypted(V6))], "pass"),
        ([server(encrypted())], "missing"),
        ([server(MailDialog(V6, MailState.REJECTS))], "pass"),
        ([server(MailDialog(V6, MailState.NOT_TESTED))], "n/a"),
        ([server(is_resolved=False)], "n/a"),
        # One server with IPv6 is enough for senders without IPv4.
        ([server(encrypted()), server(encrypted(V6))], "pass"),
    ],
)
def test_mail_server_ipv6(servers: list[MailServer], expected: str) -> None:
    assert outcome(checks.mail_server_ipv6(mail(*servers))) == expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (MailState.ENCRYPTS, "pass"),
        (MailState.NO_STARTTLS, "missing"),
        (MailState.NOT_AVAILABLE, "broken"),
        (MailState.TLS_FAILED, "broken"),
        (MailState.REJECTS, "n/a"),
        (MailState.SLOW, "n/a"),
        (MailState.NOT_TESTED, "n/a"),
    ],
)
def test_mail_server_starttls(state: MailState, expected: str) -> None:
    assert outcome(checks.mail_server_starttls(mail(server(MailDialog(V4, state, "454 later"))))) == expected


def test_one_server_without_STARTTLS_is_enough_to_fail() -> None:
    """An attacker who blocks the other server makes senders use this one."""
    weak = server(MailDialog(V4, MailState.NO_STARTTLS, "250 SIZE"), name="backup.example.com")
    finding = checks.mail_server_starttls(mail(server(encrypted()), weak))
    assert (outcome(finding), message(finding)) == ("missing", "STARTTLS is not offered by backup.example.com.")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "pass"),
        ({"version": TlsVersion.TLS1_2, "cipher": "ECDHE-RSA-AES128-GCM-SHA256"}, "pass"),
        ({"version": TlsVersion.TLS1_2, "cipher": "AES128-GCM-SHA256"}, "no-forward-secrecy"),
        ({"version": TlsVersion.TLS1_1, "cipher": "ECDHE-RSA-AES128-SHA"}, "old-version"),
        ({"version": TlsVersion.TLS1_0, "cipher": "AES128-SHA"}, "old-version"),
    ],
)
def test_mail_server_tls(changes: dict[str, Any], expected: str) -> None:
    assert outcome(checks.mail_server_tls(mail(server(encrypted(**changes))))) == expected


DAY = timedelta(days=1)
FAULTY_SESSIONS = [
    ({"chain": (replace(SERVER_LEAF, dns_names=("other.example.com",)),)}, "wrong-name"),
    # A common name does not count (RFC 9525, section 2).
    ({"chain": (replace(SERVER_LEAF, dns_names=(), common_name=HOST),)}, "wrong-name"),
    ({"chain": (replace(SERVER_LEAF, not_after=NOW - DAY),)}, "expired"),
    ({"chain": (replace(SERVER_LEAF, not_before=NOW + DAY),)}, "expired"),
    ({"chain": (replace(SERVER_LEAF, key_type="RSA", key_bits=1024),)}, "weak"),
]


@pytest.mark.parametrize(("changes", "expected"), FAULTY_SESSIONS)
def test_faulty_certificate_has_no_weight_for_opportunistic_senders(changes: dict[str, Any], expected: str) -> None:
    finding = checks.mail_server_certificate(mail(server(encrypted(**changes))), CLOCK)
    assert outcome(finding) == expected
    assert isinstance(finding, Note)
    assert severity_of(checks.mail_server_certificate, finding) is LOW


@pytest.mark.parametrize(("changes", "expected"), FAULTY_SESSIONS)
def test_faulty_certificate_fails_with_an_enforced_policy(changes: dict[str, Any], expected: str) -> None:
    evidence = mail(server(encrypted(**changes), tlsa=tlsa(*ROLLOVER)), must_authenticate=True)
    finding = checks.mail_server_certificate(evidence, CLOCK)
    assert (outcome(finding), verdict(finding)) == (expected, "fail")
    assert severity_of(checks.mail_server_certificate, finding) is MEDIUM


@pytest.mark.parametrize("distrust", list(Distrust))
def test_untrusted_certificate(distrust: Distrust) -> None:
    session = replace(handshake(), trust=Trust(distrust))
    evidence = mail(server(MailDialog(V4, MailState.ENCRYPTS, handshake=session)))
    assert outcome(checks.mail_server_certificate(evidence, CLOCK)) == "untrusted"


def test_certificate_of_a_server_with_DANE_is_judged_by_DANE() -> None:
    assert outcome(checks.mail_server_certificate(GOOD, CLOCK)) == "n/a"
    assert outcome(checks.mail_server_certificate(mail(server(encrypted())), CLOCK)) == "pass"


@pytest.mark.parametrize(
    ("statuses", "own", "expected"),
    [
        ([Security.SECURE], Security.SECURE, "pass"),
        ([Security.SECURE, Security.INSECURE], Security.SECURE, "off"),
        ([Security.BOGUS, Security.INSECURE], Security.SECURE, "broken"),
        ([Security.UNKNOWN], Security.SECURE, "n/a"),
        ([Security.SECURE], Security.INSECURE, "n/a"),
    ],
)
def test_mail_server_dnssec(statuses: list[Security], own: Security, expected: str) -> None:
    servers = [server(encrypted(), security=status) for status in statuses]
    assert outcome(checks.mail_server_dnssec(mail(*servers, security=own))) == expected


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (GOOD, "pass"),
        (mail(server(encrypted(), tlsa=tlsa(f"3 1 1 {KEY}"))), "no-rollover"),
        (mail(server(encrypted(), tlsa=tlsa(f"3 1 1 {'ab' * 32}"))), "mismatch"),
        # Each address must have the right certificate, because senders use any of them.
        (
            mail(
                server(
                    encrypted(),
                    encrypted(V6, chain=(replace(SERVER_LEAF, digests=digests("old")), ISSUER)),
                    tlsa=tlsa(f"3 1 1 {KEY}"),
                )
            ),
            "mismatch",
        ),
        (mail(server(encrypted(), tlsa=tlsa(f"1 1 1 {KEY}"))), "unusable"),
        (mail(server(encrypted(), tlsa=tlsa())), "missing"),
        (mail(server(encrypted(), tlsa=tlsa(*ROLLOVER, security=Security.INSECURE))), "missing"),
        (mail(server(encrypted(), tlsa=tlsa(), tlsa_failed=True)), "rejected"),
        (mail(server(MailDialog(V4, MailState.NO_STARTTLS), tlsa=tlsa(*ROLLOVER))), "no-starttls"),
        (mail(server(MailDialog(V4, MailState.REJECTS), tlsa=tlsa(*ROLLOVER))), "n/a"),
        (mail(server(encrypted(), tlsa=tlsa(*ROLLOVER)), security=Security.INSECURE), "mx-unsigned"),
        (mail(server(encrypted(), tlsa=tlsa(*ROLLOVER)), security=Security.BOGUS), "n/a"),
        (mail(server(encrypted(), security=Security.INSECURE)), "n/a"),
        (mail(server(encrypted(), tlsa=tlsa(*ROLLOVER)), server(encrypted(), tlsa=tlsa())), "missing"),
    ],
)
def test_mail_server_dane(evidence: MailDialogs, expected: str) -> None:
    assert outcome(checks.mail_server_dane(evidence, CLOCK)) == expected


def test_issuer_that_did_not_issue_the_certificate_does_not_match() -> None:
    """A server may send any certificates beside its chain."""
    stranger = replace(ISSUER, subject="CN=Stranger", digests=digests("stranger"))
    session = encrypted(chain=(SERVER_LEAF, stranger), strangers=(stranger,))
    record = f"2 1 1 {digests('stranger').key_sha256}"
    assert outcome(checks.mail_server_dane(mail(server(session, tlsa=tlsa(record))), CLOCK)) == "mismatch"


def test_rows_say_which_TLSA_record_matches() -> None:
    evidence = mail(server(encrypted(), tlsa=tlsa(*ROLLOVER, f"3 1 1 {'ab' * 32}", f"0 1 1 {KEY}")))
    finding = checks.mail_server_dane(evidence, CLOCK)
    assert [row["result"] for row in rows(finding)] == ["matches", "matches", "does not match", "is ignored"]
