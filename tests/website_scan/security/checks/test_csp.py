"""Content Security Policies as sites send them: "||" separates header lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.website_scan.cast import judged, verdict
from tests.website_scan.security.cast import document, page, policies
from website_scan.findings import MEDIUM, Fail, Finding, Severity
from website_scan.page.evidence import Page
from website_scan.security.checks import csp as checks
from website_scan.security.csp import MAX_CHARACTERS, MAX_POLICIES, Policies, bypass_host, bypass_hosts, meta_policies
from website_scan.security.evidence import SecondFetch

CSP = "Content-Security-Policy"
Judge = Callable[[Policies], Finding]
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
        # Policies that restrict no script count as no policy here.
        ([(CSP, "frame-ancestors 'none'")], "", "fail"),
        ([(CSP, "upgrade-insecure-requests")], "", "fail"),
        ([(CSP, "img-src 'self'; script-src-attr 'none'")], "", "fail"),
        ([(CSP, "script-src \u2018self\u2019")], "", "fail"),  # curly quotes: browsers drop the whole directive
        ([(CSP, "script-src * 'unsafe-inline'")], "", "fail"),
        ([(CSP, "default-src https: data: 'unsafe-inline' 'unsafe-eval'"), (CSP, "img-src 'self'")], "", "fail"),
        ([], "<meta http-equiv=Content-Security-Policy content=\"default-src 'self'\">", "pass"),
        ([], "", "fail"),
        ([(CSP, "")], "", "fail"),
        ([(CSP, " ; ")], "", "fail"),
        ([(REPORT_ONLY, "default-src 'self'")], "", "fail"),
        # These directives have no effect in <meta>, so there is no policy.
        ([], "<meta http-equiv=Content-Security-Policy content=\"frame-ancestors 'none'; report-uri /x\">", "fail"),
        ([], "<meta http-equiv=Content-Security-Policy-Report-Only content=\"default-src 'self'\">", "fail"),
        ([], "<!-- <meta http-equiv=Content-Security-Policy content=\"default-src 'self'\"> -->", "fail"),
        # Browsers ignore the element if white space surrounds its name.
        ([], "<meta http-equiv=' Content-Security-Policy ' content=\"default-src 'self'\">", "fail"),
        ([], "<meta http-equiv='Content-Security-Policy\n' content=\"default-src 'self'\">", "fail"),
        ([], "<meta http-equiv=CONTENT-security-POLICY content=\"default-src 'self'\">", "pass"),
    ],
)
def test_csp_present(headers: list[tuple[str, str]], html: str, expected: str) -> None:
    seen = page(*headers, html=f"<!doctype html><head>{html}</head>")
    finding = checks.csp_present(seen, document(seen), policies(seen))
    assert verdict(finding) == expected
    assert not isinstance(finding, Fail) or finding.covers_category


MANUAL = "<!doctype html><title>A manual</title><h1>Options</h1><p>Read <a href=/next.html>on</a>.<img src=/a.png>"


@pytest.mark.parametrize(
    ("markup", "header", "expected"),
    [
        ("", None, MEDIUM),  # a manual for reading
        ("<noscript>Hello</noscript>", None, MEDIUM),
        ("<script type=' application/LD+json'>{}</script><script type=application/json>{}</script>", None, MEDIUM),
        ("<script type=importmap>{}</script>", None, None),
        ("<script src=/search.js></script>", None, None),
        ("<p onclick='run()'>Text", None, None),
        ("<a href=' JavaScript:run()'>Text</a>", None, None),
        ("<form><input name=q></form>", None, None),
        ("<textarea></textarea>", None, None),
        ("<iframe src=/a></iframe>", None, None),
        ("", ("Set-Cookie", "session=1"), None),
    ],
)
def test_a_missing_policy_weighs_less_where_scripts_find_nothing(
    markup: str, header: tuple[str, str] | None, expected: Severity | None
) -> None:
    seen = page(*([header] if header else []), html=f"{MANUAL}{markup}")
    finding = checks.csp_present(seen, document(seen), policies(seen))
    assert isinstance(finding, Fail)
    assert finding.severity is expected


def test_a_missing_policy_of_a_page_behind_a_log_in_is_high() -> None:
    seen = replace(page(html=MANUAL), is_keyed=True)
    finding = checks.csp_present(seen, document(seen), policies(seen))
    assert isinstance(finding, Fail)
    assert finding.severity is None


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
def test_where_no_script_is_restricted_one_check_says_so(judge: Judge, lines: str) -> None:
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
        ("script-src 'unsafe-inline'||script-src 'self'", "pass"),  # both must hold
        ("script-src 'unsafe-inline', script-src 'self'", "pass"),
        ("script-src-elem 'unsafe-inline' 'self'; script-src-attr 'none'||script-src 'self'", "pass"),
        ("script-src unsafe-inline", "pass"),  # without quotes it is a host
        ("script-src 'unsafe-inline'", "fail"),
        ("script-src 'UNSAFE-INLINE'", "fail"),
        ("default-src 'self' 'unsafe-inline'", "fail"),
        ("SCRIPT-SRC 'unsafe-inline'", "fail"),
        ("script-src 'unsafe-inline' 'nonce-'", "fail"),  # malformed, so it does not count
        ("script-src 'unsafe-inline' 'nonce-{{ nonce }}'", "fail"),
        ("script-src 'unsafe-inline' 'sha256-###'", "fail"),
        ("script-src 'unsafe-inline' 'sha1-B2yPHKaXnvFWtRChIbabYmUBFZdVfKKXHbWtWidDVF8='", "fail"),
        ("script-src 'unsafe-inline'||frame-ancestors 'none'", "fail"),
        ("script-src 'self'; script-src-attr 'unsafe-inline'", "fail"),  # the weakest decides
        ("script-src 'self'; script-src-elem 'unsafe-inline'", "fail"),
        ("script-src-elem 'self'", "fail"),  # nothing restricts event handlers
        ("", "n/a"),
    ],
)
def test_csp_script_inline(lines: str, expected: str) -> None:
    assert verdict(checks.csp_script_inline(with_policies(lines))) == expected


def test_a_malformed_nonce_is_named() -> None:
    finding = checks.csp_script_inline(with_policies("script-src 'unsafe-inline' 'nonce-{{ nonce }}'"))
    assert "malformed" not in judged(checks.csp_script_inline(with_policies("script-src 'unsafe-inline'"))).message
    assert "'nonce-{{" in judged(finding).message


@pytest.mark.parametrize(
    ("judge", "lines", "said"),
    [
        (checks.csp_script_inline, "script-src-elem 'self'", "Neither script-src-attr nor what it falls back to is"),
        (checks.csp_style_inline, "style-src-elem 'self'", "Neither style-src-attr nor what it falls back to is"),
        (checks.csp_object_base, "default-src 'self' data:", "from data:"),
        (checks.csp_object_base, f"script-src {NONCE}; object-src 'none'; base-uri *", "base-uri allows every"),
        (checks.csp_object_base, f"script-src {NONCE}; object-src 'none'", "base-uri is missing"),
        (checks.csp_object_base, "script-src 'self'", "are not set"),
    ],
)
def test_what_is_not_in_the_policy_is_not_blamed(judge: Judge, lines: str, said: str) -> None:
    finding = judge(with_policies(lines))
    assert said in judged(finding).message
    assert "'unsafe-inline'" not in judged(finding).message


def test_a_policy_that_is_made_to_be_slow_is_cut() -> None:
    seen = page(html=f'<meta http-equiv=Content-Security-Policy content="{"a;" * 100_000}">' * 60)
    found = meta_policies(document(seen))
    assert len(found) == MAX_POLICIES
    assert {len(each.text) for each in found} == {MAX_CHARACTERS}
    finding = checks.csp_syntax(with_policies(f"{'x' * 5000};" * 2))
    assert len(judged(finding).message) < 500


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
        ("script-src *", "fail"),
        ("script-src https:", "fail"),
        ("script-src HTTPS:", "fail"),
        ("script-src 'self' http:", "fail"),
        ("script-src 'self' data:", "fail"),
        ("script-src https://*", "fail"),
        ("script-src *:443", "fail"),
        (f"script-src {NONCE} https:", "fail"),  # a nonce alone does not disable host sources
        ("default-src *", "fail"),
        ("script-src *||script-src https:", "fail"),
        ("script-src 'self'; script-src-elem *", "fail"),
        ("", "n/a"),
    ],
)
def test_csp_script_broad(lines: str, expected: str) -> None:
    assert verdict(checks.csp_script_broad(with_policies(lines))) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("script-src 'self'", "pass"),
        ("script-src 'self' 'wasm-unsafe-eval'", "pass"),
        ("script-src 'unsafe-eval'||default-src 'self'", "pass"),
        ("script-src 'self' 'unsafe-eval'", "fail"),
        ("default-src 'unsafe-eval'", "fail"),
        ("script-src 'unsafe-eval'||img-src 'self'", "fail"),
        ("img-src 'self'", "n/a"),
        ("", "n/a"),
    ],
)
def test_csp_unsafe_eval(lines: str, expected: str) -> None:
    assert verdict(checks.csp_unsafe_eval(with_policies(lines))) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("default-src 'self'", "pass"),
        ("script-src 'self'; object-src https://plugins.example.com", "pass"),
        # Content that only the page's own scripts, or a browser's extension, can create
        ("default-src 'self' blob:", "pass"),
        ("script-src 'self'; object-src blob: filesystem: chrome-extension: moz-extension://*", "pass"),
        ("script-src 'self'; object-src wss: blob:", "fail"),
        (STRICT, "pass"),
        ("script-src *||object-src 'none'", "pass"),
        (f"script-src {NONCE}; object-src 'none'||base-uri 'self'", "pass"),
        (f"script-src {NONCE}; object-src 'none'||script-src 'self'", "pass"),  # relative scripts load from the site
        (f"script-src 'self' {HASH}; object-src 'none'", "pass"),
        ("script-src 'self'", "fail"),
        ("default-src *", "fail"),
        ("script-src 'self'; object-src https:", "fail"),
        ("default-src 'self'; object-src *", "fail"),
        (f"script-src {NONCE}; object-src 'none'", "fail"),
        (f"script-src {NONCE}; object-src 'none'; base-uri *", "fail"),
        (f"script-src {HASH} 'strict-dynamic'; object-src 'none'", "fail"),
        (f"script-src {NONCE}; object-src 'none'||frame-ancestors 'none'", "fail"),
        ("", "n/a"),
    ],
)
def test_csp_object_base(lines: str, expected: str) -> None:
    assert verdict(checks.csp_object_base(with_policies(lines))) == expected


@pytest.mark.parametrize(
    ("lines", "url", "expected"),
    [
        ("default-src 'self' https://cdn.example.com", "https://site.example.com/", "pass"),
        ("img-src http://img.example.com; upgrade-insecure-requests", "https://site.example.com/", "pass"),
        ("img-src http://img.example.com||img-src 'self'", "https://site.example.com/", "pass"),
        ("img-src http://img.example.com||default-src 'self'", "https://site.example.com/", "pass"),
        ("report-uri http://reports.example.com/", "https://site.example.com/", "pass"),
        ("frame-ancestors http://portal.example.com", "https://site.example.com/", "pass"),  # loads nothing
        # A program on the visitor's own machine, as banks use them.
        ("connect-src http://127.0.0.1:* http://localhost:8080", "https://site.example.com/", "pass"),
        ("form-action http://*.example.com:*", "https://site.example.com/", "fail"),
        ("default-src http:", "https://site.example.com/", "fail"),
        ("img-src http: ; font-src http:", "https://site.example.com/", "fail"),
        # Neither scheme nor host counts beside strict-dynamic; they are for older browsers.
        (CANONICAL, "https://site.example.com/", "pass"),
        (f"script-src-elem {NONCE} 'strict-dynamic' http:; worker-src 'self'", "https://site.example.com/", "pass"),
        (f"script-src {NONCE} https: http:", "https://site.example.com/", "fail"),
        (f"default-src {NONCE} 'strict-dynamic' https: http:", "https://site.example.com/", "fail"),  # images, too
        (f"script-src {NONCE} 'strict-dynamic'; worker-src http:", "https://site.example.com/", "fail"),
        # Browsers request images and media over https first.
        ("img-src http://img.example.com", "https://site.example.com/", "warn"),
        ("img-src 'self' http: data:; media-src http:", "https://site.example.com/", "warn"),
        ("img-src HTTP://img.example.com||frame-ancestors 'none'", "https://site.example.com/", "warn"),
        ("img-src http://img.example.com", "http://site.example.com/", "n/a"),
        ("", "https://site.example.com/", "n/a"),
    ],
)
def test_csp_insecure_source(lines: str, url: str, expected: str) -> None:
    assert verdict(checks.csp_insecure_source(page_with(lines, url), with_policies(lines))) == expected


def test_the_policy_that_is_recommended_has_no_fault() -> None:
    seen = with_policies(CANONICAL)
    assert verdict(checks.csp_present(page(), document(page()), seen)) == "pass"
    judges = (
        *(checks.csp_script_inline, checks.csp_script_broad, checks.csp_unsafe_eval),
        *(checks.csp_object_base, checks.csp_syntax, checks.csp_allowlist_bypass),
    )
    assert {judged(judge(seen)).message for judge in judges if verdict(judge(seen)) != "pass"} == set()


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("style-src 'self'", "pass"),
        (f"style-src 'unsafe-inline' {NONCE}", "pass"),
        ("style-src 'unsafe-inline'||default-src 'self'", "pass"),
        ("style-src 'self' 'unsafe-inline'", "warn"),
        ("default-src 'unsafe-inline'", "warn"),
        ("style-src 'self'; style-src-attr 'unsafe-inline'", "warn"),
        ("style-src-elem 'self'", "warn"),
        (STRICT, "n/a"),  # a policy for scripts only is a good policy
        ("", "n/a"),
    ],
)
def test_csp_style_inline(lines: str, expected: str) -> None:
    assert verdict(checks.csp_style_inline(with_policies(lines))) == expected


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("default-src 'self'; frame-ancestors 'none'; report-uri /x; report-to y; sandbox allow-scripts", None),
        (STRICT, None),
        ("upgrade-insecure-requests; block-all-mixed-content; plugin-types application/pdf", None),
        (CANONICAL, None),
        (f"script-src {HASH} 'strict-dynamic'", None),
        (f"default-src 'strict-dynamic'; script-src {NONCE}", None),  # script-src applies to scripts
        ("script-src 'strict-dynamic' 'self' https:", "'strict-dynamic' stands in script-src without a nonce or hash"),
        ("default-src 'self' 'strict-dynamic'", "'strict-dynamic' stands in default-src without"),
        (f"script-src {NONCE}; script-src-elem 'strict-dynamic'", "'strict-dynamic' stands in script-src-elem without"),
        ("script-src 'strict-dynamic' 'nonce-{{ n }}'", "'strict-dynamic' stands in script-src without"),
        ("report-uri /csp?script-src; report-to default", None),
        ("report-uri /csp script-src 'self'", "the semicolon before script-src is missing in report-uri"),
        ("report-to csp-endpoint default-src 'self'", "the semicolon before default-src is missing in report-to"),
        ("upgrade-insecure-requests object-src 'none'", "the semicolon before object-src is missing in upgrade-insec"),
        ("sandbox allow-scripts Img-Src *", "the semicolon before Img-Src is missing in sandbox"),
        ("require-trusted-types-for 'script'; trusted-types none default 'allow-duplicates'", None),
        ("default-src 'self' self.example.com none.example.com;;", None),
        ("script-src 'report-sample' 'wasm-unsafe-eval' 'inline-speculation-rules'", None),
        ("script-src 'self' 'unsafe-allow-redirects'", "'unsafe-allow-redirects' is not a keyword"),  # of a draft only
        ("defaultsrc 'self'", "defaultsrc is not a directive"),
        ("default-src: 'self'", "default-src: is not a directive"),
        ("default-src self", "self has no quotes"),
        ("script-src 'self' unsafe-inline", "unsafe-inline has no quotes"),
        ("script-src nonce-dGVzdA==", "has no quotes"),
        ("script-src 'unsafe-inlin'", "is not a keyword, nonce or hash"),
        ("script-src 'nonce-{{ nonce }}'", "is not a keyword, nonce or hash"),
        ("default-src 'self' script-src 'self'", "semicolon before script-src is missing"),
        ("default-src 'self'; default-src *", "is repeated"),
        ("script-src \u2018self\u2019", "browsers drop script-src whole"),
        ("img-src 'self'; script-src 'self' https://b\u00fccher.example", "browsers drop script-src whole"),
        ("script-src 'none' https://a.example.com", "'none' counts only by itself"),
        ('script-src "self"', "the wrong kind of quotes"),
    ],
)
def test_csp_syntax(lines: str, said: str | None) -> None:
    finding = checks.csp_syntax(with_policies(lines))
    assert verdict(finding) == ("pass" if said is None else "warn"), finding
    assert (said or "") in judged(finding).message


def test_a_comma_in_meta_does_not_separate_policies() -> None:
    seen = page(html="<meta http-equiv=Content-Security-Policy content='img-src a.example, script-src b.example'>")
    finding = checks.csp_syntax(policies(seen))
    assert verdict(finding) == "warn"
    assert "a comma ends the policy after a.example," in judged(finding).message


def test_without_a_policy_there_is_no_syntax() -> None:
    assert verdict(checks.csp_syntax(with_policies(""))) == "n/a"


def fetched_again(lines: str, *headers: tuple[str, str]) -> SecondFetch:
    seen = page((CSP, lines), *headers)
    return SecondFetch(seen, policies(seen))


OTHER = STRICT.replace("dGhpcyBpcyBub3QgcmFuZG9t", "YW5vdGhlciBvbmUgdGhpcyB0aW1l")


@pytest.mark.parametrize(
    ("again", "expected"),
    [
        (fetched_again(OTHER), "pass"),
        (fetched_again("default-src 'self'"), "n/a"),  # an error page, or the response of another server
        (fetched_again(STRICT), "fail"),
        (fetched_again(STRICT, ("Cache-Control", "hit")), "fail"),
        (fetched_again(STRICT, ("X-Varnish", "12345")), "fail"),
        (fetched_again(STRICT, ("Age", "0")), "n/a"),  # only caches send it
        (fetched_again(STRICT, ("X-Cache", "MISS")), "fail"),
        (fetched_again(STRICT, ("Age", "12")), "n/a"),
        (fetched_again(STRICT, ("X-Cache", "HIT from edge")), "n/a"),
        (fetched_again(STRICT, ("CF-Cache-Status", "HIT")), "n/a"),
        (fetched_again(STRICT, ("X-LiteSpeed-Cache", "hit")), "n/a"),
        (fetched_again(STRICT, ("X-Drupal-Cache", "HIT")), "n/a"),
        (fetched_again(STRICT, ("Cache-Status", "edge; hit; ttl=30")), "n/a"),
        (fetched_again(STRICT, ("X-Varnish", "12345 12300")), "n/a"),
        (SecondFetch(), "n/a"),
    ],
)
def test_csp_nonce_static(again: SecondFetch, expected: str) -> None:
    assert verdict(checks.csp_nonce_static(page_with(STRICT), with_policies(STRICT), again)) == expected


@pytest.mark.parametrize(("lines", "severity"), [(STRICT, None), (f"script-src {NONCE} https:", MEDIUM)])
def test_one_way_around_a_policy_is_one_failure_of_high_severity(lines: str, severity: Severity | None) -> None:
    again = SecondFetch(page_with(lines), with_policies(lines))
    finding = checks.csp_nonce_static(page_with(lines), with_policies(lines), again)
    assert isinstance(finding, Fail)
    assert finding.severity is severity


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("script-src 'self' https://cdn.example.com", "pass"),
        (f"script-src {NONCE} 'strict-dynamic' https://cdn.jsdelivr.net", "pass"),
        ("script-src https://cdn.jsdelivr.net/npm/jquery@3.7.1/", "pass"),
        ("script-src https://cdn.jsdelivr.net||script-src 'self'", "pass"),
        ("script-src https://notcdn.jsdelivr.net.example.com", "pass"),
        ("script-src cdn.jsdelivr.net", "warn"),
        ("script-src https://cdn.jsdelivr.net/npm/", "warn"),  # all packages of npm
        ("script-src https:||script-src cdn.jsdelivr.net", "warn"),
        ("script-src https:", "n/a"),
        ("script-src https://AJAX.googleapis.com:443/", "warn"),
        ("script-src 'self' https://vimeo.com", "warn"),
        ("script-src 'self' https://www.gstatic.com www.googletagmanager.com", "warn"),
        # Responses of these hosts run as code through eval() only.
        ("script-src 'self' https://www.googletagmanager.com *.google-analytics.com", "pass"),
        ("script-src 'self' 'unsafe-eval' https://www.googletagmanager.com", "warn"),
        ("script-src 'self' 'unsafe-eval' *.google-analytics.com", "warn"),
        ("default-src 'self' *.googleapis.com", "warn"),
        ("img-src cdn.jsdelivr.net", "n/a"),
        ("", "n/a"),
    ],
)
def test_csp_allowlist_bypass(lines: str, expected: str) -> None:
    assert verdict(checks.csp_allowlist_bypass(with_policies(lines))) == expected


@pytest.mark.parametrize("source", ["*", "*.com", "https:", "'self'", "", "https://*"])
def test_what_names_no_host_is_no_bypass(source: str) -> None:
    assert bypass_host(source, allows_eval=True) is None


def test_every_known_host_is_recognised_by_its_name_and_through_a_wildcard() -> None:
    assert len(bypass_hosts()) > 150
    for host in bypass_hosts():
        assert bypass_host(f"https://{host}:443/", allows_eval=True) == host
        assert bypass_host(f"https://{host}/a/file.js", allows_eval=True) is None
    assert bypass_host("*.jsdelivr.net", allows_eval=False) == "cdn.jsdelivr.net"
