from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from tests.website_scan.cast import message, outcome, rows, severity_of, verdict
from tests.website_scan.security.cast import (
    INTERMEDIATE,
    LEAF,
    NO_PEER,
    NOW,
    ROOT,
    document,
    hops,
    https_answer,
    page,
    peer,
    policies,
)
from website_scan.findings import HIGH, LOW, MEDIUM
from website_scan.net.tls.certificates import Certificate
from website_scan.net.tls.ciphers import TlsVersion
from website_scan.net.tls.trust import Distrust, Trust
from website_scan.page.evidence import Clock
from website_scan.security.checks import transport as checks
from website_scan.security.evidence import HttpsAnswer, PlainHttp, TlsSupport

V = TlsVersion
NO_TLS = TlsSupport({})
GCM, CBC, RSA = (
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
)
MODERN = TlsSupport({V.TLS1_3: "TLS_AES_128_GCM_SHA256", V.TLS1_2: GCM})
HTTP_PAGE = page(url="http://site.example.com/")


def test_https_is_available_after_handshake() -> None:
    assert verdict(checks.https_available(page().target, peer(), MODERN)) == "pass"


def test_https_is_unavailable_without_answer() -> None:
    finding = checks.https_available(HTTP_PAGE.target, NO_PEER, NO_TLS)
    assert verdict(finding) == "fail"
    assert "plain HTTP" in message(finding)


def test_https_is_available_without_openssl_handshake() -> None:
    assert verdict(checks.https_available(HTTP_PAGE.target, NO_PEER, TlsSupport({V.TLS1_0: RSA}))) == "pass"


def test_https_is_unavailable_with_ssl_3_only() -> None:
    assert verdict(checks.https_available(HTTP_PAGE.target, NO_PEER, TlsSupport({V.SSL3_0: RSA}))) == "fail"


SITE, WWW = "site.example.com", "www.site.example.com"


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        ([], "pass"),  # The port for plain HTTP is closed.
        ([(f"http://{SITE}/", 301), (f"https://{SITE}/", 200)], "pass"),
        ([(f"http://{SITE}/", 307), (f"https://{SITE}:8443/", 200)], "pass"),
        ([(f"http://{SITE}/", 301), (f"https://{SITE}/", 301), (f"https://{WWW}/", 200)], "pass"),
        ([(f"http://{SITE}/", 301), (f"https://{SITE}/", 301), (f"https://{SITE}/en", 403)], "pass"),
        (
            [(f"http://{SITE}/", 301), (f"https://{WWW}/", 200)],
            "warn",
        ),  # Browsers get the HSTS header of a bare domain only from itself.
        ([(f"http://{SITE}/", 301), (f"http://{WWW}/", 301), (f"https://{WWW}/", 200)], "warn"),
        ([(f"http://{SITE}/", 301), (f"http://{SITE}/en", 301), (f"https://{SITE}/en", 200)], "warn"),
        ([(f"http://{SITE}/", 200)], "fail"),
        ([(f"http://{SITE}/", 304)], "fail"),
        ([(f"http://{SITE}/", 403)], "warn"),
        ([(f"http://{SITE}/", 404)], "warn"),
        ([(f"http://{SITE}/", 301), (f"http://{WWW}/", 200)], "fail"),
        ([(f"http://{SITE}/", 301), (f"https://{SITE}/", 302), (f"http://{SITE}/home", 200)], "fail"),
    ],
)
def test_http_to_https_redirect_check_verdict(chain: list[tuple[str, int]], expected: str) -> None:
    error = "" if chain else "Connection refused."
    plain = PlainHttp(f"http://{SITE}/", hops(*chain), error)
    assert verdict(checks.http_to_https_redirect(plain)) == expected


@pytest.mark.parametrize(
    ("location", "expected"),
    [(f"https://{SITE}/", "pass"), (f"https://{WWW}/", "warn"), (f"http://{WWW}/", "fail")],
)
def test_unreachable_redirect_is_judged(location: str, expected: str) -> None:
    plain = PlainHttp(f"http://{SITE}/", hops((f"http://{SITE}/", 301)), "Refused.", next_url=location)
    assert verdict(checks.http_to_https_redirect(plain)) == expected


