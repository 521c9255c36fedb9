"""Addresses of pages: which belong to the site, which are the same page, and which patterns they match."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.crawl.discovery.addresses import Site, identity, is_file
from website_scan.crawl.discovery.mazes import Mazes, shape
from website_scan.crawl.discovery.patterns import MAX_PATTERNS, Patterns, pattern_fault
from website_scan.crawl.robots import normalised_path
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target

SITE = Site(parse_target("https://www.shop.com/start", Policy()))
BASE = "https://www.shop.com/a/b"


@pytest.mark.parametrize(
    ("reference", "path"),
    [
        ("c", "/a/c"),
        ("/c#part", "/c"),
        ("../c?x=1#y", "/c?x=1"),
        ("https://www.shop.com", "/"),
        ("HTTPS://WWW.SHOP.COM/C", "/C"),
        ("http://shop.com/c", "/c"),  # http and the host without www redirect here
        ("https://shop.com:443/c", "/c"),
        ("//shop.com./c", "/c"),
        ("https://www.shop.com//other.com/c", "//other.com/c"),
        ("https://www.shop.com/.well-known/c", "/.well-known/c"),
        ("https://www.shop.com/a/./b/..", "/a/"),
        ("https://www.shop.com/a/.", "/a/"),
        ("/c?", "/c"),
        ("/c?&&x=1&", "/c?x=1"),
        ("/größe", "/gr%C3%B6%C3%9Fe"),
        ("/c?utm_source=a&x=1&fbclid=b&gclid=c", "/c?x=1"),
        ("/c;jsessionid=0123ABCD?x=1", "/c?x=1"),
        ("/(S(abc0123))/c.aspx", "/c.aspx"),
        ("/c?PHPSESSID=0123456789abcdef", "/c"),
        ("/c?sid=2f9a0e1b7c3d4e5f6a7b", "/c"),
        ("/c?s=shoes", "/c?s=shoes"),
        ("/story?sid=5", "/story?sid=5"),  # the number of an article
        ("/c?session=morning", "/c?session=morning"),
        (" /c\n", "/c"),
        ("https://shop.com.evil.org/c", None),
        ("https://www.shop.com.evil.org/", None),
        ("https://www.shop.com@evil.org/", None),
        ("https://blog.shop.com/", None),
        ("https://user:secret@www.shop.com/", None),
        ("https://www.shop.com:8443/", None),
        ("http://10.0.0.1/", None),
        ("mailto:me@shop.com", None),
        ("javascript:void(0)", None),
        ("ftp://www.shop.com/", None),
        ("https://[", None),
        ("/a%00b", None),
        ("/a%0d%0aSet-Cookie:x", None),
        ("/" + "x" * 2048, None),
        ("/" + "é" * 500, None),
    ],
)
def test_addresses_of_the_site(reference: str, path: str | None) -> None:
    assert SITE.path(reference, BASE) == path


def test_another_port_is_another_site() -> None:
    site = Site(parse_target("https://www.shop.com:8443/", Policy()))
    assert site.path("https://shop.com:8443/c", BASE) == "/c"
    assert site.path("http://www.shop.com:8443/c", BASE) is None
    assert site.path("https://www.shop.com/c", BASE) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/a?x=1&y=2", "/a?y=2&x=1"),
        ("/%7Ea", "/~a"),
        ("/a/", "/a"),
        ("/a/?x=1", "/a?x=1"),
        ("/a%2fb", "/a%2Fb"),
        ("/gr%c3%b6", "/gr%C3%B6"),
    ],
)
def test_one_page_has_one_identity(one: str, other: str) -> None:
    assert identity(one) == identity(other)


@pytest.mark.parametrize(
    ("one", "other"), [("/a", "/"), ("/a", "/A"), ("/a?x=1", "/a?x=2"), ("/a?x=1&x=2", "/a?x=1"), ("/a%2Fb", "/a/b")]
)
def test_two_pages_have_two(one: str, other: str) -> None:
    assert identity(one) != identity(other)


@given(st.text(max_size=60))
def test_a_page_of_the_site_is_one_under_its_own_url(reference: str) -> None:
    path = SITE.path(reference, BASE)
    if path is not None:
        url = SITE.url(path)
        assert parse_target(url, Policy()).url == url, "it can be scanned, and is canonical"
        assert SITE.path(url, BASE) == path


@pytest.mark.parametrize("path", ["/a.pdf", "/a.PDF?x=1", "/b/c.jpeg", "/x.tar.gz", "/feed.rss", "/style.css"])
def test_files_are_no_pages(path: str) -> None:
    assert is_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/a",
        "/a.html",
        "/a.php?f=b.pdf",
        "/wiki/File:Map.png",
        "/wiki/Datei%3AKarte.png",
        "/asp.net",
        "/pdf",
        "/v1.2",
        "/company-inc.",
        "/a.pdf/",
        "/wiki/Node.js",
    ],
)
def test_pages_may_look_like_files(path: str) -> None:
    assert not is_file(path)


@pytest.mark.parametrize(
    ("pattern", "path", "is_match"),
    [
        ("/docs/*", "/docs/a?b=c", True),
        ("/docs/*", "/docs", False),
        ("/docs", "/docs/a", False),
        ("/docs", "/docs", True),
        ("*?page=*", "/list?page=2", True),
        ("*?page=*", "/list?x=1&page=2", False),
        ("*page=*", "/list?x=1&page=2", True),
        ("/*.html", "/a.html", True),
        ("/*.html", "/a.html?x", False),
        ("/größe/*", "/gr%C3%B6%C3%9Fe/x", True),
        ("/a$b", "/a$b", True),
        ("/a$", "/a", False),
        ("/%7Euser/*", "/~user/x", True),
        ("*", "/", True),
    ],
)
def test_patterns(pattern: str, path: str, is_match: bool) -> None:
    assert Patterns(include=(pattern,)).admit(normalised_path(path)) == is_match
    assert Patterns(exclude=(pattern,)).admit(normalised_path(path)) != is_match


def test_an_exclusion_wins() -> None:
    patterns = Patterns(("/docs/*",), ("*/old/*",))
    assert patterns.admit("/docs/new/a")
    assert not patterns.admit("/docs/old/a")
    assert not patterns.admit("/")


@pytest.mark.parametrize("pattern", ["", "docs/*", "https://shop.com/*", "/" + "a" * 500, "/a\nb", "/\ud800"])
def test_patterns_that_can_not_be_meant_are_refused(pattern: str) -> None:
    assert pattern_fault(pattern)
    with pytest.raises(ValueError, match="pattern"):
        Patterns(include=(pattern,))


def test_there_is_a_limit_to_patterns() -> None:
    Patterns(include=("/a",) * MAX_PATTERNS)
    with pytest.raises(ValueError, match="at most 50"):
        Patterns(exclude=("/a",) * (MAX_PATTERNS + 1))


def test_hostile_patterns_and_paths_take_linear_time() -> None:
    patterns = Patterns(exclude=("*a" * 249 + "*b",) * MAX_PATTERNS)
    path = "/" + "a" * 2000
    site_path = "https://www.shop.com/" + "a1" * 1000
    began = time.thread_time()
    assert patterns.admit(path)
    for _ in range(100):
        SITE.path(site_path, BASE)
        shape(path)
        identity(path)
    assert time.thread_time() - began < 1.0


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/calendar/2026/11", "/calendar/…/…"),
        ("/list?page=2", "/list?…"),
        ("/p/0123456789abcdef0123", "/p/…"),
        ("/top-10-cakes-of-the-old-town-bakery", "/top-…-cakes-of-the-old-town-bakery"),
        ("/impressum", "/impressum"),
    ],
)
def test_shapes(path: str, expected: str) -> None:
    assert shape(path) == expected


def test_one_shape_fills_at_most_half_of_a_list() -> None:
    mazes = Mazes(100)
    admitted = [each for each in range(80) if mazes.admit(f"/item/{each}", "/item/…", 2, 0)]
    assert len(admitted) == 50
    assert mazes.left_out == 30
    assert mazes.example == "/item/…"
    assert all(mazes.admit(f"/word-{each}", f"/word-{each}", 2, 0) for each in "abc")


def test_links_that_make_themselves_longer_end() -> None:
    mazes = Mazes(100)
    assert mazes.admit("/a/b/a/b/a/b", "/a/b/a/b/a/b", 3, 0)
    assert not mazes.admit("/a/b/a/b/a/b/a/b", "/a/b/a/b/a/b/a/b", 4, 0)
    assert not mazes.admit("/" + "/".join("abcdefghijklmnop"), "x", 4, 0)
    assert not mazes.admit("/deep", "/deep", 21, 0)
