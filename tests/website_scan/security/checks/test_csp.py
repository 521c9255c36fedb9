"""Tests for CSP checks.

In the tables of policies, "||" separates header lines.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.website_scan.cast import message, outcome, rows, severity_of, verdict
from tests.website_scan.security.cast import document, page, policies
from website_scan.findings import HIGH, LOW, MEDIUM, Severity
from website_scan.outcomes import CategoryFail, Note, Verdict
from website_scan.page.evidence import Page
from website_scan.security.checks import csp as checks
from website_scan.security.csp import (
    MAX_POLICIES,
    MAX_POLICY_CHARACTERS,
    Policies,
    bypass_hosts,
    find_bypass_host,
    meta_policies,
)
from website_scan.security.evidence import SecondFetch

CSP = "Content-Security-Policy"
Judge = Callable[[Policies], Verdict]
REPORT_ONLY_HEADER = f"{CSP}-Report-Only"
NONCE = "'nonce-dGhpcyBpcyBub3QgcmFuZG9t'"
HASH = "'sha256-B2yPHKaXnvFWtRChIbabYmUBFZdVfKKXHbWtWidDVF8='"
# Policy that Google and web.dev recommend.
CANONICAL = f"script-src {NONCE} 'unsafe-inline' 'strict-dynamic' https: http:; object-src 'none'; base-uri 'none'"
STRICT = f"script-src {NONCE} 'strict-dynamic' https: 'unsafe-inline'; object-src 'none'; base-uri 'none'"


def page_with_policy(lines: str, url: str = "https://site.example.com/") -> Page:
    return page(*((CSP, line) for line in lines.split("||") if line), url=url)


def policies_of_page(lines: str) -> Policies:
    return policies(page_with_policy(lines))


@pytest.mark.parametrize(
    ("headers", "html", "expected"),
    [
        ([(CSP, "default-src 'self'")], "", "pass"),
        ([(CSP, "script-src *")], "", "pass"),  # This policy blocks inline scripts.
        ([(CSP, "script-src 'unsafe-inline'")], "", "pass"),  # This policy blocks scripts from other hosts.
        ([(CSP, "script-src * 'unsafe-inline'"), (CSP, "default-src 'self'")], "", "pass"),
        # A policy that does not restrict scripts counts as none.
        ([(CSP, "frame-ancestors 'none'")], "", "no-script-src"),
        ([(CSP, "upgrade-insecure-requests")], "", "no-script-src"),
        ([(CSP, "img-src 'self'; script-src-attr 'none'")], "", "no-script-src"),
        # Browsers ignore the directive because of its curly quotes.
        ([(CSP, "script-src \u2018self\u2019")], "", "no-script-src"),
        ([(CSP, "script-src * 'unsafe-inline'")], "", "any-script"),
        ([(CSP, "default-src https: data: 'unsafe-inline' 'unsafe-eval'"), (CSP, "img-src 'self'")], "", "any-script"),
        ([], "<meta http-equiv=Content-Security-Policy content=\"default-src 'self'\">", "pass"),
        ([], "", "missing"),
        ([(CSP, "")], "", "missing"),
        ([(CSP, " ; ")], "", "missing"),
        ([(REPORT_ONLY_HEADER, "default-src 'self'")], "", "report-only"),
        # In <meta>, these directives have no effect.
        ([], "<meta http-equiv=Content-Security-Policy content=\"frame-ancestors 'none'; report-uri /x\">", "missing"),
        ([], "<meta http-equiv=Content-Security-Policy-Report-Only content=\"default-src 'self'\">", "missing"),
        ([], "<!-- <meta http-equiv=Content-Security-Policy content=\"default-src 'self'\"> -->", "missing"),
        # Browsers ignore the element if white space surrounds its name.
        ([], "<meta http-equiv=' Content-Security-Policy ' content=\"default-src 'self'\">", "missing"),
        ([], "<meta http-equiv='Content-Security-Policy\n' content=\"default-src 'self'\">", "missing"),
        ([], "<meta http-equiv=CONTENT-security-POLICY content=\"default-src 'self'\">", "pass"),
    ],
)
def test_csp_present_check_verdict(headers: list[tuple[str, str]], html: str, expected: str) -> None:
    html_page = page(*headers, html=f"<!doctype html><head>{html}</head>")
    finding = checks.csp_present(html_page, document(html_page), policies(html_page))
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "fail")
    assert expected == "pass" or isinstance(finding, CategoryFail)


def test_policies_without_script_rules_are_listed() -> None:
    def policy_rows(*headers: tuple[str, str]) -> list[object]:
        html_page = page(*headers)
        return [row["policy"] for row in rows(checks.csp_present(html_page, document(html_page), policies(html_page)))]

    assert policy_rows((CSP, "img-src 'self'"), (REPORT_ONLY_HEADER, "script-src 'self'")) == ["img-src 'self'"]
    assert policy_rows((REPORT_ONLY_HEADER, "script-src 'self'")) == ["script-src 'self'"]
    assert policy_rows() == []


MANUAL = "<!doctype html><title>A manual</title><h1>Options</h1><p>Read <a href=/next.html>on</a>.<img src=/a.png>"


@pytest.mark.parametrize(
    ("markup", "header", "expected"),
    [
        ("", None, MEDIUM),  # The page is a manual without forms, so scripts can do little harm.
        ("<noscript>Hello</noscript>", None, MEDIUM),
        ("<script type=' application/LD+json'>{}</script><script type=application/json>{}</script>", None, MEDIUM),
        ("<script type=importmap>{}</script>", None, HIGH),
        ("<script src=/search.js></script>", None, HIGH),
        ("<p onclick='run()'>Text", None, HIGH),
        ("<a href=' JavaScript:run()'>Text</a>", None, HIGH),
        ("<form><input name=q></form>", None, HIGH),
        ("<textarea></textarea>", None, HIGH),
        ("<iframe src=/a></iframe>", None, HIGH),
        ("", ("Set-Cookie", "session=1"), HIGH),
    ],
)
def test_missing_policy_is_less_severe_on_plain_page(
    markup: str, header: tuple[str, str] | None, expected: Severity
) -> None:
    html_page = page(*([header] if header else []), html=f"{MANUAL}{markup}")
    finding = checks.csp_present(html_page, document(html_page), policies(html_page))
    assert severity_of(checks.csp_present, finding) is expected


def test_missing_policy_is_severe_with_credentials() -> None:
    html_page = replace(page(html=MANUAL), has_credentials=True)
    finding = checks.csp_present(html_page, document(html_page), policies(html_page))
    assert severity_of(checks.csp_present, finding) is HIGH


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ((REPORT_ONLY_HEADER, "default-src 'self'"), "report-only"),
        ((CSP, "img-src 'self'"), "no-script-src"),
        ((CSP, "script-src * 'unsafe-inline'"), "any-script"),
    ],
)
def test_ineffective_policy_counts_as_missing(header: tuple[str, str], expected: str) -> None:
    for html, severity in ((MANUAL, MEDIUM), (f"{MANUAL}<form></form>", HIGH)):
        html_page = page(header, html=html)
        finding = checks.csp_present(html_page, document(html_page), policies(html_page))
        assert (outcome(finding), severity_of(checks.csp_present, finding)) == (expected, severity)


@pytest.mark.parametrize("lines", ["", "img-src 'self'", "script-src * 'unsafe-inline' 'unsafe-eval'; object-src *"])
@pytest.mark.parametrize(
    "judge",
    [
        checks.csp_script_inline,
        checks.csp_script_broad,
        checks.csp_unsafe_eval,
        checks.csp_object_base,
        checks.csp_allowlist_bypass,
    ],
)
def test_policy_without_script_rules_is_not_judged(judge: Judge, lines: str) -> None:
    assert verdict(judge(policies_of_page(lines))) == "n/a"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("default-src 'self'", "pass"),
        ("script-src 'none'", "pass"),
        ("script-src", "pass"),
        (STRICT, "pass"),  # Browsers that support nonces ignore 'unsafe-inline'.
        (f"script-src 'unsafe-inline' {HASH}", "pass"),
        ("script-src 'strict-dynamic' 'unsafe-inline'", "pass"),
        ("script-src 'self'; script-src 'unsafe-inline'", "pass"),  # If a directive is repeated, the first one counts.
        ("default-src 'unsafe-inline'; script-src 'self'", "pass"),
        ("script-src 'unsafe-inline'||script-src 'self'", "pass"),  # Browsers enforce both policies.
        ("script-src 'unsafe-inline', script-src 'self'", "pass"),
        ("script-src-elem 'unsafe-inline' 'self'; script-src-attr 'none'||script-src 'self'", "pass"),
        ("script-src unsafe-inline", "pass"),  # Without quotes, the keyword is a host name.
        ("script-src 'unsafe-inline'", "inline-scripts"),
        ("script-src 'UNSAFE-INLINE'", "inline-scripts"),
        ("default-src 'self' 'unsafe-inline'", "inline-scripts"),
        ("SCRIPT-SRC 'unsafe-inline'", "inline-scripts"),
        ("script-src 'unsafe-inline' 'nonce-'", "inline-scripts"),  # A malformed nonce does not count.
        ("script-src 'unsafe-inline' 'nonce-{{ nonce }}'", "inline-scripts"),
        ("script-src 'unsafe-inline' 'sha256-###'", "inline-scripts"),
        ("script-src 'unsafe-inline' 'sha1-B2yPHKaXnvFWtRChIbabYmUBFZdVfKKXHbWtWidDVF8='", "inline-scripts"),
        ("script-src 'unsafe-inline'||frame-ancestors 'none'", "inline-scripts"),
        # The directive for event handlers is weaker than script-src.
        ("script-src 'self'; script-src-attr 'unsafe-inline'", "event-handlers"),
        ("script-src 'self'; script-src-elem 'unsafe-inline'", "inline-scripts"),
        ("script-src-elem 'self'", "event-handlers"),  # No directive restricts event handlers.
        ("", "n/a"),
    ],
)
def test_csp_script_inline_check_verdict(lines: str, expected: str) -> None:
    finding = checks.csp_script_inline(policies_of_page(lines))
    assert outcome(finding) == expected
    assert verdict(finding) == (expected if expected in ("pass", "n/a") else "fail")


def test_message_quotes_malformed_nonce() -> None:
    finding = checks.csp_script_inline(policies_of_page("script-src 'unsafe-inline' 'nonce-{{ nonce }}'"))
    assert "malformed" not in message(checks.csp_script_inline(policies_of_page("script-src 'unsafe-inline'")))
    assert "'nonce-{{" in message(finding)


@pytest.mark.parametrize(
    ("judge", "lines", "expected_text"),
    [
        (checks.csp_script_inline, "script-src-elem 'self'", "Neither script-src-attr nor what it falls back to is"),
        (checks.csp_style_inline, "style-src-elem 'self'", "Neither style-src-attr nor what it falls back to is"),
        (checks.csp_object_base, "default-src 'self' data:", "from data:"),
        (checks.csp_object_base, f"script-src {NONCE}; object-src 'none'; base-uri *", "base-uri allows every"),
        (checks.csp_object_base, f"script-src {NONCE}; object-src 'none'", "base-uri is missing"),
        (checks.csp_object_base, "script-src 'self'", "are not set"),
    ],
)
def test_message_does_not_blame_unsafe_inline(judge: Judge, lines: str, expected_text: str) -> None:
    finding = judge(policies_of_page(lines))
    assert expected_text in message(finding)
    assert "'unsafe-inline'" not in message(finding)


def test_hostile_policies_are_truncated() -> None:
    html_page = page(html=f'<meta http-equiv=Content-Security-Policy content="{"a;" * 100_000}">' * 60)
    parsed = meta_policies(document(html_page))
    assert len(parsed) == MAX_POLICIES
    assert {len(policy.text) for policy in parsed} == {MAX_POLICY_CHARACTERS}
    finding = checks.csp_syntax(policies_of_page(f"{'x' * 5000};" * 2))
    assert len(message(finding)) < 500


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("script-src 'self' https://cdn.example.com *.example.com", "pass"),
        (STRICT, "pass"),
        ("script-src 'strict-dynamic' https: http: data: *", "pass"),
        ("script-src *; script-src-elem 'self'", "pass"),
        ("default-src *; script-src 'none'", "pass"),
        ("script-src *||script-src 'self'", "pass"),
        ("script-src blob: 'self'", "pass"),
        ("script-src *", "any-host"),
        ("script-src https:", "any-host"),
        ("script-src HTTPS:", "any-host"),
        ("script-src 'self' http:", "any-host"),
        ("script-src 'self' data:", "any-host"),
        ("script-src https://*", "any-host"),
        ("script-src *:443", "any-host"),
        (f"script-src {NONCE} https:", "any-host"),  # A nonce alone does not disable host sources.
        ("default-src *", "any-host"),
        ("script-src *||script-src https:", "any-host"),
        ("script-src 'self'; script-src-elem *", "any-host"),
        ("", "n/a"),
    ],
)
def test_csp_script_broad_check_verdict(lines: str, expected: str) -> None:
    finding = checks.csp_script_broad(policies_of_page(lines))
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "fail", "n/a")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("script-src 'self'", "pass"),
        ("script-src 'self' 'wasm-unsafe-eval'", "pass"),
        ("script-src 'unsafe-eval'||default-src 'self'", "pass"),
        ("script-src 'self' 'unsafe-eval'", "allowed"),
        ("default-src 'unsafe-eval'", "allowed"),
        ("script-src 'unsafe-eval'||img-src 'self'", "allowed"),
        ("img-src 'self'", "n/a"),
        ("", "n/a"),
    ],
)
def test_csp_unsafe_eval_check_verdict(lines: str, expected: str) -> None:
    finding = checks.csp_unsafe_eval(policies_of_page(lines))
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "fail", "n/a")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("default-src 'self'", "pass"),
        ("script-src 'self'; object-src https://plugins.example.com", "pass"),
        # Only the page's scripts or an extension can create content for these schemes.
        ("default-src 'self' blob:", "pass"),
        ("script-src 'self'; object-src blob: filesystem: chrome-extension: moz-extension://*", "pass"),
        ("script-src 'self'; object-src wss: blob:", "plug-ins"),
        (STRICT, "pass"),
        ("script-src *||object-src 'none'", "pass"),
        (f"script-src {NONCE}; object-src 'none'||base-uri 'self'", "pass"),
        # Scripts with a relative URL load from the site itself.
        (f"script-src {NONCE}; object-src 'none'||script-src 'self'", "pass"),
        (f"script-src 'self' {HASH}; object-src 'none'", "pass"),
        ("script-src 'self'", "plug-ins"),
        ("default-src *", "plug-ins"),
        ("script-src 'self'; object-src https:", "plug-ins"),
        ("default-src 'self'; object-src *", "plug-ins"),
        (f"script-src {NONCE}; object-src 'none'", "base-url"),
        (f"script-src {NONCE}; object-src 'none'; base-uri *", "base-url"),
        (f"script-src {HASH} 'strict-dynamic'; object-src 'none'", "base-url"),
        (f"script-src {NONCE}; object-src 'none'||frame-ancestors 'none'", "base-url"),
        (f"script-src {NONCE}", "plug-ins-and-base-url"),
        ("", "n/a"),
    ],
)
def test_csp_object_base_check_verdict(lines: str, expected: str) -> None:
    finding = checks.csp_object_base(policies_of_page(lines))
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "fail", "n/a")


@pytest.mark.parametrize(
    ("lines", "url", "expected"),
    [
        ("default-src 'self' https://cdn.example.com", "https://site.example.com/", "pass"),
        ("img-src http://img.example.com; upgrade-insecure-requests", "https://site.example.com/", "pass"),
        ("img-src http://img.example.com||img-src 'self'", "https://site.example.com/", "pass"),
        ("img-src http://img.example.com||default-src 'self'", "https://site.example.com/", "pass"),
        ("report-uri http://reports.example.com/", "https://site.example.com/", "pass"),
        # The directive frame-ancestors loads nothing.
        ("frame-ancestors http://portal.example.com", "https://site.example.com/", "pass"),
        # These sources are programs on the visitor's own computer.
        ("connect-src http://127.0.0.1:* http://localhost:8080", "https://site.example.com/", "pass"),
        ("form-action http://*.example.com:*", "https://site.example.com/", "active"),
        ("default-src http:", "https://site.example.com/", "active"),
        ("img-src http: ; font-src http:", "https://site.example.com/", "active"),
        # Browsers with strict-dynamic ignore schemes and hosts.
        (CANONICAL, "https://site.example.com/", "pass"),
        (f"script-src-elem {NONCE} 'strict-dynamic' http:; worker-src 'self'", "https://site.example.com/", "pass"),
        (f"script-src {NONCE} https: http:", "https://site.example.com/", "active"),
        # The directive default-src also applies to images.
        (f"default-src {NONCE} 'strict-dynamic' https: http:", "https://site.example.com/", "active"),
        (f"script-src {NONCE} 'strict-dynamic'; worker-src http:", "https://site.example.com/", "active"),
        # Browsers request images and media over https first.
        ("img-src http://img.example.com", "https://site.example.com/", "passive"),
        ("img-src 'self' http: data:; media-src http:", "https://site.example.com/", "passive"),
        ("img-src HTTP://img.example.com||frame-ancestors 'none'", "https://site.example.com/", "passive"),
        ("img-src http://img.example.com", "http://site.example.com/", "n/a"),
        ("", "https://site.example.com/", "n/a"),
    ],
)
def test_csp_insecure_source_check_verdict(lines: str, url: str, expected: str) -> None:
    finding = checks.csp_insecure_source(page_with_policy(lines, url), policies_of_page(lines))
    assert outcome(finding) == expected
    assert verdict(finding) == {"active": "fail", "passive": "warn"}.get(expected, expected)
    if verdict(finding) in ("warn", "fail"):
        assert severity_of(checks.csp_insecure_source, finding) == (MEDIUM if expected == "active" else LOW)


def test_policy_recommended_by_google_passes() -> None:
    csp = policies_of_page(CANONICAL)
    assert verdict(checks.csp_present(page(), document(page()), csp)) == "pass"
    judges = (
        *(checks.csp_script_inline, checks.csp_script_broad, checks.csp_unsafe_eval),
        *(checks.csp_object_base, checks.csp_syntax, checks.csp_allowlist_bypass),
    )
    assert {message(judge(csp)) for judge in judges if verdict(judge(csp)) != "pass"} == set()


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("style-src 'self'", "pass"),
        (f"style-src 'unsafe-inline' {NONCE}", "pass"),
        ("style-src 'unsafe-inline'||default-src 'self'", "pass"),
        ("style-src 'self' 'unsafe-inline'", "allowed"),
        ("default-src 'unsafe-inline'", "allowed"),
        ("style-src 'self'; style-src-attr 'unsafe-inline'", "allowed"),
        ("style-src-elem 'self'", "allowed"),
        (STRICT, "n/a"),  # A policy that restricts only scripts is acceptable.
        ("", "n/a"),
    ],
)
def test_csp_style_inline_check_verdict(lines: str, expected: str) -> None:
    finding = checks.csp_style_inline(policies_of_page(lines))
    assert outcome(finding) == expected
    assert isinstance(finding, Note) == (expected == "allowed")


@pytest.mark.parametrize(
    ("lines", "expected_text"),
    [
        ("default-src 'self'; frame-ancestors 'none'; report-uri /x; report-to y; sandbox allow-scripts", None),
        (STRICT, None),
        ("upgrade-insecure-requests; block-all-mixed-content; plugin-types application/pdf", None),
        (CANONICAL, None),
        (f"script-src {HASH} 'strict-dynamic'", None),
        # For scripts, script-src takes precedence over default-src.
        (f"default-src 'strict-dynamic'; script-src {NONCE}", None),
        ("script-src 'strict-dynamic' 'self' https:", "'strict-dynamic' is in script-src without a nonce or hash"),
        ("default-src 'self' 'strict-dynamic'", "'strict-dynamic' is in default-src without"),
        (f"script-src {NONCE}; script-src-elem 'strict-dynamic'", "'strict-dynamic' is in script-src-elem without"),
        ("script-src 'strict-dynamic' 'nonce-{{ n }}'", "'strict-dynamic' is in script-src without"),
        ("report-uri /csp?script-src; report-to default", None),
        ("report-uri /csp script-src 'self'", "the semicolon before script-src is missing in report-uri"),
        ("report-to csp-endpoint default-src 'self'", "the semicolon before default-src is missing in report-to"),
        ("upgrade-insecure-requests object-src 'none'", "the semicolon before object-src is missing in upgrade-insec"),
        ("sandbox allow-scripts Img-Src *", "the semicolon before Img-Src is missing in sandbox"),
        ("require-trusted-types-for 'script'; trusted-types none default 'allow-duplicates'", None),
        ("default-src 'self' self.example.com none.example.com;;", None),
        ("script-src 'report-sample' 'wasm-unsafe-eval' 'inline-speculation-rules'", None),
        # Keyword of an early draft of CSP.
        ("script-src 'self' 'unsafe-allow-redirects'", "'unsafe-allow-redirects' in script-src is not a keyword"),
        ("defaultsrc 'self'", "defaultsrc is not a directive"),
        ("default-src: 'self'", "default-src: is not a directive"),
        ("default-src self", "self has no quotes"),
        ("script-src 'self' unsafe-inline", "unsafe-inline has no quotes"),
        ("script-src nonce-dGVzdA==", "has no quotes"),
        ("script-src 'unsafe-inlin'", "'unsafe-inlin' in script-src is not a keyword, nonce or hash"),
        ("script-src 'nonce-{{ nonce }}'", "is not a keyword, nonce or hash"),
        ("default-src 'self' script-src 'self'", "semicolon before script-src is missing"),
        ("default-src 'self'; default-src *", "is repeated"),
        ("script-src \u2018self\u2019", "browsers ignore all of script-src"),
        ("img-src 'self'; script-src 'self' https://b\u00fccher.example", "browsers ignore all of script-src"),
        ("script-src 'none' https://a.example.com", "'none' counts only by itself"),
        ('script-src "self"', "the wrong kind of quotes"),
    ],
)
def test_csp_syntax_check_verdict(lines: str, expected_text: str | None) -> None:
    finding = checks.csp_syntax(policies_of_page(lines))
    assert outcome(finding) == ("pass" if expected_text is None else "errors"), message(finding)
    assert verdict(finding) in ("pass", "warn")
    assert (expected_text or "") in message(finding)


def test_comma_in_meta_policy_is_an_error() -> None:
    html_page = page(html="<meta http-equiv=Content-Security-Policy content='img-src a.example, script-src b.example'>")
    finding = checks.csp_syntax(policies(html_page))
    assert outcome(finding) == "errors"
    assert "a comma in img-src ends the policy after a.example," in message(finding)


def test_csp_syntax_check_needs_a_policy() -> None:
    assert verdict(checks.csp_syntax(policies_of_page(""))) == "n/a"


def second_fetch_with_policy(lines: str, *headers: tuple[str, str]) -> SecondFetch:
    html_page = page((CSP, lines), *headers)
    return SecondFetch(html_page, policies(html_page))


OTHER = STRICT.replace("dGhpcyBpcyBub3QgcmFuZG9t", "YW5vdGhlciBvbmUgdGhpcyB0aW1l")


@pytest.mark.parametrize(
    ("again", "expected"),
    [
        (second_fetch_with_policy(OTHER), "pass"),
        # The second response may be an error page or come from another server.
        (second_fetch_with_policy("default-src 'self'"), "n/a"),
        (second_fetch_with_policy(STRICT), "reused"),
        (second_fetch_with_policy(STRICT, ("Cache-Control", "hit")), "reused"),
        (second_fetch_with_policy(STRICT, ("X-Varnish", "12345")), "reused"),
        (second_fetch_with_policy(STRICT, ("Age", "0")), "n/a"),  # Only caches send the Age header.
        (second_fetch_with_policy(STRICT, ("X-Cache", "MISS")), "reused"),
        (second_fetch_with_policy(STRICT, ("Age", "12")), "n/a"),
        (second_fetch_with_policy(STRICT, ("X-Cache", "HIT from edge")), "n/a"),
        (second_fetch_with_policy(STRICT, ("CF-Cache-Status", "HIT")), "n/a"),
        (second_fetch_with_policy(STRICT, ("X-LiteSpeed-Cache", "hit")), "n/a"),
        (second_fetch_with_policy(STRICT, ("X-Drupal-Cache", "HIT")), "n/a"),
        (second_fetch_with_policy(STRICT, ("Cache-Status", "edge; hit; ttl=30")), "n/a"),
        (second_fetch_with_policy(STRICT, ("X-Varnish", "12345 12300")), "n/a"),
        (SecondFetch(), "n/a"),
    ],
)
def test_csp_nonce_static_check_verdict(again: SecondFetch, expected: str) -> None:
    finding = checks.csp_nonce_static(page_with_policy(STRICT), policies_of_page(STRICT), again)
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "fail", "n/a")


@pytest.mark.parametrize(("lines", "severity"), [(STRICT, HIGH), (f"script-src {NONCE} https:", MEDIUM)])
def test_nonce_reuse_has_medium_severity(lines: str, severity: Severity) -> None:
    again = SecondFetch(page_with_policy(lines), policies_of_page(lines))
    finding = checks.csp_nonce_static(page_with_policy(lines), policies_of_page(lines), again)
    assert verdict(finding) == "fail"
    assert severity_of(checks.csp_nonce_static, finding) is severity
    assert message(finding) == "1 nonce was the same on two visits."
    assert rows(finding) == [{"nonces_seen_twice": 1}]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("script-src 'self' https://cdn.example.com", "pass"),
        (f"script-src {NONCE} 'strict-dynamic' https://cdn.jsdelivr.net", "pass"),
        ("script-src https://cdn.jsdelivr.net/npm/jquery@3.7.1/", "pass"),
        ("script-src https://cdn.jsdelivr.net||script-src 'self'", "pass"),
        ("script-src https://notcdn.jsdelivr.net.example.com", "pass"),
        ("script-src cdn.jsdelivr.net", "known-bypass"),
        ("script-src https://cdn.jsdelivr.net/npm/", "known-bypass"),  # This source allows all packages of npm.
        ("script-src https:||script-src cdn.jsdelivr.net", "known-bypass"),
        ("script-src https:", "n/a"),
        ("script-src https://AJAX.googleapis.com:443/", "known-bypass"),
        ("script-src 'self' https://vimeo.com", "known-bypass"),
        ("script-src 'self' https://www.gstatic.com www.googletagmanager.com", "known-bypass"),
        # Code of these hosts runs only through eval().
        ("script-src 'self' https://www.googletagmanager.com *.google-analytics.com", "pass"),
        ("script-src 'self' 'unsafe-eval' https://www.googletagmanager.com", "known-bypass"),
        ("script-src 'self' 'unsafe-eval' *.google-analytics.com", "known-bypass"),
        ("default-src 'self' *.googleapis.com", "known-bypass"),
        ("img-src cdn.jsdelivr.net", "n/a"),
        ("", "n/a"),
    ],
)
def test_csp_allowlist_bypass_check_verdict(lines: str, expected: str) -> None:
    finding = checks.csp_allowlist_bypass(policies_of_page(lines))
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "warn", "n/a")


def test_bypass_finding_lists_hosts() -> None:
    finding = checks.csp_allowlist_bypass(policies_of_page("script-src vimeo.com cdn.jsdelivr.net"))
    assert rows(finding) == [{"host": "cdn.jsdelivr.net"}, {"host": "vimeo.com"}]


@pytest.mark.parametrize("source", ["*", "*.com", "https:", "'self'", "", "https://*"])
def test_source_without_host_is_no_bypass(source: str) -> None:
    assert find_bypass_host(source, allows_eval=True) is None


def test_bypass_host_is_recognized() -> None:
    assert len(bypass_hosts()) > 150
    for host in bypass_hosts():
        assert find_bypass_host(f"https://{host}:443/", allows_eval=True) == host
        assert find_bypass_host(f"https://{host}/a/file.js", allows_eval=True) is None
    assert find_bypass_host("*.jsdelivr.net", allows_eval=False) == "cdn.jsdelivr.net"