def test_redirect_to_invalid_url_fails() -> None:
    plain = PlainHttp(f"http://{SITE}/", hops((f"http://{SITE}/", 301)), "Bad.", next_url="https://")
    assert verdict(checks.http_to_https_redirect(plain)) == "fail"


def test_redirect_check_skips_unusual_port() -> None:
    assert verdict(checks.http_to_https_redirect(PlainHttp(None))) == "n/a"


@pytest.mark.parametrize(
    ("trust", "expected_outcome", "words"),
    [
        (Trust(Distrust.SELF_SIGNED, 18), "self-signed", "is self-signed"),
        (Trust(Distrust.INCOMPLETE_CHAIN, 20, proven=True), "incomplete", "does not send"),
        (
            Trust(Distrust.INCOMPLETE_CHAIN, 20),
            "no-root",
            "its own certificate only",
        ),
        (Trust(Distrust.UNKNOWN_ISSUER, 19), "unknown-issuer", "The chain ends at"),
        (
            Trust(Distrust.OTHER, 26, "the certificate is not made for a web server"),
            "invalid",
            "not made for a web",
        ),
    ],
)
def test_each_reason_for_distrust_has_an_outcome(trust: Trust, expected_outcome: str, words: str) -> None:
    finding = checks.tls_cert_trusted(peer(trust=trust))
    assert outcome(finding) == expected_outcome
    assert words in message(finding)


@pytest.mark.parametrize(
    ("stranger", "words"),
    [
        (ROOT, f"It sends “{ROOT.subject}” instead, which did not issue it."),
        (replace(INTERMEDIATE, subject=LEAF.issuer), "another certificate of this name, whose key did not sign it"),
    ],
)
def test_message_names_missing_intermediate(stranger: Certificate, words: str) -> None:
    connected = peer(LEAF, stranger, trust=Trust(Distrust.INCOMPLETE_CHAIN, 20))
    assert connected.handshake is not None
    handshake = replace(connected.handshake, last_linked=LEAF, strangers=(stranger,))
    finding = checks.tls_cert_trusted(replace(connected, handshake=handshake))
    assert outcome(finding) == "incomplete"
    assert f"does not send the certificate “{LEAF.issuer}”" in message(finding)
    assert words in message(finding)


def test_trusted_chain_passes() -> None:
    assert verdict(checks.tls_cert_trusted(peer())) == "pass"


@pytest.mark.parametrize(
    ("chain", "expected_text"),
    [
        ((replace(LEAF, signature_hash="sha1"), INTERMEDIATE, ROOT), "Browsers refuse"),
        ((replace(LEAF, signature_hash="md5"), INTERMEDIATE, ROOT), "MD5"),
        ((LEAF, replace(INTERMEDIATE, signature_hash="sha1"), ROOT), "An Intermediate"),
        ((replace(LEAF, key_type="RSA", key_bits=1023), INTERMEDIATE, ROOT), "Browsers refuse"),
        ((replace(LEAF, key_type="RSA", key_bits=1024, signature_hash="sha1"), INTERMEDIATE, ROOT), "Browsers refuse"),
        ((replace(LEAF, key_type="EC", key_bits=192), INTERMEDIATE, ROOT), "Browsers refuse"),
        ((LEAF, replace(INTERMEDIATE, key_bits=768), ROOT), "768 bits"),
        # Only Apple's browsers refuse these keys, which tls-cert-strength reports.
        ((replace(LEAF, key_type="RSA", key_bits=1024), INTERMEDIATE, ROOT), None),
        # Browsers trust a root certificate, whatever its signature and key.
        ((LEAF, INTERMEDIATE, replace(ROOT, signature_hash="sha1", key_bits=1024)), None),
        ((replace(LEAF, key_type="Ed25519", key_bits=0, signature_hash=""), INTERMEDIATE, ROOT), None),
    ],
)
def test_weak_certificate_below_root_fails(chain: tuple[Certificate, ...], expected_text: str) -> None:
    finding = checks.tls_cert_trusted(peer(*chain))
    assert verdict(finding) == ("pass" if expected_text is None else "fail")
    assert (expected_text or "") in message(finding)


