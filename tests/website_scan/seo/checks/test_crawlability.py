from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.website_scan.cast import URL, head, outcome, page, response, rows, severity_of, title_of, verdict
from tests.website_scan.seo.cast import judge, message_with_places, verdict_of
from website_scan.crawl.robots import MAX_BYTES as ROBOTS_MAX_BYTES
from website_scan.crawl.robots import Robots, parse_robots
from website_scan.crawl.robots_file import RobotsFile
from website_scan.crawl.sitemaps import (
    MAX_BYTES,
    MAX_URLS,
    Sitemap,
    SitemapFile,
    SitemapKind,
    Sitemaps,
    parse_sitemap,
)
from website_scan.net.errors import NetError
from website_scan.outcomes import Verdict
from website_scan.page.evidence import Page
from website_scan.seo.checks import crawlability as checks

HOST = "https://site.example.com"
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
HTML = "<!doctype html><title>Not found</title>"


def robots(text: str | bytes, status: int = 200) -> RobotsFile:
    body = text.encode() if isinstance(text, str) else text
    robots = parse_robots(body) if 200 <= status < 300 else Robots()
    return RobotsFile(f"{HOST}/robots.txt", response(f"{HOST}/robots.txt", status=status, body=body), robots)


RULES = "User-agent: *\nDisallow: /admin\n"


@pytest.mark.parametrize(
    ("file", "expected", "expected_text"),
    [
        (robots(RULES), "pass", "1 rule"),
        (robots(""), "pass", "blocks nothing"),
        (robots(RULES + "Crawl-delay: 5\nHost: a.example\nClean-param: ref\nContent-Signal: ai-train=no"), "pass", ""),
        (robots(RULES + f"Sitemap: {HOST}/s.xml"), "pass", ""),
        (robots("\ufeff" + RULES), "pass", ""),
        (robots("Gone", 404), "pass", "status 404"),
        (robots("No", 403), "pass", "status 403"),
        (robots("", 410), "pass", ""),
        (robots("Down", 503), "error-status", "status 503"),
        (robots("Down", 500), "error-status", "stay away"),
        (robots("Slow down", 429), "error-status", "status 429"),
        (RobotsFile("x", None, Robots(), "site.example.com did not answer in time."), "unreachable", "in time"),
        (
            RobotsFile("x", None, Robots(), "It redirects 6 times.", has_too_many_redirects=True),
            "redirects-away",
            "6 times",
        ),
        (robots(HTML), "html", "HTML page"),
        (robots("\n<!-- x --><html>"), "html", "HTML page"),
        (robots(HTML, 404), "pass", ""),
        (robots(RULES + "Everybody is welcome"), "invalid-lines", "line 3, “Everybody is welcome”"),
        (robots("Disallow: /\n" + RULES), "invalid-lines", "line 1, “Disallow: /”, is before"),
        (robots(RULES + "Disallow: private"), "invalid-lines", "line 3"),
        (robots(RULES + "Sitemap: /sitemap.xml"), "invalid-lines", "line 3"),
        (robots(RULES + "#" * ROBOTS_MAX_BYTES), "too-large", "512 kB"),
    ],
)
def test_robots_txt_check_verdict(file: RobotsFile, expected: str, expected_text: str) -> None:
    finding = checks.robots_txt(file)
    assert outcome(finding) == expected
    assert verdict(finding) == verdict_of(expected, "error-status", "unreachable")
    assert expected_text in message_with_places(finding)


def test_title_names_status_of_robots_txt() -> None:
    finding = checks.robots_txt(robots("Down", 503))
    assert title_of(checks.robots_txt, finding) == "robots.txt answers with status 503"
    assert rows(finding) == [{"url": f"{HOST}/robots.txt", "status": 503}]


def sitemap(*addresses: str, root: str = "urlset", is_cut: bool = False) -> Sitemap:
    inner = "sitemap" if root == "sitemapindex" else "url"
    entries = "".join(f"<{inner}><loc>{address}</loc></{inner}>" for address in addresses)
    return parse(f'<{root} xmlns="{NAMESPACE}">{entries}</{root}>', is_cut=is_cut)


