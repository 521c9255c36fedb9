from __future__ import annotations

import pytest

from tests.website_scan.cast import (
    URL,
    document,
    head,
    message,
    outcome,
    page,
    response,
    rows,
    severity_of,
    title_of,
    verdict,
)
from tests.website_scan.seo.cast import judge, message_with_places, verdict_of
from website_scan.browser.evidence import Rendered
from website_scan.crawl.robots import Robots, parse_robots
from website_scan.crawl.robots_file import RobotsFile
from website_scan.findings import Severity
from website_scan.outcomes import Fail
from website_scan.seo.checks import indexability as checks
from website_scan.seo.checks import international, social
from website_scan.seo.evidence import CanonicalAnswer
from website_scan.written_urls import split_url

TAG = "X-Robots-Tag"
ROBOTS_URL = "https://site.example.com/robots.txt"


@pytest.mark.parametrize(
    ("status", "expected"),
    [(200, "pass"), (203, "pass"), (204, "empty"), (304, "error"), (404, "error"), (410, "error"), (503, "error")],
)
def test_http_status_check_verdict(status: int, expected: str) -> None:
    finding = checks.http_status(page("" if status == 204 else "<p>Text", status=status))
    assert outcome(finding) == expected
    assert verdict(finding) == verdict_of(expected, "error")


def test_http_status_message_names_effect() -> None:
    text = message(checks.http_status(page("<p>Text", status=503)))
    assert text == "The page answers with status 503, which makes crawlers slow down."
    text = message(checks.http_status(page("<p>Text", status=304)))
    assert text == "The page answers with status 304 and leads to no other page."


@pytest.mark.parametrize(
    ("markup", "headers", "expected"),
    [
        ("", [], "pass"),
        ("<meta name=robots content='index, follow'>", [], "pass"),
        ("<meta name=robots content=nofollow>", [], "pass"),
        ("<meta name=robots content=noindex>", [], "excluded"),
        ("<META NAME=' Robots ' CONTENT='NoIndex'>", [], "excluded"),
        ("<meta name=robots content='none'>", [], "excluded"),
        ("<meta name=googlebot content='noindex'>", [], "excluded"),
        ("<meta name=robots content=noindex><meta name=googlebot content=index>", [], "excluded"),
        ("<meta name=robots content='index, noindex'>", [], "excluded"),
        ("<meta name=bingbot content='noindex'>", [], "excluded-from-some"),
        ("<meta name=googlebot-news content='noindex'>", [], "excluded-from-some"),
        ("<meta name=description content='noindex explained'>", [], "pass"),
        ("<meta name=generator content='noindex'>", [], "pass"),
        ("<meta property=robots content=noindex>", [], "pass"),
        ("<meta name=robots content='noindex nofollow'>", [], "missing-commas"),
        ("<meta name=robots content='max-snippet:-1, max-image-preview:none'>", [], "pass"),
        ("<meta name=robots content='unavailable_after: 2020-01-01'>", [], "excluded"),
        ("<meta name=robots content='unavailable_after: 2040-01-01'>", [], "pass"),
        ("<meta name=robots content='unavailable_after: soon'>", [], "unreadable-date"),
        ("<!-- <meta name=robots content=noindex> -->", [], "pass"),
        ("<template><meta name=robots content=noindex></template>", [], "pass"),
        ("<script>'<meta name=robots content=noindex>'</script>", [], "pass"),
        ("", [(TAG, "noindex")], "excluded"),
        ("", [(TAG.lower(), "NOINDEX, nofollow")], "excluded"),
        ("", [(TAG, "nofollow"), (TAG, "noindex")], "excluded"),
        ("", [(TAG, "googlebot: noindex")], "excluded"),
        ("", [(TAG, "bingbot: noindex")], "excluded-from-some"),
        ("", [(TAG, "bingbot: noindex, nofollow"), (TAG, "googlebot: nofollow")], "excluded-from-some"),
        ("", [(TAG, "bingbot: nofollow, googlebot: noindex")], "excluded"),
        ("", [(TAG, "GPTBot: noindex")], "pass"),  # GPTBot is not a search engine.
        ("", [(TAG, "otherbot: noindex, nofollow")], "pass"),
        ("", [(TAG, "otherbot: noindex"), (TAG, "seznambot: noindex")], "excluded-from-some"),
        ("", [(TAG, "max-snippet: 0, max-image-preview: none")], "pass"),
        ("", [(TAG, "max-image-preview: none"), (TAG, "noindex")], "excluded"),
        ("", [(TAG, "unavailable_after: 25 Jun 2010 15:00:00 PST")], "excluded"),
        ("", [(TAG, "unavailable_after: Friday, 25-Jun-10 15:00:00 UTC")], "excluded"),
        ("", [(TAG, "unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, nofollow")], "excluded"),
        ("", [(TAG, "googlebot: unavailable_after: 25 Jun 2010 15:00:00 GMT")], "excluded"),
        ("", [(TAG, "bingbot: unavailable_after: 25 Jun 2010 15:00:00 GMT")], "excluded-from-some"),
        ("", [(TAG, "unavailable_after: 31 Dec 2040 23:59:59 GMT")], "pass"),
        ("<meta name=robots content=index>", [(TAG, "noindex")], "excluded"),
    ],
)
def test_is_indexable_check_verdict(markup: str, headers: list[tuple[str, str]], expected: str) -> None:
    finding = judge(checks.is_indexable, page(head(markup), *headers))
    assert outcome(finding) == expected
    assert verdict(finding) == verdict_of(expected, "excluded")


