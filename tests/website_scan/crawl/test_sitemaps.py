from __future__ import annotations

import gzip
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.crawl.sitemap_entries import url_key
from website_scan.crawl.sitemaps import MAX_BYTES, MAX_URLS, Sitemap, SitemapKind, parse_sitemap

PAGE = "https://site.example.com/shop/shoes"
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
OPEN = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{NAMESPACE}">'


def gzip_reproducibly(content: bytes, level: int = 9) -> bytes:
    """Return gzip data without a timestamp.

    A timestamp would change the IDs of parametrized tests.
    """
    return gzip.compress(content, level, mtime=0)


def read_test_sitemap(content: bytes | str, *, is_cut: bool = False) -> Sitemap:
    data = content.encode() if isinstance(content, str) else content
    return parse_sitemap(data, is_cut=is_cut, hosts=frozenset({"site.example.com"}), pages=frozenset({PAGE}))


def urlset(*addresses: str) -> str:
    return OPEN + "".join(f"<url><loc>{address}</loc></url>" for address in addresses) + "</urlset>"


@pytest.mark.parametrize(
    ("content", "kind", "count"),
    [
        (urlset(PAGE, "https://site.example.com/"), SitemapKind.PAGES, 2),
        (urlset(), SitemapKind.PAGES, 0),
        ("\n\n" + urlset(PAGE), SitemapKind.PAGES, 1),
        ("\ufeff" + urlset(PAGE), SitemapKind.PAGES, 1),
        (urlset(PAGE).replace("UTF-8", "UTF-16").encode("utf-16"), SitemapKind.PAGES, 1),
        (urlset(PAGE).replace("UTF-8", "windows-1252").encode("cp1252"), SitemapKind.PAGES, 1),
        (urlset(f"<![CDATA[ {PAGE}\n]]>"), SitemapKind.PAGES, 1),
        (f'<s:urlset xmlns:s="{NAMESPACE}"><s:url><s:loc>{PAGE}</s:loc></s:url></s:urlset>', SitemapKind.PAGES, 1),
        (
            f'<urlset xmlns="{NAMESPACE}" xmlns:i="http://www.google.com/schemas/sitemap-image/1.1"><url>'
            f"<loc>{PAGE}</loc><i:image><i:loc>/a.png</i:loc></i:image></url></urlset>",
            SitemapKind.PAGES,
            1,
        ),
        (
            f'<sitemapindex xmlns="{NAMESPACE}"><sitemap><loc>{PAGE}</loc></sitemap></sitemapindex>',
            SitemapKind.INDEX,
            1,
        ),
        (f"{PAGE}\r\n\r\nhttps://site.example.com/b\n", SitemapKind.TEXT, 2),
        (f"<rss><channel><link>/</link><item><link>{PAGE}</link></item></channel></rss>", SitemapKind.FEED, 1),
        (
            '<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><entry>'
            f'<link rel="enclosure" href="/a.mp3"/><link href="{PAGE}"/></entry></feed>',
            SitemapKind.FEED,
            1,
        ),
        (gzip_reproducibly(urlset(PAGE).encode()), SitemapKind.PAGES, 1),
        (gzip_reproducibly(gzip_reproducibly(urlset(PAGE).encode())), SitemapKind.PAGES, 1),
        (gzip_reproducibly(OPEN.encode()) + gzip_reproducibly(b"</urlset>") + b"\0\0", SitemapKind.PAGES, 0),
        (gzip_reproducibly(PAGE.encode()), SitemapKind.TEXT, 1),
    ],
)
def test_sitemap_kind_and_URL_count_are_detected(content: bytes | str, kind: SitemapKind, count: int) -> None:
    sitemap = read_test_sitemap(content)
    assert (sitemap.fault, sitemap.kind, sitemap.count) == ("", kind, count)
    assert sitemap.is_whole
    assert sitemap.has_known_namespace


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("<!doctype html><title>Not found</title>", "is an HTML page"),
        ("<!-- a -->\n<HTML><body>", "is an HTML page"),
        ("", "is empty"),
        ("  \n", "is empty"),
        ("Not found", "is neither XML nor a list of URLs"),
        ('{"error": 404}', "is neither XML nor a list of URLs"),
        ("<Error><Code>AccessDenied</Code></Error>", "the root element <Error>"),
        (OPEN + "<url><loc>https://site.example.com/?a=1&b=2</loc></url></urlset>", "malformed XML (line 2:"),
        (OPEN + "<url></urlset>", "malformed XML"),
        (OPEN, "malformed XML"),
        ('<!DOCTYPE urlset [<!ENTITY a "b">]>' + f'<urlset xmlns="{NAMESPACE}"/>', "declares XML entities"),
        ('<!DOCTYPE urlset [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]><urlset/>', "declares XML entities"),
        ('<?xml version="1.0" encoding="klingon"?><urlset/>', "encoding"),
        ("<urlset>" + "<a>" * 200, "nested too deeply"),
        (gzip_reproducibly(urlset(PAGE).encode())[:-20], "truncated gzip file"),
        (b"\x1f\x8b\x08rubbish" * 10, "starts as a gzip file, but is not one"),
        (gzip_reproducibly(b"") * 5_000, "gzip file of more than"),
    ],
)
def test_unreadable_sitemap_has_a_fault(content: bytes | str, said: str) -> None:
    assert said in read_test_sitemap(content).fault


