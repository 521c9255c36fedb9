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
from website_scan.seo.probes.sitemaps import MAX_BODY_BYTES, MAX_INDEXED_SITEMAPS, MAX_SITEMAPS

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
XML = {"Content-Type": "application/xml"}
HTML = Answer("<!doctype html><title>Shop</title>")


def gzip_reproducibly(content: bytes, level: int = 9) -> bytes:
    """Compress without a timestamp, so that test IDs are stable."""
    return gzip.compress(content, level, mtime=0)


def probe_sitemaps(site: Site, *, with_robots: bool = True) -> Sitemaps:
    with loopback_network() as network:
        page = fetch_page(target(f"{site.url}/"), network)
        robots = robots_file(page, network) if with_robots else None
        return probes.sitemaps(page, read_canonicals(page, parse_document(page)), robots, network)


def urlset(*addresses: str) -> bytes:
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in addresses)
    return f'<urlset xmlns="{NAMESPACE}">{entries}</urlset>'.encode()


def index(*addresses: str) -> bytes:
    entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in addresses)
    return f'<sitemapindex xmlns="{NAMESPACE}">{entries}</sitemapindex>'.encode()


def robots(*addresses: str) -> Answer:
    return Answer("".join(f"Sitemap: {url}\n" for url in addresses), headers={"Content-Type": "text/plain"})


def test_robots_txt_sitemaps_replace_usual_urls() -> None:
    with Site({"/": HTML}) as site:
        site.routes["/robots.txt"] = robots(f"{site.url}/a.xml", "/b.txt", f"{site.url}/a.xml")
        site.routes["/a.xml"] = Answer(urlset(f"{site.url}/", f"{site.url}/b"), headers=XML)
        site.routes["/b.txt"] = Answer(
            f"{site.url}/c\nhttps://other.example/\n", headers={"Content-Type": "text/plain"}
        )
        evidence = probe_sitemaps(site)
        assert sorted(site.paths()) == ["/", "/a.xml", "/b.txt", "/robots.txt"]
    first, second = (file.sitemap for file in evidence.files)
    assert evidence.named == 2
    assert first is not None
    assert (first.count, first.contains_page) == (2, True)
    assert second is not None
    assert (second.kind, second.foreign_url_count) == (SitemapKind.TEXT, 1)


@pytest.mark.parametrize("with_robots", [True, False])
def test_usual_sitemap_urls_are_requested(with_robots: bool) -> None:
    with Site({"/": HTML}) as site:
        site.routes["/sitemap.xml"] = Answer.redirect("/sitemap_index.xml", status=301)
        site.routes["/sitemap_index.xml"] = Answer(index(f"{site.url}/posts.xml"), headers=XML)
        site.routes["/posts.xml"] = Answer(urlset(f"{site.url}/"), headers=XML)
        evidence = probe_sitemaps(site, with_robots=with_robots)
    assert [file.url.rpartition("/")[2] for file in evidence.files] == ["sitemap_index.xml"]
    assert evidence.named == 0
    assert [file.sitemap.contains_page for file in evidence.children if file.sitemap] == [True]


@pytest.mark.parametrize(
    "answer",
    [HTML, Answer("Not found", status=404), Answer(""), Answer("OK"), Answer("<Error/>"), Answer("Down", status=500)],
)
def test_soft_404_is_not_sitemap(answer: Answer) -> None:
    with Site({"*": answer, "/": HTML, "/robots.txt": Answer(status=404)}) as site:
        assert probe_sitemaps(site) == Sitemaps()


def test_malformed_sitemap_is_evidence() -> None:
    with Site({"/": HTML, "/sitemap.xml": Answer("<urlset><url></urlset>")}) as site:
        (file,) = probe_sitemaps(site).files
    assert file.sitemap is not None
    assert "malformed" in file.sitemap.fault


