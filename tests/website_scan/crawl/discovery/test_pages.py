"""Test that a page list stays within its limit.

It must have no duplicates.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from website_scan.crawl.discovery.addresses import identity
from website_scan.crawl.discovery.effort import Effort
from website_scan.crawl.discovery.pages import Admission, PageList
from website_scan.crawl.discovery.patterns import Patterns
from website_scan.crawl.robots import CrawlerRules, parse_robots

PATHS = st.sampled_from(
    ["/", "/a", "/b", "/c", "/d?x=1&y=2", "/d?y=2&x=1", "/%7Ee", "/~e", "/secret", "/old/f", "/g.pdf"]
)
STEPS = st.lists(st.tuples(st.sampled_from(["add", "drop", "redirect", "merge"]), PATHS, PATHS), max_size=30)


def page_list(max_pages: int = 4) -> PageList:
    rules = CrawlerRules(parse_robots(b"User-agent: *\nDisallow: /secret"), "any")
    return PageList(rules, Patterns(exclude=("/old/*",)), max_pages, Effort(60, max_pages))


@given(STEPS)
def test_page_list_respects_its_limit(steps: list[tuple[str, str, str]]) -> None:
    pages = page_list()
    for step, path, other in steps:
        match step:
            case "add":
                pages.add(path)
            case "drop":
                pages.drop(path)
            case "redirect":
                pages.redirect(path, other)
            case "merge":
                before = len(pages)
                pages.merge(path, other)
                assert before - 1 <= len(pages) <= before
        assert len(pages) == len(pages.paths) <= 4
        assert len(set(map(identity, pages.paths))) == len(pages)
        assert not {"/secret", "/old/f"} & set(pages.paths)


def test_redirect_target_replaces_its_source() -> None:
    pages = page_list()
    for path in ("/a", "/b", "/c"):
        assert pages.add(path) is Admission.NEW
    assert pages.redirect("/a", "/new") is Admission.NEW
    pages.merge("/b", "/other")
    assert list(pages.paths) == ["/new", "/other", "/c"]
    assert pages.add("/a") is Admission.KNOWN
    assert pages.redirect("/new", "/c") is Admission.KNOWN
    assert list(pages.paths) == ["/other", "/c"]


def test_pages_beyond_the_limit_are_counted_once() -> None:
    pages = page_list(2)
    admissions = [pages.add(path) for path in ("/a", "/b", "/c", "/c", "/secret", "/a")]
    assert admissions == [
        *(Admission.NEW, Admission.NEW, Admission.OVERFLOWING),
        *(Admission.KNOWN, Admission.REFUSED, Admission.KNOWN),
    ]
    assert (pages.found, pages.overflow, pages.forbidden) == (3, 1, 1)