def test_self_signed_certificate_is_reported_first() -> None:
    tls_peer = peer(replace(LEAF, signature_hash="sha1"), trust=Trust(Distrust.SELF_SIGNED, 18))
    assert "is self-signed" in message(checks.tls_cert_trusted(tls_peer))


@pytest.mark.parametrize(
    ("not_before", "days", "is_public", "expected"),
    [
        ("2026-03-01", 398, True, "pass"),
        ("2026-03-01", 399, True, "fail"),
        ("2026-03-15", 200, True, "pass"),
        ("2026-03-15", 201, True, "fail"),
        ("2027-03-15", 101, True, "fail"),
        ("2029-03-15", 48, True, "fail"),
        ("2026-03-15", 3650, False, "pass"),  # A private authority may choose its own maximum lifetime.
        ("2020-08-31", 825, True, "pass"),  # The check tls-cert-expiry reports the expired certificate.
    ],
)
def test_public_certificate_with_long_lifetime_fails(
    not_before: str, days: int, is_public: bool, expected: str
) -> None:
    begin = datetime.fromisoformat(f"{not_before}T00:00:00+00:00")
    leaf = replace(LEAF, not_before=begin, not_after=begin + timedelta(days=days))
    finding = checks.tls_cert_trusted(peer(leaf, trust=Trust(is_public=is_public)))
    assert verdict(finding) == expected
    assert expected == "pass" or f"for {days} days" in message(finding)


@pytest.mark.parametrize(
    ("host", "names", "expected"),
    [
        ("site.example.com", ("site.example.com",), "pass"),
        ("site.example.com", ("SITE.Example.com.",), "pass"),
        ("site.example.com", ("*.example.com",), "pass"),
        ("example.com", ("*.example.com",), "fail"),
        ("a.site.example.com", ("*.example.com",), "fail"),
        ("site.example.com", ("s*.example.com",), "fail"),
        ("site.example.com", ("*",), "fail"),
        ("example.com", ("*.com",), "fail"),
        ("site.example.com", ("site.example.org", "www.example.com"), "fail"),
        ("xn--bcher-kva.example.com", ("*.example.com",), "pass"),
        ("203.0.113.5", ("203.0.113.5",), "fail"),  # An IP address among the DNS names does not count.
    ],
)
def test_tls_cert_hostname_check_verdict(host: str, names: tuple[str, ...], expected: str) -> None:
    tls_peer = peer(replace(LEAF, dns_names=names), host=host)
    assert verdict(checks.tls_cert_hostname(tls_peer)) == expected


@pytest.mark.parametrize(
    ("host", "addresses", "expected"),
    [
        ("203.0.113.5", ("203.0.113.5",), "pass"),
        ("203.0.113.5", ("203.0.113.6",), "fail"),
        ("[2001:db8::1]", ("2001:db8::1",), "pass"),
        ("2001:db8::1", ("2001:db8::1",), "pass"),
    ],
)
def test_certificate_must_contain_ip_address(host: str, addresses: tuple[str, ...], expected: str) -> None:
    tls_peer = peer(replace(LEAF, dns_names=(), ip_addresses=addresses), host=host)
    assert verdict(checks.tls_cert_hostname(tls_peer)) == expected


def test_certificate_with_only_common_name_fails() -> None:
    finding = checks.tls_cert_hostname(peer(replace(LEAF, dns_names=())))
    assert verdict(finding) == "fail"
    assert "common name" in message(finding)


def certificate_with_lifetime(past: timedelta, future: timedelta) -> Certificate:
    return replace(LEAF, not_before=NOW - past, not_after=NOW + future)


