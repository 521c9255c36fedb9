"""Tests of CSP checks. In the tables of policies, "||" separates header lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.website_scan.cast import message, outcome, rows, severity_of, verdict
from tests.website_scan.security.cast import document, page, policies
from website_scan.findings import HIGH, LOW, MEDIUM, Severity
from website_scan.outcomes import CategoryFail, Note, Verdict
from website_scan.page.evidence import Page
from website_scan.security.checks import csp as checks
from website_scan.security.csp import MAX_CHARACTERS, MAX_POLICIES, Policies, bypass_host, bypass_hosts, meta_policies
from website_scan.security.evidence import SecondFetch

CSP = "Content-Security-Policy"
Judge = Callable[[Policies], Verdict]
REPORT_ONLY = f"{CSP}-Report-Only"
NONCE = "'nonce-dGhpcyBpcyBub3QgcmFuZG9t'"
HASH = "'sha256-B2yPHKaXnvFWtRChIbabYmUBFZdVfKKXHbWtWidDVF8='"
# The policy that Google and web.dev recommend.
CANONICAL = f"script-src {NONCE} 'unsafe-inline' 'strict-dynamic' https: http:; object-src 'none'; base-uri 'none'"
STRICT = f"script-src {NONCE} 'strict-dynamic' https: 'unsafe-inline'; object-src 'none'; base-uri 'none'"


def page_with(lines: str, url: str = "https://site.example.com/") -> Page:
    return page(*((CSP, line) for line in lines.split("||") if line), url=url)


def with_policies(lines: str) -> Policies:
    return policies(page_with(lines))


@pytest.mark.parametrize(
    ("headers", "html", "expected"),
    [
        ([(CSP, "default-src 'self'")], "", "pass"),
        ([(CSP, "script-src *")], "", "pass"),  # inline scripts are blocked
        ([(CSP, "script-src 'unsafe-inline'")], "", "pass"),  # scripts of other hosts are blocked
        ([(CSP, "script-src * 'unsafe-inline'"), (CSP, "default-src 'self'")], "", "pass"),
        # A policy that does not restrict scripts counts as none.
        ([(CSP, "frame-ancestors 'none'")], "", "no-script-src"),
        ([(CSP, "upgrade-insecure-requests")], "", "no-script-src"),
        ([(CSP, "img-src 'self'; script-src-attr 'none'")], "", "no-script-src"),
        # Browsers ignore the whole directive because of the curly quotes.
        ([(CSP, "script-src \u2018self\u2019")], "", "no-script-src"),
        ([(CSP, "script-src * 'unsafe-inline'")], "", "any-script"),
        ([(CSP, "default-src https: data: 'unsafe-inline' 'unsafe-eval'"), (CSP, "img-src 'self'")], "", "any-script"),
        ([], "<meta http-equiv=Content-Security-Policy content=\"default-src 'self'\">", "pass"),
        ([], "", "missing"),
        ([(CSP, "")], "", "missing"),
        ([(CSP, " ; ")], "", "missing"),
        ([(REPORT_ONLY, "default-src 'self'")], "", "report-only"),
        # These directives have no effect in <meta>, so there is no policy.
        ([], "<meta http-equiv=Content-Security-Policy content=\"frame-ancestors 'none'; report-uri /x\">", "missing"),
        ([], "<meta http-equiv=Content-Security-Policy-Report-Only content=\"default-src 'self'\">", "missing"),
        ([], "<!-- <meta http-equiv=Content-Security-Policy content=\"default-src 'self'\"> -->", "missing"),
        # Browsers ignore the element if white space surrounds its name.
        ([], "<meta http-equiv=' Content-Security-Policy ' content=\"default-src 'self'\">", "missing"),
        ([], "<meta http-equiv='Content-Security-Policy\n' content=\"default-src 'self'\">", "missing"),
        ([], "<meta http-equiv=CONTENT-security-POLICY content=\"default-src 'self'\">", "pass"),
    ],
)
def test_csp_present(headers: list[tuple[str, str]], html: str, expected: str) -> None:
    html_page = page(*headers, html=f"<!doctype html><head>{html}</head>")
    finding = checks.csp_present(html_page, document(html_page), policies(html_page))
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "fail")
    assert expected == "pass" or isinstance(finding, CategoryFail)


def test_csp_present_lists_policies_that_do_not_restrict_scripts() -> None:
    def policy_rows(*headers: tuple[str, str]) -> list[object]:
        html_page = page(*headers)
        return [row["policy"] for row in rows(checks.csp_present(html_page, document(html_page), policies(html_page)))]

    assert policy_rows((CSP, "img-src 'self'"), (REPORT_ONLY, "script-src 'self'")) == ["img-src 'self'"]
    assert policy_rows((REPORT_ONLY, "script-src 'self'")) == ["script-src 'self'"]
    assert policy_rows() == []


MANUAL = "<!doctype html><title>A manual</title><h1>Options</h1><p>Read <a href=/next.html>on</a>.<img src=/a.png>"


@pytest.mark.parametrize(
    ("markup", "header", "expected"),
    [
        ("", None, MEDIUM),  # a manual for reading
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
def test_missing_policy_is_less_severe_on_page_without_scripts_forms_and_cookies(
    markup: str, header: tuple[str, str] | None, expected: Severity
) -> None:
    html_page = page(*([header] if header else []), html=f"{MANUAL}{markup}")
    finding = checks.csp_present(html_page, document(html_page), policies(html_page))
    assert severity_of(checks.csp_present, finding) is expected


def test_missing_policy_of_page_behind_log_in_is_high() -> None:
    html_page = replace(page(html=MANUAL), is_keyed=True)
    finding = checks.csp_present(html_page, document(html_page), policies(html_page))
    assert severity_of(checks.csp_present, finding) is HIGH


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ((REPORT_ONLY, "default-src 'self'"), "report-only"),
        ((CSP, "img-src 'self'"), "no-script-src"),
        ((CSP, "script-src * 'unsafe-inline'"), "any-script"),
    ],
)
def test_ineffective_policy_is_as_severe_as_missing_policy(header: tuple[str, str], expected: str) -> None:
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
def test_other_csp_checks_do_not_apply_if_policy_does_not_restrict_scripts(judge: Judge, lines: str) -> None:
    assert verdict(judge(with_policies(lines))) == "n/a"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("default-src 'self'", "pass"),
        ("script-src 'none'", "pass"),
        ("script-src", "pass"),
        (STRICT, "pass"),  # 'unsafe-inline' is for browsers that know no nonces
        (f"script-src 'unsafe-inline' {HASH}", "pass"),
        ("script-src 'strict-dynamic' 'unsafe-inline'", "pass"),
        ("script-src 'self'; script-src 'unsafe-inline'", "pass"),  # the first of two counts
        ("default-src 'unsafe-inline'; script-src 'self'", "pass"),
        ("script-src 'unsafe-inline'||script-src 'self'", "pass"),  # browsers enforce both policies
        ("script-src 'unsafe-inline', script-src 'self'", "pass"),
        ("script-src-elem 'unsafe-inline' 'self'; script-src-attr 'none'||script-src 'self'", "pass"),
        ("script-src unsafe-inline", "pass"),  # without quotes it is a host
        ("script-src 'unsafe-inline'", "inline-scripts"),
        ("script-src 'UNSAFE-INLINE'", "inline-scripts"),
        ("default-src 'self' 'unsafe-inline'", "inline-scripts"),
        ("SCRIPT-SRC 'unsafe-inline'", "inline-scripts"),
        ("script-src 'unsafe-inline' 'nonce-'", "inline-scripts"),  # malformed, so it does not count
        ("script-src 'unsafe-inline' 'nonce-{{ nonce }}'", "inline-scripts"),
        ("script-src 'unsafe-inline' 'sha256-###'", "inline-scripts"),
        ("script-src 'unsafe-inline' 'sha1-B2yPHKaXnvFWtRChIbabYmUBFZdVfKKXHbWtWidDVF8='", "inline-scripts"),
        ("script-src 'unsafe-inline'||frame-ancestors 'none'", "inline-scripts"),
        ("script-src 'self'; script-src-attr 'unsafe-inline'", "event-handlers"),  # weaker than script-src
        ("script-src 'self'; script-src-elem 'unsafe-inline'", "inline-scripts"),
        ("script-src-elem 'self'", "event-handlers"),  # nothing restricts event handlers
        ("", "n/a"),
    ],
)
def test_csp_script_inline(lines: str, expected: str) -> None:
    finding = checks.csp_script_inline(with_policies(lines))
    assert outcome(finding) == expected
    assert verdict(finding) == (expected if expected in ("pass", "n/a") else "fail")


def test_malformed_nonce_is_quoted_in_message() -> None:
    finding = checks.csp_script_inline(with_policies("script-src 'unsafe-inline' 'nonce-{{ nonce }}'"))
    assert "malformed" not in message(checks.csp_script_inline(with_policies("script-src 'unsafe-inline'")))
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
def test_message_does_not_blame_unsafe_inline_if_directive_is_missing(
    judge: Judge, lines: str, expected_text: str
) -> None:
    finding = judge(with_policies(lines))
    assert expected_text in message(finding)
    assert "'unsafe-inline'" not in message(finding)


def test_policies_made_to_be_slow_are_cut() -> None:
    html_page = page(html=f'<meta http-equiv=Content-Security-Policy content="{"a;" * 100_000}">' * 60)
    parsed = meta_policies(document(html_page))
    assert len(parsed) == MAX_POLICIES
    assert {len(policy.text) for policy in parsed} == {MAX_CHARACTERS}
    finding = checks.csp_syntax(with_policies(f"{'x' * 5000};" * 2))
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
        (f"script-src {NONCE} https:", "any-host"),  # a nonce alone does not disable host sources
        ("default-src *", "any-host"),
        ("script-src *||script-src https:", "any-host"),
        ("script-src 'self'; script-src-elem *", "any-host"),
        ("", "n/a"),
    ],
)
def test_csp_script_broad(lines: str, expected: str) -> None:
    finding = checks.csp_script_broad(with_policies(lines))
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
def test_csp_unsafe_eval(lines: str, expected: str) -> None:
    finding = checks.csp_unsafe_eval(with_policies(lines))
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "fail", "n/a")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("default-src 'self'", "pass"),
        ("script-src 'self'; object-src https://plugins.example.com", "pass"),
        # Schemes whose content only the page's own scripts or a browser extension can create
        ("default-src 'self' blob:", "pass"),
        ("script-src 'self'; object-src blob: filesystem: chrome-extension: moz-extension://*", "pass"),
        ("script-src 'self'; object-src wss: blob:", "plug-ins"),
        (STRICT, "pass"),
        ("script-src *||object-src 'none'", "pass"),
        (f"script-src {NONCE}; object-src 'none'||base-uri 'self'", "pass"),
        (f"script-src {NONCE}; object-src 'none'||script-src 'self'", "pass"),  # relative scripts load from the site
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
def test_csp_object_base(lines: str, expected: str) -> None:
    finding = checks.csp_object_base(with_policies(lines))
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
        ("frame-ancestors http://portal.example.com", "https://site.example.com/", "pass"),  # loads nothing
        # Programs on the visitor's own computer, such as banking software.
        ("connect-src http://127.0.0.1:* http://localhost:8080", "https://site.example.com/", "pass"),
        ("form-action http://*.example.com:*", "https://site.example.com/", "active"),
        ("default-src http:", "https://site.example.com/", "active"),
        ("img-src http: ; font-src http:", "https://site.example.com/", "active"),
        # Browsers ignore schemes and hosts with strict-dynamic; they are for older browsers.
        (CANONICAL, "https://site.example.com/", "pass"),
        (f"script-src-elem {NONCE} 'strict-dynamic' http:; worker-src 'self'", "https://site.example.com/", "pass"),
        (f"script-src {NONCE} https: http:", "https://site.example.com/", "active"),
        (f"default-src {NONCE} 'strict-dynamic' https: http:", "https://site.example.com/", "active"),  # images, too
        (f"script-src {NONCE} 'strict-dynamic'; worker-src http:", "https://site.example.com/", "active"),
        # Browsers request images and media over https first.
        ("img-src http://img.example.com", "https://site.example.com/", "passive"),
        ("img-src 'self' http: data:; media-src http:", "https://site.example.com/", "passive"),
        ("img-src HTTP://img.example.com||frame-ancestors 'none'", "https://site.example.com/", "passive"),
        ("img-src http://img.example.com", "http://site.example.com/", "n/a"),
        ("", "https://site.example.com/", "n/a"),
    ],
)
def test_csp_insecure_source(lines: str, url: str, expected: str) -> None:
    finding = checks.csp_insecure_source(page_with(lines, url), with_policies(lines))
    assert outcome(finding) == expected
    assert verdict(finding) == {"active": "fail", "passive": "warn"}.get(expected, expected)
    if verdict(finding) in ("warn", "fail"):
        assert severity_of(checks.csp_insecure_source, finding) == (MEDIUM if expected == "active" else LOW)


def test_policy_recommended_by_google_passes_all_checks() -> None:
    csp = with_policies(CANONICAL)
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
        (STRICT, "n/a"),  # a policy for scripts only is good enough
        ("", "n/a"),
    ],
)
def test_csp_style_inline(lines: str, expected: str) -> None:
    finding = checks.csp_style_inline(with_policies(lines))
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
        (f"default-src 'strict-dynamic'; script-src {NONCE}", None),  # script-src applies to scripts
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
def test_csp_syntax(lines: str, expected_text: str | None) -> None:
    finding = checks.csp_syntax(with_policies(lines))
    assert outcome(finding) == ("pass" if expected_text is None else "errors"), message(finding)
    assert verdict(finding) in ("pass", "warn")
    assert (expected_text or "") in message(finding)


def test_comma_in_meta_policy_is_syntax_error() -> None:
    html_page = page(html="<meta http-equiv=Content-Security-Policy content='img-src a.example, script-src b.example'>")
    finding = checks.csp_syntax(policies(html_page))
    assert outcome(finding) == "errors"
    assert "a comma in img-src ends the policy after a.example," in message(finding)


def test_csp_syntax_does_not_apply_without_policy() -> None:
    assert verdict(checks.csp_syntax(with_policies(""))) == "n/a"


def second_fetch_with(lines: str, *headers: tuple[str, str]) -> SecondFetch:
    html_page = page((CSP, lines), *headers)
    return SecondFetch(html_page, policies(html_page))


OTHER = STRICT.replace("dGhpcyBpcyBub3QgcmFuZG9t", "YW5vdGhlciBvbmUgdGhpcyB0aW1l")


@pytest.mark.parametrize(
    ("again", "expected"),
    [
        (second_fetch_with(OTHER), "pass"),
        (second_fetch_with("default-src 'self'"), "n/a"),  # an error page, or the response of another server
        (second_fetch_with(STRICT), "reused"),
        (second_fetch_with(STRICT, ("Cache-Control", "hit")), "reused"),
        (second_fetch_with(STRICT, ("X-Varnish", "12345")), "reused"),
        (second_fetch_with(STRICT, ("Age", "0")), "n/a"),  # only caches send Age
        (second_fetch_with(STRICT, ("X-Cache", "MISS")), "reused"),
        (second_fetch_with(STRICT, ("Age", "12")), "n/a"),
        (second_fetch_with(STRICT, ("X-Cache", "HIT from edge")), "n/a"),
        (second_fetch_with(STRICT, ("CF-Cache-Status", "HIT")), "n/a"),
        (second_fetch_with(STRICT, ("X-LiteSpeed-Cache", "hit")), "n/a"),
        (second_fetch_with(STRICT, ("X-Drupal-Cache", "HIT")), "n/a"),
        (second_fetch_with(STRICT, ("Cache-Status", "edge; hit; ttl=30")), "n/a"),
        (second_fetch_with(STRICT, ("X-Varnish", "12345 12300")), "n/a"),
        (SecondFetch(), "n/a"),
    ],
)
def test_csp_nonce_static(again: SecondFetch, expected: str) -> None:
    finding = checks.csp_nonce_static(page_with(STRICT), with_policies(STRICT), again)
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "fail", "n/a")


@pytest.mark.parametrize(("lines", "severity"), [(STRICT, HIGH), (f"script-src {NONCE} https:", MEDIUM)])
def test_nonce_reuse_is_medium_if_policy_allows_any_host_anyway(lines: str, severity: Severity) -> None:
    again = SecondFetch(page_with(lines), with_policies(lines))
    finding = checks.csp_nonce_static(page_with(lines), with_policies(lines), again)
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
        ("script-src https://cdn.jsdelivr.net/npm/", "known-bypass"),  # all packages of npm
        ("script-src https:||script-src cdn.jsdelivr.net", "known-bypass"),
        ("script-src https:", "n/a"),
        ("script-src https://AJAX.googleapis.com:443/", "known-bypass"),
        ("script-src 'self' https://vimeo.com", "known-bypass"),
        ("script-src 'self' https://www.gstatic.com www.googletagmanager.com", "known-bypass"),
        # Responses of these hosts run as code through eval() only.
        ("script-src 'self' https://www.googletagmanager.com *.google-analytics.com", "pass"),
        ("script-src 'self' 'unsafe-eval' https://www.googletagmanager.com", "known-bypass"),
        ("script-src 'self' 'unsafe-eval' *.google-analytics.com", "known-bypass"),
        ("default-src 'self' *.googleapis.com", "known-bypass"),
        ("img-src cdn.jsdelivr.net", "n/a"),
        ("", "n/a"),
    ],
)
def test_csp_allowlist_bypass(lines: str, expected: str) -> None:
    finding = checks.csp_allowlist_bypass(with_policies(lines))
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "warn", "n/a")


def test_bypass_finding_lists_hosts() -> None:
    finding = checks.csp_allowlist_bypass(with_policies("script-src vimeo.com cdn.jsdelivr.net"))
    assert rows(finding) == [{"host": "cdn.jsdelivr.net"}, {"host": "vimeo.com"}]


@pytest.mark.parametrize("source", ["*", "*.com", "https:", "'self'", "", "https://*"])
def test_source_without_host_name_is_no_bypass(source: str) -> None:
    assert bypass_host(source, allows_eval=True) is None


def test_bypass_host_is_recognized_by_name_and_wildcard() -> None:
    assert len(bypass_hosts()) > 150
    for host in bypass_hosts():
        assert bypass_host(f"https://{host}:443/", allows_eval=True) == host
        assert bypass_host(f"https://{host}/a/file.js", allows_eval=True) is None
    assert bypass_host("*.jsdelivr.net", allows_eval=False) == "cdn.jsdelivr.net"
