from __future__ import annotations

import pytest

from tests.website_scan.cast import URL, document, head, message, page, response, verdict
from tests.website_scan.seo.cast import judge
from website_scan.crawl.robots import Robots, parse_robots
from website_scan.crawl.robots_file import RobotsFile
from website_scan.findings import Fail, Severity, Warn
from website_scan.fingerprints import fingerprints
from website_scan.seo.checks import indexability as checks
from website_scan.seo.evidence import CanonicalAnswer

TAG = "X-Robots-Tag"
ROBOTS_URL = "https://site.example.com/robots.txt"


@pytest.mark.parametrize(
    ("status", "expected"),
    [(200, "pass"), (203, "pass"), (204, "warn"), (304, "fail"), (404, "fail"), (410, "fail"), (503, "fail")],
)
def test_http_status(status: int, expected: str) -> None:
    assert verdict(checks.http_status(page("" if status == 204 else "<p>Text", status=status))) == expected


@pytest.mark.parametrize(
    ("markup", "headers", "expected"),
    [
        ("", [], "pass"),
        ("<meta name=robots content='index, follow'>", [], "pass"),
        ("<meta name=robots content=nofollow>", [], "pass"),
        ("<meta name=robots content=noindex>", [], "fail"),
        ("<META NAME=' Robots ' CONTENT='NoIndex'>", [], "fail"),
        ("<meta name=robots content='none'>", [], "fail"),
        ("<meta name=googlebot content='noindex'>", [], "fail"),
        ("<meta name=robots content=noindex><meta name=googlebot content=index>", [], "fail"),
        ("<meta name=robots content='index, noindex'>", [], "fail"),
        ("<meta name=bingbot content='noindex'>", [], "warn"),
        ("<meta name=googlebot-news content='noindex'>", [], "warn"),
        ("<meta name=description content='noindex explained'>", [], "pass"),
        ("<meta name=generator content='noindex'>", [], "pass"),
        ("<meta property=robots content=noindex>", [], "pass"),
        ("<meta name=robots content='noindex nofollow'>", [], "warn"),
        ("<meta name=robots content='max-snippet:-1, max-image-preview:none'>", [], "pass"),
        ("<meta name=robots content='unavailable_after: 2020-01-01'>", [], "fail"),
        ("<meta name=robots content='unavailable_after: 2040-01-01'>", [], "pass"),
        ("<meta name=robots content='unavailable_after: soon'>", [], "warn"),
        ("<!-- <meta name=robots content=noindex> -->", [], "pass"),
        ("<template><meta name=robots content=noindex></template>", [], "pass"),
        ("<script>'<meta name=robots content=noindex>'</script>", [], "pass"),
        ("", [(TAG, "noindex")], "fail"),
        ("", [(TAG.lower(), "NOINDEX, nofollow")], "fail"),
        ("", [(TAG, "nofollow"), (TAG, "noindex")], "fail"),
        ("", [(TAG, "googlebot: noindex")], "fail"),
        ("", [(TAG, "bingbot: noindex")], "warn"),
        ("", [(TAG, "bingbot: noindex, nofollow"), (TAG, "googlebot: nofollow")], "warn"),
        ("", [(TAG, "bingbot: nofollow, googlebot: noindex")], "fail"),
        ("", [(TAG, "GPTBot: noindex")], "pass"),  # not a search engine
        ("", [(TAG, "otherbot: noindex, nofollow")], "pass"),
        ("", [(TAG, "otherbot: noindex"), (TAG, "seznambot: noindex")], "warn"),
        ("", [(TAG, "max-snippet: 0, max-image-preview: none")], "pass"),
        ("", [(TAG, "max-image-preview: none"), (TAG, "noindex")], "fail"),
        ("", [(TAG, "unavailable_after: 25 Jun 2010 15:00:00 PST")], "fail"),
        ("", [(TAG, "unavailable_after: Friday, 25-Jun-10 15:00:00 UTC")], "fail"),
        ("", [(TAG, "unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, nofollow")], "fail"),
        ("", [(TAG, "googlebot: unavailable_after: 25 Jun 2010 15:00:00 GMT")], "fail"),
        ("", [(TAG, "bingbot: unavailable_after: 25 Jun 2010 15:00:00 GMT")], "warn"),
        ("", [(TAG, "unavailable_after: 31 Dec 2040 23:59:59 GMT")], "pass"),
        ("<meta name=robots content=index>", [(TAG, "noindex")], "fail"),
    ],
)
def test_is_indexable(markup: str, headers: list[tuple[str, str]], expected: str) -> None:
    seen = page(head(markup), *headers)
    assert verdict(judge(checks.is_indexable, seen)) == expected