@pytest.mark.parametrize(
    ("past", "future", "expected"),
    [
        (timedelta(days=30), timedelta(days=60), "pass"),
        (timedelta(days=76), timedelta(days=14), "pass"),
        (timedelta(days=77), timedelta(days=13), "warn"),
        (timedelta(days=3), timedelta(days=3), "pass"),  # A six-day certificate is at half of its lifetime.
        (timedelta(days=5), timedelta(days=1), "warn"),
        (timedelta(days=90), -timedelta(seconds=1), "fail"),
        (-timedelta(hours=1), timedelta(days=90), "fail"),
    ],
)
def test_tls_cert_expiry_check_verdict(past: timedelta, future: timedelta, expected: str) -> None:
    assert verdict(checks.tls_cert_expiry(peer(certificate_with_lifetime(past, future)), Clock(NOW))) == expected


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        ((LEAF, INTERMEDIATE, ROOT), "pass"),
        ((replace(LEAF, key_type="RSA", key_bits=1024), INTERMEDIATE, ROOT), "fail"),
        ((replace(LEAF, key_type="RSA", key_bits=2048), INTERMEDIATE, ROOT), "pass"),
        ((replace(LEAF, key_bits=224), INTERMEDIATE, ROOT), "fail"),
        ((replace(LEAF, key_type="Ed25519", key_bits=0, signature_hash=""), INTERMEDIATE, ROOT), "pass"),
        ((replace(LEAF, signature_hash="sha1"), INTERMEDIATE, ROOT), "fail"),
        ((replace(LEAF, signature_hash="md5"), INTERMEDIATE, ROOT), "fail"),
        ((LEAF, replace(INTERMEDIATE, signature_hash="sha1"), ROOT), "fail"),
        # The signature of a root certificate does not matter.
        ((LEAF, INTERMEDIATE, replace(ROOT, signature_hash="sha1")), "pass"),
        ((replace(LEAF, issuer=LEAF.subject, signature_hash="sha1"), INTERMEDIATE), "pass"),
        ((replace(LEAF, issuer=LEAF.subject, key_type="RSA", key_bits=1024), INTERMEDIATE), "fail"),
    ],
)
def test_tls_cert_strength_check_verdict(chain: tuple[Certificate, ...], expected: str) -> None:
    assert verdict(checks.tls_cert_strength(peer(*chain))) == expected


def test_superfluous_certificates_are_not_judged() -> None:
    tls_peer = peer(LEAF, INTERMEDIATE, replace(INTERMEDIATE, subject="CN=An Old Cross", signature_hash="sha1"))
    assert tls_peer.handshake is not None
    tls_peer = replace(tls_peer, handshake=replace(tls_peer.handshake, path=(LEAF, INTERMEDIATE, ROOT)))
    assert verdict(checks.tls_cert_strength(tls_peer)) == "pass"


@pytest.mark.parametrize(
    ("versions", "legacy", "modern"),
    [
        ([V.TLS1_3], "pass", "pass"),
        ([V.TLS1_3, V.TLS1_2], "pass", "pass"),
        ([V.TLS1_2], "pass", "only-tls-1-2"),
        ([V.TLS1_2, V.TLS1_1], "accepted", "only-tls-1-2"),
        ([V.TLS1_3, V.TLS1_2, V.TLS1_1, V.TLS1_0], "accepted", "pass"),
        ([V.TLS1_2, V.SSL3_0], "ssl-3", "only-tls-1-2"),
        ([V.TLS1_0], "accepted", "unsupported"),
    ],
)
def test_protocol_checks_return_outcomes(versions: list[TlsVersion], legacy: str, modern: str) -> None:
    support = TlsSupport(dict.fromkeys(versions, CBC))
    assert outcome(checks.tls_legacy_protocols(support)) == legacy
    assert outcome(checks.tls_modern_protocols(support)) == modern


