from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.website_scan.cast import URL, head, outcome, page, response, rows, title_of, verdict
from tests.website_scan.seo.cast import judge, told, verdict_of
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
    found = parse_robots(body) if 200 <= status < 300 else Robots()
    return RobotsFile(f"{HOST}/robots.txt", response(f"{HOST}/robots.txt", status=status, body=body), found)


RULES = "User-agent: *\nDisallow: /admin\n"


@pytest.mark.parametrize(
    ("file", "expected", "said"),
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
        (RobotsFile("x", None, Robots(), "It redirects 6 times.", redirected_away=True), "redirects-away", "6 times"),
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
def test_robots_txt(file: RobotsFile, expected: str, said: str) -> None:
    finding = checks.robots_txt(file)
    assert outcome(finding) == expected
    assert verdict(finding) == verdict_of(expected, "error-status", "unreachable")
    assert said in told(finding)


def test_the_title_names_the_status_of_robots_txt() -> None:
    finding = checks.robots_txt(robots("Down", 503))
    assert title_of(checks.robots_txt, finding) == "robots.txt answers with status 503"
    assert rows(finding) == [{"url": f"{HOST}/robots.txt", "status": 503}]


def sitemap(*addresses: str, root: str = "urlset", is_cut: bool = False) -> Sitemap:
    inner = "sitemap" if root == "sitemapindex" else "url"
    entries = "".join(f"<{inner}><loc>{each}</loc></{inner}>" for each in addresses)
    return read(f'<{root} xmlns="{NAMESPACE}">{entries}</{root}>', is_cut=is_cut)


def read(text: str, *, is_cut: bool = False) -> Sitemap:
    return parse_sitemap(text.encode(), is_cut=is_cut, hosts=frozenset({"site.example.com"}), pages=frozenset({URL}))


def file(found: Sitemap | None, status: int | None = 200, url: str = f"{HOST}/sitemap.xml", **more: Any) -> SitemapFile:
    return replace(SitemapFile(url, status, sitemap=found), **more)


OTHER = f"{HOST}/other"
GOOD = file(sitemap(URL, OTHER))
LACKING = file(sitemap(OTHER))
DEAD = file(None, 404)
UNTOLD = file(None, None, error="site.example.com did not answer in time.", is_conclusive=False)


@pytest.mark.parametrize(
    ("sitemaps", "expected", "said"),
    [
        (Sitemaps((GOOD,), 1), "pass", "robots.txt names https://"),
        (Sitemaps((GOOD,)), "pass", "usual place"),
        (Sitemaps((file(read("<rubbish>")),), 1), "pass", ""),  # sitemap-valid reports it
        (Sitemaps(), "missing", "robots.txt names no sitemap"),
        (Sitemaps((DEAD,), 1), "unavailable", "answers with status 404"),
        (Sitemaps((GOOD, DEAD), 2), "unavailable", "1 unavailable sitemap"),
        (Sitemaps((file(None, None, error="It refuses."),), 1), "unavailable", "does not load: it refuses"),
        (Sitemaps((GOOD, UNTOLD), 2), "pass", ""),
    ],
)
def test_sitemap_found(sitemaps: Sitemaps, expected: str, said: str) -> None:
    finding = checks.sitemap_found(sitemaps)
    assert outcome(finding) == expected
    assert verdict(finding) == verdict_of(expected)
    assert said in told(finding)


def test_only_unavailable_sitemaps_are_named() -> None:
    unavailable = file(None, 404, f"{HOST}/old.xml")
    finding = checks.sitemap_found(Sitemaps((GOOD, unavailable, file(read("<rubbish>"))), 3))
    assert told(finding) == f"robots.txt names 1 unavailable sitemap: {HOST}/old.xml answers with status 404."
    assert len(rows(finding)) == 3


def valid(sitemaps: Sitemaps, of: Page | None = None, rules: RobotsFile | None = None) -> Verdict:
    of = of or page()
    return judge(checks.sitemap_valid, of, sitemaps, *([rules] if rules else []))


@pytest.mark.parametrize(
    ("found", "expected", "said"),
    [
        (sitemap(URL, OTHER), "pass", "2 URLs can be read, the page among them"),
        (sitemap("https://site.example.com/shop/%73hoes", OTHER), "pass", "the page among them"),
        (read(f"{URL}\n{OTHER}"), "pass", ""),
        (read(f"<rss><channel><item><link>{OTHER}</link></item></channel></rss>"), "pass", ""),
        (sitemap(OTHER, is_cut=True), "pass", ""),
        (sitemap(URL, "https://www.example.com/"), "other-host", "on another host (“https://www.example.com/”)"),
        (sitemap(URL, "https://www.site.example.com/"), "other-host", "1 URL on another host"),
        (read(f"<urlset><url><loc>{URL}</loc></url></urlset>"), "no-namespace", "does not name its namespace"),
        (read(f'<urlset xmlns="urn:x"><url><loc>{URL}</loc></url></urlset>'), "no-namespace", "urn:x"),
        (sitemap(OTHER), "page-missing", f"list 1 URL, but not {URL}"),
        (sitemap(), "page-missing", f"list no URL, so not {URL}"),
        (sitemap(URL + "/"), "page-missing", f"but not {URL}."),
        (sitemap("/shop/shoes"), "invalid", "“/shop/shoes”"),
        (sitemap(""), "invalid", "without a valid scheme and host"),
        (read("<urlset><url></urlset>"), "invalid", "malformed XML"),
        (read('<!DOCTYPE a [<!ENTITY b "c">]><urlset/>'), "invalid", "XML entities"),
        (read(HTML), "invalid", "is an HTML page"),
        (read("Not found"), "invalid", "neither XML"),
        (Sitemap(SitemapKind.PAGES, count=MAX_URLS), "no-namespace", ""),
        (Sitemap(SitemapKind.PAGES, count=MAX_URLS + 1, is_whole=False), "invalid", "50,000 URLs"),
        (Sitemap(SitemapKind.PAGES, count=1, size_bytes=MAX_BYTES + 1, is_whole=False), "invalid", "52 MB"),
        (
            Sitemap(SitemapKind.PAGES, count=1, size_bytes=MAX_BYTES, namespace=NAMESPACE, names_page=True),
            "pass",
            "",
        ),
    ],
)
def test_sitemap_valid(found: Sitemap, expected: str, said: str) -> None:
    finding = valid(Sitemaps((file(found),), 1))
    assert outcome(finding) == expected
    assert verdict(finding) == verdict_of(expected, "invalid")
    assert said in told(finding)


def test_without_a_sitemap_there_is_none_to_be_valid() -> None:
    assert verdict(valid(Sitemaps())) == "n/a"
    assert verdict(valid(Sitemaps((DEAD,), 1))) == "n/a"


@pytest.mark.parametrize(
    "of",
    [
        page(head("<meta name=robots content=noindex>")),
        page(head(""), ("X-Robots-Tag", "googlebot: none")),
        page(head(f"<link rel=canonical href={OTHER}>")),
        page(head(f"<link rel=canonical href={OTHER}><link rel=canonical href={URL}>")),
        page(status=404),
        page(url=f"{URL}?utm_source=letter"),
    ],
)
def test_a_page_that_is_rightly_not_listed(of: Page) -> None:
    assert verdict(valid(Sitemaps((LACKING,), 1), of)) == "pass"


def test_a_page_that_robots_txt_forbids_is_rightly_not_listed() -> None:
    assert verdict(valid(Sitemaps((LACKING,), 1), rules=robots("User-agent: *\nDisallow: /shop"))) == "pass"
    admin = robots("User-agent: *\nDisallow: /admin")
    assert outcome(valid(Sitemaps((LACKING,), 1), rules=admin)) == "page-missing"


def test_a_page_that_names_itself_as_canonical_should_be_listed() -> None:
    of = page(head(f"<link rel=canonical href={URL}>"))
    assert outcome(valid(Sitemaps((LACKING,), 1), of)) == "page-missing"


INDEX = file(sitemap(f"{HOST}/a.xml", f"{HOST}/b.xml", root="sitemapindex"))


@pytest.mark.parametrize(
    ("sitemaps", "expected"),
    [
        (Sitemaps((INDEX,), 1, (LACKING, LACKING)), "page-missing"),
        (Sitemaps((INDEX,), 1, (LACKING, GOOD)), "pass"),
        (Sitemaps((INDEX,), 1, (LACKING,)), "pass"),  # the index's other sitemap was not read
        (Sitemaps((INDEX,), 1, (LACKING, DEAD)), "pass"),
        (Sitemaps((INDEX,), 1, (LACKING, UNTOLD)), "pass"),
        (Sitemaps((LACKING,), 6), "pass"),
        (Sitemaps((LACKING, UNTOLD), 2), "pass"),
        (Sitemaps((LACKING, file(sitemap(OTHER, is_cut=True))), 2), "pass"),
        (Sitemaps((LACKING, file(read("<rss/>"))), 2), "pass"),
        (Sitemaps((INDEX,), 1, (LACKING, file(read("<urlset>")))), "pass"),  # sitemap-index reports it
    ],
)
def test_what_was_not_read_may_list_the_page(sitemaps: Sitemaps, expected: str) -> None:
    assert outcome(valid(sitemaps)) == expected


def test_a_child_with_relative_addresses_fails() -> None:
    finding = valid(Sitemaps((INDEX,), 1, (file(sitemap("/a"), url=f"{HOST}/a.xml"),)))
    assert verdict(finding) == "fail"
    assert f"1 of 2 sitemaps is invalid: {HOST}/a.xml has 1 URL" in told(finding)


@pytest.mark.parametrize(
    ("sitemaps", "expected", "said"),
    [
        (Sitemaps(), "n/a", ""),
        (Sitemaps((GOOD,), 1), "n/a", ""),
        (Sitemaps((file(sitemap(root="sitemapindex")),), 1), "empty", "names no sitemap"),
        (Sitemaps((file(sitemap("/a.xml", root="sitemapindex")),), 1), "n/a", ""),
        (Sitemaps((INDEX,), 1, (GOOD, LACKING)), "pass", "2 of 2 sitemaps checked"),
        (Sitemaps((INDEX,), 1, (GOOD,)), "pass", "1 of 2 sitemaps"),
        (Sitemaps((INDEX,), 1, (GOOD, UNTOLD)), "pass", "1 of 2 sitemaps"),
        (Sitemaps((INDEX,), 1, (file(sitemap(OTHER, is_cut=True)),)), "pass", ""),
        (Sitemaps((INDEX,), 1, (GOOD, DEAD)), "unreadable", "answers with status 404"),
        (Sitemaps((INDEX,), 1, (file(None, None, error="It refuses."),)), "unreadable", "does not load: it refuses"),
        (Sitemaps((INDEX,), 1, (file(read("<urlset>")),)), "unreadable", "malformed XML"),
        (Sitemaps((INDEX,), 1, (file(read(HTML)),)), "unreadable", "is an HTML page"),
        (Sitemaps((INDEX,), 1, (INDEX,)), "unreadable", "is an index itself"),
    ],
)
def test_sitemap_index(sitemaps: Sitemaps, expected: str, said: str) -> None:
    finding = checks.sitemap_index(sitemaps)
    assert outcome(finding) == expected
    assert verdict(finding) == verdict_of(expected, "unreadable")
    assert said in told(finding)


def test_an_index_of_which_nothing_was_told_is_not_judged() -> None:
    with pytest.raises(NetError, match="in time"):
        checks.sitemap_index(Sitemaps((INDEX,), 1, (UNTOLD, UNTOLD)))
