"""Tests for assigning, comparing and filtering page addresses."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.crawl.discovery.addresses import Site, has_file_extension, identity
from website_scan.crawl.discovery.mazes import CrawlerTraps, shape
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
        ("http://shop.com/c", "/c"),  # http:// and the host without www redirect to the start page's host.
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
        ("/story?sid=5", "/story?sid=5"),  # The parameter's value is an article number, not a session ID.
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
def test_reference_on_the_same_site_becomes_a_path(reference: str, path: str | None) -> None:
    assert SITE.path(reference, BASE) == path


def test_different_port_is_a_different_site() -> None:
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
def test_spellings_of_one_path_have_the_same_identity(one: str, other: str) -> None:
    assert identity(one) == identity(other)


@pytest.mark.parametrize(
    ("one", "other"), [("/a", "/"), ("/a", "/A"), ("/a?x=1", "/a?x=2"), ("/a?x=1&x=2", "/a?x=1"), ("/a%2Fb", "/a/b")]
)
def test_different_paths_have_different_identities(one: str, other: str) -> None:
    assert identity(one) != identity(other)


@given(st.text(max_size=60))
def test_path_round_trips_through_its_URL(reference: str) -> None:
    path = SITE.path(reference, BASE)
    if path is not None:
        url = SITE.url(path)
        assert parse_target(url, Policy()).url == url, "it can be scanned, and is canonical"
        assert SITE.path(url, BASE) == path


@pytest.mark.parametrize("path", ["/a.pdf", "/a.PDF?x=1", "/b/c.jpeg", "/x.tar.gz", "/feed.rss", "/style.css"])
def test_path_with_a_file_extension_is_not_a_page(path: str) -> None:
    assert has_file_extension(path)


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
def test_page_that_resembles_a_file_is_a_page(path: str) -> None:
    assert not has_file_extension(path)


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
def test_pattern_includes_or_excludes_matching_paths(pattern: str, path: str, is_match: bool) -> None:
    assert Patterns(include=(pattern,)).admit(normalised_path(path)) == is_match
    assert Patterns(exclude=(pattern,)).admit(normalised_path(path)) != is_match


def test_exclude_pattern_overrides_include_pattern() -> None:
    patterns = Patterns(("/docs/*",), ("*/old/*",))
    assert patterns.admit("/docs/new/a")
    assert not patterns.admit("/docs/old/a")
    assert not patterns.admit("/")


@pytest.mark.parametrize("pattern", ["", "docs/*", "https://shop.com/*", "/" + "a" * 500, "/a\nb", "/\ud800"])
def test_invalid_path_pattern_raises_ValueError(pattern: str) -> None:
    assert pattern_fault(pattern)
    with pytest.raises(ValueError, match="pattern"):
        Patterns(include=(pattern,))


def test_too_many_path_patterns_raise_ValueError() -> None:
    Patterns(include=("/a",) * MAX_PATTERNS)
    with pytest.raises(ValueError, match="at most 50"):
        Patterns(exclude=("/a",) * (MAX_PATTERNS + 1))


def test_hostile_patterns_are_matched_in_linear_time() -> None:
    patterns = Patterns(exclude=("*a" * 249 + "*b",) * MAX_PATTERNS)
    path = "/" + "a" * 2000
    site_path = "https://www.shop.com/" + "a1" * 1000
    start_s = time.thread_time()
    assert patterns.admit(path)
    for _ in range(100):
        SITE.path(site_path, BASE)
        shape(path)
        identity(path)
    assert time.thread_time() - start_s < 1.0


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
def test_path_shape_omits_numbers_and_IDs(path: str, expected: str) -> None:
    assert shape(path) == expected


def test_similar_paths_fill_at_most_half_the_list() -> None:
    mazes = CrawlerTraps(100)
    admitted = [number for number in range(80) if mazes.admit(f"/item/{number}", "/item/…", 2, 0)]
    assert len(admitted) == 50
    assert mazes.left_out == 30
    assert mazes.example == "/item/…"
    assert all(mazes.admit(f"/word-{letter}", f"/word-{letter}", 2, 0) for letter in "abc")


def test_paths_with_repeated_segments_are_refused() -> None:
    mazes = CrawlerTraps(100)
    assert mazes.admit("/a/b/a/b/a/b", "/a/b/a/b/a/b", 3, 0)
    assert not mazes.admit("/a/b/a/b/a/b/a/b", "/a/b/a/b/a/b/a/b", 4, 0)
    assert not mazes.admit("/" + "/".join("abcdefghijklmnop"), "x", 4, 0)
    assert not mazes.admit("/deep", "/deep", 21, 0)