@pytest.mark.parametrize(
    ("support", "expected"),
    [
        (MODERN, "pass"),
        (TlsSupport({V.TLS1_2: CBC}), "pass"),
        (TlsSupport({V.TLS1_2: RSA}), "warn"),
        # Browsers choose TLS 1.3, so a weak suite of TLS 1.2 does not matter.
        (TlsSupport({V.TLS1_3: "TLS_AES_128_GCM_SHA256", V.TLS1_2: RSA}), "pass"),
        (TlsSupport({V.TLS1_2: "ECDHE-RSA-AES128-SHA"}), "pass"),  # This cipher suite has OpenSSL's name.
        (TlsSupport({V.TLS1_2: GCM}, ("TLS_RSA_WITH_3DES_EDE_CBC_SHA",)), "fail"),
        (TlsSupport({V.TLS1_2: GCM}, ("TLS_RSA_WITH_RC4_128_SHA",)), "fail"),
        (TlsSupport({V.TLS1_2: GCM}, ("TLS_RSA_WITH_DES_CBC_SHA",)), "fail"),
        (TlsSupport({V.TLS1_2: GCM}, ("TLS_RSA_EXPORT_WITH_RC4_40_MD5",)), "fail"),
        (TlsSupport({V.TLS1_2: GCM}, ("TLS_RSA_WITH_NULL_SHA",)), "fail"),
        (TlsSupport({V.TLS1_2: GCM}, ("TLS_DH_anon_WITH_AES_128_CBC_SHA",)), "fail"),
    ],
)
def test_tls_weak_ciphers_check_verdict(support: TlsSupport, expected: str) -> None:
    assert verdict(checks.tls_weak_ciphers(support)) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["max-age=31536000; includeSubDomains"], "pass"),
        (["max-age=15552000"], "pass"),
        (["MAX-AGE=31536000"], "pass"),
        (['max-age="31536000"'], "pass"),
        ([" max-age = 31536000 ; includesubdomains ; preload ; "], "pass"),
        (["max-age=31536000; a-directive-of-the-future=1"], "pass"),
        # RFC 6797 does not define preload, so its value is ignored.
        (["max-age=31536000; preload=true"], "pass"),
        (["max-age=99999999999999999999999999"], "pass"),
        (["max-age=15551999"], "warn"),
        (["max-age=31536000", "max-age=31536000"], "warn"),
        (["max-age=0"], "fail"),
        ([], "fail"),
        ([""], "fail"),
        (["includeSubDomains"], "fail"),
        (["max-age=-1"], "fail"),
        (["max-age=1y"], "fail"),
        (["max-age=31536000, includeSubDomains"], "fail"),
        (["max-age: 31536000"], "fail"),
        (["max-age=31536000; max-age=31536000"], "fail"),
        (["max-age=31536000; includeSubDomains=true"], "fail"),
        (["max-age"], "fail"),
    ],
)
def test_hsts_check_verdict(values: list[str], expected: str) -> None:
    answer = https_answer(*(("strict-transport-security", value) for value in values))
    html_page = page()
    assert verdict(checks.hsts(html_page, document(html_page), answer)) == expected


@pytest.mark.parametrize(("host", "expected"), [("site.dev", "pass"), ("a.site.app", "pass"), ("dev.site.com", "fail")])
def test_preloaded_domain_needs_no_hsts_header(host: str, expected: str) -> None:
    html_page = page(url=f"https://{host}/")
    assert verdict(checks.hsts(html_page, document(html_page), https_answer())) == expected


def test_missing_hsts_message_mentions_preload_lists() -> None:
    finding = checks.hsts(page(), document(page()), https_answer())
    assert verdict(finding) == "fail"
    assert "preload lists were not checked" in message(finding)


def test_hsts_header_over_http_counts_as_missing() -> None:
    html_page = page(("Strict-Transport-Security", "max-age=31536000"), url="http://site.example.com/")
    finding = checks.hsts(html_page, document(html_page), https_answer())
    assert verdict(finding) == "fail"
    assert "over plain HTTP" in message(finding)