def test_robots_meta_in_body_counts() -> None:
    html_page = page(head("", "<p>Text<meta name=robots content=noindex>"))
    assert verdict(judge(checks.is_indexable, html_page)) == "fail"


def test_pdf_is_judged_by_x_robots_tag() -> None:
    html_page = page("%PDF-1.7", ("Content-Type", "application/pdf"), (TAG, "noindex"))
    assert verdict(judge(checks.is_indexable, html_page)) == "fail"


def test_noindex_message_names_its_place() -> None:
    html_page = page(head("<meta name=googlebot content=noindex>"), (TAG, "bingbot: noindex"))
    text = message(judge(checks.is_indexable, html_page))
    assert text == 'The page asks not to be indexed: noindex in <meta name="googlebot">.'


def test_message_explains_that_noindex_wins() -> None:
    text = message(judge(checks.is_indexable, page(head("<meta name=robots content='index, noindex'>"))))
    assert text.endswith('noindex in <meta name="robots">; the index rule beside it does not override that.')


@pytest.mark.parametrize(
    ("content", "severity"), [("noindex nofollow", Severity.HIGH), ("unavailable_after: soon", Severity.LOW)]
)
def test_ambiguous_robots_rule_is_less_severe(content: str, severity: Severity) -> None:
    finding = judge(checks.is_indexable, page(head(f"<meta name=robots content='{content}, nosnippet'>")))
    assert severity_of(checks.is_indexable, finding) is severity
    assert "nosnippet" not in message(finding)
    assert [row["rule"] for row in rows(finding)] == [content.partition(":")[0], "nosnippet"]


def test_noindex_for_bing_is_more_severe() -> None:
    for agent, severity in (("bingbot", Severity.MEDIUM), ("seznambot", Severity.LOW)):
        html_page = page(head(""), (TAG, f"{agent}: noindex"))
        finding = judge(checks.is_indexable, html_page)
        assert verdict(finding) == "warn"
        assert severity_of(checks.is_indexable, finding) is severity