def test_a_robots_meta_in_the_body_counts() -> None:
    seen = page(head("", "<p>Text<meta name=robots content=noindex>"))
    assert verdict(judge(checks.is_indexable, seen)) == "fail"


def test_a_page_that_is_not_html_is_judged_by_its_header() -> None:
    seen = page("%PDF-1.7", ("Content-Type", "application/pdf"), (TAG, "noindex"))
    assert verdict(judge(checks.is_indexable, seen)) == "fail"


def test_the_message_says_where_noindex_stands() -> None:
    seen = page(head("<meta name=googlebot content=noindex>"), (TAG, "bingbot: noindex"))
    said = message(judge(checks.is_indexable, seen))
    assert said == 'The page asks not to be indexed: noindex in <meta name="googlebot">.'


def test_blocking_bing_weighs_more_than_blocking_an_smaller_engine() -> None:
    for agent, severity in (("bingbot", Severity.MEDIUM), ("seznambot", Severity.LOW)):
        seen = page(head(""), (TAG, f"{agent}: noindex"))
        finding = judge(checks.is_indexable, seen)
        assert isinstance(finding, Warn)
        assert finding.severity is severity


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
        ("User-agent: *\nDisallow: /", "fail"),
        ("User-agent: *\nDisallow: /shop", "fail"),
        ("User-agent: *\nDisallow: /shop\nAllow: /shop/shoes", "pass"),
        ("User-agent: *\nDisallow: /*?", "pass"),
        ("User-agent: googlebot\nDisallow: /", "fail"),
        ("User-agent: *\nDisallow: /\nUser-agent: googlebot\nDisallow:", "warn"),
        ("User-agent: bingbot\nDisallow: /", "warn"),
        ("User-agent: GPTBot\nDisallow: /", "pass"),  # not a search engine
        ("User-agent: AhrefsBot\nUser-agent: SemrushBot\nDisallow: /", "pass"),
        ("<!doctype html><title>Not found</title>", "pass"),
    ],
)
def test_robots_blocked(text: str, expected: str) -> None:
    seen = page()
    assert verdict(judge(checks.robots_blocked, seen, robots_file(text))) == expected


def test_the_deciding_line_is_quoted() -> None:
    seen = page()
    finding = judge(checks.robots_blocked, seen, robots_file("User-agent: *\nDisallow: /shop"))
    assert "“Disallow: /shop” (line 2, for all crawlers)" in message(finding)


def test_a_noindex_behind_a_block_is_said_to_be_unseen() -> None:
    seen = page(head("<meta name=robots content=noindex>"))
    finding = judge(checks.robots_blocked, seen, robots_file("User-agent: *\nDisallow: /"))
    assert "can't be seen" in message(finding)


def test_the_query_is_part_of_the_path() -> None:
    seen = page(url=URL + "?sort=price")
    finding = judge(checks.robots_blocked, seen, robots_file("User-agent: *\nDisallow: /*?sort="))
    assert verdict(finding) == "fail"


def test_a_blocked_way_to_the_page_is_a_warning() -> None:
    seen = page(via=(("https://site.example.com/go/7", 301),))
    finding = judge(checks.robots_blocked, seen, robots_file("User-agent: *\nDisallow: /go/"))
    assert verdict(finding) == "warn"


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_robots_txt_with_a_client_error_restricts_nothing(status: int) -> None:
    seen = page()
    finding = judge(checks.robots_blocked, seen, robots_file("", status))
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
def test_where_robots_txt_cannot_be_had_the_answer_is_not_known(file: RobotsFile) -> None:
    seen = page()
    finding = judge(checks.robots_blocked, seen, file)
    assert verdict(finding) == "warn"
    assert "unknown" in message(finding)


