"""Links with the same name but different destinations."""

from __future__ import annotations

import pytest

from tests.website_scan.cast import body, document, message, page, rows, severity_of, verdict
from website_scan.accessibility.checks.names import identical_links_same_purpose
from website_scan.accessibility.document import AccessibleDocument
from website_scan.findings import LOW
from website_scan.outcomes import Review, Verdict

# The path of the page is /shop/shoes: see `URL` in tests/website_scan/cast.py.
CASES = [
    ("<p>None", "n/a"),
    ("<a href=/a>A</a>", "pass"),
    ("<a href=/a>Read more</a><a href=/a>Read more</a>", "pass"),
    ("<a href=/a>Read more</a><a href=/b>Read more</a>", "warn"),
    ("<a href=/a>Read more</a><a href=/b>read more…</a>", "warn"),
    ("<a href=/a>Read more →</a><a href=/b>Read more</a>", "warn"),
    ("<a href=/a aria-label='More about A'>More</a><a href=/b aria-label='More about B'>More</a>", "pass"),
    ("<a href=/a><img src=a alt=Home></a><a href=/b>Home</a>", "warn"),
    ("<a href=/a><img src=a alt=''></a><a href=/b><i></i></a>", "n/a"),  # Links without a name are ignored.
    ("<a href=/a>→</a><a href=/b>→</a>", "n/a"),  # A symbol does not count as a name.
    # Different spellings of one URL are the same destination.
    ("<a href=/a>A</a><a href=/a/>A</a>", "pass"),
    ("<a href=/>A</a><a href=/index.html>A</a>", "pass"),
    ("<a href=http://example.com/a>A</a><a href=https://example.com:443/a>A</a>", "pass"),
    ("<a href=/a?x=1&amp;y=2>A</a><a href='/a?y=2&amp;x=1'>A</a>", "pass"),
    ("<a href=/shop/boots>A</a><a href=boots>A</a>", "pass"),
    ("<a href='#a'>A</a><a href='#b'>A</a>", "pass"),  # Links to different parts of one page have the same destination.
    # Fragments with a slash are routes of a single-page application.
    ("<a href='#/a'>A</a><a href='#/b'>A</a>", "warn"),
    ("<a href='#!a'>A</a><a href='#!b'>A</a>", "warn"),
    ("<a href=/a?x=1>A</a><a href=/a?x=2>A</a>", "warn"),
    ("<a href=/a.html>A</a><a href=/b.html>A</a>", "warn"),
    ("<a href=mailto:a@example.com>Mail</a><a href=mailto:b@example.com>Mail</a>", "warn"),
    ("<a href='javascript:void(0)'>More</a><a href='javascript:void(0)'>More</a>", "pass"),
    # Scripts decide where elements with role=link lead.
    ("<span role=link tabindex=0>More</span><span role=link tabindex=0>More</span>", "warn"),
    # Elements that are not links, and links that are hidden.
    ("<a href=/a role=button>More</a><a href=/b role=button>More</a>", "n/a"),
    ("<a href=/a>More</a><a href=/b hidden>More</a>", "pass"),
    ("<a href=/a>More</a><a href=/b aria-hidden=true>More</a>", "pass"),
    ("<a>More</a><a>More</a>", "n/a"),
    ("<map name=m><area href=/a alt=A><area href=/b alt=A></map>", "warn"),
    ("<a href='http://['>A</a><a href='http://]'>A</a>", "warn"),  # Two invalid URLs are different destinations.
]


def judge_links(markup: str) -> Verdict:
    return identical_links_same_purpose(AccessibleDocument(document(page(body(markup)))))


@pytest.mark.parametrize(("markup", "expected"), CASES)
def test_same_name_for_different_links_is_ambiguous(markup: str, expected: str) -> None:
    assert verdict(judge_links(markup)) == expected


def test_first_ambiguous_link_needs_a_review() -> None:
    finding = judge_links(
        "<a id=a href=/a>More</a><a id=b href=/b>More</a><a id=c href=/c>More</a><a href=/d>Other</a>"
    )
    assert isinstance(finding, Review)
    assert severity_of(identical_links_same_purpose, finding) is LOW
    assert [item["selector"] for item in rows(finding)] == ["#a"]
    assert message(finding) == (
        "Only a person can tell whether 1 of 2 link names belongs to links with different purposes."
    )
