from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.cast import message, outcome, rows, severity_of, target, verdict
from tests.website_scan.security.cast import NOW, page, response
from website_scan.findings import Severity
from website_scan.outcomes import Verdict, Warn
from website_scan.page.evidence import Clock, Page
from website_scan.security.checks import cookies as checks
from website_scan.security.cookies import Cookie, Cookies, parse_cookie, parse_date, read_cookies
from website_scan.security.load_balancers import is_load_balancer_cookie
from website_scan.security.probes import headers as probe
from website_scan.written_urls import split_url

HOST = "www.example.com"


def page_with_cookies(*lines: str, url: str = f"https://{HOST}/") -> Page:
    return page(*(("Set-Cookie", line) for line in lines), url=url)


def judge_secure(html_page: Page) -> Verdict:
    return checks.cookie_secure(html_page, cookies(html_page))


def cookies(html_page: Page) -> Cookies:
    return probe.cookies(html_page, Clock(NOW))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["sessionid=1; Secure"], "pass"),
        (["lang=en; secure", "theme=dark; SECURE=yes"], "pass"),
        (["sessionid=1"], "missing-on-session"),
        (["lang=en; Secure", "connect.sid=1"], "missing-on-session"),
        (["lang=en"], "missing"),
        (["csrftoken=1"], "missing"),
        (["sidebar=1", "author=x"], "missing"),
        (["sessionid=; Max-Age=0"], "n/a"),  # Max-Age=0 deletes the cookie.
        (["sessionid=; Max-Age=-1; Expires=Wed, 21 Nov 2029 07:28:00 GMT"], "n/a"),
        (["sessionid=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], "n/a"),
        (["sessionid=x; Expires=Thu, 01-Jan-1970 00:00:01 GMT"], "n/a"),
        (["sessionid=1", "sessionid=2; Secure"], "pass"),  # The second cookie replaces the first.
        (["sessionid=1", "sessionid=; Max-Age=0"], "n/a"),
        # The second cookie has the same path, so it deletes the first.
        (["sessionid=1", "sessionid=; Max-Age=0; Path=/"], "n/a"),
        (["sessionid=1", "sessionid=; Max-Age=0; Path=/app"], "missing-on-session"),
        (["sessionid=1; Domain=other.com"], "n/a"),  # Browsers reject a cookie for another site.
        (["sessionid=1; Domain=com"], "n/a"),
        (["sessionid=1; Domain=.example.com"], "missing-on-session"),
        # Browsers remove one leading dot, and the rest is not a host name.
        (["sessionid=1; Domain=..example.com"], "n/a"),
        (["sessionid=1; Domain=..www.example.com"], "n/a"),
        (["sessionid=1; Expires=nonsense"], "missing-on-session"),
        # The expiry date is in the past, without a time zone.
        (["sessionid=x; Expires=Thu, 01-Jan-1970 00:00:00"], "n/a"),
        (["sessionid=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Expires=nonsense"], "n/a"),
        (["sessionid=x; Max-Age=0; Max-Age=nonsense"], "n/a"),
        ([f"sessionid=x; Max-Age={'9' * 1000}"], "missing-on-session"),
        (["__Host-sid=1; Path=/"], "n/a"),  # The check cookie-prefix reports this cookie, which browsers reject.
        (["heroku-session-affinity=ACyDaANoA24IAcnd"], "missing-on-load-balancer"),
        (
            ["AWSALB=0YtqEBGWiz; Path=/", "BIGipServer~Common~session_pool=1677787402.36895.0000"],
            "missing-on-load-balancer",
        ),
        (["AWSALB=0YtqEBGWiz; Secure", "lang=en; Secure"], "pass"),
        (["AWSALB=0YtqEBGWiz", "lang=en"], "missing"),
        (["AWSALB=0YtqEBGWiz", "sessionid=1"], "missing-on-session"),
        # These cookies belong to the application, despite their names.
        (["heroku_session=0123456789abcdef", "AWSALBUM=1"], "missing-on-session"),
        ([""], "n/a"),
        (["=; Path=/"], "n/a"),
        (["a\x00b=1"], "n/a"),
        ([f"a={'x' * 5000}"], "n/a"),
        ([], "n/a"),
    ],
)
def test_cookie_secure_check_verdict(lines: list[str], expected: str) -> None:
    finding = judge_secure(page_with_cookies(*lines))
    assert outcome(finding) == expected
    verdicts = {"missing": "fail", "missing-on-session": "fail", "missing-on-load-balancer": "warn"}
    assert verdict(finding) == verdicts.get(expected, expected)


