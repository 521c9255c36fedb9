from __future__ import annotations

import pytest

from tests.website_scan.cast import message, outcome, rows, title_of, verdict
from tests.website_scan.security.cast import bare_page, document, page, policies
from website_scan.security.checks import headers as checks
from website_scan.security.evidence import Cors, CorsAnswer, OriginCors

CSP = "Content-Security-Policy"
XFO = "X-Frame-Options"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([(XFO, "DENY")], "pass"),
        ([(XFO, "SameOrigin")], "pass"),
        ([(XFO, "SAMEORIGIN"), (XFO, "sameorigin")], "pass"),  # A proxy may repeat the header.
        ([(XFO, "SAMEORIGIN, SAMEORIGIN")], "pass"),
        ([(XFO, "DENY"), (XFO, "SAMEORIGIN")], "contradictory"),
        ([(XFO, "SAMEORIGIN, ALLOW-FROM https://a.example")], "contradictory"),
        ([(XFO, "ALLOW-FROM https://partner.example.com")], "ignored"),
        ([(XFO, "ALLOWALL")], "no-effect"),
        ([(XFO, "")], "missing"),
        ([], "missing"),
        ([(CSP, "frame-ancestors 'none'")], "pass"),
        ([(CSP, "frame-ancestors")], "pass"),  # An empty list allows no site to embed the page.
        ([(CSP, "default-src 'self'; FRAME-ANCESTORS 'self' https://*.partner.example.com")], "pass"),
        ([(CSP, "default-src 'none'")], "missing"),  # The directive default-src does not apply to frame-ancestors.
        ([(CSP, "frame-ancestors *")], "any-site"),
        ([(CSP, "frame-ancestors 'self' https:")], "any-site"),
        ([(CSP, "frame-ancestors https://*")], "any-site"),
        ([(CSP, "frame-ancestors https://*:443")], "any-site"),
        # The directive frame-ancestors overrides X-Frame-Options.
        ([(CSP, "frame-ancestors *"), (XFO, "DENY")], "any-site"),
        ([(CSP, "frame-ancestors 'none'"), (XFO, "ALLOWALL")], "pass"),
        ([(CSP, "frame-ancestors *"), (CSP, "frame-ancestors 'self'")], "pass"),  # Browsers enforce both policies.
        ([(CSP, "frame-ancestors *, frame-ancestors 'none'")], "pass"),
        # If a CSP directive is repeated, the first one counts.
        ([(CSP, "frame-ancestors 'self'; frame-ancestors *")], "pass"),
        ([(CSP + "-Report-Only", "frame-ancestors 'none'")], "missing"),
        ([(CSP + "-Report-Only", "frame-ancestors *"), (XFO, "DENY")], "pass"),
    ],
)
def test_clickjacking_check_verdict(headers: list[tuple[str, str]], expected: str) -> None:
    html_page = page(*headers)
    finding = checks.clickjacking(html_page, document(html_page), policies(html_page))
    assert outcome(finding) == expected
    assert verdict(finding) == {"pass": "pass", "contradictory": "warn"}.get(expected, "fail")


@pytest.mark.parametrize(
    "meta",
    [
        '<meta http-equiv="X-Frame-Options" content="DENY">',
        "<meta http-equiv=content-security-policy content=\"frame-ancestors 'none'\">",
    ],
)
def test_clickjacking_protection_in_meta_is_ignored(meta: str) -> None:
    html_page = page(html=f"<!doctype html><head>{meta}</head>")
    finding = checks.clickjacking(html_page, document(html_page), policies(html_page))
    assert (verdict(finding), outcome(finding)) == ("fail", "missing")
    assert "in <meta> they are ignored" in message(finding)


@pytest.mark.parametrize(
    ("headers", "places"),
    [
        ([(XFO, "DENY"), (XFO, "SAMEORIGIN")], [(XFO, "DENY"), (XFO, "SAMEORIGIN")]),
        ([(XFO, "ALLOWALL")], [(XFO, "ALLOWALL")]),
        ([(CSP, "frame-ancestors *"), (XFO, "DENY")], [(CSP, "frame-ancestors *")]),
        ([], []),
    ],
)
def test_clickjacking_finding_lists_headers(headers: list[tuple[str, str]], places: list[tuple[str, str]]) -> None:
    html_page = page(*headers)
    finding = checks.clickjacking(html_page, document(html_page), policies(html_page))
    assert rows(finding) == [{"header": name, "value": value} for name, value in places]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["nosniff"], "pass"),
        (["NoSniff "], "pass"),
        (["nosniff, nosniff"], "pass"),
        (["nosniff", "nosniff"], "pass"),
        (["nosniff,"], "pass"),
        ([], "missing"),
        ([""], "invalid"),
        (["sniff, nosniff"], "invalid"),
        (["nosniff;"], "invalid"),
        (['"nosniff"'], "invalid"),
    ],
)
def test_x_content_type_options_verdict(values: list[str], expected: str) -> None:
    html_page = page(*(("X-Content-Type-Options", value) for value in values))
    finding = checks.x_content_type_options(html_page)
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "fail")