@pytest.mark.parametrize(
    ("host", "applies"),
    [
        ("9.9.9.9", False),
        ("9.9.9.9:8443", False),
        ("0x9.9.9.9", False),  # The URL parser reads this host as an IPv4 address.
        ("127.0.0.1", False),
        ("[2620:fe::fe]", False),
        ("[2620:fe::fe]:8443", False),
        ("[::ffff:9.9.9.9]", False),
        ("site.example.com", True),
        ("9.9.9.9.example.com", True),
        ("7.2.0.192.in-addr.arpa", True),
        ("localhost", True),
    ],
)
def test_hsts_applies_to_host_names_only(host: str, applies: bool) -> None:
    """RFC 6797, sections 8.1.1 and 8.2.

    Browsers ignore HSTS headers of IP addresses, on any port.
    """
    html_page = page(url=f"https://{host}/")
    found = []
    for headers in ([], [("Strict-Transport-Security", "max-age=31536000; preload")]):
        answer = https_answer(*headers)
        found.append(verdict(checks.hsts(html_page, document(html_page), answer)))
        found.append(verdict(checks.hsts_preload_consistency(html_page, answer)))
    assert found == (["fail", "n/a", "pass", "warn"] if applies else ["n/a"] * 4)


def test_redirect_from_ip_address_is_no_detour() -> None:
    """Browsers ignore HSTS headers of IP addresses.

    A redirect to https at the IP address would gain nothing.
    """
    plain = PlainHttp("http://192.0.2.7/", hops(("http://192.0.2.7/", 301)), next_url="https://site.example.com/")
    assert verdict(checks.http_to_https_redirect(plain)) == "pass"


def test_hsts_in_meta_counts_as_missing() -> None:
    html_page = page(html='<meta http-equiv="Strict-Transport-Security" content="max-age=31536000">')
    finding = checks.hsts(html_page, document(html_page), https_answer())
    assert verdict(finding) == "fail"
    assert "<meta>" in message(finding)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("max-age=31536000", "max-age=31536000"), "repeated"),
        (("max-age=31536000", "max-age=0"), "contradictory"),
        (("max-age=0", "max-age=31536000"), "off"),  # Browsers use the first of several HSTS headers.
    ],
)
def test_several_hsts_headers_are_judged(values: tuple[str, ...], expected: str) -> None:
    html_page = page()
    finding = checks.hsts(
        html_page, document(html_page), https_answer(*(("Strict-Transport-Security", value) for value in values))
    )
    assert outcome(finding) == expected
    assert severity_of(checks.hsts, finding) is (
        HIGH if expected == "off" else LOW if expected == "repeated" else MEDIUM
    )


def test_hsts_needs_a_trusted_certificate() -> None:
    answer = https_answer(("Strict-Transport-Security", "max-age=31536000"), trust_error="self-signed")
    assert verdict(checks.hsts(page(), document(page()), answer)) == "fail"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("max-age=31536000; includeSubDomains; preload", "pass"),
        ("max-age=31536000", "pass"),  # HSTS preloading is optional.
        ("max-age=31535999; includeSubDomains; preload", "warn"),
        ("max-age=31536000; preload", "warn"),
        ("nonsense", "n/a"),
    ],
)
def test_hsts_preload_check_verdict(value: str, expected: str) -> None:
    answer = https_answer(("Strict-Transport-Security", value))
    assert verdict(checks.hsts_preload_consistency(page(), answer)) == expected