def test_a_robots_txt_that_redirects_for_ever_restricts_nothing() -> None:
    seen = page()
    file = RobotsFile(ROBOTS_URL, None, Robots(), "Too many.", redirected_away=True)
    assert verdict(judge(checks.robots_blocked, seen, file)) == "pass"


LINK = "<link rel=canonical href='{}'>"


@pytest.mark.parametrize(
    ("markup", "headers", "valid", "absolute"),
    [
        ("", [], "n/a", "n/a"),
        (LINK.format(URL), [], "pass", "pass"),
        (LINK.format("HTTPS://site.example.com/shop/shoes"), [], "pass", "pass"),
        (LINK.format("/shop/shoes"), [], "pass", "warn"),
        (LINK.format("//site.example.com/shop/shoes"), [], "pass", "warn"),
        (LINK.format("shoes"), [], "pass", "warn"),
        (LINK.format(""), [], "fail", "n/a"),
        (LINK.format("https://"), [], "fail", "n/a"),
        (LINK.format("https://exa mple.com/"), [], "fail", "n/a"),
        (LINK.format("javascript:void(0)"), [], "fail", "n/a"),
        (LINK.format(URL) + LINK.format(URL), [], "pass", "pass"),
        (LINK.format(URL) + LINK.format("/shop/shoes#top"), [], "pass", "warn"),  # the same address
        (LINK.format(URL) + LINK.format("/shop"), [], "fail", "warn"),
        (LINK.format(URL), [("Link", f"<{URL}>; rel=canonical")], "pass", "pass"),
        (LINK.format(URL), [("Link", '<https://b.example.com/>; rel="canonical"')], "fail", "pass"),
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
        ("<link rel='alternate canonical' hreflang=de href=/de>", [], "warn", "warn"),
        ("<link rel=CANONICAL href=/x media=print>" + LINK.format(URL), [], "pass", "warn"),
        ("<base href=https://site.example.com/shop/>" + LINK.format("shoes"), [], "pass", "warn"),
        ("<link rel=canonicals href=/x>", [], "n/a", "n/a"),
    ],
)
def test_canonical_links(markup: str, headers: list[tuple[str, str]], valid: str, absolute: str) -> None:
    seen = page(head(markup), *headers)
    assert verdict(judge(checks.canonical_valid, seen)) == valid
    assert verdict(judge(checks.canonical_absolute, seen)) == absolute


def answer(url: str, status: int = 200, html: str = "<p>Text", *headers: tuple[str, str]) -> CanonicalAnswer:
    answered = page(html, *headers, url=url, status=status)
    return CanonicalAnswer(answered.target.url, answered, document(answered))


OTHER = "https://site.example.com/shop/boots"


@pytest.mark.parametrize(
    ("canonical", "answered", "expected"),
    [
        (None, None, "n/a"),  # search engines choose well by themselves
        (URL, None, "pass"),
        (URL + "#top", None, "pass"),
        (OTHER, answer(OTHER), "pass"),
        (OTHER, answer(OTHER, 404), "fail"),
        (OTHER, answer(OTHER, 500), "fail"),
        (OTHER, answer(OTHER, 301, "", ("Location", "/shop/shoes")), "fail"),
        (OTHER, answer(OTHER, 302, ""), "fail"),
        (OTHER, answer(OTHER, 200, head("<meta name=robots content=noindex>")), "fail"),
        (OTHER, answer(OTHER, 200, "<p>Text", (TAG, "noindex")), "fail"),
        (OTHER, answer(OTHER, 200, "<p>Text", (TAG, "bingbot: noindex")), "pass"),
        (OTHER, CanonicalAnswer(OTHER, error="site.example.com refuses connections."), "fail"),
        ("https://site.example.com/", answer("https://site.example.com/"), "fail"),
        ("https://www.site.example.com/", answer("https://www.site.example.com/"), "fail"),
        ("https://m.site.example.com/shop/shoes", answer("https://m.site.example.com/shop/shoes"), "pass"),
        ("https://shoes.example.org/", answer("https://shoes.example.org/"), "warn"),
        ("http://site.example.com/shop/shoes", answer("http://site.example.com/shop/shoes"), "warn"),
    ],
)
def test_canonical_target(canonical: str | None, answered: CanonicalAnswer | None, expected: str) -> None:
    seen = page(head(LINK.format(canonical) if canonical else ""))
    finding = judge(checks.canonical_target, seen, answered or CanonicalAnswer())
    assert verdict(finding) == expected