def robots_file(text: str, status: int = 200) -> RobotsFile:
    content = text.encode()
    robots = parse_robots(content) if status == 200 else Robots()
    return RobotsFile(ROBOTS_URL, response(ROBOTS_URL, status=status, body=content), robots)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "pass"),
        ("User-agent: *\nDisallow:", "pass"),
        ("User-agent: *\nDisallow: /admin", "pass"),
        ("User-agent: *\nDisallow: /", "blocked"),
        ("User-agent: *\nDisallow: /shop", "blocked"),
        ("User-agent: *\nDisallow: /shop\nAllow: /shop/shoes", "pass"),
        ("User-agent: *\nDisallow: /*?", "pass"),
        ("User-agent: googlebot\nDisallow: /", "blocked"),
        ("User-agent: *\nDisallow: /\nUser-agent: googlebot\nDisallow:", "other-engines"),
        ("User-agent: bingbot\nDisallow: /", "other-engines"),
        ("User-agent: GPTBot\nDisallow: /", "pass"),  # GPTBot is not a search engine.
        ("User-agent: AhrefsBot\nUser-agent: SemrushBot\nDisallow: /", "pass"),
        ("<!doctype html><title>Not found</title>", "pass"),
    ],
)
def test_robots_blocked_check_verdict(text: str, expected: str) -> None:
    finding = judge(checks.robots_blocked, page(), robots_file(text))
    assert outcome(finding) == expected
    assert verdict(finding) == verdict_of(expected, "blocked")


@pytest.mark.parametrize(
    ("text", "severity", "title"),
    [
        ("User-agent: bingbot\nDisallow: /", Severity.MEDIUM, "robots.txt blocks Bingbot"),
        ("User-agent: yandexbot\nDisallow: /", Severity.LOW, "robots.txt blocks YandexBot"),
        (
            "User-agent: *\nDisallow: /\nUser-agent: googlebot\nDisallow:",
            Severity.MEDIUM,
            "robots.txt blocks Bingbot, DuckDuckBot, YandexBot, Baiduspider",
        ),
    ],
)
def test_title_names_blocked_search_engines(text: str, severity: Severity, title: str) -> None:
    finding = judge(checks.robots_blocked, page(), robots_file(text))
    assert severity_of(checks.robots_blocked, finding) is severity
    assert title_of(checks.robots_blocked, finding) == title


def test_finding_quotes_blocking_line() -> None:
    finding = judge(checks.robots_blocked, page(), robots_file("User-agent: bingbot\nDisallow: /shop"))
    assert rows(finding) == [
        {
            "crawler": "Bingbot",
            "allowed": False,
            "robots_txt": ROBOTS_URL,
            "line": 2,
            "rule": "Disallow: /shop",
        }
    ]
    assert message_with_places(finding) == (
        "robots.txt allows Googlebot, but blocks Bingbot: “Disallow: /shop” (line 2, for bingbot)."
    )


def test_message_quotes_deciding_line() -> None:
    html_page = page()
    finding = judge(checks.robots_blocked, html_page, robots_file("User-agent: *\nDisallow: /shop"))
    assert "“Disallow: /shop” (line 2, for all crawlers)" in message_with_places(finding)


def test_message_explains_blocked_noindex() -> None:
    html_page = page(head("<meta name=robots content=noindex>"))
    finding = judge(checks.robots_blocked, html_page, robots_file("User-agent: *\nDisallow: /"))
    assert "its noindex cannot be seen" in message(finding)


def test_robots_txt_rule_matches_query() -> None:
    html_page = page(url=URL + "?sort=price")
    finding = judge(checks.robots_blocked, html_page, robots_file("User-agent: *\nDisallow: /*?sort="))
    assert verdict(finding) == "fail"


def test_blocked_redirect_is_warning() -> None:
    html_page = page(via=(("https://site.example.com/go/7", 301),))
    finding = judge(checks.robots_blocked, html_page, robots_file("User-agent: *\nDisallow: /go/"))
    assert (verdict(finding), outcome(finding)) == ("warn", "redirect")
    assert "“Disallow: /go/” (line 2, for all crawlers)" in message_with_places(finding)


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_client_error_of_robots_txt_blocks_nothing(status: int) -> None:
    html_page = page()
    finding = judge(checks.robots_blocked, html_page, robots_file("", status))
    assert verdict(finding) == "pass"
    assert str(status) in message(finding)


@pytest.mark.parametrize(
    "file",
    [
        robots_file("", 503),
        robots_file("", 429),
        RobotsFile(ROBOTS_URL, None, Robots(), "The site did not answer in time."),
    ],
)
def test_unreachable_robots_txt_is_severe_warning(file: RobotsFile) -> None:
    html_page = page()
    finding = judge(checks.robots_blocked, html_page, file)
    assert (verdict(finding), outcome(finding)) == ("warn", "unknown")
    assert severity_of(checks.robots_blocked, finding) is Severity.HIGH
    assert "unknown" in message(finding)