def test_other_tls_checks_need_tls() -> None:
    html_page = HTTP_PAGE
    findings = [
        checks.tls_cert_trusted(NO_PEER),
        checks.tls_cert_hostname(NO_PEER),
        checks.tls_cert_expiry(NO_PEER, Clock(NOW)),
        checks.tls_cert_strength(NO_PEER),
        checks.tls_legacy_protocols(NO_TLS),
        checks.tls_modern_protocols(NO_TLS),
        checks.tls_weak_ciphers(NO_TLS),
        checks.hsts(html_page, document(html_page), HttpsAnswer(None)),
        checks.hsts_preload_consistency(page(), HttpsAnswer(None)),
    ]
    assert {verdict(finding) for finding in findings} == {"n/a"}


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<script src=https://cdn.example.com/a.js></script>", "pass"),
        ("<script src=http://cdn.example.com/a.js></script>", "active"),
        ("<script src=HTTP://cdn.example.com/a.js></script>", "active"),
        ("<script src=//cdn.example.com/a.js></script>", "pass"),
        ("<script type=text/template src=http://cdn.example.com/a.html></script>", "pass"),
        ("<script type=module src=http://cdn.example.com/a.js></script>", "active"),
        ("<link rel=stylesheet href=http://cdn.example.com/a.css>", "active"),
        ("<link rel='alternate stylesheet' href=http://cdn.example.com/a.css>", "active"),
        ("<link rel=manifest href=http://cdn.example.com/m.json>", "active"),
        ("<iframe src=http://ads.example.com/></iframe>", "active"),
        ("<object data=http://cdn.example.com/a.swf></object>", "active"),
        ("<embed src=http://cdn.example.com/a.swf>", "active"),
        ("<img src=http://cdn.example.com/a.png>", "passive"),
        ("<img src=https://cdn.example.com/a.png srcset='http://cdn.example.com/b.png 2x'>", "active"),
        ("<picture><source srcset=http://cdn.example.com/a.webp><img src=a.png></picture>", "active"),
        ("<img src=a.png srcset='a.png?u=http://x 1x, /b,c.png 2x'>", "pass"),
        ("<img crossorigin src=http://cdn.example.com/a.png>", "active"),
        ("<video src=http://cdn.example.com/a.mp4></video>", "passive"),
        ("<audio><source src=http://cdn.example.com/a.mp3></audio>", "passive"),
        ("<link rel='shortcut icon' href=http://cdn.example.com/favicon.ico>", "passive"),
        ("<link rel=preload as=script href=http://cdn.example.com/a.js>", "active"),
        ("<link rel=preload as=image href=http://cdn.example.com/a.png>", "passive"),
        ("<link rel=canonical href=http://site.example.com/>", "pass"),
        ("<link rel='alternate' hreflang=de href=http://site.example.com/de>", "pass"),
        ("<link rel=dns-prefetch href=http://cdn.example.com/>", "pass"),
        ("<a href=http://other.example.com/>a link</a>", "pass"),
        ("<a href=x ping=x><svg xmlns='http://www.w3.org/2000/svg'></svg></a>", "pass"),
        ("<meta property=og:image content=http://cdn.example.com/a.png>", "pass"),
        ("<!-- <script src=http://cdn.example.com/a.js></script> -->", "pass"),
        ("<template><script src=http://cdn.example.com/a.js></script></template>", "pass"),
        ("<noscript><img src=http://tracker.example.com/p.gif></noscript>", "pass"),
        ("<base href=http://static.example.com/><script src=a.js></script>", "active"),
        ("<base href=https://static.example.com/><script src=a.js></script>", "pass"),
        ("<script>var s = 'http://cdn.example.com/a.js'</script>", "pass"),
        # Browsers consider loopback addresses trustworthy.
        ("<script src='http://127.0.0.1:8000/agent.js'></script>", "pass"),
        ("<script src='http://localhost:8000/agent.js'></script>", "pass"),
        ("<script src='http://'></script>", "pass"),
        ("<script src=''></script>", "pass"),
        # Browsers upgrade images of style sheets, but block imports and fonts.
        ('<div style="background:url(http://img.example.com/a.png)">', "passive"),
        ("<p style='--x:1;list-style: square URL( \"http://img.example.com/a.png\" )'>", "passive"),
        ("<style>.hero{background-image:url('http://img.example.com/a.png')}</style>", "passive"),
        ('<style>@import "http://cdn.example.com/a.css";</style>', "active"),
        ("<style>@font-face{font-family:a;src:url(http://cdn.example.com/a.woff2)}</style>", "active"),
        ("<style>/* url(http://img.example.com/a.png) */ a{color:red}</style>", "pass"),
        ('<div style="background:url(https://img.example.com/a.png);color:red">', "pass"),
        ("<p style=\"content:'http://a.example'\">url(http://img.example.com/a.png)", "pass"),
        ("<style>@namespace svg url(http://www.w3.org/2000/svg);</style>", "pass"),
        ("<style>@-moz-document url(http://www.example.com/){a{color:red}}</style>", "pass"),
    ],
)
def test_mixed_content_check_verdict(html: str, expected: str) -> None:
    html_page = page(html=f"<!doctype html><body>{html}")
    assert outcome(checks.mixed_content(html_page, document(html_page), policies(html_page))) == expected


