"""Titles of findings of checks that can find several things: each says the one thing found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from tests.website_scan.cast import title_of
from tests.website_scan.security.cast import LEAF, NOW, document, hops, https_answer, page, peer, policies
from website_scan.net.tls.ciphers import TlsVersion
from website_scan.outcomes import Verdict
from website_scan.page.evidence import Clock
from website_scan.security.checks import content, cookies, csp, disclosure, domain, exposure, headers, transport
from website_scan.security.evidence import (
    Cors,
    CorsAnswer,
    DnssecRecords,
    Exposure,
    LoadedScripts,
    MailRecords,
    PathAnswer,
    PlainHttp,
    Script,
    SecurityTxt,
    TlsSupport,
)
from website_scan.security.probes.headers import cookies as cookies_of

CLOCK = Clock(NOW)
HSTS = "Strict-Transport-Security"
CSP = "Content-Security-Policy"
HTTP = "http://site.example.com/"
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
def test_hsts(values: tuple[str, ...], expected: str) -> None:
    answer = https_answer(*((HSTS, value) for value in values))
    assert title_of(transport.hsts, transport.hsts(page(), document(page()), answer)) == expected


def test_hsts_over_an_untrusted_connection() -> None:
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
def test_redirects_to_https(chain: list[tuple[str, int]], next_url: str, expected: str) -> None:
    finding = transport.http_to_https_redirect(PlainHttp(HTTP, hops(*chain), "", next_url=next_url))
    assert title_of(transport.http_to_https_redirect, finding) == expected


def test_validity_of_the_certificate() -> None:
    def found(**changes: object) -> str:
        judged = peer(replace(LEAF, **changes))  # type: ignore[arg-type]  # fields of a certificate
        return title_of(transport.tls_cert_expiry, transport.tls_cert_expiry(judged, CLOCK))

    assert found(not_after=NOW - timedelta(days=1)) == "Certificate has expired"
    assert found(not_before=NOW + timedelta(days=1)) == "Certificate is not valid yet"
    assert found(not_after=NOW + timedelta(days=5)) == "Certificate expires in 5 days"


def test_names_and_strength_of_the_certificate() -> None:
    def named(**changes: object) -> str:
        judged = peer(replace(LEAF, **changes))  # type: ignore[arg-type]  # fields of a certificate
        return title_of(transport.tls_cert_hostname, transport.tls_cert_hostname(judged))

    assert named(dns_names=("a.example",)) == "Certificate does not match the host name"
    assert named(dns_names=()) == "Certificate names no host"
    weak = transport.tls_cert_strength(peer(replace(LEAF, key_type="RSA", key_bits=1024)))
    assert title_of(transport.tls_cert_strength, weak) == "Certificate is weak"


def test_versions_and_suites_of_tls() -> None:
    def legacy(*versions: TlsVersion) -> str:
        support = TlsSupport(dict.fromkeys(versions, "TLS_RSA_WITH_AES_128_CBC_SHA"))
        return title_of(transport.tls_legacy_protocols, transport.tls_legacy_protocols(support))

    assert legacy(V.TLS1_0, V.TLS1_2) == "Outdated TLS versions are accepted"
    assert legacy(V.TLS1_0, V.TLS1_1) == "Outdated TLS versions are accepted"
    secretless = transport.tls_weak_ciphers(TlsSupport({V.TLS1_2: "TLS_RSA_WITH_AES_128_CBC_SHA"}))
    assert title_of(transport.tls_weak_ciphers, secretless) == "No forward secrecy"


def test_forms_and_mixed_content() -> None:
    def formed(markup: str, url: str = "https://site.example.com/") -> str:
        seen = page(html=markup, url=url)
        return title_of(transport.insecure_form, transport.insecure_form(seen, document(seen), policies(seen)))

    assert formed("<form action=http://a.example/><input>") == "Form is submitted over plain HTTP"
    assert formed("<form action=http://a.example/><input type=password>") == "Password is submitted over plain HTTP"
    assert formed("<form><input type=password>", HTTP) == "Password field over plain HTTP"
    seen = page(html="<img src=http://a.example/a.png>")
    mixed = transport.mixed_content(seen, document(seen), policies(seen))
    assert title_of(transport.mixed_content, mixed) == "Mixed passive content"


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ((), "No clickjacking protection"),
        ((("X-Frame-Options", "ALLOW-FROM https://a.example"),), "X-Frame-Options is ignored"),
        ((("X-Frame-Options", "no"),), "X-Frame-Options has no effect"),
        ((("X-Frame-Options", "DENY"), ("X-Frame-Options", "SAMEORIGIN")), "X-Frame-Options contradicts itself"),
        (((CSP, "frame-ancestors *"),), "frame-ancestors allows any site"),
    ],
)
def test_clickjacking(sent: tuple[tuple[str, str], ...], expected: str) -> None:
    seen = page(*sent)
    finding = headers.clickjacking(seen, document(seen), policies(seen))
    assert title_of(headers.clickjacking, finding) == expected


@pytest.mark.parametrize(
    ("check", "sent", "expected"),
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
def test_headers(check: Callable[..., Verdict], sent: tuple[tuple[str, str], ...], expected: str) -> None:
    assert title_of(check, check(page(*sent, html="<p>Text"))) == expected


def test_a_referrer_policy_is_named() -> None:
    def found(value: str) -> str:
        seen = page(("Referrer-Policy", value))
        return title_of(headers.referrer_policy, headers.referrer_policy(seen, document(seen)))

    assert found("unsafe-url") == "Referrer policy is unsafe"
    assert found("nothing") == "Referrer-Policy is invalid"


@pytest.mark.parametrize(("origin", "whose"), [("https://a.example", "any origin"), ("null", "Origin: null")])
def test_cors(origin: str, whose: str) -> None:
    finding = headers.cors_credentials(Cors((CorsAnswer(origin, (origin,), ("true",)),)))
    assert title_of(headers.cors_credentials, finding) == f"CORS allows {whose} with credentials"


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ((), "No Content Security Policy"),
        (((f"{CSP}-Report-Only", "script-src 'self'"),), "Content Security Policy is report-only"),
        (((CSP, "img-src 'self'"),), "CSP has no script-src"),
        (((CSP, "script-src * 'unsafe-inline'"),), "CSP allows any script"),
    ],
)
def test_csp_present(sent: tuple[tuple[str, str], ...], expected: str) -> None:
    seen = page(*sent)
    assert title_of(csp.csp_present, csp.csp_present(seen, document(seen), policies(seen))) == expected


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
def test_csp(check: Callable[..., Verdict], policy: str, expected: str) -> None:
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
def test_cookies(lines: tuple[str, ...], check: Callable[..., Verdict], expected: str) -> None:
    seen = page(*(("Set-Cookie", line) for line in lines))
    sent = cookies_of(seen, CLOCK)
    finding = cookies.cookie_secure(seen, sent) if check is cookies.cookie_secure else cookies.cookie_samesite(sent)
    assert title_of(check, finding) == expected


def test_domain() -> None:
    def mail(check: Callable[..., Verdict], **records: tuple[str, ...]) -> str:
        return title_of(check, check(MailRecords("example.com", ("10 mx.example.com",), **records)))

    assert mail(domain.spf) == "No SPF record"
    assert mail(domain.spf, spf=("v=spf1 -all", "v=spf1 -all")) == "More than one SPF record"
    assert mail(domain.spf, spf=("v=spf1 +all",)) == "SPF allows every sender"
    assert mail(domain.spf, spf=("v=spf1 ?all",)) == "SPF does not restrict senders"
    assert mail(domain.dmarc) == "No DMARC record"
    assert mail(domain.dmarc, dmarc=("v=DMARC1; p=reject",) * 2) == "More than one DMARC record"
    assert mail(domain.dmarc, dmarc=("v=DMARC1; p=none",)) == "DMARC policy only monitors"
    assert mail(domain.dmarc, dmarc=("v=DMARC1; p=x",)) == "DMARC policy is invalid"
    assert mail(domain.dmarc, dmarc=("v=DMARC1; p=reject; pct=0",)) == "DMARC policy applies to no mail"
    assert title_of(domain.dnssec, domain.dnssec(DnssecRecords("example.com"))) == "DNSSEC is not enabled"
    keys, parents = DnssecRecords("example.com", dnskey=("1",)), DnssecRecords("example.com", ds=("1",))
    assert title_of(domain.dnssec, domain.dnssec(keys)) == "DNSSEC has no DS record"
    assert title_of(domain.dnssec, domain.dnssec(parents)) == "DNSSEC keys are missing"
    assert title_of(domain.security_txt, domain.security_txt(SecurityTxt(None), CLOCK)) == "No security.txt"


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (("/.svn/entries",), "Subversion data is public"),
        (("/.hg/requires",), "Mercurial data is public"),
        (("/.svn/entries", "/.hg/requires"), "Version control data is public"),
    ],
)
def test_version_control(paths: tuple[str, ...], expected: str) -> None:
    answers = tuple(PathAnswer(path, 200, "text/plain", 1, is_exposed=True, excerpt="x") for path in paths)
    finding = exposure.exposed_svn_hg(Exposure({"exposed-svn-hg": answers}))
    assert title_of(exposure.exposed_svn_hg, finding) == expected


def test_comments_and_third_party_files() -> None:
    def commented(comment: str) -> str:
        seen = document(page(html=f"<p><!-- {comment} -->"))
        return title_of(disclosure.security_comments, disclosure.security_comments(seen))

    assert commented("db_password: hunter2") == "Comments with credentials in the markup"
    assert commented("TODO: fix the xss") == "Comment about unfinished security work"

    def third_party(markup: str) -> str:
        seen = page(html=markup)
        finding = content.sri_third_party(seen, document(seen), policies(seen))
        return title_of(content.sri_third_party, finding)

    assert third_party("<script src=http://a.example/a.js></script>") == "Third-party files over plain HTTP"
    assert (
        third_party("<script src=https://a.example/a.js></script>")
        == "Third-party files without an integrity attribute"
    )


def test_a_vulnerable_library_is_named() -> None:
    used = Script("https://a.example/jquery-1.12.4.min.js", "")
    finding = content.vulnerable_js_library(LoadedScripts((used,)))
    assert title_of(content.vulnerable_js_library, finding) == "jQuery 1.12.4 has known vulnerabilities"
