from __future__ import annotations

import pytest

from tests.website_scan.cast import judged, verdict
from tests.website_scan.security.cast import bare_page, document, page, policies
from website_scan.security.checks import headers as checks
from website_scan.security.evidence import Cors, CorsAnswer

CSP = "Content-Security-Policy"
XFO = "X-Frame-Options"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([(XFO, "DENY")], "pass"),
        ([(XFO, "SameOrigin")], "pass"),
        ([(XFO, "SAMEORIGIN"), (XFO, "sameorigin")], "pass"),  # a proxy repeats the header
        ([(XFO, "SAMEORIGIN, SAMEORIGIN")], "pass"),
        ([(XFO, "DENY"), (XFO, "SAMEORIGIN")], "warn"),
        ([(XFO, "SAMEORIGIN, ALLOW-FROM https://a.example")], "warn"),
        ([(XFO, "ALLOW-FROM https://partner.example.com")], "fail"),
        ([(XFO, "ALLOWALL")], "fail"),
        ([(XFO, "")], "fail"),
        ([], "fail"),
        ([(CSP, "frame-ancestors 'none'")], "pass"),
        ([(CSP, "frame-ancestors")], "pass"),  # an empty list allows nobody
        ([(CSP, "default-src 'self'; FRAME-ANCESTORS 'self' https://*.partner.example.com")], "pass"),
        ([(CSP, "default-src 'none'")], "fail"),  # frame-ancestors does not fall back to default-src
        ([(CSP, "frame-ancestors *")], "fail"),
        ([(CSP, "frame-ancestors 'self' https:")], "fail"),
        ([(CSP, "frame-ancestors https://*")], "fail"),
        ([(CSP, "frame-ancestors https://*:443")], "fail"),
        ([(CSP, "frame-ancestors *"), (XFO, "DENY")], "fail"),  # frame-ancestors overrides X-Frame-Options
        ([(CSP, "frame-ancestors 'none'"), (XFO, "ALLOWALL")], "pass"),
        ([(CSP, "frame-ancestors *"), (CSP, "frame-ancestors 'self'")], "pass"),  # both must hold
        ([(CSP, "frame-ancestors *, frame-ancestors 'none'")], "pass"),
        ([(CSP, "frame-ancestors 'self'; frame-ancestors *")], "pass"),  # the first of a repeated directive
        ([(CSP + "-Report-Only", "frame-ancestors 'none'")], "fail"),
        ([(CSP + "-Report-Only", "frame-ancestors *"), (XFO, "DENY")], "pass"),
    ],
)
def test_clickjacking(headers: list[tuple[str, str]], expected: str) -> None:
    seen = page(*headers)
    assert verdict(checks.clickjacking(seen, document(seen), policies(seen))) == expected


@pytest.mark.parametrize(
    "meta",
    [
        '<meta http-equiv="X-Frame-Options" content="DENY">',
        "<meta http-equiv=content-security-policy content=\"frame-ancestors 'none'\">",
    ],
)
def test_clickjacking_protection_in_meta_is_ignored_and_the_message_says_so(meta: str) -> None:
    seen = page(html=f"<!doctype html><head>{meta}</head>")
    finding = checks.clickjacking(seen, document(seen), policies(seen))
    assert verdict(finding) == "fail"
    assert "in <meta> they are ignored" in judged(finding).message


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["nosniff"], "pass"),
        (["NoSniff "], "pass"),
        (["nosniff, nosniff"], "pass"),
        (["nosniff", "nosniff"], "pass"),
        (["nosniff,"], "pass"),
        ([], "fail"),
        ([""], "fail"),
        (["sniff, nosniff"], "fail"),
        (["nosniff;"], "fail"),
        (['"nosniff"'], "fail"),
    ],
)
def test_x_content_type_options(values: list[str], expected: str) -> None:
    seen = page(*(("X-Content-Type-Options", value) for value in values))
    assert verdict(checks.x_content_type_options(seen)) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], "pass"),
        (["no-referrer"], "pass"),
        (["Strict-Origin-When-Cross-Origin"], "pass"),
        (["unsafe-url"], "fail"),
        (["origin"], "fail"),
        (["origin-when-cross-origin"], "fail"),
        (["no-referrer-when-downgrade"], "fail"),
        (["unsafe-url, strict-origin"], "pass"),  # the last recognised one wins
        (["strict-origin, unsafe-url"], "fail"),
        (["no-referrer, a-policy-of-the-future"], "pass"),
        (["no-referrer", "unsafe-url"], "fail"),
        (["strict-origin-when-cross-orgin"], "warn"),
        ([""], "pass"),
    ],
)
def test_referrer_policy(values: list[str], expected: str) -> None:
    seen = page(*(("Referrer-Policy", value) for value in values))
    assert verdict(checks.referrer_policy(seen, document(seen))) == expected