@pytest.mark.parametrize(
    ("lines", "severity", "expected"),
    [
        (["sid=1"], Severity.HIGH, "Secure is missing on 1 session cookie."),
        (["lang=en", "sid=1", "theme=x"], Severity.HIGH, "Secure is missing on 1 session cookie and 2 other cookies."),
        (["lang=en"], Severity.MEDIUM, "Secure is missing on 1 cookie."),
        (
            ["AWSALB=1"],
            Severity.LOW,
            "Secure is missing on 1 cookie with which load balancers only name a server.",
        ),
    ],
)
def test_session_cookie_without_secure_is_severe(lines: list[str], severity: Severity, expected: str) -> None:
    finding = judge_secure(page_with_cookies(*lines))
    assert severity_of(checks.cookie_secure, finding) == severity
    assert message(finding) == expected


def test_finding_lists_session_cookies_first() -> None:
    finding = judge_secure(page_with_cookies("lang=en", "sid=1"))
    assert [row["cookie"] for row in rows(finding)] == ["sid", "lang"]


def test_nameless_cookie_has_host_fingerprint() -> None:
    finding = checks.cookie_samesite(cookies(page_with_cookies("value-alone")))
    assert isinstance(finding, Warn)
    (place,) = finding.places
    assert place.label == "(without a name)"
    assert place.normal(split_url("https://other.example/")) == HOST


def test_load_balancer_cookie_is_left_out() -> None:
    finding = judge_secure(page_with_cookies("AWSALB=0YtqEBGWiz", "lang=en"))
    assert outcome(finding) == "missing"
    assert [row["cookie"] for row in rows(finding)] == ["lang"]


def test_cookie_secure_check_needs_https() -> None:
    assert verdict(judge_secure(page_with_cookies("sessionid=1", url=f"http://{HOST}/"))) == "n/a"