def test_endless_redirects_of_robots_txt_block_nothing() -> None:
    html_page = page()
    file = RobotsFile(ROBOTS_URL, None, Robots(), "Too many.", has_too_many_redirects=True)
    assert verdict(judge(checks.robots_blocked, html_page, file)) == "pass"


LINK = "<link rel=canonical href='{}'>"


@pytest.mark.parametrize(
    ("markup", "headers", "valid", "absolute"),
    [
        ("", [], "n/a", "n/a"),
        (LINK.format(URL), [], "pass", "pass"),
        (LINK.format("HTTPS://site.example.com/shop/shoes"), [], "pass", "pass"),
        (LINK.format("/shop/shoes"), [], "pass", "relative"),
        (LINK.format("//site.example.com/shop/shoes"), [], "pass", "relative"),
        (LINK.format("shoes"), [], "pass", "relative"),
        (LINK.format(""), [], "empty", "n/a"),
        (LINK.format("https://"), [], "invalid", "n/a"),
        (LINK.format("https://exa mple.com/"), [], "invalid", "n/a"),
        (LINK.format("javascript:void(0)"), [], "invalid", "n/a"),
        (LINK.format(URL) + LINK.format(URL), [], "pass", "pass"),
        # Both canonical links have the same URL.
        (LINK.format(URL) + LINK.format("/shop/shoes#top"), [], "pass", "relative"),
        (LINK.format(URL) + LINK.format("/shop"), [], "contradictory", "relative"),
        (LINK.format(URL), [("Link", f"<{URL}>; rel=canonical")], "pass", "pass"),
        (LINK.format(URL), [("Link", '<https://b.example.com/>; rel="canonical"')], "contradictory", "pass"),
        ("", [("Link", f"<{URL}>; rel=canonical")], "pass", "pass"),
        (
            "",
            [("Link", "</a.css>; rel=preload; as=style"), ("Link", f"<{URL}>; rel=canonical")],
            "pass",
            "pass",
        ),
        (
            "",
            [("Link", f'</a.css>; rel=preload; title="a, b; <c>", <{URL}>; REL="nofollow Canonical"')],
            "pass",
            "pass",
        ),
        ("", [("Link", f"<{URL}>; rel=canonical; anchor='#x'")], "n/a", "n/a"),
        ("<link rel='alternate canonical' hreflang=de href=/de>", [], "ignored", "relative"),
        ("<link rel=CANONICAL href=/x media=print>" + LINK.format(URL), [], "pass", "relative"),
        ("<base href=https://site.example.com/shop/>" + LINK.format("shoes"), [], "pass", "relative"),
        ("<link rel=canonicals href=/x>", [], "n/a", "n/a"),
        # HTML: an empty or missing href creates no link.
        (f"<link rel=canonical content='{URL}'>", [], "empty", "n/a"),
        (f"<link rel=canonical src='{URL}'>", [], "empty", "n/a"),
        ("<link rel=canonical>", [], "empty", "n/a"),
        ("<link rel=canonical href>", [], "empty", "n/a"),
        ("<link rel=canonical href=' '>", [], "empty", "n/a"),
        ("<link rel='nofollow canonical' content=x>", [], "empty", "n/a"),
        ("<link rel=canonical>" + LINK.format(URL), [], "empty", "pass"),
        (LINK.format(URL) + "<link rel=canonical>", [], "empty", "pass"),
        ("<link rel=canonical>", [("Link", f"<{URL}>; rel=canonical")], "empty", "pass"),
        ("<noscript><link rel=canonical></noscript>", [], "n/a", "n/a"),
        ("<template><link rel=canonical></template>", [], "n/a", "n/a"),
        ("<link rel=preload><link rel=icon>", [], "n/a", "n/a"),
    ],
)
def test_canonical_checks_verdict(markup: str, headers: list[tuple[str, str]], valid: str, absolute: str) -> None:
    html_page = page(head(markup), *headers)
    finding = judge(checks.canonical_valid, html_page)
    assert outcome(finding) == valid
    assert verdict(finding) == verdict_of(valid, "empty", "invalid", "contradictory")
    finding = judge(checks.canonical_absolute, html_page)
    assert outcome(finding) == absolute
    assert verdict(finding) == verdict_of(absolute)