def test_an_absent_referrer_policy_is_said_to_be_the_default() -> None:
    seen = page()
    assert "strict-origin-when-cross-origin" in judged(checks.referrer_policy(seen, document(seen))).message


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<meta name=referrer content=unsafe-url>", "fail"),
        ("<meta name=Referrer content=always>", "fail"),
        ("<meta name=referrer content=never>", "pass"),
        ("<meta name=referrer content=nonsense>", "pass"),
        ("<!-- <meta name=referrer content=unsafe-url> -->", "pass"),
        ("<noscript><meta name=referrer content=unsafe-url></noscript>", "pass"),
        ("<meta name=' referrer' content=unsafe-url>", "pass"),  # browsers ignore it
    ],
)
def test_a_referrer_policy_in_meta_overrides_the_header(html: str, expected: str) -> None:
    seen = page(("Referrer-Policy", "no-referrer"), html=f"<!doctype html><head>{html}</head>")
    assert verdict(checks.referrer_policy(seen, document(seen))) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (['camera=(), microphone=(), geolocation=(self "https://maps.example.com")'], "pass"),
        (["fullscreen=*"], "pass"),
        (["camera=()", "microphone=()"], "pass"),  # two lines of one dictionary
        ([], "warn"),
        ([""], "warn"),
        (["camera 'none'; microphone 'none'"], "warn"),
        (["camera=(), "], "warn"),
        (["camera=('self')"], "warn"),
        (["Camera=()"], "warn"),
    ],
)
def test_permissions_policy(values: list[str], expected: str) -> None:
    seen = page(*(("Permissions-Policy", value) for value in values))
    assert verdict(checks.permissions_policy(seen)) == expected


def test_the_syntax_of_feature_policy_is_recognised() -> None:
    finding = checks.permissions_policy(page(("Permissions-Policy", "camera 'none'")))
    assert "Feature-Policy" in judged(finding).message


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([], "pass"),
        ([("Cross-Origin-Opener-Policy", "same-origin")], "pass"),
        ([("Cross-Origin-Opener-Policy", 'same-origin; report-to="coop"')], "pass"),
        ([("Cross-Origin-Opener-Policy", "same-origin-allow-popups")], "pass"),
        ([("Cross-Origin-Opener-Policy", "noopener-allow-popups")], "pass"),
        ([("Cross-Origin-Opener-Policy", "Same-Origin")], "warn"),
        ([("Cross-Origin-Opener-Policy", '"same-origin"')], "warn"),  # a string is not a token
        ([("Cross-Origin-Opener-Policy", "same-site")], "warn"),
        (
            [("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin")],
            "warn",
        ),
        ([("Cross-Origin-Embedder-Policy", "require-corp")], "pass"),
        ([("Cross-Origin-Embedder-Policy", "credentialless")], "pass"),
        ([("Cross-Origin-Embedder-Policy", "required-corp")], "warn"),
        ([("Cross-Origin-Resource-Policy", "same-site")], "pass"),
        ([("Cross-Origin-Resource-Policy", "same-site; x")], "warn"),
        ([("Cross-Origin-Resource-Policy", "same-origin, same-origin")], "warn"),
        ([("Cross-Origin-Opener-Policy-Report-Only", "nonsense")], "pass"),
    ],
)
def test_cross_origin_policies(headers: list[tuple[str, str]], expected: str) -> None:
    assert verdict(checks.cross_origin_policies(page(*headers))) == expected