def test_redirect_cookies_count_on_same_site() -> None:
    def hop(url: str, cookie: str) -> object:
        return response(url, ("Set-Cookie", cookie), status=302)

    final = target("https://www.example.com/")
    hops = (
        hop("http://example.com/", "sessionid=1"),
        hop("https://login.example.net/", "other_session=1"),
        response("https://www.example.com/", ("Set-Cookie", "lang=en; Secure")),
    )
    html_page = Page(requested=target("http://example.com/"), target=final, hops=hops)  # type: ignore[arg-type]
    finding = judge_secure(html_page)
    assert verdict(finding) == "fail"
    assert [row["cookie"] for row in rows(finding)] == ["sessionid"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["sessionid=1; HttpOnly"], "pass"),
        (["lang=en"], "n/a"),
        (["csrftoken=1", "XSRF-TOKEN=2", "_csrf=3", "anticsrftoken=4"], "n/a"),  # Scripts must read CSRF tokens.
        # The name of ASP.NET's CSRF cookie contains the application's path.
        (["__RequestVerificationToken_L2FwcA2=1"], "n/a"),
        (["sessionid=1"], "missing"),
        (["a=1; HttpOnly", "authToken=eyJhbGciOiJIUzI1NiJ9"], "missing"),
        (["ai_session=x1|1700000000|1700000001", "_hjSessionUser_1=eyJpZCI6IjEifQ=="], "n/a"),
        (["user_session=1", "auth=yes", "login=true"], "n/a"),  # These values are too short for a session ID.
        (["sessionid="], "n/a"),
        ([], "n/a"),
    ],
)
def test_cookie_httponly_check_verdict(lines: list[str], expected: str) -> None:
    finding = checks.cookie_httponly(cookies(page_with_cookies(*lines)))
    assert outcome(finding) == expected
    assert verdict(finding) == ("fail" if expected == "missing" else expected)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["a=1; SameSite=Lax", "b=1; samesite=STRICT", "c=1; SameSite=None; Secure"], "pass"),
        (["a=1; SameSite=None"], "none-without-secure"),
        (["a=1; SameSite=Nope"], "invalid"),
        (["a=1; SameSite"], "invalid"),
        # If a cookie attribute is repeated, the last one counts.
        (["a=1; SameSite=Lax; SameSite=None"], "none-without-secure"),
        (["a=1; SameSite=Lax", "b=1"], "missing"),
        (["a=1"], "missing"),
        ([], "n/a"),
    ],
)
def test_cookie_samesite_check_verdict(lines: list[str], expected: str) -> None:
    finding = checks.cookie_samesite(cookies(page_with_cookies(*lines)))
    assert outcome(finding) == expected
    verdicts = {"missing": "warn", "none-without-secure": "fail", "invalid": "fail"}
    assert verdict(finding) == verdicts.get(expected, expected)


