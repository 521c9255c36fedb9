"""Tests for finding titles of checks with several outcomes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from tests.website_scan.cast import title_of
from tests.website_scan.security.cast import LEAF, NOW, document, hops, https_answer, page, peer, policies
from website_scan.net.dnssec.answers import Security, SignatureFault, ZoneTrust
from website_scan.net.tls.ciphers import TlsVersion
from website_scan.outcomes import Verdict
from website_scan.page.evidence import Clock
from website_scan.security.checks import (
    content,
    cookies,
    csp,
    disclosure,
    dns_security,
    exposure,
    headers,
    mail,
    names,
    transport,
)
from website_scan.security.domain_evidence import DnssecRecords
from website_scan.security.evidence import (
    Cors,
    CorsAnswer,
    Exposure,
    LoadedScripts,
    MailRecords,
    OriginCors,
    PathAnswer,
    PlainHttp,
    Script,
    SecurityTxt,
    TlsSupport,
)
from website_scan.security.probes.headers import cookies as read_cookies

CLOCK = Clock(NOW)
HSTS = "Strict-Transport-Security"
CSP = "Content-Security-Policy"
HTTP, HTTPS = "http://site.example.com/", "https://site.example.com/"
V = TlsVersion


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((), "No HSTS header"),
        (("max-age=x",), "HSTS header is invalid"),
        (("max-age=0",), "HSTS is switched off"),
        (("max-age=300",), "HSTS lasts 5 minutes"),
        (("max-age=1",), "HSTS lasts 1 second"),
        (("max-age=86400",), "HSTS lasts 24 hours"),
        (("max-age=2592000",), "HSTS lasts 30 days"),
        (("max-age=31536000",) * 2, "HSTS header is repeated"),
    ],
)
def test_hsts_titles(values: tuple[str, ...], expected: str) -> None:
    answer = https_answer(*((HSTS, value) for value in values))
    assert title_of(transport.hsts, transport.hsts(page(), document(page()), answer)) == expected


def test_hsts_title_over_untrusted_connection() -> None:
    answer = https_answer((HSTS, "max-age=31536000"), trust_error="self-signed")
    assert title_of(transport.hsts, transport.hsts(page(), document(page()), answer)) == "HSTS header is ignored"


@pytest.mark.parametrize(
    ("chain", "next_url", "expected"),
    [
        ([(HTTP, 200)], "", "No redirect from HTTP to HTTPS"),
        ([(HTTP, 301)], "https://", "Redirect from HTTP is invalid"),
        ([(HTTP, 301), (f"{HTTP}a", 200)], "", "Redirects from HTTP do not lead to HTTPS"),
        (
            [(HTTP, 301), (f"{HTTP}a", 301), ("https://site.example.com/", 200)],
            "",
            "Redirect from HTTP leads to plain HTTP again",
        ),
        (
            [(HTTP, 301), ("https://www.example.com/", 200)],
            "",
            "Redirect from HTTP leads to another host first",
        ),
    ],
)
def test_http_redirect_titles(chain: list[tuple[str, int]], next_url: str, expected: str) -> None:
    finding = transport.http_to_https_redirect(PlainHttp(HTTP, hops(*chain), "", next_url=next_url))
    assert title_of(transport.http_to_https_redirect, finding) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"not_after": NOW - timedelta(days=1)}, "Certificate has expired"),
        ({"not_before": NOW + timedelta(days=1)}, "Certificate is not valid yet"),
        ({"not_after": NOW + timedelta(days=5)}, "Certificate expires in 5 days"),
    ],
)
def test_certificate_expiry_titles(changes: dict[str, datetime], expected: str) -> None:
    certificate = peer(replace(LEAF, **changes))
    assert title_of(transport.tls_cert_expiry, transport.tls_cert_expiry(certificate, CLOCK)) == expected


@pytest.mark.parametrize(
    ("dns_names", "expected"),
    [
        (("a.example",), "Certificate does not match the host name"),
        ((), "Certificate names no host"),
    ],
)
def test_certificate_hostname_titles(dns_names: tuple[str, ...], expected: str) -> None:
    certificate = peer(replace(LEAF, dns_names=dns_names))
    assert title_of(transport.tls_cert_hostname, transport.tls_cert_hostname(certificate)) == expected


def test_weak_certificate_titles() -> None:
    weak = transport.tls_cert_strength(peer(replace(LEAF, key_type="RSA", key_bits=1024)))
    assert title_of(transport.tls_cert_strength, weak) == "Certificate is weak"


@pytest.mark.parametrize("versions", [(V.TLS1_0, V.TLS1_2), (V.TLS1_0, V.TLS1_1)])
def test_legacy_protocols_titles(versions: tuple[TlsVersion, ...]) -> None:
    support = TlsSupport(dict.fromkeys(versions, "TLS_RSA_WITH_AES_128_CBC_SHA"))
    title = title_of(transport.tls_legacy_protocols, transport.tls_legacy_protocols(support))
    assert title == "Outdated TLS versions are accepted"


def test_no_forward_secrecy_titles() -> None:
    finding = transport.tls_weak_ciphers(TlsSupport({V.TLS1_2: "TLS_RSA_WITH_AES_128_CBC_SHA"}))
    assert title_of(transport.tls_weak_ciphers, finding) == "No forward secrecy"


@pytest.mark.parametrize(
    ("markup", "url", "expected"),
    [
        ("<form action=http://a.example/><input>", HTTPS, "Form is submitted over plain HTTP"),
        ("<form action=http://a.example/><input type=password>", HTTPS, "Password is submitted over plain HTTP"),
        ("<form><input type=password>", HTTP, "Password field over plain HTTP"),
    ],
)
def test_insecure_form_titles(markup: str, url: str, expected: str) -> None:
    html_page = page(html=markup, url=url)
    finding = transport.insecure_form(html_page, document(html_page), policies(html_page))
    assert title_of(transport.insecure_form, finding) == expected


def test_passive_mixed_content_titles() -> None:
    html_page = page(html="<img src=http://a.example/a.png>")
    finding = transport.mixed_content(html_page, document(html_page), policies(html_page))
    assert title_of(transport.mixed_content, finding) == "Mixed passive content"


@pytest.mark.parametrize(
    ("response_headers", "expected"),
    [
        ((), "No clickjacking protection"),
        ((("X-Frame-Options", "ALLOW-FROM https://a.example"),), "X-Frame-Options is ignored"),
        ((("X-Frame-Options", "no"),), "X-Frame-Options has no effect"),
        ((("X-Frame-Options", "DENY"), ("X-Frame-Options", "SAMEORIGIN")), "X-Frame-Options contradicts itself"),
        (((CSP, "frame-ancestors *"),), "frame-ancestors allows any site"),
    ],
)
def test_clickjacking_titles(response_headers: tuple[tuple[str, str], ...], expected: str) -> None:
    html_page = page(*response_headers)
    finding = headers.clickjacking(html_page, document(html_page), policies(html_page))
    assert title_of(headers.clickjacking, finding) == expected


@pytest.mark.parametrize(
    ("check", "response_headers", "expected"),
    [
        (headers.x_content_type_options, (), "No X-Content-Type-Options header"),
        (headers.x_content_type_options, (("X-Content-Type-Options", "no"),), "MIME sniffing is not disabled"),
        (headers.permissions_policy, (), "No Permissions-Policy header"),
        (headers.permissions_policy, (("Permissions-Policy", "camera 'none'"),), "Permissions-Policy is invalid"),
        (headers.permissions_policy, (("Permissions-Policy", ""),), "Permissions-Policy is empty"),
        (headers.content_type, (("Content-Type", "text/html"),), "Content-Type names no charset"),
        (headers.content_type, (("Content-Type", "html"),), "Content-Type is invalid"),
        (headers.content_type, (("Content-Type", ""),), "No Content-Type header"),
        (headers.deprecated_headers, (("Expect-CT", "max-age=1"),), "Expect-CT is deprecated"),
        (
            headers.deprecated_headers,
            (("Expect-CT", "max-age=1"), ("X-XSS-Protection", "1")),
            "Deprecated headers are sent",
        ),
        (disclosure.powered_by, (("X-Powered-By", "PHP"),), "X-Powered-By names the software in use"),
        (
            disclosure.powered_by,
            (("X-Powered-By", "PHP"), ("X-Generator", "Drupal")),
            "Headers name the software in use",
        ),
    ],
)
def test_header_check_titles(
    check: Callable[..., Verdict], response_headers: tuple[tuple[str, str], ...], expected: str
) -> None:
    assert title_of(check, check(page(*response_headers, html="<p>Text"))) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("unsafe-url", "Referrer policy is unsafe"), ("nothing", "Referrer-Policy is invalid")],
)
def test_referrer_policy_titles(value: str, expected: str) -> None:
    html_page = page(("Referrer-Policy", value))
    finding = headers.referrer_policy(html_page, document(html_page))
    assert title_of(headers.referrer_policy, finding) == expected


@pytest.mark.parametrize(("origin", "whose"), [("https://a.example", "any origin"), ("null", "Origin: null")])
def test_cors_titles(origin: str, whose: str) -> None:
    finding = headers.cors_credentials(page(), Cors((CorsAnswer(origin, (origin,), ("true",)),)), OriginCors(""))
    assert title_of(headers.cors_credentials, finding) == f"CORS allows {whose} with credentials"


@pytest.mark.parametrize(
    ("response_headers", "expected"),
    [
        ((), "No Content Security Policy"),
        (((f"{CSP}-Report-Only", "script-src 'self'"),), "Content Security Policy is report-only"),
        (((CSP, "img-src 'self'"),), "CSP has no script-src"),
        (((CSP, "script-src * 'unsafe-inline'"),), "CSP allows any script"),
    ],
)
def test_csp_present_titles(response_headers: tuple[tuple[str, str], ...], expected: str) -> None:
    html_page = page(*response_headers)
    assert title_of(csp.csp_present, csp.csp_present(html_page, document(html_page), policies(html_page))) == expected


@pytest.mark.parametrize(
    ("check", "policy", "expected"),
    [
        (csp.csp_script_inline, "script-src 'self' 'unsafe-inline'", "CSP allows inline scripts"),
        (csp.csp_script_inline, "script-src-elem 'self'", "CSP allows inline event handlers"),
        (csp.csp_object_base, "script-src 'self'", "CSP leaves plug-ins unrestricted"),
        (csp.csp_object_base, "object-src 'none'; script-src 'nonce-a123'", "CSP leaves the base URL unrestricted"),
        (csp.csp_object_base, "script-src 'nonce-abcdefgh1234'", "CSP leaves plug-ins and the base URL unrestricted"),
    ],
)  # fmt: skip
def test_csp_directive_titles(check: Callable[..., Verdict], policy: str, expected: str) -> None:
    assert title_of(check, check(policies(page((CSP, policy))))) == expected


@pytest.mark.parametrize(
    ("lines", "check", "expected"),
    [
        (("sessionid=1",), cookies.cookie_secure, "Session cookies without the Secure attribute"),
        (("lang=en",), cookies.cookie_secure, "Cookies without the Secure attribute"),
        (("lang=en; SameSite=None",), cookies.cookie_samesite, "Cookies with SameSite=None without Secure"),
        (("lang=en; SameSite=x",), cookies.cookie_samesite, "Cookies with an invalid SameSite attribute"),
        (("lang=en",), cookies.cookie_samesite, "Cookies without a SameSite attribute"),
    ],
)
def test_cookie_titles(lines: tuple[str, ...], check: Callable[..., Verdict], expected: str) -> None:
    html_page = page(*(("Set-Cookie", line) for line in lines))
    sent = read_cookies(html_page, CLOCK)
    finding = (
        cookies.cookie_secure(html_page, sent) if check is cookies.cookie_secure else cookies.cookie_samesite(sent)
    )
    assert title_of(check, finding) == expected


@pytest.mark.parametrize(
    ("check", "records", "expected"),
    [
        (mail.spf, {}, "No SPF record"),
        (mail.spf, {"spf": ("v=spf1 -all", "v=spf1 -all")}, "More than one SPF record"),
        (mail.spf, {"spf": ("v=spf1 +all",)}, "SPF allows every sender"),
        (mail.spf, {"spf": ("v=spf1 ?all",)}, "SPF does not restrict senders"),
        (mail.dmarc, {}, "No DMARC record"),
        (mail.dmarc, {"dmarc": ("v=DMARC1; p=reject",) * 2}, "More than one DMARC record"),
        (mail.dmarc, {"dmarc": ("v=DMARC1; p=none",)}, "DMARC policy only monitors"),
        (mail.dmarc, {"dmarc": ("v=DMARC1; p=x",)}, "DMARC policy is invalid"),
        (mail.dmarc, {"dmarc": ("v=DMARC1; p=quarantine; pct=0",)}, "DMARC policy applies to no mail"),
    ],
)
def test_spf_and_dmarc_titles(check: Callable[..., Verdict], records: dict[str, Any], expected: str) -> None:
    assert title_of(check, check(MailRecords("example.com", ("10 mx.example.com",), **records))) == expected


@pytest.mark.parametrize(
    ("trust", "has_keys", "expected"),
    [
        (ZoneTrust("example.com", Security.INSECURE), False, "DNSSEC is not enabled"),
        (ZoneTrust("example.com", Security.INSECURE), True, "DNSSEC has no DS record"),
        (ZoneTrust("example.com", Security.BOGUS, SignatureFault.NO_KEYS), False, "DNSSEC keys are missing"),
        (ZoneTrust("example.com", Security.BOGUS, SignatureFault.EXPIRED), False, "DNSSEC signatures have expired"),
        (ZoneTrust("example.com", Security.BOGUS, SignatureFault.DS_MISMATCH), False, "DNSSEC chain is broken"),
    ],
)
def test_dnssec_titles(trust: ZoneTrust, has_keys: bool, expected: str) -> None:
    records = DnssecRecords("example.com", trust, has_keys=has_keys)
    assert title_of(dns_security.dnssec, dns_security.dnssec(records, CLOCK)) == expected


def test_missing_security_txt_titles() -> None:
    assert title_of(names.security_txt, names.security_txt(SecurityTxt(None), CLOCK)) == "No security.txt"


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (("/.svn/entries",), "Subversion data is public"),
        (("/.hg/requires",), "Mercurial data is public"),
        (("/.svn/entries", "/.hg/requires"), "Version control data is public"),
    ],
)
def test_exposed_version_control_titles(paths: tuple[str, ...], expected: str) -> None:
    answers = tuple(PathAnswer(path, 200, "text/plain", 1, is_exposed=True, excerpt="x") for path in paths)
    finding = exposure.exposed_svn_hg(Exposure({"exposed-svn-hg": answers}))
    assert title_of(exposure.exposed_svn_hg, finding) == expected


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("db_password: hunter2", "Comments with credentials in the markup"),
        ("TODO: fix the xss", "Comment about unfinished security work"),
    ],
)
def test_security_comments_titles(comment: str, expected: str) -> None:
    finding = disclosure.security_comments(document(page(html=f"<p><!-- {comment} -->")))
    assert title_of(disclosure.security_comments, finding) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<script src=http://a.example/a.js></script>", "Third-party files over plain HTTP"),
        ("<script src=https://a.example/a.js></script>", "Third-party files without an integrity attribute"),
    ],
)
def test_third_party_files_titles(markup: str, expected: str) -> None:
    html_page = page(html=markup)
    finding = content.sri_third_party(html_page, document(html_page), policies(html_page))
    assert title_of(content.sri_third_party, finding) == expected


def test_vulnerable_library_title() -> None:
    used = Script("https://a.example/jquery-1.12.4.min.js", "")
    finding = content.vulnerable_js_library(LoadedScripts((used,)))
    assert title_of(content.vulnerable_js_library, finding) == "jQuery 1.12.4 has known vulnerabilities"
