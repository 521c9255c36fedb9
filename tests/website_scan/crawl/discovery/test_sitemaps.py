"""Discovery by sitemaps."""

from __future__ import annotations

import gzip

import pytest

from tests.targets.many_pages import TEXT, XML, document, sitemap_index, urlset
from tests.targets.server import Answer, Site
from tests.website_scan.crawl.discovery.cast import discovered, paths
from website_scan.crawl.discovery.sitemaps import MAX_FILES

HOME = Answer(document("Home"))
ATOM = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/>'
    '<entry><link rel="self" href="/x"/><link href="/a"/></entry><entry><link href="/b"/></entry></feed>'
)
RSS = "<rss><channel><link>/</link><item><link>/a</link></item><item><link>/b</link></item></channel></rss>"


def named(*addresses: str) -> Answer:
    return Answer("".join(f"Sitemap: {each}\n" for each in addresses), headers=TEXT)


@pytest.mark.parametrize(
    "body",
    [urlset("/a", "/b"), gzip.compress(urlset("/a", "/b").encode(), mtime=0)],
    ids=["xml", "gzip"],
)
def test_sitemaps_are_read_compressed_or_not(body: str | bytes) -> None:
    with Site({"/": HOME, "/robots.txt": named("/map"), "/map": Answer(body, headers=XML)}) as site:
        found = discovered(site, by=["sitemap"])
    assert paths(site, found) == ["/", "/a", "/b"]
    assert not found.notes


@pytest.mark.parametrize("body", [RSS, ATOM], ids=["rss", "atom"])
def test_a_feed_is_read_but_no_list_of_all_pages(body: str) -> None:
    with Site({"/": HOME, "/robots.txt": named("/feed"), "/feed": Answer(body, headers=XML)}) as site:
        found = discovered(site, by=["sitemap"])
    assert paths(site, found) == ["/", "/a", "/b"]
    assert found.notes == (f"The sitemap {site.url}/feed is a feed or of news, and names the latest pages only.",)
    assert not found.is_complete


def test_a_list_of_addresses_is_a_sitemap() -> None:
    with Site({"/": HOME, "/robots.txt": named("/map.txt")}) as site:
        site.routes["/map.txt"] = Answer(f"{site.url}/a\r\n{site.url}/b\n\n# more\n", headers=TEXT)
        found = discovered(site, by=["sitemap"])
    assert paths(site, found) == ["/", "/a", "/b"]


@pytest.mark.parametrize("place", ["/sitemap.xml", "/sitemap_index.xml"])
def test_a_sitemap_that_robots_txt_does_not_name_is_found_in_the_usual_places(place: str) -> None:
    with Site({"/": HOME, place: Answer(urlset("/a"), headers=XML)}) as site:
        assert paths(site, discovered(site, by=["sitemap"])) == ["/", "/a"]


def test_a_page_in_the_place_of_a_sitemap_is_none() -> None:
    with Site({"*": HOME}) as site:
        found = discovered(site, by=["sitemap"])
    assert paths(site, found) == ["/"]
    assert found.notes == ("The site has no sitemap.",)
    assert not found.is_complete


def test_indexes_are_read_in_their_order_and_each_file_once() -> None:
    with Site({"/": HOME, "/robots.txt": named("/index.xml", "/late.xml", "/index.xml")}) as site:
        site.routes["/index.xml"] = Answer(
            sitemap_index(*(site.url + each for each in ("/one.xml", "/inner.xml", "/one.xml"))), headers=XML
        )
        site.routes["/inner.xml"] = Answer(sitemap_index(f"{site.url}/two.xml", f"{site.url}/index.xml"), headers=XML)
        site.routes["/one.xml"] = Answer(urlset("/a", "/"), headers=XML)
        site.routes["/two.xml"] = Answer(urlset("/b", "/a"), headers=XML)
        site.routes["/late.xml"] = Answer(urlset("/c"), headers=XML)
        found = discovered(site, by=["sitemap"])
        assert site.paths() == ["/", "/robots.txt", "/index.xml", "/one.xml", "/inner.xml", "/two.xml", "/late.xml"]
    assert paths(site, found) == ["/", "/a", "/b", "/c"]
    assert found.is_complete