def parse(text: str, *, is_cut: bool = False) -> Sitemap:
    return parse_sitemap(text.encode(), is_cut=is_cut, hosts=frozenset({"site.example.com"}), pages=frozenset({URL}))


def file(
    parsed: Sitemap | None, status: int | None = 200, url: str = f"{HOST}/sitemap.xml", **more: Any
) -> SitemapFile:
    return replace(SitemapFile(url, status, sitemap=parsed), **more)


OTHER = f"{HOST}/other"
GOOD = file(sitemap(URL, OTHER))
WITHOUT_PAGE = file(sitemap(OTHER))
NOT_FOUND = file(None, 404)
INCONCLUSIVE = file(None, None, error="site.example.com did not answer in time.", is_conclusive=False)


@pytest.mark.parametrize(
    ("sitemaps", "expected", "expected_text"),
    [
        (Sitemaps((GOOD,), 1), "pass", "robots.txt names https://"),
        (Sitemaps((GOOD,)), "pass", "usual place"),
        # The check sitemap-valid reports the malformed sitemap.
        (Sitemaps((file(parse("<rubbish>")),), 1), "pass", ""),
        (Sitemaps(), "missing", "robots.txt names no sitemap"),
        (Sitemaps((NOT_FOUND,), 1), "unavailable", "answers with status 404"),
        (Sitemaps((GOOD, NOT_FOUND), 2), "unavailable", "1 unavailable sitemap"),
        (Sitemaps((file(None, None, error="It refuses."),), 1), "unavailable", "does not load: it refuses"),
        (Sitemaps((GOOD, INCONCLUSIVE), 2), "pass", ""),
    ],
)
def test_sitemap_found_check_verdict(sitemaps: Sitemaps, expected: str, expected_text: str) -> None:
    finding = checks.sitemap_found(sitemaps)
    assert outcome(finding) == expected
    assert verdict(finding) == verdict_of(expected)
    assert expected_text in message_with_places(finding)


def test_message_names_unavailable_sitemaps() -> None:
    unavailable = file(None, 404, f"{HOST}/old.xml")
    finding = checks.sitemap_found(Sitemaps((GOOD, unavailable, file(parse("<rubbish>"))), 3))
    assert (
        message_with_places(finding)
        == f"robots.txt names 1 unavailable sitemap: {HOST}/old.xml answers with status 404."
    )
    assert len(rows(finding)) == 3


def judge_sitemap(sitemaps: Sitemaps, html_page: Page | None = None, rules: RobotsFile | None = None) -> Verdict:
    html_page = html_page or page()
    return judge(checks.sitemap_valid, html_page, sitemaps, *([rules] if rules else []))