@pytest.mark.parametrize(("value", "expected_text"), [("", "is empty;"), (" ", "is empty;"), ("sniff", "is “sniff”;")])
def test_invalid_x_content_type_options_is_quoted(value: str, expected_text: str) -> None:
    assert expected_text in message(checks.x_content_type_options(page(("X-Content-Type-Options", value))))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], "pass"),
        (["no-referrer"], "pass"),
        (["Strict-Origin-When-Cross-Origin"], "pass"),
        (["unsafe-url"], "unsafe"),
        (["origin"], "unsafe"),
        (["origin-when-cross-origin"], "unsafe"),
        (["no-referrer-when-downgrade"], "unsafe"),
        (["unsafe-url, strict-origin"], "pass"),  # The last policy that browsers know applies.
        (["strict-origin, unsafe-url"], "unsafe"),
        (["no-referrer, a-policy-of-the-future"], "pass"),
        (["no-referrer", "unsafe-url"], "unsafe"),
        (["strict-origin-when-cross-orgin"], "invalid"),
        ([""], "pass"),
    ],
)
def test_referrer_policy_check_verdict(values: list[str], expected: str) -> None:
    html_page = page(*(("Referrer-Policy", value) for value in values))
    finding = checks.referrer_policy(html_page, document(html_page))
    assert outcome(finding) == expected
    assert verdict(finding) == {"unsafe": "fail", "invalid": "warn"}.get(expected, "pass")


@pytest.mark.parametrize(
    ("value", "leak"),
    [
        ("unsafe-url", "the whole address of the page"),
        ("no-referrer-when-downgrade", "the whole address of the page"),
        ("origin", "even over plain HTTP"),
        ("origin-when-cross-origin", "even over plain HTTP"),
    ],
)
def test_message_names_disclosed_data(value: str, leak: str) -> None:
    html_page = page(("Referrer-Policy", value))
    text = message(checks.referrer_policy(html_page, document(html_page)))
    assert text.startswith(f"Referrer-Policy is {value}, ")
    assert leak in text


def test_message_names_browser_default() -> None:
    html_page = page()
    assert "strict-origin-when-cross-origin" in message(checks.referrer_policy(html_page, document(html_page)))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<meta name=referrer content=unsafe-url>", "unsafe"),
        ("<meta name=Referrer content=always>", "unsafe"),
        ("<meta name=referrer content=never>", "pass"),
        ("<meta name=referrer content=nonsense>", "pass"),
        ("<!-- <meta name=referrer content=unsafe-url> -->", "pass"),
        ("<noscript><meta name=referrer content=unsafe-url></noscript>", "pass"),
        ("<meta name=' referrer' content=unsafe-url>", "pass"),  # Browsers ignore a name with a leading space.
    ],
)
def test_meta_referrer_policy_overrides_header(html: str, expected: str) -> None:
    html_page = page(("Referrer-Policy", "no-referrer"), html=f"<!doctype html><head>{html}</head>")
    finding = checks.referrer_policy(html_page, document(html_page))
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "fail")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (['camera=(), microphone=(), geolocation=(self "https://maps.example.com")'], "pass"),
        (["fullscreen=*"], "pass"),
        (["camera=()", "microphone=()"], "pass"),  # Two header lines are merged into one dictionary.
        ([], "missing"),
        ([""], "empty"),
        (["camera 'none'; microphone 'none'"], "invalid"),
        (["camera=(), "], "invalid"),
        (["camera=('self')"], "invalid"),
        (["Camera=()"], "invalid"),
    ],
)
def test_permissions_policy_check_verdict(values: list[str], expected: str) -> None:
    html_page = page(*(("Permissions-Policy", value) for value in values))
    finding = checks.permissions_policy(html_page)
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "warn")