@pytest.mark.parametrize(
    ("markup", "expected_text"),
    [
        (LINK.format("mailto:a@b.example"), "A canonical link is not an http or https URL: mailto:a@b.example."),
        (
            LINK.format(URL) + LINK.format("/shop"),
            f"2 canonical URLs contradict each other: https://site.example.com/shop, {URL}.",
        ),
        (
            "<link rel='alternate canonical' hreflang=de href=/de>",
            "The canonical link has hreflang, which belongs to rel=alternate.",
        ),
    ],
)
def test_canonical_message_names_fault(markup: str, expected_text: str) -> None:
    assert message_with_places(judge(checks.canonical_valid, page(head(markup)))) == expected_text


@pytest.mark.parametrize(
    ("markup", "expected_text"),
    [
        (f"<link rel=canonical content='{URL}'>", "A canonical link has no href attribute."),
        (LINK.format(""), "A canonical link is empty."),
    ],
)
def test_message_distinguishes_empty_href(markup: str, expected_text: str) -> None:
    assert message_with_places(judge(checks.canonical_valid, page(head(markup)))) == expected_text


@pytest.mark.parametrize(
    ("shown", "expected"), [(LINK.format(URL), "n/a"), ("<link rel=canonical>", "empty"), ("", "empty")]
)
def test_script_may_fill_canonical_link(shown: str, expected: str) -> None:
    html_page = page(head("<link rel=canonical id=own>"))
    rendered = Rendered(document(page(head(shown))), {})
    assert outcome(judge(checks.canonical_valid, html_page, rendered)) == expected


def answer(url: str, status: int = 200, html: str = "<p>Text", *headers: tuple[str, str]) -> CanonicalAnswer:
    canonical_page = page(html, *headers, url=url, status=status)
    return CanonicalAnswer(canonical_page.target.url, canonical_page, document(canonical_page))


OTHER = "https://site.example.com/shop/boots"


@pytest.mark.parametrize(
    ("canonical", "canonical_answer", "expected"),
    [
        (None, None, "n/a"),  # A canonical URL is optional.
        (URL, None, "pass"),
        (URL + "#top", None, "pass"),
        (OTHER, answer(OTHER), "pass"),
        (OTHER, answer(OTHER, 404), "error-status"),
        (OTHER, answer(OTHER, 500), "error-status"),
        (OTHER, answer(OTHER, 301, "", ("Location", "/shop/shoes")), "redirects"),
        (OTHER, answer(OTHER, 302, ""), "redirects"),
        (OTHER, answer(OTHER, 200, head("<meta name=robots content=noindex>")), "noindex"),
        (OTHER, answer(OTHER, 200, "<p>Text", (TAG, "noindex")), "noindex"),
        (OTHER, answer(OTHER, 200, "<p>Text", (TAG, "bingbot: noindex")), "pass"),
        (OTHER, CanonicalAnswer(OTHER, error="site.example.com refuses connections."), "unreachable"),
        ("https://site.example.com/", answer("https://site.example.com/"), "other-page"),
        ("https://www.site.example.com/", answer("https://www.site.example.com/"), "other-page"),
        ("https://m.site.example.com/shop/shoes", answer("https://m.site.example.com/shop/shoes"), "pass"),
        ("https://shoes.example.org/", answer("https://shoes.example.org/"), "other-site"),
        ("http://site.example.com/shop/shoes", answer("http://site.example.com/shop/shoes"), "plain-http"),
    ],
)
def test_canonical_target_check_verdict(
    canonical: str | None, canonical_answer: CanonicalAnswer | None, expected: str
) -> None:
    html_page = page(head(LINK.format(canonical) if canonical else ""))
    finding = judge(checks.canonical_target, html_page, canonical_answer or CanonicalAnswer())
    assert outcome(finding) == expected
    assert verdict(finding) == ("warn" if expected in ("other-site", "plain-http") else verdict_of(expected, expected))