def test_only_pages_of_the_site_are_taken() -> None:
    entries = ("/a", "https://other.example.com/b", "/c.pdf", "/a#part", "/a?utm_source=map", "mailto:x@y.example", "")
    with Site({"/": HOME, "/sitemap.xml": Answer(urlset(*entries), headers=XML)}) as site:
        assert paths(site, discovered(site, by=["sitemap"])) == ["/", "/a"]


def test_sitemaps_may_lie_on_another_host_but_not_on_a_private_one() -> None:
    with Site() as other, Site({"/": HOME, "/robots.txt": Answer("")}) as site:
        other.routes["/map.xml"] = Answer(urlset(f"{site.url}/a", f"{other.url}/b"), headers=XML)
        site.routes["/robots.txt"] = named("http://10.0.0.1/map.xml", f"{other.url}/map.xml", "file:///etc/passwd")
        found = discovered(site, by=["sitemap"])
    assert paths(site, found) == ["/", "/a"]
    assert len(found.notes) == 2
    assert found.notes[0].startswith("The sitemap http://10.0.0.1/map.xml was not asked for: the target is not public")
    assert not found.is_complete


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
def test_a_sitemap_that_can_not_be_read_is_named_and_the_others_are_read(answer: Answer, note: str) -> None:
    with Site({"/": HOME, "/robots.txt": named("/map.xml", "/b.xml"), "/map.xml": answer}) as site:
        site.routes["/b.xml"] = Answer(urlset("/b"), headers=XML)
        found = discovered(site, by=["sitemap"])
    assert paths(site, found) == ["/", "/b"]
    assert found.notes[0].startswith(f"The sitemap {site.url}/map.xml {note}")
    assert not found.is_complete


def test_pages_before_a_fault_count() -> None:
    broken = urlset("/a", "/b").replace("</urlset>", "<url><loc>/c</loc></ur")
    with Site({"/": HOME, "/sitemap.xml": Answer(broken, headers=XML)}) as site:
        assert paths(site, discovered(site, by=["sitemap"])) == ["/", "/a", "/b", "/c"]


def test_what_robots_txt_forbids_is_not_listed_and_counted() -> None:
    robots = "User-agent: *\nDisallow: /\n\nUser-agent: websitescanservice\nDisallow: /private\nDisallow: /*.php$\n"
    entries = ("/a", "/private/b", "/privat%65/c", "/d.php", "/d.php?x")
    with Site({"/": HOME, "/robots.txt": Answer(robots, headers=TEXT)}) as site:
        site.routes["/sitemap.xml"] = Answer(urlset(*entries), headers=XML)
        found = discovered(site, by=["sitemap"])
    assert paths(site, found) == ["/", "/a", "/d.php?x"]
    assert found.notes == ("robots.txt forbids 3 addresses.",)
    assert found.is_complete


def test_no_more_sitemaps_are_asked_for_than_the_list_needs() -> None:
    with Site({"/": HOME}) as site:
        files = [f"/map-{number}.xml" for number in range(10)]
        site.routes["/sitemap.xml"] = Answer(sitemap_index(*(site.url + each for each in files)), headers=XML)
        for each in files:
            site.routes[each] = Answer(urlset(*(f"{each[:-4]}/{n}" for n in range(30))), headers=XML)
        found = discovered(site, by=["sitemap"], max_pages=50)
        assert len(site.requests) == 5
    assert len(found.pages) == 50
    assert (found.found, found.is_complete) == (61, False)


def test_there_is_a_limit_to_sitemaps() -> None:
    with Site({"/": HOME}) as site:
        site.routes["/sitemap.xml"] = Answer(
            sitemap_index(*(f"{site.url}/map-{number}.xml" for number in range(200))), headers=XML
        )
        site.routes["*"] = Answer(urlset("/a"), headers=XML)
        found = discovered(site, by=["sitemap"], max_pages=10)
        assert len(site.requests) == 2 + MAX_FILES
    assert found.notes == ("The site has more than 50 sitemaps; those beyond were not read.",)
    assert not found.is_complete
