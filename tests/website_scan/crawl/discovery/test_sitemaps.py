"""Tests for page discovery through sitemaps."""

from __future__ import annotations

import gzip

import pytest

from tests.targets.many_pages import TEXT, XML, document, sitemap_index, urlset
from tests.targets.server import Answer, Site
from tests.website_scan.crawl.discovery.cast import page_paths, run_discovery
from website_scan.crawl.discovery.sitemaps import MAX_FILES

HOME = Answer(document("Home"))
ATOM = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/>'
    '<entry><link rel="self" href="/x"/><link href="/a"/></entry><entry><link href="/b"/></entry></feed>'
)
RSS = "<rss><channel><link>/</link><item><link>/a</link></item><item><link>/b</link></item></channel></rss>"


def robots_with_sitemaps(*addresses: str) -> Answer:
    return Answer("".join(f"Sitemap: {address}\n" for address in addresses), headers=TEXT)


@pytest.mark.parametrize(
    "body",
    [urlset("/a", "/b"), gzip.compress(urlset("/a", "/b").encode(), mtime=0)],
    ids=["xml", "gzip"],
)
def test_plain_or_gzipped_sitemap_is_read(body: str | bytes) -> None:
    with Site({"/": HOME, "/robots.txt": robots_with_sitemaps("/map"), "/map": Answer(body, headers=XML)}) as site:
        discovery = run_discovery(site, by=["sitemap"])
    assert page_paths(site, discovery) == ["/", "/a", "/b"]
    assert not discovery.notes


@pytest.mark.parametrize("body", [RSS, ATOM], ids=["rss", "atom"])
def test_feed_is_read_as_an_incomplete_sitemap(body: str) -> None:
    with Site({"/": HOME, "/robots.txt": robots_with_sitemaps("/feed"), "/feed": Answer(body, headers=XML)}) as site:
        discovery = run_discovery(site, by=["sitemap"])
    assert page_paths(site, discovery) == ["/", "/a", "/b"]
    assert discovery.notes == (f"The sitemap {site.url}/feed is a feed or of news, and names the latest pages only.",)
    assert not discovery.is_complete


def test_text_file_of_URLs_is_read_as_a_sitemap() -> None:
    with Site({"/": HOME, "/robots.txt": robots_with_sitemaps("/map.txt")}) as site:
        site.routes["/map.txt"] = Answer(f"{site.url}/a\r\n{site.url}/b\n\n# more\n", headers=TEXT)
        discovery = run_discovery(site, by=["sitemap"])
    assert page_paths(site, discovery) == ["/", "/a", "/b"]


@pytest.mark.parametrize("place", ["/sitemap.xml", "/sitemap_index.xml"])
def test_sitemap_at_a_usual_path_is_read(place: str) -> None:
    with Site({"/": HOME, place: Answer(urlset("/a"), headers=XML)}) as site:
        assert page_paths(site, run_discovery(site, by=["sitemap"])) == ["/", "/a"]


def test_HTML_page_is_not_a_sitemap() -> None:
    with Site({"*": HOME}) as site:
        discovery = run_discovery(site, by=["sitemap"])
    assert page_paths(site, discovery) == ["/"]
    assert discovery.notes == ("The site has no sitemap.",)
    assert not discovery.is_complete


def test_sitemap_indexes_are_read_in_order() -> None:
    with Site({"/": HOME, "/robots.txt": robots_with_sitemaps("/index.xml", "/late.xml", "/index.xml")}) as site:
        site.routes["/index.xml"] = Answer(
            sitemap_index(*(site.url + path for path in ("/one.xml", "/inner.xml", "/one.xml"))), headers=XML
        )
        site.routes["/inner.xml"] = Answer(sitemap_index(f"{site.url}/two.xml", f"{site.url}/index.xml"), headers=XML)
        site.routes["/one.xml"] = Answer(urlset("/a", "/"), headers=XML)
        site.routes["/two.xml"] = Answer(urlset("/b", "/a"), headers=XML)
        site.routes["/late.xml"] = Answer(urlset("/c"), headers=XML)
        discovery = run_discovery(site, by=["sitemap"])
        assert site.paths() == [
            "/",
            "/robots.txt",
            "/index.xml",
            "/one.xml",
            "/inner.xml",
            "/two.xml",
            "/late.xml",
        ]
    assert page_paths(site, discovery) == ["/", "/a", "/b", "/c"]
    assert discovery.is_complete