@pytest.mark.parametrize("own", ["/index.html", "/?utm_source=letter", "/index.php?lang=en", "/default.aspx"])
def test_the_front_page_under_another_name_may_point_to_the_root(own: str) -> None:
    root = "https://site.example.com/"
    seen = page(head(LINK.format(root)), url=f"https://site.example.com{own}")
    assert verdict(judge(checks.canonical_target, seen, answer(root))) == "pass"


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("https://site.example.com/de/", "fail"),
        ("https://site.example.com/en/", "pass"),
        ("https://site.example.com/en/?ref=letter", "pass"),  # a variant of the English page
    ],
)
def test_a_language_version_may_not_name_another_one(own: str, expected: str) -> None:
    english = "https://site.example.com/en/"
    markup = (
        LINK.format(english) + "<link rel=alternate hreflang=de href=/de/><link rel=alternate hreflang=en href=/en/>"
    )
    seen = page(head(markup), url=own)
    assert verdict(judge(checks.canonical_target, seen, answer(english))) == expected


def test_a_canonical_that_redirects_back_is_said_to_do_so() -> None:
    seen = page(head(LINK.format(OTHER)))
    moved = answer(OTHER, 301, "", ("Location", "/shop/shoes"))
    finding = judge(checks.canonical_target, seen, moved)
    assert isinstance(finding, Fail)
    assert finding.title == "Canonical URL redirects"
    assert "redirects (301) to this very page" in finding.message


def test_contradicting_canonicals_have_no_target() -> None:
    seen = page(head(LINK.format(URL) + LINK.format(OTHER)))
    assert verdict(judge(checks.canonical_target, seen, CanonicalAnswer())) == "n/a"


def test_a_canonical_in_the_body_is_told_once() -> None:
    seen = page(head("", f"<p>Text{LINK.format(URL)}"))
    assert verdict(judge(checks.canonical_target, seen, CanonicalAnswer())) == "n/a"
    assert "canonical link" in message(judge(checks.head_integrity, seen))


BARE, WWW = "http://site.example.com/", "https://www.site.example.com/"


@pytest.mark.parametrize(
    ("via", "expected"),
    [
        ((), "pass"),
        (((BARE, 301),), "pass"),
        (((BARE, 308),), "pass"),
        (((BARE, 302),), "warn"),
        (((BARE, 307),), "warn"),
        (((BARE, 301), (WWW, 301)), "warn"),
        (((URL.replace("https", "http"), 301),), "pass"),
        # A host's upgrade to https, then the redirect to the host that the site prefers.
        (((URL.replace("https", "http"), 301), (URL, 301)), "pass"),
        (((URL.replace("https", "http"), 301), (URL, 302)), "warn"),
        (((URL.replace("https", "http"), 302), (URL, 301)), "warn"),
        (((URL.replace("https", "http"), 301), (URL, 301), (WWW, 301)), "warn"),
        (((URL, 301), (WWW, 301)), "warn"),
        (((URL.replace("https", "http"), 301), (BARE, 301)), "warn"),
        (((BARE, 301),) * 5, "warn"),
        (((BARE, 301),) * 6, "fail"),
    ],
)
def test_redirect_chain(via: tuple[tuple[str, int], ...], expected: str) -> None:
    seen = page(via=via)
    assert verdict(judge(checks.redirect_chain, seen)) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0; url=/home", "warn"),
        ("5;URL='https://www.example.org/'", "warn"),
        ("0, /home", "warn"),
        ("0 /home", "warn"),
        (" 0 ;  url = /home ", "warn"),
        ("300", "pass"),  # reloads itself
        ("300; url=/shop/shoes", "pass"),
        ("300; url=#latest", "pass"),
        ("0; url=javascript:alert(1)", "pass"),
        ("soon; url=/home", "pass"),
        ("", "pass"),
    ],
)
def test_a_refresh_to_another_page_is_a_redirect(content: str, expected: str) -> None:
    seen = page(head(f'<meta http-equiv=Refresh content="{content}">'))
    assert verdict(judge(checks.redirect_chain, seen)) == expected