@pytest.mark.parametrize(
    "content",
    [
        urlset(PAGE, PAGE).encode()[:-40],
        gzip_reproducibly(urlset(PAGE, PAGE).encode())[:-20],
        f"{PAGE}\nhttps://site.exam".encode(),
        b"",
    ],
)
def test_sitemap_truncated_by_our_limit_has_no_fault(content: bytes) -> None:
    sitemap = read_test_sitemap(content, is_cut=True)
    assert sitemap.fault == ""
    assert not sitemap.is_complete
    assert sitemap.relative_url_count == sitemap.foreign_url_count == 0


def test_relative_and_foreign_URLs_are_counted() -> None:
    sitemap = read_test_sitemap(
        urlset(
            "/relative",
            "//site.example.com/",
            "",
            "https://",
            "https://SITE.example.com:443/a",
            "https://www.site.example.com/",
            "https://münchen.example/",
        )
    )
    assert sitemap.relative == ("/relative", "//site.example.com/", "", "https://")
    assert sitemap.foreign == ("https://www.site.example.com/", "https://münchen.example/")


def test_only_a_few_relative_URLs_are_stored() -> None:
    sitemap = read_test_sitemap(urlset(*[f"/{number}" for number in range(100)]))
    assert sitemap.relative_url_count == 100
    assert len(sitemap.relative) == 5


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("https://site.example.com/caf%c3%a9", "https://site.example.com/caf%C3%A9"),
        ("https://site.example.com/café", "https://site.example.com/caf%C3%A9"),
        ("HTTPS://Site.Example.com:443/a#b", "https://site.example.com/a"),
        ("https://site.example.com", "https://site.example.com/"),
        ("https://site.example.com/a/../b", "https://site.example.com/b"),
    ],
)
def test_spellings_of_a_URL_have_the_same_key(url: str, other: str) -> None:
    assert url_key(url) == url_key(other)


@pytest.mark.parametrize(
    ("url", "other"),
    [("https://a.example/b", "https://a.example/b/"), ("http://a.example/", "https://a.example/"), ("https://[", "x")],
)
def test_different_URLs_have_different_keys(url: str, other: str) -> None:
    assert url_key(url) != url_key(other)


def test_page_with_an_escaped_ampersand_is_found() -> None:
    assert read_test_sitemap(urlset("https://site.example.com/", PAGE)).contains_page
    assert not read_test_sitemap(urlset("https://site.example.com/")).contains_page
    url = "https://site.example.com/?a=1&b=2"
    content = urlset("https://site.example.com/?a=1&amp;b=2").encode()
    assert parse_sitemap(content, is_cut=False, hosts=frozenset(), pages=frozenset({url})).contains_page


def test_news_sitemap_does_not_count_as_complete() -> None:
    news = '<urlset xmlns="{0}" xmlns:n="http://www.google.com/schemas/sitemap-news/0.9"><url><n:news/></url></urlset>'
    assert not read_test_sitemap(news.format(NAMESPACE)).is_complete
    assert not read_test_sitemap("<rss/>").is_complete
    assert read_test_sitemap(urlset()).is_complete


@pytest.mark.parametrize(
    ("namespace", "expected"),
    [
        (NAMESPACE, True),
        ("https://www.sitemaps.org/schemas/sitemap/0.9", True),
        ("http://www.google.com/schemas/sitemap/0.84", True),
        ("http://www.example.org/sitemap", False),
        ("", False),
    ],
)
def test_sitemap_namespace_is_recognized(namespace: str, expected: bool) -> None:
    assert read_test_sitemap(f'<urlset xmlns="{namespace}"/>').has_known_namespace is expected


def test_parsing_stops_at_the_URL_limit() -> None:
    sitemap = read_test_sitemap(urlset(*["https://site.example.com/a"] * (MAX_URLS + 5_000)))
    assert sitemap.count > MAX_URLS
    assert not sitemap.fault
    assert read_test_sitemap(urlset(*["https://site.example.com/a"] * MAX_URLS)).count == MAX_URLS


def test_sitemap_index_stores_only_its_first_sitemaps() -> None:
    entries = "".join(f"<sitemap><loc>https://site.example.com/{n}</loc></sitemap>" for n in range(600))
    sitemap = read_test_sitemap(f'<sitemapindex xmlns="{NAMESPACE}">{entries}</sitemapindex>')
    assert sitemap.count == 600
    assert len(sitemap.children) == 500


@pytest.mark.parametrize(
    "head", [b"<urlset>", b"<urlset><a b='", b"<urlset><loc>", b"https://site.example.com/", b"<!--"]
)
@pytest.mark.parametrize("repeated", [b" ", b"x", b"<a/>"])
def test_decompression_bomb_is_parsed_fast(head: bytes, repeated: bytes) -> None:
    bomb = gzip_reproducibly(head + repeated * (MAX_BYTES // len(repeated) + 1), 1)
    started = time.process_time()
    sitemap = read_test_sitemap(bomb)
    assert time.process_time() - started < 5
    assert sitemap.fault or sitemap.size_bytes > MAX_BYTES or not sitemap.is_whole


@given(st.binary(max_size=200), st.booleans())
def test_arbitrary_content_is_parsed_as_a_sitemap(content: bytes, is_cut: bool) -> None:
    for data in (content, gzip_reproducibly(content), OPEN.encode() + content):
        assert isinstance(read_test_sitemap(data, is_cut=is_cut), Sitemap)


@given(st.lists(st.text("abc/%é&<>?#", max_size=10), max_size=8))
def test_every_URL_of_a_sitemap_is_counted(paths: list[str]) -> None:
    escaped = [path.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for path in paths]
    sitemap = read_test_sitemap(urlset(*(f"https://site.example.com/{path}" for path in escaped)))
    assert (sitemap.fault, sitemap.count, sitemap.relative_url_count, sitemap.foreign_url_count) == (
        "",
        len(paths),
        0,
        0,
    )
