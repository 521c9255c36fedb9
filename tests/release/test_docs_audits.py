"""Tests that the limits in docs/audits.md match the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from website_scan.crawl import links, robots
from website_scan.crawl import sitemaps as files
from website_scan.crawl.discovery import crawl, effort, mazes, patterns, sitemaps
from website_scan.crawl.discovery.discover import discovery_limits
from website_scan.crawl.robots import product_token
from website_scan.net.policy import Policy

KIB = 1024
MIB = 1024 * KIB
TEXT = re.sub(r"\s+", " ", (Path(__file__).resolve().parents[2] / "docs" / "audits.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "sentence",
    [
        f"the group for `{product_token(Policy().user_agent)}`, or else",
        f"up to {patterns.MAX_PATTERNS} patterns of up to {patterns.MAX_PATTERN_LENGTH} characters",
        f"or {mazes.MIN_URLS_PER_SHAPE} places if that is more",
        f"more than {mazes.MAX_CLICK_DEPTH} clicks",
        f"| sitemaps | {sitemaps.MAX_FILES}, plus one for every {sitemaps.PAGES_PER_EXTRA_SITEMAP} pages of the list |",
        f"| {sitemaps.MAX_TRANSFERRED_BYTES // MIB} MiB as sent; "
        f"{files.MAX_BYTES // MIB} MiB and {files.MAX_URLS:,} addresses",
        f"| size of robots.txt | {robots.MAX_BYTES // KIB} KiB |",
        f"| {crawl.MAX_PAGE_BYTES // MIB} MiB, {links.MAX_LINKS:,} links |",
        f"| different addresses considered | {effort.MAX_URLS:,} |",
        f"| concurrent requests | {crawl.MAX_CONCURRENT_FETCHES}, or one",
    ],
)
def test_documented_limits_match_the_code(sentence: str) -> None:
    assert sentence in TEXT


def test_limits_in_words_match_the_code() -> None:
    assert effort.MAX_CRAWL_DELAY_S == 5, "up to five seconds"
    assert mazes.MAX_PAGES_OF_SHAPE_IN_A_ROW + 1 == 9, "a chain of nine"
    assert (crawl.MAX_FETCHES_PER_PAGE, crawl.EXTRA_FETCHES) == (2, 20), "twice the list, and 20"
    assert discovery_limits(1000).requests == 3 * 1000 + 200, "three times the list, and 200"
