"""Tests for severities that experts may dispute."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from msgspec.structs import replace

from tests.website_scan import cast
from tests.website_scan.cast import severity_of, verdict
from tests.website_scan.security.cast import LEAF, NOW, document, hops, https_answer, page, peer, policies
from website_scan.crawl.robots import parse_robots
from website_scan.crawl.robots_file import RobotsFile
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, Severity
from website_scan.net.tls.ciphers import TlsVersion
from website_scan.outcomes import Verdict
from website_scan.security.checks import disclosure, headers, transport
from website_scan.security.evidence import PlainHttp, TlsSupport
from website_scan.seo.checks import crawlability

HSTS = "Strict-Transport-Security"
PLAIN = "http://example.com/"
WWW = "http://www.example.com/"
SECURE_WWW = "https://www.example.com/"
GCM = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
ROBOTS = "https://site.example.com/robots.txt"

Case = tuple[Callable[..., object], Verdict]


def certificate(**left: int) -> Case:
    check = transport.tls_cert_expiry
    return check, check(peer(replace(LEAF, not_after=NOW + timedelta(**left))), cast.CLOCK)


def hsts(*values: str) -> Case:
    seen = page()
    return transport.hsts, transport.hsts(seen, document(seen), https_answer(*((HSTS, value) for value in values)))


def redirect(*chain: tuple[str, int]) -> Case:
    check = transport.http_to_https_redirect
    return check, check(PlainHttp(PLAIN, hops(*chain)))


def framing_verdict(value: str) -> Case:
    seen = page(("X-Frame-Options", value))
    return headers.clickjacking, headers.clickjacking(seen, document(seen), policies(seen))


def robots(text: str) -> Case:
    file = RobotsFile(ROBOTS, cast.response(ROBOTS, body=text.encode()), parse_robots(text.encode()))
    return crawlability.robots_txt, crawlability.robots_txt(file)


def comment(text: str) -> Case:
    check = disclosure.security_comments
    return check, check(document(page(html=f"<!doctype html><!-- {text} --><p>Welcome")))


def tls(*versions: TlsVersion) -> Case:
    check = transport.tls_modern_protocols
    return check, check(TlsSupport(dict.fromkeys(versions, GCM)))


@pytest.mark.parametrize(
    ("case", "expected", "severity"),
    [
        # TLS 1.2 is secure, but browsers refuse older versions.
        (tls(TlsVersion.TLS1_2), "warn", LOW),
        (tls(TlsVersion.TLS1_1), "fail", HIGH),
        # The certificate should be renewed, but is still valid.
        (certificate(days=9), "warn", MEDIUM),
        (certificate(days=-1), "fail", CRITICAL),
        # Two equal headers are harmless, but browsers use the first of two different ones.
        (hsts("max-age=31536000", "max-age=31536000"), "warn", LOW),
        (hsts("max-age=31536000", "max-age=0"), "warn", MEDIUM),
        (hsts("max-age=300", "max-age=300"), "warn", HIGH),
        (hsts("max-age=0", "max-age=31536000"), "fail", HIGH),
        # Without HSTS for the bare domain, a second plain hop can be intercepted, too.
        (redirect((PLAIN, 301), (SECURE_WWW, 200)), "warn", LOW),
        (redirect((PLAIN, 301), (WWW, 301), (SECURE_WWW, 200)), "warn", MEDIUM),
        (redirect((PLAIN, 403)), "warn", LOW),
        (redirect((PLAIN, 200)), "fail", HIGH),
        # Two contradictory values block all framing.
        (framing_verdict("DENY, SAMEORIGIN"), "warn", LOW),
        (framing_verdict("ALLOWALL"), "fail", HIGH),
        # Crawlers skip lines that they cannot parse.
        (robots("User-agent: *\nDisallow: /admin\nEverybody is welcome"), "warn", LOW),
        (robots("User-agent: *\nDisallow:\nSitemap: /sitemap.xml"), "warn", LOW),
        (robots("<!doctype html><title>Not found</title>"), "warn", LOW),
        # A comment about unfinished work is only a hint, unlike a password.
        (comment("login: admin / password: Summer-2024!"), "fail", HIGH),
        (comment("TODO: fix the SQL injection in search"), "warn", LOW),
    ],
)
def test_finding_has_expected_severity(case: Case, expected: str, severity: Severity) -> None:
    check, finding = case
    assert (verdict(finding), severity_of(check, finding)) == (expected, severity)