def test_the_refresh_header_is_a_redirect_too() -> None:
    seen = page(head(""), ("Refresh", "0; url=/home"))
    assert verdict(judge(checks.redirect_chain, seen)) == "warn"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (head(LINK.format(URL) + "<meta name=robots content=all>"), "pass"),
        ("<title>No head tags at all</title><link rel=canonical href=/a><p>Text", "pass"),
        ("<head><title>T</title></head><link rel=canonical href=/a><body>", "pass"),  # the parser moves it back
        ("<head><script>1</script><noscript><img src=t></noscript><title>T</title></head><p>Text", "pass"),
        ("<head><template><div></div></template><title>T</title></head><p>Text", "pass"),
        (head("", "<svg><title>A shoe</title></svg>"), "pass"),
        (head("", "<meta itemprop=price content=1><link itemprop=url href=/a>"), "pass"),
        (head("", "<link rel=stylesheet href=/late.css>"), "pass"),
        (head("<img src=pixel>" + LINK.format(URL)), "fail"),
        (head("<div id=consent></div><link rel=alternate hreflang=de href=/de>"), "fail"),
        ("<head><iframe src=/gtm></iframe><title>T</title></head><body>", "fail"),
        ("<head>Hello<title>T</title></head><body>", "fail"),
        (head("", f"<p>Text{LINK.format(URL)}"), "fail"),
        (head("<img src=pixel><meta name=robots content=all>"), "warn"),
        (head("", "<a hreflang=de href=/de>Deutsch</a>"), "pass"),
        (head("", "<svg><foreignObject><title>x</title></foreignObject></svg>"), "pass"),
    ],
)
def test_head_integrity(html: str, expected: str) -> None:
    seen = page(html)
    assert verdict(judge(checks.head_integrity, seen)) == expected


@pytest.mark.parametrize(
    ("html", "cause"),
    [
        (head("<img src=pixel>" + LINK.format(URL)), "after <img>"),
        ("<head>Hello<title>T</title></head><body>", "after “Hello”"),
    ],
)
def test_what_ended_the_head_is_named(html: str, cause: str) -> None:
    seen = page(html)
    assert cause in message(judge(checks.head_integrity, seen))


def test_what_is_in_the_head_is_named_and_nothing_that_is_not() -> None:
    assert message(judge(checks.head_integrity, page("<title>T</title><p>x"))) == "In the head: title."
    seen = page(head(LINK.format(URL) + "<link rel=alternate hreflang=de href=/de>"))
    assert message(judge(checks.head_integrity, seen)) == "In the head: title, canonical link, hreflang link."
    assert verdict(judge(checks.head_integrity, page("<p>Text"))) == "n/a"


@pytest.mark.parametrize("media_type", ["application/pdf", "image/png", "application/json", "text/plain"])
def test_what_has_no_head_is_not_told_to_put_a_canonical_link_there(media_type: str) -> None:
    seen = page("%PDF", ("Content-Type", media_type))
    assert verdict(judge(checks.canonical_target, seen, CanonicalAnswer())) == "n/a"


def test_what_a_site_sends_is_masked_and_cut() -> None:
    seen = page(head(LINK.format("/a?token=3f2a9c77" + "x" * 500)))
    finding = judge(checks.canonical_absolute, seen)
    assert isinstance(finding, Warn | Fail)
    assert "3f2a9c77" not in f"{finding.message}{finding.evidence}"
    assert len(finding.message) < 400


def test_different_error_statuses_are_different_findings() -> None:
    def places(status: int) -> set[str]:
        finding = checks.http_status(page("<p>Text", status=status))
        assert isinstance(finding, Fail)
        return set(fingerprints("http-status", finding.evidence, "https://example.com/"))

    assert places(404) == places(404)
    assert not places(404) & places(500)
    assert not places(500) & places(503)