def test_feature_policy_syntax_is_recognized() -> None:
    finding = checks.permissions_policy(page(("Permissions-Policy", "camera 'none'")))
    assert "Feature-Policy" in message(finding)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([], "pass"),
        ([("Cross-Origin-Opener-Policy", "same-origin")], "pass"),
        ([("Cross-Origin-Opener-Policy", 'same-origin; report-to="coop"')], "pass"),
        ([("Cross-Origin-Opener-Policy", "same-origin-allow-popups")], "pass"),
        ([("Cross-Origin-Opener-Policy", "noopener-allow-popups")], "pass"),
        ([("Cross-Origin-Opener-Policy", "Same-Origin")], "invalid"),
        ([("Cross-Origin-Opener-Policy", '"same-origin"')], "invalid"),  # A quoted string is not a structured token.
        ([("Cross-Origin-Opener-Policy", "same-site")], "invalid"),
        (
            [("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin")],
            "invalid",
        ),
        ([("Cross-Origin-Embedder-Policy", "require-corp")], "pass"),
        ([("Cross-Origin-Embedder-Policy", "credentialless")], "pass"),
        ([("Cross-Origin-Embedder-Policy", "required-corp")], "invalid"),
        ([("Cross-Origin-Resource-Policy", "same-site")], "pass"),
        ([("Cross-Origin-Resource-Policy", "same-site; x")], "invalid"),
        ([("Cross-Origin-Resource-Policy", "same-origin, same-origin")], "invalid"),
        ([("Cross-Origin-Opener-Policy-Report-Only", "nonsense")], "pass"),
    ],
)
def test_cross_origin_policies_check_verdict(headers: list[tuple[str, str]], expected: str) -> None:
    finding = checks.cross_origin_policies(page(*headers))
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "warn")


def test_message_quotes_invalid_policies() -> None:
    names = ("Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy")
    finding = checks.cross_origin_policies(page(*((name, "x") for name in names)))
    assert message(finding) == "Cross-Origin-Opener-Policy: x, Cross-Origin-Resource-Policy: x are not valid."


RANDOM = "https://0123456789abcdef.example"


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([((), ()), ((), ())], "pass"),
        ([((RANDOM,), ("true",)), ((), ())], "any-origin"),
        ([((), ()), (("null",), ("true",))], "null-origin"),
        ([((RANDOM,), ()), (("null",), ())], "pass"),
        ([((RANDOM,), ("True",)), ((), ())], "pass"),  # Only the lower-case word "true" allows credentials.
        ([((RANDOM,), ("false",)), ((), ())], "pass"),
        ([(("*",), ("true",)), (("*",), ("true",))], "pass"),  # Browsers refuse the wildcard together with credentials.
        ([((RANDOM, RANDOM), ("true",)), ((), ())], "pass"),  # Browsers also refuse a repeated CORS header.
        (
            [(("https://partner.example.com",), ("true",)), (("https://partner.example.com",), ("true",))],
            "pass",
        ),
        ([(("null",), ("true",)), ((), ())], "pass"),  # The site does not allow the random origin.
    ],
)
def test_cors_credentials_check_verdict(answers: list[tuple[tuple[str, ...], tuple[str, ...]]], expected: str) -> None:
    cors = Cors(tuple(CorsAnswer(origin, *answer) for origin, answer in zip((RANDOM, "null"), answers, strict=True)))
    finding = checks.cors_credentials(bare_page(), cors, OriginCors(""))
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "fail")
    assert [row["origin"] for row in rows(finding)] == [RANDOM, "null"]


@pytest.mark.parametrize(
    ("origins", "expected"),
    [
        (["https://site.example.com.9b1c.example"], "look-alike"),
        (["https://sitexexample.com"], "look-alike"),
        (["http://site.example.com"], "plain-http"),
        (["http://site.example.com", "https://site.example.com_.9b1c.example"], "look-alike"),
        (["null", "http://site.example.com"], "null-origin"),
        (["null", "https://sitexexample.com"], "look-alike"),
        ([RANDOM, "null", "https://sitexexample.com"], "any-origin"),
    ],
)
def test_worst_allowed_origin_is_reported(origins: list[str], expected: str) -> None:
    answers = tuple(CorsAnswer(origin, (origin,), ("true",)) for origin in origins)
    asked = Cors((CorsAnswer(RANDOM, (), ()), *answers) if RANDOM not in origins else answers)
    finding = checks.cors_credentials(bare_page(), asked, OriginCors(""))
    assert outcome(finding) == expected
    of_origin = OriginCors("https://site.example.com/", answers)
    assert outcome(checks.cors_credentials(bare_page(), Cors(asked.answers[:1]), of_origin)) == expected