@pytest.mark.parametrize("own", ["/index.html", "/?utm_source=letter", "/index.php?lang=en", "/default.aspx"])
def test_front_page_may_have_root_as_canonical(own: str) -> None:
    root = "https://site.example.com/"
    html_page = page(head(LINK.format(root)), url=f"https://site.example.com{own}")
    assert verdict(judge(checks.canonical_target, html_page, answer(root))) == "pass"


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("https://site.example.com/de/", "other-page"),
        ("https://site.example.com/en/", "pass"),
        ("https://site.example.com/en/?ref=letter", "pass"),  # The canonical page is a variant of the English page.
    ],
)
def test_canonical_must_have_the_same_language(own: str, expected: str) -> None:
    english = "https://site.example.com/en/"
    markup = (
        LINK.format(english) + "<link rel=alternate hreflang=de href=/de/><link rel=alternate hreflang=en href=/en/>"
    )
    html_page = page(head(markup), url=own)
    finding = judge(checks.canonical_target, html_page, answer(english))
    assert outcome(finding) == expected
    assert verdict(finding) == verdict_of(expected, "other-page")


@pytest.mark.parametrize(
    ("own", "written"),
    [
        ("/ko/%EB%B3%B4/", "/ko/%eb%b3%b4/"),
        ("/ko/%EB%B3%B4/", "/ko/보/"),
        ("/~ann/", "/%7Eann/"),
        ("/?q=%C3%A9", "/?q=%c3%a9"),
        ("/a|b", "/a%7Cb"),
    ],
)
def test_canonical_url_is_compared_without_escapes(own: str, written: str) -> None:
    """RFC 3986, section 6.2.2.

    Both spellings are one URL, for all checks that compare URLs.
    """
    url, other = f"https://site.example.com{own}", f"https://site.example.com{written}"
    alternates = f"<link rel=alternate hreflang=ko href='{other}'><link rel=alternate hreflang=en href='/en/'>"
    share = f"<meta property=og:url content='{url}'>"
    html_page = page(head(LINK.format(url) + LINK.format(other) + alternates + share), url=url)
    only_other = page(head(LINK.format(other) + alternates + share), url=url)
    assert verdict(judge(checks.canonical_target, only_other, CanonicalAnswer())) == "pass"
    assert verdict(judge(checks.canonical_valid, html_page)) == "pass"
    assert verdict(judge(international.hreflang_self, only_other)) == "pass"
    assert verdict(judge(social.og_url, only_other)) == "pass"


def test_escaped_slash_makes_another_url() -> None:
    """RFC 3986, section 2.2: `%2F` and `/` are different."""
    own, other = "https://site.example.com/a/b", "https://site.example.com/a%2Fb"
    markup = LINK.format(other) + f"<link rel=alternate hreflang=de href='{own}'>"
    html_page = page(head(markup + f"<link rel=alternate hreflang=en href='{other}'>"), url=own)
    assert outcome(judge(checks.canonical_target, html_page, answer(other))) == "other-page"


def test_message_explains_canonical_redirect_loop() -> None:
    html_page = page(head(LINK.format(OTHER)))
    moved = answer(OTHER, 301, "", ("Location", "/shop/shoes"))
    finding = judge(checks.canonical_target, html_page, moved)
    assert (verdict(finding), outcome(finding)) == ("fail", "redirects")
    assert "redirects (301) to this very page" in message(finding)


@pytest.mark.parametrize(
    ("location", "expected_text"),
    [("/shop/new", "to https://site.example.com/shop/new"), ("mailto:a@b.example", "to nowhere")],
)
def test_message_names_canonical_redirect_target(location: str, expected_text: str) -> None:
    moved = answer(OTHER, 302, "", ("Location", location))
    finding = judge(checks.canonical_target, page(head(LINK.format(OTHER))), moved)
    assert message(finding) == f"The canonical URL {OTHER} redirects (302) {expected_text}."


def test_title_names_canonical_status() -> None:
    finding = judge(checks.canonical_target, page(head(LINK.format(OTHER))), answer(OTHER, 404))
    assert title_of(checks.canonical_target, finding) == "Canonical URL answers with status 404"
    assert rows(finding) == [{"page": URL, "canonical": OTHER}]