@pytest.mark.parametrize(
    ("lines", "expected", "severity"),
    [
        (["AWSALB=1"], "missing-on-load-balancer", Severity.LOW),
        (["AWSALB=1", "a=1"], "missing", Severity.MEDIUM),
        (["a=1"], "missing", Severity.MEDIUM),
    ],
)
def test_load_balancer_cookie_without_samesite_is_minor(lines: list[str], expected: str, severity: Severity) -> None:
    finding = checks.cookie_samesite(cookies(page_with_cookies(*lines)))
    assert verdict(finding) == "warn"
    assert outcome(finding) == expected
    assert severity_of(checks.cookie_samesite, finding) == severity


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # These are common date formats, such as IMF-fixdate, RFC 850 and asctime.
        ("Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37"),
        ("Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37"),
        ("Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37"),
        ("Sun, 06-Nov-1994 08:49:37 GMT", "1994-11-06T08:49:37"),
        ("Thu, 01-Jan-1970 00:00:00", "1970-01-01T00:00:00"),
        # The weekday and the time zone of a cookie date are ignored.
        ("Mon, 06 Nov 1994 08:49:37 +1400", "1994-11-06T08:49:37"),
        ("06 Nov 1994 08:49:37 PST", "1994-11-06T08:49:37"),
        # The first number of one or two digits is the day of a cookie date.
        ("08:49:37 1994 06 Nov", "1994-11-06T08:49:37"),
        ("1994 Nov 06 08:49:37", "1994-11-06T08:49:37"),
        ("Nov 1994 6 8:49:37", "1994-11-06T08:49:37"),
        ("94 06 Nov 08:49:37", None),  # In this date, 94 is the day, and 06 is the year.
        ("6 94 Nov 08:49:37", "1994-11-06T08:49:37"),
        # The two-digit year 69 is 2069, 70 is 1970, and years before 1601 are invalid.
        ("1 Jan 69 0:0:0", "2069-01-01T00:00:00"),
        ("1 Jan 70 0:0:0", "1970-01-01T00:00:00"),
        ("1 Jan 99 0:0:0", "1999-01-01T00:00:00"),
        ("1 Jan 00 0:0:0", "2000-01-01T00:00:00"),
        ("1 Jan 100 0:0:0", None),
        ("1 Jan 1600 0:0:0", None),
        ("1 Jan 1601 0:0:0", "1601-01-01T00:00:00"),
        ("1 Jan 9999 23:59:59", "9999-01-01T23:59:59"),
        ("1 Jan 10000 0:0:0", None),
        ("1 Jan 7 0:0:0", None),  # The year of a cookie date has at least two digits.
        # Month names need three letters, in any case, and any text may follow.
        ("1 JANUARY 1999 0:0:0", "1999-01-01T00:00:00"),
        ("1 janvier 1999 0:0:0", "1999-01-01T00:00:00"),
        ("1 Ja 1999 0:0:0", None),
        ("1 13 1999 0:0:0", None),
        ("1 \u017fep 1999 0:0:0", None),  # The letter long s (U+017F) is not ASCII.
        # Only the first month, time and year of a cookie date count.
        ("1 Jan Feb 1999 1:2:3 4:5:6 2001", "1999-01-01T01:02:03"),
        # Any character but a digit may follow a part of a cookie date.
        ("1st Jan 1999A.D. 01:02:03Z", "1999-01-01T01:02:03"),
        ("1 Jan 1999 01:02:03.500", "1999-01-01T01:02:03"),
        ("1 Jan 1999 01:02:034", None),
        ("1 Jan 19991 01:02:03", None),
        ("001 Jan 1999 01:02:03", None),  # In this date, 001 is the year, so the day is missing.
        ("1 Jan 1999 1:2", None),
        ("1 Jan 1999 1:2:3:4", "1999-01-01T01:02:03"),
        ("1 Jan 1999 :01:02:03", None),  # A colon does not separate the parts of a cookie date.
        # Delimiters are the tab and printable punctuation except the colon.
        ("1\tJan\t1999\t1:2:3", "1999-01-01T01:02:03"),
        ("!1\"Jan#1999$1:2:3%&'()*+,-./;<=>?@[\\]^_`{|}~", "1999-01-01T01:02:03"),
        ("1\x7fJan 1999 1:2:3", None),
        ("1\xa0Jan 1999 1:2:3", None),
        # Only ASCII digits are digits of a cookie date.
        ("\u0661 Jan 1999 1:2:3", None),
        # These cookie dates do not exist or have numbers out of range.
        ("0 Jan 1999 0:0:0", None),
        ("32 Jan 1999 0:0:0", None),
        ("31 Apr 1999 0:0:0", None),
        ("29 Feb 1999 0:0:0", None),
        ("29 Feb 2000 0:0:0", "2000-02-29T00:00:00"),
        ("29 Feb 1900 0:0:0", None),
        ("1 Jan 1999 24:0:0", None),
        ("1 Jan 1999 0:60:0", None),
        ("1 Jan 1999 0:0:60", None),
        # Cookie dates with a missing part.
        ("", None),
        ("Jan 1999 0:0:0", None),
        ("1 1999 0:0:0", None),
        ("1 Jan 0:0:0", None),
        ("1 Jan 1999", None),
        ("1999-11-06T08:49:37Z", None),  # ISO 8601 is not a format of cookie dates.
        ("0", None),
        ("-1", None),
    ],
)
def test_parse_date_follows_rfc_6265bis(text: str, expected: str | None) -> None:
    date = parse_date(text)
    assert (date and date.replace(tzinfo=None).isoformat()) == expected