RANDOM = "https://0123456789abcdef.example"


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([((), ()), ((), ())], "pass"),
        ([((RANDOM,), ("true",)), ((), ())], "fail"),
        ([((), ()), (("null",), ("true",))], "fail"),
        ([((RANDOM,), ()), (("null",), ())], "pass"),
        ([((RANDOM,), ("True",)), ((), ())], "pass"),  # only the exact word counts
        ([((RANDOM,), ("false",)), ((), ())], "pass"),
        ([(("*",), ("true",)), (("*",), ("true",))], "pass"),  # browsers refuse this combination
        ([((RANDOM, RANDOM), ("true",)), ((), ())], "pass"),  # browsers refuse a doubled header, too
        (
            [(("https://partner.example.com",), ("true",)), (("https://partner.example.com",), ("true",))],
            "pass",
        ),
        ([(("null",), ("true",)), ((), ())], "pass"),  # not allowed for this origin
    ],
)
def test_cors_credentials(answers: list[tuple[tuple[str, ...], tuple[str, ...]]], expected: str) -> None:
    cors = Cors(tuple(CorsAnswer(origin, *answer) for origin, answer in zip((RANDOM, "null"), answers, strict=True)))
    assert verdict(checks.cors_credentials(cors)) == expected


def test_echoed_origins_without_credentials_pass_with_a_note() -> None:
    finding = checks.cors_credentials(Cors((CorsAnswer(RANDOM, (RANDOM,), ()),)))
    assert verdict(finding) == "pass"
    assert "without credentials" in judged(finding).message


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text/html; charset=utf-8", "pass"),
        ('Text/HTML;Charset="UTF-8"', "pass"),
        ("text/html; boundary=x; charset=utf-8", "pass"),
        ("application/json", "pass"),
        ("image/svg+xml", "pass"),
        ("text/html", "warn"),
        ("application/xhtml+xml", "warn"),
        ("text/plain", "warn"),
        ("text/html; charset=", "warn"),
        ("text/html; x-charset=utf-8", "warn"),
        ("html", "fail"),
        ("", "fail"),
    ],
)
def test_content_type(value: str, expected: str) -> None:
    assert verdict(checks.content_type(bare_page(("Content-Type", value), body=b"<p>Hello"))) == expected


def test_a_missing_content_type_fails_where_there_is_content() -> None:
    assert verdict(checks.content_type(bare_page(body=b"<p>Hello"))) == "fail"
    assert verdict(checks.content_type(bare_page())) == "n/a"


def test_of_two_content_types_the_last_counts() -> None:
    seen = bare_page(("Content-Type", "text/plain"), ("Content-Type", "text/html; charset=utf-8"), body=b"x")
    assert verdict(checks.content_type(seen)) == "pass"
    assert seen.is_html


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([], "pass"),
        ([("X-XSS-Protection", "0")], "pass"),
        ([("X-XSS-Protection", " 0 ; mode=block")], "pass"),
        ([("X-XSS-Protection", "1; mode=block")], "warn"),
        ([("Expect-CT", "max-age=0")], "warn"),
        ([("Feature-Policy", "camera 'none'")], "warn"),
        ([("Public-Key-Pins", 'pin-sha256="x"; max-age=5')], "warn"),
        ([("Public-Key-Pins-Report-Only", 'pin-sha256="x"')], "warn"),
        ([("Permissions-Policy", "camera=()")], "pass"),
    ],
)
def test_deprecated_headers(headers: list[tuple[str, str]], expected: str) -> None:
    assert verdict(checks.deprecated_headers(page(*headers))) == expected


def test_a_secret_in_a_header_is_masked() -> None:
    seen = page((XFO, "ALLOW-FROM https://a.example.com/?token=3f2a9c&x=1"))
    finding = checks.clickjacking(seen, document(seen), policies(seen))
    assert "3f2a9c" not in judged(finding).message
    assert "3f2a9c" not in str(judged(finding).evidence)