def test_contradictory_canonical_links_are_skipped() -> None:
    html_page = page(head(LINK.format(URL) + LINK.format(OTHER)))
    assert verdict(judge(checks.canonical_target, html_page, CanonicalAnswer())) == "n/a"


def test_canonical_link_in_body_is_reported_once() -> None:
    html_page = page(head("", f"<p>Text{LINK.format(URL)}"))
    assert verdict(judge(checks.canonical_target, html_page, CanonicalAnswer())) == "n/a"
    assert "canonical link" in message_with_places(judge(checks.head_integrity, html_page))


BARE, WWW = "http://site.example.com/", "https://www.site.example.com/"


@pytest.mark.parametrize(
    ("via", "expected"),
    [
        ((), "pass"),
        (((BARE, 301),), "pass"),
        (((BARE, 308),), "pass"),
        (((BARE, 302),), "temporary"),
        (((BARE, 307),), "temporary"),
        (((BARE, 301), (WWW, 301)), "chain"),
        (((URL.replace("https", "http"), 301),), "pass"),
        # An upgrade to https on the same host may come first.
        (((URL.replace("https", "http"), 301), (URL, 301)), "pass"),
        (((URL.replace("https", "http"), 301), (URL, 302)), "temporary"),
        (((URL.replace("https", "http"), 302), (URL, 301)), "temporary"),
        (((URL.replace("https", "http"), 301), (URL, 301), (WWW, 301)), "chain"),
        (((URL, 301), (WWW, 301)), "chain"),
        (((URL.replace("https", "http"), 301), (BARE, 301)), "chain"),
        (((BARE, 301),) * 5, "chain"),
        (((BARE, 301),) * 6, "chain"),
    ],
)
def test_redirect_chain_check_verdict(via: tuple[tuple[str, int], ...], expected: str) -> None:
    finding = judge(checks.redirect_chain, page(via=via))
    assert outcome(finding) == expected
    assert verdict(finding) == verdict_of(expected, "chain" if len(via) > 5 else "")


@pytest.mark.parametrize(
    ("statuses", "expected_text"),
    [
        ((301, 301), f"2 redirects in a row lead to {URL}."),
        ((301, 302), f"2 redirects in a row lead to {URL}. This one is temporary: {WWW}."),
        ((302, 302), f"2 redirects in a row lead to {URL}. These are temporary: {BARE}, {WWW}."),
    ],
)
def test_message_names_temporary_redirects(statuses: tuple[int, int], expected_text: str) -> None:
    finding = judge(checks.redirect_chain, page(via=((BARE, statuses[0]), (WWW, statuses[1]))))
    assert message_with_places(finding) == expected_text
    assert [row["status"] for row in rows(finding)] == [*statuses, 200]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0; url=/home", "refresh"),
        ("5;URL='https://www.example.org/'", "refresh"),
        ("0, /home", "refresh"),
        ("0 /home", "refresh"),
        (" 0 ;  url = /home ", "refresh"),
        ("300", "pass"),  # The refresh reloads the page itself.
        ("300; url=/shop/shoes", "pass"),
        ("300; url=#latest", "pass"),
        ("0; url=javascript:alert(1)", "pass"),
        ("soon; url=/home", "pass"),
        ("", "pass"),
    ],
)
def test_meta_refresh_is_reported_as_redirect(content: str, expected: str) -> None:
    html_page = page(head(f'<meta http-equiv=Refresh content="{content}">'))
    finding = judge(checks.redirect_chain, html_page)
    assert outcome(finding) == expected
    assert verdict(finding) == verdict_of(expected)