@given(st.text())
def test_parse_date_accepts_any_text(text: str) -> None:
    date = parse_date(text)
    assert date is None or date.tzinfo is not None


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["__Host-sid=1; Secure; Path=/"], "pass"),
        (["__Secure-sid=1; Secure; Domain=example.com"], "pass"),
        (["__Host-sid=1; Secure"], "broken"),
        (["__Host-sid=1; Secure; Path=/app"], "broken"),
        (["__Host-sid=1; Secure; Path=/; Domain=www.example.com"], "broken"),
        (["__Host-sid=1; Path=/"], "broken"),
        (["__secure-sid=1"], "broken"),
        (["Host-sid=1", "__hostess=1"], "n/a"),
        ([], "n/a"),
        # Layered Cookies, section 4.1.3: only servers may set names with a prefix.
        (["__Http-sid=1; Secure; HttpOnly"], "pass"),
        (["__Http-sid=1; Secure; HttpOnly; Domain=example.com; Path=/app"], "pass"),
        (["__Http-sid=1; Secure"], "broken"),
        (["__Http-sid=1; HttpOnly"], "broken"),
        (["__http-sid=1; Secure"], "broken"),
        (["__Host-Http-sid=1; Secure; HttpOnly; Path=/"], "pass"),
        (["__Host-Http-sid=1; Secure; Path=/"], "broken"),
        (["__Host-Http-sid=1; HttpOnly; Path=/"], "broken"),
        (["__Host-Http-sid=1; Secure; HttpOnly"], "broken"),
        (["__Host-Http-sid=1; Secure; HttpOnly; Path=/app"], "broken"),
        (["__Host-Http-sid=1; Secure; HttpOnly; Path=/; Domain=www.example.com"], "broken"),
        (["__HOST-HTTP-sid=1; Secure; Path=/"], "broken"),
        (["__Host-Httpsid=1; Secure; Path=/", "__Host-sid-Http-=1; Secure; Path=/"], "pass"),
        (["__Httpsid=1", "__HttpOnly-sid=1", "_Http-sid=1", "Http-sid=1", "x__Http-sid=1"], "n/a"),
        # RFC 6265bis, section 5.7: a nameless cookie's value must have no prefix.
        (["=__Host-sid=1", "__Http-sid", "=__Secure-sid=1; Secure"], "n/a"),
    ],
)
def test_cookie_prefix_check_verdict(lines: list[str], expected: str) -> None:
    finding = checks.cookie_prefix(cookies(page_with_cookies(*lines)))
    assert outcome(finding) == expected
    assert verdict(finding) == ("fail" if expected == "broken" else expected)


def test_prefix_finding_lists_broken_rules() -> None:
    finding = checks.cookie_prefix(cookies(page_with_cookies("__Host-sid=1; Secure", "__Secure-id=1")))
    assert message(finding) == "2 cookies break the rules of their prefix."
    assert [(row["cookie"], row["fault"]) for row in rows(finding)] == [
        ("__Host-sid", "__Host- requires Path=/"),
        ("__Secure-id", "__Secure- requires Secure over HTTPS"),
    ]


@pytest.mark.parametrize("name", ["__Host-Http-theme", "__Http-theme"])
def test_prefix_finding_names_httponly(name: str) -> None:
    sent = cookies(page_with_cookies(f"{name}=1; Secure; Path=/"))
    (row,) = rows(checks.cookie_prefix(sent))
    assert row["fault"] == f"{name.removesuffix('theme')} requires HttpOnly"
    assert sent.accepted == []


@pytest.mark.parametrize("prefix", ["__Http-", "__Host-Http-"])
def test_prefixed_session_cookie_is_session_like(prefix: str) -> None:
    (cookie,) = cookies(page_with_cookies(f"{prefix}sid=1; Secure; HttpOnly; Path=/")).sent
    assert cookie.is_session_like


def test_secure_prefix_needs_https() -> None:
    assert (
        verdict(checks.cookie_prefix(cookies(page_with_cookies("__Secure-a=1; Secure", url=f"http://{HOST}/"))))
        == "fail"
    )


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("AWSALB", "AWSALBCORS", "AWSALBTG", "AWSALBTGCORS", "AWSALBAPP-0", "AWSELB", "AWSELBCORS"), True),
        (("ARRAffinity", "ARRAffinitySameSite", "ApplicationGatewayAffinityCORS", "ASLBSA", "ASLBSACORS"), True),
        (("BIGipServerpool_http", "BIGipServer~Common~web", "NSC_xxx.tipq.dpn-443", "BNI_persistence_1"), True),
        (("GCLB", "GCILB", "DO-LB", "SERVERID", "ROUTEID", "INGRESSCOOKIE", "X-Contour-Session-Affinity"), True),
        (("__cflb", "akaalb_shop", "nlbi_1234567", "nlbi_1234567_2147483392", "X-Oracle-BMC-LBS-Route"), True),
        (("awsalb", "AWSALBUM", "SERVERIDENTITY", "my-DO-LB", "route", "affinity", "NSC_", "BIGipServer", ""), False),
    ],
)
def test_load_balancer_cookies_are_recognized(names: tuple[str, ...], expected: bool) -> None:
    assert {is_load_balancer_cookie(name) for name in names} == {expected}
    assert not expected or not any(with_value(name).is_session_like for name in names)