def test_echoed_origin_passes_without_credentials() -> None:
    finding = checks.cors_credentials(bare_page(), Cors((CorsAnswer(RANDOM, (RANDOM,), ()),)), OriginCors(""))
    assert verdict(finding) == "pass"
    assert "without credentials" in message(finding)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text/html; charset=utf-8", "pass"),
        ('Text/HTML;Charset="UTF-8"', "pass"),
        ("text/html; boundary=x; charset=utf-8", "pass"),
        ("application/json", "pass"),
        ("image/svg+xml", "pass"),
        ("text/html", "no-charset"),
        ("application/xhtml+xml", "no-charset"),
        ("text/plain", "no-charset"),
        ("text/html; charset=", "no-charset"),
        ("text/html; x-charset=utf-8", "no-charset"),
        ("text/html; charset=windows-874", "pass"),
        ("text/html; charset=ISO-8859-8-I", "pass"),
        ("text/html; charset=utf-8, text/html", "pass"),
        ("application/json; charset=utf-8x", "pass"),
        # Browsers support only labels of the WHATWG Encoding Standard.
        ("text/html; charset=utf-8x", "unknown-charset"),
        ("text/html; charset=none", "unknown-charset"),
        ("text/plain; charset=utf-7", "unknown-charset"),
        ("text/html; charset=iso-2022-kr", "unknown-charset"),
        ("text/html; charset='utf-8'", "unknown-charset"),
        ("text/html; charset = utf-8", "unknown-charset"),
        ("html", "invalid"),
        ("", "missing"),
    ],
)
def test_content_type_check_verdict(value: str, expected: str) -> None:
    finding = checks.content_type(bare_page(("Content-Type", value), body=b"<p>Hello"))
    assert outcome(finding) == expected
    assert verdict(finding) == {"pass": "pass", "no-charset": "warn", "unknown-charset": "warn"}.get(expected, "fail")


def test_missing_content_type_fails_with_content() -> None:
    finding = checks.content_type(bare_page(body=b"<p>Hello"))
    assert (verdict(finding), outcome(finding)) == ("fail", "missing")
    assert verdict(checks.content_type(bare_page())) == "n/a"


def test_last_of_two_content_types_counts() -> None:
    html_page = bare_page(("Content-Type", "text/plain"), ("Content-Type", "text/html; charset=utf-8"), body=b"x")
    assert verdict(checks.content_type(html_page)) == "pass"
    assert html_page.is_html


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([], "pass"),
        ([("X-XSS-Protection", "0")], "pass"),
        ([("X-XSS-Protection", " 0 ; mode=block")], "pass"),
        ([("X-XSS-Protection", "1; mode=block")], "single"),
        ([("Expect-CT", "max-age=0")], "single"),
        ([("Feature-Policy", "camera 'none'")], "single"),
        ([("Public-Key-Pins", 'pin-sha256="x"; max-age=5')], "single"),
        ([("Public-Key-Pins-Report-Only", 'pin-sha256="x"')], "single"),
        ([("Public-Key-Pins", 'pin-sha256="x"'), ("X-XSS-Protection", "1")], "several"),
        ([("Permissions-Policy", "camera=()")], "pass"),
    ],
)
def test_deprecated_headers_check_verdict(headers: list[tuple[str, str]], expected: str) -> None:
    finding = checks.deprecated_headers(page(*headers))
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "warn")


def test_title_names_deprecated_header() -> None:
    finding = checks.deprecated_headers(page(("X-XSS-Protection", "1; mode=block")))
    assert title_of(checks.deprecated_headers, finding) == "X-XSS-Protection is deprecated"
    assert "X-XSS-Protection: 1; mode=block (browsers" in message(finding)


def test_token_in_quoted_header_is_masked() -> None:
    html_page = page((XFO, "ALLOW-FROM https://a.example.com/?token=3f2a9c&x=1"))
    finding = checks.clickjacking(html_page, document(html_page), policies(html_page))
    assert "3f2a9c" not in message(finding)
    assert "3f2a9c" not in str(rows(finding))