def test_sitemap_entries_outside_the_site_are_ignored() -> None:
    entries = ("/a", "https://other.example.com/b", "/c.pdf", "/a#part", "/a?utm_source=map", "mailto:x@y.example", "")
    with Site({"/": HOME, "/sitemap.xml": Answer(urlset(*entries), headers=XML)}) as site:
        assert page_paths(site, run_discovery(site, by=["sitemap"])) == ["/", "/a"]


def test_sitemap_on_a_private_host_is_not_read() -> None:
    with Site() as other, Site({"/": HOME, "/robots.txt": Answer("")}) as site:
        other.routes["/map.xml"] = Answer(urlset(f"{site.url}/a", f"{other.url}/b"), headers=XML)
        site.routes["/robots.txt"] = robots_with_sitemaps(
            "http://10.0.0.1/map.xml", f"{other.url}/map.xml", "file:///etc/passwd"
        )
        discovery = run_discovery(site, by=["sitemap"])
    assert page_paths(site, discovery) == ["/", "/a"]
    assert len(discovery.notes) == 2
    assert discovery.notes[0].startswith(
        "The sitemap http://10.0.0.1/map.xml was not requested: the target is not public"
    )
    assert not discovery.is_complete


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        (Answer("gone", status=404), "answers with status 404."),
        (Answer("later", status=503), "answers with status 503."),
        (Answer("<urlset><url>", headers=XML), "is malformed XML (line 1: no element found)."),
        (HOME, "is an HTML page."),
        (Answer(""), "is empty."),
        (Answer('<!DOCTYPE x [<!ENTITY a "b">]><urlset/>', headers=XML), "declares XML entities"),
        (Answer(b"\x1f\x8bxxx", headers=XML), "starts as a gzip file, but is not one."),
        (Answer.redirect("/map.xml"), "could not be read: the site redirects in a loop"),
    ],
)
def test_unreadable_sitemap_does_not_affect_others(answer: Answer, note: str) -> None:
    with Site({"/": HOME, "/robots.txt": robots_with_sitemaps("/map.xml", "/b.xml"), "/map.xml": answer}) as site:
        site.routes["/b.xml"] = Answer(urlset("/b"), headers=XML)
        discovery = run_discovery(site, by=["sitemap"])
    assert page_paths(site, discovery) == ["/", "/b"]
    assert discovery.notes[0].startswith(f"The sitemap {site.url}/map.xml {note}")
    assert not discovery.is_complete


def test_entries_before_malformed_XML_are_used() -> None:
    broken = urlset("/a", "/b").replace("</urlset>", "<url><loc>/c</loc></ur")
    with Site({"/": HOME, "/sitemap.xml": Answer(broken, headers=XML)}) as site:
        assert page_paths(site, run_discovery(site, by=["sitemap"])) == ["/", "/a", "/b", "/c"]


def test_disallowed_entries_are_excluded() -> None:
    robots = "User-agent: *\nDisallow: /\n\nUser-agent: websitescanservice\nDisallow: /private\nDisallow: /*.php$\n"
    entries = ("/a", "/private/b", "/privat%65/c", "/d.php", "/d.php?x")
    with Site({"/": HOME, "/robots.txt": Answer(robots, headers=TEXT)}) as site:
        site.routes["/sitemap.xml"] = Answer(urlset(*entries), headers=XML)
        discovery = run_discovery(site, by=["sitemap"])
    assert page_paths(site, discovery) == ["/", "/a", "/d.php?x"]
    assert discovery.notes == ("robots.txt forbids 3 addresses.",)
    assert discovery.is_complete


def test_sitemaps_are_requested_until_the_list_is_full() -> None:
    with Site({"/": HOME}) as site:
        files = [f"/map-{number}.xml" for number in range(10)]
        site.routes["/sitemap.xml"] = Answer(sitemap_index(*(site.url + path for path in files)), headers=XML)
        for path in files:
            site.routes[path] = Answer(urlset(*(f"{path[:-4]}/{n}" for n in range(30))), headers=XML)
        discovery = run_discovery(site, by=["sitemap"], max_pages=50)
        assert len(site.requests) == 5
    assert len(discovery.pages) == 50
    assert (discovery.found, discovery.is_complete) == (61, False)


def test_number_of_requested_sitemaps_is_limited() -> None:
    with Site({"/": HOME}) as site:
        site.routes["/sitemap.xml"] = Answer(
            sitemap_index(*(f"{site.url}/map-{number}.xml" for number in range(200))), headers=XML
        )
        site.routes["*"] = Answer(urlset("/a"), headers=XML)
        discovery = run_discovery(site, by=["sitemap"], max_pages=10)
        assert len(site.requests) == 2 + MAX_FILES
    assert discovery.notes == ("The site has more than 50 sitemaps; those beyond were not read.",)
    assert not discovery.is_complete
