from __future__ import annotations

import gzip

import brotli
import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.cast import target
from tests.website_scan.net.loopback import loopback_network
from website_scan.crawl.canonicals import read_canonicals
from website_scan.crawl.sitemaps import MAX_BYTES as SITEMAP_MAX_BYTES
from website_scan.crawl.sitemaps import SitemapKind, Sitemaps
from website_scan.net.errors import TimedOut
from website_scan.page.fetch import SiteProtected, fetch_page, parse_document
from website_scan.seo.probes import sitemaps as probes
from website_scan.seo.probes.robots import robots_file
from website_scan.seo.probes.sitemaps import MAX_BYTES, MAX_CHILDREN, MAX_NAMED

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
XML = {"Content-Type": "application/xml"}
HTML = Answer("<!doctype html><title>Shop</title>")


def packed(content: bytes, level: int = 9) -> bytes:
    """Compress to the same bytes each time. A timestamp in them would change the tests' names."""
    return gzip.compress(content, level, mtime=0)


def probed(site: Site, *, with_robots: bool = True) -> Sitemaps:
    with loopback_network() as network:
        page = fetch_page(target(f"{site.url}/"), network)
        robots = robots_file(page, network) if with_robots else None
        return probes.sitemaps(page, read_canonicals(page, parse_document(page)), robots, network)


def urlset(*addresses: str) -> bytes:
    entries = "".join(f"<url><loc>{each}</loc></url>" for each in addresses)
    return f'<urlset xmlns="{NAMESPACE}">{entries}</urlset>'.encode()


def index(*addresses: str) -> bytes:
    entries = "".join(f"<sitemap><loc>{each}</loc></sitemap>" for each in addresses)
    return f'<sitemapindex xmlns="{NAMESPACE}">{entries}</sitemapindex>'.encode()


def robots(*addresses: str) -> Answer:
    return Answer("".join(f"Sitemap: {each}\n" for each in addresses), headers={"Content-Type": "text/plain"})


def test_the_sitemaps_of_robots_txt_are_read_instead_of_the_usual_places() -> None:
    with Site({"/": HTML}) as site:
        site.routes["/robots.txt"] = robots(f"{site.url}/a.xml", "/b.txt", f"{site.url}/a.xml")
        site.routes["/a.xml"] = Answer(urlset(f"{site.url}/", f"{site.url}/b"), headers=XML)
        site.routes["/b.txt"] = Answer(
            f"{site.url}/c\nhttps://other.example/\n", headers={"Content-Type": "text/plain"}
        )
        found = probed(site)
        assert sorted(site.paths()) == ["/", "/a.xml", "/b.txt", "/robots.txt"]
    first, second = (each.sitemap for each in found.files)
    assert found.named == 2
    assert first is not None
    assert (first.count, first.names_page) == (2, True)
    assert second is not None
    assert (second.kind, second.foreign_count) == (SitemapKind.TEXT, 1)


@pytest.mark.parametrize("with_robots", [True, False])
def test_without_a_sitemap_line_the_usual_places_are_tried(with_robots: bool) -> None:
    with Site({"/": HTML}) as site:
        site.routes["/sitemap.xml"] = Answer.redirect("/sitemap_index.xml", status=301)
        site.routes["/sitemap_index.xml"] = Answer(index(f"{site.url}/posts.xml"), headers=XML)
        site.routes["/posts.xml"] = Answer(urlset(f"{site.url}/"), headers=XML)
        found = probed(site, with_robots=with_robots)
    assert [each.url.rpartition("/")[2] for each in found.files] == ["sitemap_index.xml"]
    assert found.named == 0
    assert [each.sitemap.names_page for each in found.children if each.sitemap] == [True]


@pytest.mark.parametrize(
    "answer",
    [HTML, Answer("Not found", status=404), Answer(""), Answer("OK"), Answer("<Error/>"), Answer("Down", status=500)],
)
def test_what_any_address_gets_is_no_sitemap(answer: Answer) -> None:
    with Site({"*": answer, "/": HTML, "/robots.txt": Answer(status=404)}) as site:
        assert probed(site) == Sitemaps()


def test_a_broken_sitemap_in_the_usual_place_is_there() -> None:
    with Site({"/": HTML, "/sitemap.xml": Answer("<urlset><url></urlset>")}) as site:
        (found,) = probed(site).files
    assert found.sitemap is not None
    assert "malformed" in found.sitemap.fault