@pytest.mark.parametrize(
    ("parsed", "expected", "expected_text"),
    [
        (sitemap(URL, OTHER), "pass", "2 URLs can be read, the page among them"),
        (sitemap("https://site.example.com/shop/%73hoes", OTHER), "pass", "the page among them"),
        (parse(f"{URL}\n{OTHER}"), "pass", ""),
        (parse(f"<rss><channel><item><link>{OTHER}</link></item></channel></rss>"), "pass", ""),
        (sitemap(OTHER, is_cut=True), "pass", ""),
        (sitemap(URL, "https://www.example.com/"), "other-host", "on another host (“https://www.example.com/”)"),
        (sitemap(URL, "https://www.site.example.com/"), "other-host", "1 URL on another host"),
        (parse(f"<urlset><url><loc>{URL}</loc></url></urlset>"), "no-namespace", "does not name its namespace"),
        (parse(f'<urlset xmlns="urn:x"><url><loc>{URL}</loc></url></urlset>'), "no-namespace", "urn:x"),
        (sitemap(OTHER), "page-missing", f"list 1 URL, but not {URL}"),
        (sitemap(), "page-missing", f"list no URL, so not {URL}"),
        (sitemap(URL + "/"), "page-missing", f"but not {URL}."),
        (sitemap("/shop/shoes"), "invalid", "“/shop/shoes”"),
        (sitemap(""), "invalid", "without a valid scheme and host"),
        (parse("<urlset><url></urlset>"), "invalid", "malformed XML"),
        (parse('<!DOCTYPE a [<!ENTITY b "c">]><urlset/>'), "invalid", "XML entities"),
        (parse(HTML), "invalid", "is an HTML page"),
        (parse("Not found"), "invalid", "neither XML"),
        (Sitemap(SitemapKind.PAGES, count=MAX_URLS), "no-namespace", ""),
        (Sitemap(SitemapKind.PAGES, count=MAX_URLS + 1, is_whole=False), "invalid", "50,000 URLs"),
        (Sitemap(SitemapKind.PAGES, count=1, size_bytes=MAX_BYTES + 1, is_whole=False), "invalid", "52 MB"),
        (
            Sitemap(SitemapKind.PAGES, count=1, size_bytes=MAX_BYTES, namespace=NAMESPACE, contains_page=True),
            "pass",
            "",
        ),
    ],
)
def test_sitemap_valid_check_verdict(parsed: Sitemap, expected: str, expected_text: str) -> None:
    finding = judge_sitemap(Sitemaps((file(parsed),), 1))
    assert outcome(finding) == expected
    assert verdict(finding) == verdict_of(expected, "invalid")
    assert expected_text in message_with_places(finding)


def test_sitemap_valid_check_needs_sitemap() -> None:
    assert verdict(judge_sitemap(Sitemaps())) == "n/a"
    assert verdict(judge_sitemap(Sitemaps((NOT_FOUND,), 1))) == "n/a"


@pytest.mark.parametrize(
    "html_page",
    [
        page(head("<meta name=robots content=noindex>")),
        page(head(""), ("X-Robots-Tag", "googlebot: none")),
        page(head(f"<link rel=canonical href={OTHER}>")),
        page(head(f"<link rel=canonical href={OTHER}><link rel=canonical href={URL}>")),
        page(status=404),
        page(url=f"{URL}?utm_source=letter"),
    ],
)
def test_unindexable_page_needs_no_sitemap(html_page: Page) -> None:
    assert verdict(judge_sitemap(Sitemaps((WITHOUT_PAGE,), 1), html_page)) == "pass"


def test_disallowed_page_needs_no_sitemap() -> None:
    assert (
        verdict(judge_sitemap(Sitemaps((WITHOUT_PAGE,), 1), rules=robots("User-agent: *\nDisallow: /shop"))) == "pass"
    )
    admin = robots("User-agent: *\nDisallow: /admin")
    assert outcome(judge_sitemap(Sitemaps((WITHOUT_PAGE,), 1), rules=admin)) == "page-missing"


def test_canonical_page_must_be_in_sitemap() -> None:
    html_page = page(head(f"<link rel=canonical href={URL}>"))
    assert outcome(judge_sitemap(Sitemaps((WITHOUT_PAGE,), 1), html_page)) == "page-missing"


INDEX = file(sitemap(f"{HOST}/a.xml", f"{HOST}/b.xml", root="sitemapindex"))


@pytest.mark.parametrize(
    ("sitemaps", "expected"),
    [
        (Sitemaps((INDEX,), 1, (WITHOUT_PAGE, WITHOUT_PAGE)), "page-missing"),
        (Sitemaps((INDEX,), 1, (WITHOUT_PAGE, GOOD)), "pass"),
        (Sitemaps((INDEX,), 1, (WITHOUT_PAGE,)), "pass"),  # The second sitemap of the index was not loaded.
        (Sitemaps((INDEX,), 1, (WITHOUT_PAGE, NOT_FOUND)), "pass"),
        (Sitemaps((INDEX,), 1, (WITHOUT_PAGE, INCONCLUSIVE)), "pass"),
        (Sitemaps((WITHOUT_PAGE,), 6), "pass"),
        (Sitemaps((WITHOUT_PAGE, INCONCLUSIVE), 2), "pass"),
        (Sitemaps((WITHOUT_PAGE, file(sitemap(OTHER, is_cut=True))), 2), "pass"),
        (Sitemaps((WITHOUT_PAGE, file(parse("<rss/>"))), 2), "pass"),
        # The check sitemap-index reports the malformed sitemap.
        (Sitemaps((INDEX,), 1, (WITHOUT_PAGE, file(parse("<urlset>")))), "pass"),
    ],
)
def test_page_is_missing_only_in_complete_sitemaps(sitemaps: Sitemaps, expected: str) -> None:
    assert outcome(judge_sitemap(sitemaps)) == expected