def test_refresh_header_is_redirect() -> None:
    html_page = page(head(""), ("Refresh", "0; url=/home"))
    assert outcome(judge(checks.redirect_chain, html_page)) == "refresh"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (head(LINK.format(URL) + "<meta name=robots content=all>"), "pass"),
        ("<title>No head tags at all</title><link rel=canonical href=/a><p>Text", "pass"),
        (
            "<head><title>T</title></head><link rel=canonical href=/a><body>",
            "pass",
        ),  # The parser moves the element into the head.
        ("<head><script>1</script><noscript><img src=t></noscript><title>T</title></head><p>Text", "pass"),
        ("<head><template><div></div></template><title>T</title></head><p>Text", "pass"),
        (head("", "<svg><title>A shoe</title></svg>"), "pass"),
        (head("", "<meta itemprop=price content=1><link itemprop=url href=/a>"), "pass"),
        (head("", "<link rel=stylesheet href=/late.css>"), "pass"),
        (head("<img src=pixel>" + LINK.format(URL)), "metadata"),
        (head("<div id=consent></div><link rel=alternate hreflang=de href=/de>"), "metadata"),
        ("<head><iframe src=/gtm></iframe><title>T</title></head><body>", "metadata"),
        ("<head>Hello<title>T</title></head><body>", "metadata"),
        (head("", f"<p>Text{LINK.format(URL)}"), "metadata"),
        (head("<img src=pixel><meta name=robots content=all>"), "robots-rules"),
        (head("", "<a hreflang=de href=/de>Deutsch</a>"), "pass"),
        (head("", "<svg><foreignObject><title>x</title></foreignObject></svg>"), "pass"),
    ],
)
def test_head_integrity_check_verdict(html: str, expected: str) -> None:
    finding = judge(checks.head_integrity, page(html))
    assert outcome(finding) == expected
    assert verdict(finding) == verdict_of(expected, "metadata")


def test_robots_meta_in_body_is_not_ignored() -> None:
    html_page = page(head("<img src=pixel><meta name=robots content=all>" + LINK.format(URL)))
    finding = judge(checks.head_integrity, html_page)
    assert message_with_places(finding) == "Metadata is in the body instead of the head, after <img>: canonical link."
    assert [row["element"] for row in rows(finding)] == ["robots meta", "canonical link"]
    finding = judge(checks.head_integrity, page(head("<img src=pixel><meta name=robots content=all>")))
    assert message_with_places(finding) == "The robots meta element is in the body, after <img>."
    assert severity_of(checks.head_integrity, finding) is Severity.LOW


@pytest.mark.parametrize(
    ("html", "cause"),
    [
        (head("<img src=pixel>" + LINK.format(URL)), "after <img>"),
        ("<head>Hello<title>T</title></head><body>", "after “Hello”"),
    ],
)
def test_message_names_element_that_ends_head(html: str, cause: str) -> None:
    html_page = page(html)
    assert cause in message(judge(checks.head_integrity, html_page))


def test_pass_lists_metadata_in_head() -> None:
    assert message(judge(checks.head_integrity, page("<title>T</title><p>x"))) == "In the head: title."
    html_page = page(head(LINK.format(URL) + "<link rel=alternate hreflang=de href=/de>"))
    assert message(judge(checks.head_integrity, html_page)) == "In the head: title, canonical link, hreflang link."
    assert verdict(judge(checks.head_integrity, page("<p>Text"))) == "n/a"


@pytest.mark.parametrize("media_type", ["application/pdf", "image/png", "application/json", "text/plain"])
def test_canonical_target_of_file_needs_link_header(media_type: str) -> None:
    html_page = page("%PDF", ("Content-Type", media_type))
    assert verdict(judge(checks.canonical_target, html_page, CanonicalAnswer())) == "n/a"


def test_token_in_canonical_link_is_masked() -> None:
    html_page = page(head(LINK.format("/a?token=3f2a9c77" + "x" * 500)))
    finding = judge(checks.canonical_absolute, html_page)
    assert verdict(finding) == "warn"
    assert "3f2a9c77" not in f"{message(finding)}{rows(finding)}"
    assert len(message(finding)) < 400


def test_error_statuses_differ_in_fingerprint() -> None:
    def places(status: int) -> set[str]:
        finding = checks.http_status(page("<p>Text", status=status))
        assert isinstance(finding, Fail)
        return {place.normal(split_url("https://example.com/")) for place in finding.places}

    assert places(404) == places(404)
    assert not places(404) & places(500)
    assert not places(500) & places(503)