def test_an_html_page_that_robots_txt_names_is_evidence() -> None:
    with Site({"/": HTML, "/robots.txt": robots("/map", "/gone.xml", "http://10.0.0.1/a.xml"), "/map": HTML}) as site:
        page, gone, private = probed(site).files
    assert page.sitemap is not None
    assert page.sitemap.fault == "is an HTML page"
    assert (gone.status, gone.sitemap, gone.is_conclusive) == (404, None, True)
    assert private.error


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (packed(urlset("/x")), {"Content-Type": "application/gzip"}),
        (packed(urlset("/x")), XML),
        (packed(urlset("/x")), {**XML, "Content-Encoding": "gzip"}),
        (packed(packed(urlset("/x"))), {**XML, "Content-Encoding": "gzip"}),
        (brotli.compress(urlset("/x")), {**XML, "Content-Encoding": "br"}),
        (urlset("/x"), {**XML, "Content-Encoding": "gzip"}),  # a wrong coding, which crawlers ignore
    ],
)
def test_packed_sitemaps(body: bytes, headers: dict[str, str]) -> None:
    with Site({"/": HTML, "/robots.txt": robots("/s"), "/s": Answer(body, headers=headers)}) as site:
        (found,) = probed(site).files
    assert found.sitemap is not None
    assert (found.sitemap.fault, found.sitemap.count, found.sitemap.relative) == ("", 1, ("/x",))


def test_what_the_cap_cuts_off_is_no_fault_and_its_size_is_known() -> None:
    url = "http://127.0.0.1/"
    middling = urlset(url) + b" " * MAX_BYTES
    huge = {**XML, "Content-Length": str(SITEMAP_MAX_BYTES + 1)}
    with Site({"/": HTML, "/robots.txt": robots("/s.xml", "/huge.xml")}) as site:
        site.routes |= {"/s.xml": Answer(middling, headers=XML), "/huge.xml": Answer(middling, headers=huge)}
        small, large = (each.sitemap for each in probed(site).files)
    assert small is not None
    assert large is not None
    assert (small.fault, small.count, small.is_complete) == ("", 1, False)
    assert small.size_bytes == len(middling)
    assert large.size_bytes > SITEMAP_MAX_BYTES


def test_five_named_sitemaps_and_five_of_an_index_are_loaded() -> None:
    with Site({"*": Answer(urlset(), headers=XML), "/": HTML}) as site:
        site.routes["/index.xml"] = Answer(index(*(f"{site.url}/c{number}" for number in range(20))), headers=XML)
        site.routes["/robots.txt"] = robots("/index.xml", *(f"/s{number}" for number in range(20)))
        found = probed(site)
        assert len(site.paths()) == 2 + MAX_NAMED + MAX_CHILDREN
    assert (len(found.files), found.named, len(found.children)) == (MAX_NAMED, 21, MAX_CHILDREN)
    assert [each.url.rpartition("/")[2] for each in found.children] == ["c0", "c4", "c8", "c12", "c16"]


def test_an_index_that_names_itself_is_read_once() -> None:
    with Site({"/": HTML, "/robots.txt": robots("/index.xml")}) as site:
        site.routes["/index.xml"] = Answer(index(f"{site.url}/index.xml"), headers=XML)
        assert probed(site).children == ()
        assert site.paths().count("/index.xml") == 1


@pytest.mark.parametrize(
    "answer",
    [Answer("Slow down", status=429), Answer("Blocked", status=403, headers={"cf-mitigated": "challenge"})],
)
def test_a_site_that_has_enough_says_so(answer: Answer) -> None:
    with Site({"*": answer, "/": HTML, "/robots.txt": Answer("")}) as site, pytest.raises(SiteProtected):
        probed(site)


def test_a_challenge_that_is_packed_is_seen() -> None:
    body = packed(b"<title>Just a moment...</title>")
    challenge = Answer(body, status=503, headers={"Content-Encoding": "gzip"})
    with Site({"/": HTML, "/robots.txt": robots("/s.xml"), "/s.xml": challenge}) as site, pytest.raises(SiteProtected):
        probed(site)


def test_one_sitemap_that_does_not_come_in_time_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "TIMEOUT_S", 0.2)
    slow = Answer(urlset(), delay_s=30)
    with Site({"/": HTML, "/a.xml": Answer(urlset(), headers=XML), "/slow.xml": slow}) as site:
        site.routes["/robots.txt"] = robots("/a.xml", "/slow.xml")
        assert [each.is_conclusive for each in probed(site).files] == [True, False]
        site.routes["/robots.txt"] = robots("/slow.xml")
        with pytest.raises(TimedOut):
            probed(site)