def test_unusable_sitemaps_are_evidence() -> None:
    with Site({"/": HTML, "/robots.txt": robots("/map", "/gone.xml", "http://10.0.0.1/a.xml"), "/map": HTML}) as site:
        page, gone, private = probe_sitemaps(site).files
    assert page.sitemap is not None
    assert page.sitemap.fault == "is an HTML page"
    assert (gone.status, gone.sitemap, gone.is_conclusive) == (404, None, True)
    assert private.error


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (gzip_reproducibly(urlset("/x")), {"Content-Type": "application/gzip"}),
        (gzip_reproducibly(urlset("/x")), XML),
        (gzip_reproducibly(urlset("/x")), {**XML, "Content-Encoding": "gzip"}),
        (gzip_reproducibly(gzip_reproducibly(urlset("/x"))), {**XML, "Content-Encoding": "gzip"}),
        (brotli.compress(urlset("/x")), {**XML, "Content-Encoding": "br"}),
        (urlset("/x"), {**XML, "Content-Encoding": "gzip"}),  # Crawlers ignore the wrong Content-Encoding header.
    ],
)
def test_compressed_sitemap_is_read(body: bytes, headers: dict[str, str]) -> None:
    with Site({"/": HTML, "/robots.txt": robots("/s"), "/s": Answer(body, headers=headers)}) as site:
        (file,) = probe_sitemaps(site).files
    assert file.sitemap is not None
    assert (file.sitemap.fault, file.sitemap.count, file.sitemap.relative) == ("", 1, ("/x",))


def test_truncated_sitemap_is_not_faulty() -> None:
    url = "http://127.0.0.1/"
    padded_sitemap = urlset(url) + b" " * MAX_BODY_BYTES
    huge_headers = {**XML, "Content-Length": str(SITEMAP_MAX_BYTES + 1)}
    with Site({"/": HTML, "/robots.txt": robots("/s.xml", "/huge.xml")}) as site:
        site.routes |= {
            "/s.xml": Answer(padded_sitemap, headers=XML),
            "/huge.xml": Answer(padded_sitemap, headers=huge_headers),
        }
        small, large = (file.sitemap for file in probe_sitemaps(site).files)
    assert small is not None
    assert large is not None
    assert (small.fault, small.count, small.is_complete) == ("", 1, False)
    assert small.size_bytes == len(padded_sitemap)
    assert large.size_bytes > SITEMAP_MAX_BYTES


def test_ten_sitemaps_are_loaded() -> None:
    with Site({"*": Answer(urlset(), headers=XML), "/": HTML}) as site:
        site.routes["/index.xml"] = Answer(index(*(f"{site.url}/c{number}" for number in range(20))), headers=XML)
        site.routes["/robots.txt"] = robots("/index.xml", *(f"/s{number}" for number in range(20)))
        evidence = probe_sitemaps(site)
        assert len(site.paths()) == 2 + MAX_SITEMAPS + MAX_INDEXED_SITEMAPS
    assert (len(evidence.files), evidence.named, len(evidence.children)) == (MAX_SITEMAPS, 21, MAX_INDEXED_SITEMAPS)
    assert [file.url.rpartition("/")[2] for file in evidence.children] == ["c0", "c4", "c8", "c12", "c16"]


def test_recursive_sitemap_index_is_loaded_once() -> None:
    with Site({"/": HTML, "/robots.txt": robots("/index.xml")}) as site:
        site.routes["/index.xml"] = Answer(index(f"{site.url}/index.xml"), headers=XML)
        assert probe_sitemaps(site).children == ()
        assert site.paths().count("/index.xml") == 1


@pytest.mark.parametrize(
    "answer",
    [Answer("Slow down", status=429), Answer("Blocked", status=403, headers={"cf-mitigated": "challenge"})],
)
def test_sitemap_probe_stops_after_status_429(answer: Answer) -> None:
    with Site({"*": answer, "/": HTML, "/robots.txt": Answer("")}) as site, pytest.raises(SiteProtected):
        probe_sitemaps(site)


def test_compressed_challenge_is_recognized() -> None:
    body = gzip_reproducibly(b"<title>Just a moment...</title>")
    challenge = Answer(body, status=503, headers={"Content-Encoding": "gzip"})
    with Site({"/": HTML, "/robots.txt": robots("/s.xml"), "/s.xml": challenge}) as site, pytest.raises(SiteProtected):
        probe_sitemaps(site)


def test_sitemap_timeout_is_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "REQUEST_TIMEOUT_S", 0.2)
    slow = Answer(urlset(), delay_s=30)
    with Site({"/": HTML, "/a.xml": Answer(urlset(), headers=XML), "/slow.xml": slow}) as site:
        site.routes["/robots.txt"] = robots("/a.xml", "/slow.xml")
        assert [file.is_conclusive for file in probe_sitemaps(site).files] == [True, False]
        site.routes["/robots.txt"] = robots("/slow.xml")
        with pytest.raises(TimedOut):
            probe_sitemaps(site)
