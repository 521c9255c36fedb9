from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.crawl.robots import (
    MAX_BYTES,
    CrawlerRules,
    Robots,
    decide,
    normalised_path,
    normalised_pattern,
    parse_robots,
    product_token,
)


def is_allowed(text: str, path: str, agent: str = "googlebot") -> bool:
    return decide(parse_robots(text.encode()), agent, path).allowed


@pytest.mark.parametrize(
    ("pattern", "path", "is_blocked"),
    [
        ("/", "/", True),
        ("/private", "/private", True),
        ("/private", "/private/a", True),
        # The pattern matches every path that begins with /private, not only this folder.
        ("/private", "/privateer", True),
        ("/private/", "/private", False),
        ("/Private", "/private", False),
        ("/*", "/a", True),
        ("*", "/a", True),
        ("/*.pdf", "/a/b.pdf", True),
        ("/*.pdf$", "/a/b.pdf", True),
        ("/*.pdf$", "/a/b.pdf?page=2", False),
        ("/*.pdf$", "/a.pdf/b.pdf", True),
        ("/$", "/", True),
        ("/$", "/a", False),
        ("/a$b", "/a$b", True),  # A dollar sign inside a pattern is a literal character.
        ("/a%24", "/a$", True),
        ("/a%2Ab", "/a*b", True),
        ("/a%2Ab", "/axb", False),
        ("/*?", "/a?b=c", True),
        ("/a?b", "/a?b=c", True),
        ("/a*b*c", "/a-c-b", False),
        ("/a*b*c", "/a-b-c-d", True),
        ("/a**b", "/a--b", True),
        ("/*a$", "/a", True),
        ("/aa*a$", "/aa", False),  # The parts around the wildcard must not overlap.
        ("/caf\u00e9", "/caf%C3%A9", True),
        ("/caf%c3%a9", "/caf%C3%A9", True),
        ("/%7Ejoe/", "/~joe/", True),
        ("/a%2fb", "/a/b", False),  # An escaped slash is not the same character as a slash.
        ("/a%2fb", "/a%2Fb", True),
        ("/a b", "/a%20b", True),
        ("/a#b", "/a", True),  # A comment begins after the number sign.
        ("private", "/private", False),  # A pattern that is not a path is ignored.
        ("", "/", False),
    ],
)
def test_pattern_blocks_matching_paths(pattern: str, path: str, is_blocked: bool) -> None:
    assert is_allowed(f"User-agent: *\nDisallow: {pattern}", path) is not is_blocked


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("Disallow: /\nAllow: /page", True),
        ("Allow: /page\nDisallow: /page", True),  # Allow takes precedence over an equally long Disallow.
        ("Allow: /p\nDisallow: /pa", False),  # The longer rule takes precedence, in either order.
        ("Disallow: /pa\nAllow: /p", False),
        ("Allow: /\nDisallow: /*e$", False),
        ("Disallow:", True),
        ("Disallow: /\nDisallow:", False),
    ],
)
def test_longest_matching_pattern_decides(lines: str, expected: bool) -> None:
    assert is_allowed(f"User-agent: *\n{lines}", "/page") is expected