UPGRADE = "upgrade-insecure-requests"
ACTIVE = "<script src=http://cdn.example.com/a.js></script>"


@pytest.mark.parametrize(
    ("headers", "meta", "expected"),
    [
        ([("Content-Security-Policy", UPGRADE)], "", "pass"),
        ([("Content-Security-Policy", "default-src 'self'; Upgrade-Insecure-Requests")], "", "pass"),
        ([("Content-Security-Policy-Report-Only", UPGRADE)], "", "fail"),
        ([], f'<meta http-equiv=Content-Security-Policy content="{UPGRADE}">', "pass"),
        ([], f'<!-- <meta http-equiv=Content-Security-Policy content="{UPGRADE}"> -->', "fail"),
    ],
)
def test_upgrade_directive_fixes_mixed_content(headers: list[tuple[str, str]], meta: str, expected: str) -> None:
    html_page = page(*headers, html=f"<!doctype html><head>{meta}</head><body>{ACTIVE}")
    assert verdict(checks.mixed_content(html_page, document(html_page), policies(html_page))) == expected


def test_mixed_content_check_needs_https() -> None:
    html_page = page(html=ACTIVE, url="http://site.example.com/")
    assert verdict(checks.mixed_content(html_page, document(html_page), policies(html_page))) == "n/a"


PASSWORD = "<input type=password name=p>"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>No form.", "pass"),
        ("<form action=/login></form>", "pass"),
        (f"<form method=post>{PASSWORD}</form>", "pass"),
        ("<form action=http://list.example.com/subscribe></form>", "over-http"),
        (f"<form action=http://login.example.com/>{PASSWORD}</form>", "password"),
        (
            f"<form id=f action=http://login.example.com/></form>{PASSWORD.replace('>', ' form=f>')}",
            "password",
        ),
        (f"<form action=http://search.example.com/></form>{PASSWORD}", "over-http"),
        ("<form action=/ok><button formaction=http://other.example.com/>Go</button></form>", "over-http"),
        (
            "<form action=/ok><button type=button formaction=http://other.example.com/>Go</button></form>",
            "pass",
        ),
        ("<form action=mailto:a@example.com></form>", "pass"),
        ("<form action=javascript:void(0)></form>", "pass"),
        ("<form method=dialog action=http://x.example.com/></form>", "pass"),
        ("<base href=http://site.example.com/><form action=login></form>", "over-http"),
        (
            "<base href=http://site.example.com/><form></form>",
            "pass",
        ),  # Without an action, a form submits to the page's URL.
        ("<!-- <form action=http://x.example.com/></form> -->", "pass"),
        ("<template><form action=http://x.example.com/></form></template>", "pass"),
        ("<noscript><form action=http://x.example.com/></form></noscript>", "pass"),
    ],
)
def test_insecure_form_check_verdict(html: str, expected: str) -> None:
    html_page = page(html=f"<!doctype html><body>{html}")
    assert outcome(checks.insecure_form(html_page, document(html_page), policies(html_page))) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<form action=https://site.example.com/>{PASSWORD}</form>", "password-page"),
        (PASSWORD, "password-page"),
        ("<form action=https://site.example.com/></form>", "pass"),
        ("<form></form>", "over-http"),
    ],
)
def test_insecure_form_check_judges_http_pages(html: str, expected: str) -> None:
    html_page = page(html=html, url="http://site.example.com/")
    assert outcome(checks.insecure_form(html_page, document(html_page), policies(html_page))) == expected


def test_upgrade_directive_fixes_forms() -> None:
    html_page = page(("Content-Security-Policy", UPGRADE), html="<form action=http://x.example.com/></form>")
    assert verdict(checks.insecure_form(html_page, document(html_page), policies(html_page))) == "pass"


def test_token_in_form_action_is_masked() -> None:
    html_page = page(html="<form action='http://x.example.com/?session=abc123secret'></form>")
    finding = checks.insecure_form(html_page, document(html_page), policies(html_page))
    assert "abc123secret" not in message(finding) + str(rows(finding))