def test_sitemap_index_with_relative_urls_fails() -> None:
    finding = judge_sitemap(Sitemaps((INDEX,), 1, (file(sitemap("/a"), url=f"{HOST}/a.xml"),)))
    assert verdict(finding) == "fail"
    assert f"1 of 2 sitemaps is invalid: {HOST}/a.xml has 1 URL" in message_with_places(finding)


@pytest.mark.parametrize(
    ("sitemaps", "expected", "expected_text"),
    [
        (Sitemaps(), "n/a", ""),
        (Sitemaps((GOOD,), 1), "n/a", ""),
        (Sitemaps((file(sitemap(root="sitemapindex")),), 1), "empty", "names no sitemap"),
        (Sitemaps((file(sitemap("/a.xml", root="sitemapindex")),), 1), "n/a", ""),
        (Sitemaps((INDEX,), 1, (GOOD, WITHOUT_PAGE)), "pass", "2 of 2 sitemaps checked"),
        (Sitemaps((INDEX,), 1, (GOOD,)), "pass", "1 of 2 sitemaps"),
        (Sitemaps((INDEX,), 1, (GOOD, INCONCLUSIVE)), "pass", "1 of 2 sitemaps"),
        (Sitemaps((INDEX,), 1, (file(sitemap(OTHER, is_cut=True)),)), "pass", ""),
        (Sitemaps((INDEX,), 1, (GOOD, NOT_FOUND)), "unreadable", "answers with status 404"),
        (Sitemaps((INDEX,), 1, (file(None, None, error="It refuses."),)), "unreadable", "does not load: it refuses"),
        (Sitemaps((INDEX,), 1, (file(parse("<urlset>")),)), "unreadable", "malformed XML"),
        (Sitemaps((INDEX,), 1, (file(parse(HTML)),)), "unreadable", "is an HTML page"),
        (Sitemaps((INDEX,), 1, (INDEX,)), "unreadable", "is an index itself"),
    ],
)
def test_sitemap_index_check_verdict(sitemaps: Sitemaps, expected: str, expected_text: str) -> None:
    finding = checks.sitemap_index(sitemaps)
    assert outcome(finding) == expected
    assert verdict(finding) == verdict_of(expected, "unreadable")
    assert expected_text in message_with_places(finding)


def test_inconclusive_sitemap_index_raises_error() -> None:
    with pytest.raises(NetError, match="in time"):
        checks.sitemap_index(Sitemaps((INDEX,), 1, (INCONCLUSIVE, INCONCLUSIVE)))


@pytest.mark.parametrize(
    ("entry", "severity", "expected_text"),
    [
        ("<lastmod>2026-01-01</lastmod>", "medium", "has 1 invalid entry (line 1: <url> has no <loc>)"),
        (f"<loc>{URL}</loc><lastmod>2026-01-05 15:35:12</lastmod>", "low", "“2026-01-05 15:35:12” is not a W3C date"),
    ],
)
def test_invalid_sitemap_entries_are_warning(entry: str, severity: str, expected_text: str) -> None:
    parsed = parse(f'<urlset xmlns="{NAMESPACE}"><url>{entry}</url></urlset>')
    finding = judge_sitemap(Sitemaps((file(parsed),), 1))
    assert (verdict(finding), outcome(finding)) == ("warn", "invalid-entries")
    assert severity_of(checks.sitemap_valid, finding) == severity
    assert expected_text in message_with_places(finding)