@pytest.mark.parametrize(
    ("text", "agent", "expected"),
    [
        ("User-agent: *\nDisallow: /\n\nUser-agent: googlebot\nAllow: /", "googlebot", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: googlebot\nAllow: /", "bingbot", False),
        ("User-agent: *\nDisallow: /\nUser-agent: GoogleBot/2.1 (x)\nDisallow:", "googlebot", True),
        ("User-agent: googlebot\nDisallow: /a\nUser-agent: googlebot\nDisallow: /page", "googlebot", False),
        ("User-agent: googlebot\nDisallow: /a\nUser-agent: *\nDisallow: /page", "googlebot", True),
        ("User-agent: googlebot-image\nDisallow: /", "googlebot", True),
        ("User-agent: bingbot\nUser-agent: googlebot\nDisallow: /", "googlebot", False),
        ("User-agent: bingbot\n\n# and\nUser-agent: googlebot\nDisallow: /", "googlebot", False),
        ("User-agent: bingbot\nCrawl-delay: 9\nUser-agent: googlebot\nDisallow: /", "googlebot", False),
        ("User-agent: bingbot\nSitemap: https://a.example/s.xml\nDisallow: /", "bingbot", False),
        ("User-agent: bingbot\nDisallow:\nUser-agent: *\nDisallow: /", "bingbot", True),
        ("Disallow: /\nUser-agent: bingbot\nDisallow: /", "googlebot", True),
        ("User-agent: 007\nDisallow: /", "googlebot", True),
        ("User-agent: *\nDisallow: /\nUser-agent: * \nAllow: /page", "googlebot", True),
        ("User-agent: * everybody\nDisallow: /", "googlebot", False),
        ("USER-AGENT: *\ndisallow: /", "googlebot", False),
        ("User-agent : *\nDisallow : /", "googlebot", False),
        ("User-agent: *\nDisallow /page", "googlebot", False),  # Google's parser accepts a line without a colon.
        ("useragent: *\ndisalow: /", "googlebot", False),
        ("User-agent: *\rDisallow: /", "googlebot", False),
        ("\ufeffUser-agent: *\r\nDisallow: /", "googlebot", False),
        ("User-agent: * # all\nDisallow: / # of it", "googlebot", False),
        ("<!doctype html><title>A page</title>", "googlebot", True),
        ("", "googlebot", True),
    ],
)
def test_rules_come_from_the_crawlers_own_group(text: str, agent: str, expected: bool) -> None:
    assert is_allowed(text, "/page", agent) is expected


@pytest.mark.parametrize(
    ("allow", "path", "googlebot", "others"),
    [
        ("/index.html", "/", True, False),
        ("/index.htm", "/", True, False),
        ("/shop/index.html", "/shop/", True, False),
        ("/*/index.html", "/shop/", True, False),
        ("/index.html", "/index.html", True, True),
        ("/index.html", "/?page=2", False, False),  # Only the directory itself is allowed, without a query.
        ("/index.html", "/shop/", False, False),
        ("/index.html/a", "/", False, False),
        ("/my-index.html", "/", False, False),
        ("/index.php", "/", False, False),
        ("/INDEX.HTML", "/", False, False),
    ],
)
def test_Google_allows_the_directory_of_an_index_page(allow: str, path: str, googlebot: bool, others: bool) -> None:
    text = f"User-agent: *\nDisallow: /\nAllow: {allow}"
    assert is_allowed(text, path, "googlebot") is googlebot
    assert is_allowed(text, path, "bingbot") is others


def test_disallowed_index_page_keeps_directory_allowed() -> None:
    assert is_allowed("User-agent: *\nDisallow: /index.html", "/")


def test_robots_txt_itself_is_always_allowed() -> None:
    assert is_allowed("User-agent: *\nDisallow: /", "/robots.txt")


def test_deciding_robots_line_is_quoted_as_written() -> None:
    decision = decide(
        parse_robots(b"# Ours\nUser-agent: *\n  Disallow:  /caf\xc3\xa9 # no\n"), "googlebot", "/caf%C3%A9"
    )
    assert decision.quoted == "“Disallow:  /café # no” (line 3, for all crawlers)"


def test_robots_faults_have_line_numbers() -> None:
    robots = parse_robots(b"Disallow: /\nUser-agent: *\nhello world\nDisallow: private\nUser-agent: 7\nHost: a")
    assert [(fault.line, fault.text) for fault in robots.faults] == [
        (1, "Disallow: /"),
        (3, "hello world"),
        (4, "Disallow: private"),
        (5, "User-agent: 7"),
    ]


@pytest.mark.parametrize(
    ("line", "is_fault"),
    [
        ("Crawl-delay: 10", False),
        ("Host: site.example.com", False),
        ("Clean-param: ref /articles/", False),
        ("Content-Signal: search=yes, ai-train=no", False),
        ("Request_rate: 1/5", False),
        ("Noindex: /a", False),
        ("Sitemap: https://site.example.com/sitemap.xml", False),
        ("# anything at all", False),
        ("Sitemap: /sitemap.xml", True),
        ("Sitemap:", True),
        ("alow: /a", True),
        ("Allows: /a", True),
        ("User-agents: *", True),
        ("Sitemaps: https://site.example.com/sitemap.xml", True),
        ("Disalow: /a", False),  # Google's parser accepts common misspellings of field names.
        ("Visit-time: 0600-0845", False),
        ("Cache-delay: 10", False),
        ("Disallow: /*.pdf$", False),
        ("Disallow: /$", False),
        ("Disallow: /a$/b", True),
        ("Disallow: /*.php$*", True),
        ("Disallow: /service/$metadata", False),  # OData uses literal dollar signs in paths.
        ("Disallow: /list?$filter=a", False),
        ("https://site.example.com/sitemap.xml", True),
        ("Everybody is welcome", True),
        ("<!-- a comment -->", True),
    ],
)
def test_only_unsupported_lines_are_faults(line: str, is_fault: bool) -> None:
    assert bool(parse_robots(f"User-agent: *\nDisallow:\n{line}".encode()).faults) is is_fault


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xef\xbb", b"\xef", b""])
def test_partial_byte_order_mark_is_removed(mark: bytes) -> None:
    robots = parse_robots(mark + b"User-agent: *\nDisallow: /a")
    assert not decide(robots, "googlebot", "/a").allowed
    assert not robots.faults


def test_sitemap_lines_may_be_anywhere_in_robots_txt() -> None:
    assert parse_robots(b"Sitemap: https://a.example/1.xml\nUser-agent: *\nSITEMAP:/2.xml").sitemaps == (
        "https://a.example/1.xml",
        "/2.xml",
    )


def test_rules_beyond_500_KiB_are_ignored() -> None:
    head = b"User-agent: *\n"
    filler = b"#" * (MAX_BYTES - len(head) - len(b"\nDisallow: /")) + b"\n"
    robots = parse_robots(head + filler + b"Disallow: /private\nDisallow: /other")
    assert robots.groups[0].rules == ()


def test_hostile_pattern_is_matched_fast() -> None:
    pattern = "/" + "*a" * 5_000 + "b"
    started = time.monotonic()
    assert is_allowed(f"User-agent: *\nDisallow: {pattern}", "/" + "a" * 10_000)
    assert time.monotonic() - started < 2


LINES = st.lists(
    st.one_of(
        st.sampled_from(["User-agent: *", "User-agent: googlebot", "", "# x", "Crawl-delay: 3"]),
        st.builds("Disallow: /{}".format, st.text("ab*$/%", max_size=5)),
        st.builds("Allow: /{}".format, st.text("ab*$/%", max_size=5)),
    ),
    max_size=12,
)
PATHS = st.builds("/{}".format, st.text("ab/", max_size=6))


@given(st.binary(max_size=300), st.text(max_size=20))
def test_arbitrary_robots_txt_is_parsed(content: bytes, path: str) -> None:
    robots = parse_robots(content)
    assert isinstance(robots, Robots)
    decide(robots, "googlebot", "/" + path)


@given(LINES, PATHS)
def test_line_endings_do_not_affect_the_rules(lines: list[str], path: str) -> None:
    plain = decide(parse_robots("\n".join(lines).encode()), "googlebot", path)
    assert decide(parse_robots("\r\n".join(lines).encode()), "googlebot", path) == plain


@given(LINES, PATHS)
def test_group_for_another_crawler_has_no_effect(lines: list[str], path: str) -> None:
    text = "\n".join(lines)
    extended = f"{text}\nUser-agent: someoneelse\nDisallow: /\n"
    before = decide(parse_robots(f"User-agent: *\nDisallow:\n{text}".encode()), "googlebot", path)
    after = decide(parse_robots(f"User-agent: *\nDisallow:\n{extended}".encode()), "googlebot", path)
    if not lines or not _ends_in_agents(lines):
        assert (after.allowed, after.rule) == (before.allowed, before.rule)


def _ends_in_agents(lines: list[str]) -> bool:
    last = [line for line in lines if line.partition(":")[0] in ("User-agent", "Allow", "Disallow")]
    return bool(last) and last[-1].startswith("User-agent")


@given(st.text("abc*$%/?=é ", max_size=12), PATHS)
def test_allow_wins_over_the_same_disallow(pattern: str, path: str) -> None:
    assert is_allowed(f"User-agent: *\nDisallow: /{pattern}\nAllow: /{pattern}", path)


@given(st.text(max_size=20))
def test_normalizing_a_path_is_idempotent(path: str) -> None:
    once = normalised_path(path)
    assert normalised_path(once) == once
    pattern = normalised_pattern(path.encode("utf-8", "replace"))
    assert normalised_pattern(pattern.encode()) == pattern


@given(LINES, PATHS)
def test_CrawlerRules_agree_with_the_function_decide(lines: list[str], path: str) -> None:
    robots = parse_robots("\n".join(lines).encode())
    for agent in ("googlebot", "somebody"):
        rules = CrawlerRules(robots, agent)
        assert rules.allows(normalised_path(path)) == decide(robots, agent, path).allowed


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("User-agent: *\nCrawl-delay: 2\nDisallow: /a", 2.0),
        ("User-agent: *\nDisallow: /a\ncrawl-delay : 0.5", 0.5),
        # The two user agents form one group, because no rule is between them.
        ("User-agent: *\nCrawl-delay: 2\nUser-agent: mine\nCrawl-delay: 7", 7.0),
        ("User-agent: *\nCrawl-delay: 9\nDisallow:\nUser-agent: mine\nDisallow:", 0.0),
        ("User-agent: mine\nDisallow: /a\nUser-agent: other\nCrawl-delay: 30", 0.0),
        ("Crawl-delay: 9\nUser-agent: *\nDisallow:", 0.0),
        ("User-agent: *\nCrawl-delay: -1", 0.0),
        ("User-agent: *\nCrawl-delay: nan", 0.0),
        ("User-agent: *\nCrawl-delay: 99999999999", 0.0),
        ("", 0.0),
    ],
)
def test_crawl_delay_comes_from_the_crawlers_own_group(lines: str, expected: float) -> None:
    assert CrawlerRules(parse_robots(lines.encode()), "mine").crawl_delay_s == expected


def test_product_token_begins_the_user_agent() -> None:
    assert product_token("WebsiteScanService/1.0 (+https://example.com)") == "WebsiteScanService"
    assert product_token("1/2") == "*"
