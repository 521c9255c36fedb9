"""Test that the header parsers of SEO checks take linear time.

They must accept any input.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.cast import NOW, document, head, page
from website_scan.crawl.canonicals import read_canonicals
from website_scan.crawl.indexing import parse_date, read_indexing_rules
from website_scan.crawl.link_relations import header_links

FIELD = st.text(alphabet="abnoidex:;,=<>\"' \\/._-1237", max_size=60)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("25 Jun 2010 15:00:00 GMT", datetime(2010, 6, 25, 15, tzinfo=UTC)),
        ("25-Jun-2010 15:00:00 PST", datetime(2010, 6, 25, 23, tzinfo=UTC)),
        ("Friday, 25-Jun-10 15:00:00 UTC", datetime(2010, 6, 25, 15, tzinfo=UTC)),
        ("2010-06-25", datetime(2010, 6, 25, tzinfo=UTC)),
        ("2010-06-25T15:00:00Z", datetime(2010, 6, 25, 15, tzinfo=UTC)),
        ("2010-06-25 15:00:00+02:00", datetime(2010, 6, 25, 13, tzinfo=UTC)),
        ("2010-06-25 15:00 GMT", datetime(2010, 6, 25, 15, tzinfo=UTC)),
        ("25 Jun 2010", datetime(2010, 6, 25, tzinfo=UTC)),
        ("2010-13-45", None),
        ("99 Foo 2010 00:00:00 GMT", None),
        ("next week", None),
        ("", None),
    ],
)
def test_parse_date_reads_RFC_and_ISO_dates(text: str, date: datetime | None) -> None:
    assert parse_date(text) == date


@given(st.text(max_size=40))
def test_parse_date_never_fails(text: str) -> None:
    date = parse_date(text)
    assert date is None or date.tzinfo is not None


@given(FIELD)
def test_arbitrary_X_Robots_Tag_is_parsed(value: str) -> None:
    seen = page(head(""), ("X-Robots-Tag", value), ("X-Robots-Tag", "noindex"))
    assert read_indexing_rules(seen, document(seen), NOW).excluding


@given(FIELD)
def test_invalid_Link_header_does_not_hide_others(value: str) -> None:
    seen = page(head(""), ("Link", value), ("Link", "</a>; rel=canonical"))
    assert read_canonicals(seen, document(seen)).links[-1].reference == "/a"
    assert list(header_links(seen))


def test_hostile_robots_metas_are_parsed_fast() -> None:
    seen = page(head(f"<meta name=robots content='{'a,' * 300_000}'>"))
    started = time.monotonic()
    assert read_indexing_rules(seen, document(seen), NOW).rules
    assert time.monotonic() - started < 5