def with_value(name: str, value: str = "0123456789abcdef") -> Cookie:
    return Cookie(name, HOST, is_sent_over_https=True, value_length=len(value))


@pytest.mark.parametrize(
    "name",
    [
        *("sessionid", "sess_id", "connect.sid", "auth-token", "PHPSESSID", "JSESSIONID", "ASP.NET_SessionId", "sid"),
        *("laravel_session", "ci_session", "rack.session", "_app_session", "sessionToken", "accessToken", "jwt"),
        *(
            "__Host-session",
            "ASPSESSIONIDQQABCDEF",
            "SESS" + "0f" * 16,
            "SSESS" + "0f" * 16,
            "remember_token",
            "CFTOKEN",
        ),
        *("wordpress_logged_in_" + "0f" * 16, ".AspNetCore.Identity.Application", ".ASPXAUTH", "user.auth"),
        *("OCSESSID", "CGISESSID", "bb_sessionhash", "bbsessionhash", "MoodleSession", "xf_session", "osCsid"),
        *("fe_typo_user", ".AspNet.ApplicationCookie", "remember_web_" + "0f" * 20, "user_session", "__Secure-sid"),
    ],
)
def test_session_cookies_are_recognized(name: str) -> None:
    assert with_value(name).is_session_like


@pytest.mark.parametrize(
    "name",
    [
        *("sidebar", "author", "authors", "tokenizer", "obsession", "possession_id", "residual", "assess", "lang"),
        *(
            "_ga",
            "__cf_bm",
            "cf_clearance",
            "AWSALB",
            "incap_ses_1_2",
            "consent",
            "inside",
            "csrf_token",
            "",
            "wordpress_test_cookie",
        ),
        # Load balancers and analytics set these cookies.
        *("heroku-session-affinity", "session_affinity", "sticky-session-route"),
        *("_ga_session", "ai_session", "_hjSessionUser_1", "_hjSession_99", "_gd_session", "rl_session", "s_sess"),
        *("__stripe_sid", "mtc_sid", "NRBA_SESSION", "analytics_session_id"),
        # These cookies concern a login but do not identify the session.
        *("login_hint", "last_login_hint", "loginRedirect", "login_redirect_url", "auth_type", "auth_provider"),
        *("cookie_consent_token", "session_theme", "session_timeout", "sessionExpires", "session_count"),
    ],
)
def test_other_cookies_are_not_session_like(name: str) -> None:
    assert not with_value(name).is_session_like


@given(st.text(alphabet='ab=; ,\t"Secur_-samiteHtponlyDx/1', max_size=80))
def test_parse_cookie_accepts_any_text(line: str) -> None:
    cookie = parse_cookie(line, HOST, NOW, is_sent_over_https=True)
    assert cookie is None or isinstance(cookie.is_session_like, bool)


def test_cookie_value_is_not_in_finding() -> None:
    finding = judge_secure(page_with_cookies("sessionid=VERYSECRET"))
    assert "VERYSECRET" not in repr((message(finding), rows(finding)))


def test_cookies_are_limited_to_300() -> None:
    html_page = page_with_cookies(*(f"a{number}=1" for number in range(5000)))
    assert len(read_cookies(html_page.hops, HOST, NOW)) == 300
