"""Evidence as tables: values with units, URLs that can be cut, and no table without values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from website_scan.report.evidence.tables import END, Cell, Head, address, moment, tables, written


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("wire_bytes", 2048, "2.0 kB"),
        ("wire_bytes", 12, "12 B"),
        ("wire_bytes", 12_500_000, "12.5 MB"),
        ("ttfb_ms", 44.4, "44.4 ms"),
        ("lifetime_s", 31_536_000, "31,536,000 s"),
        ("unused_percent", 38, "38 %"),
        ("in_html", False, "No"),
        ("size_bytes", "many", "many"),
        ("not_after", "2027-01-21T15:36:31Z", "2027-01-21 15:36 UTC"),
        ("why", None, ""),
        ("a_former_size_bytes", 2048, "2.0 kB"),
    ],
)
def test_a_single_value_carries_its_unit(name: str, value: object, shown: str) -> None:
    assert written(name, value) == shown


def test_numbers_of_a_column_share_the_unit_of_its_head() -> None:
    (table,) = tables([{"wire_bytes": 900, "at_s": 1.5}, {"wire_bytes": 115_084}, {"wire_bytes": None, "at_s": 2}])
    assert table.heads == (Head("Transferred (kB)", "number"), Head("Starts at (s)", "number"))
    assert [[cell.text for cell in row] for row in table.rows] == [["0.9", "1.5"], ["115", ""], ["", "2"]]


def test_what_is_no_number_makes_no_column_of_numbers() -> None:
    (table,) = tables([{"status": 404}, {"status": "none"}])
    assert table.heads == (Head("HTTP status", "text"),)
    assert [row[0].text for row in table.rows] == ["404", "none"]


def test_no_evidence_is_no_table() -> None:
    assert tables([]) == tables([{}, {}]) == tables([{"error": None}, {"wcag": ""}]) == ()


def test_a_column_in_which_nothing_stands_is_left_out() -> None:
    (table,) = tables([{"url": "https://a.test/", "error": None}, {"url": "https://b.test/", "error": None}])
    assert [head.label for head in table.heads] == ["Address"]


def test_a_sentence_that_all_rows_repeat_is_said_once() -> None:
    why = "Element has no alt attribute"
    (table,) = tables([{"selector": "#a", "why": why}, {"selector": "#b", "why": why}])
    assert [(head.label, cell.text) for head, cell in table.same] == [("What is wrong", why)]
    assert [head.label for head in table.heads] == ["Selector"]
    assert [[cell.text for cell in row] for row in table.rows] == [["#a"], ["#b"]]


@pytest.mark.parametrize(
    "items",
    [
        [{"selector": "#a", "why": "one"}, {"selector": "#b", "why": "two"}],
        [{"selector": "#a", "why": "one"}, {"selector": "#b"}],
        [{"url": "/a", "status": 404}, {"url": "/b", "status": 404}],  # figures stay in the rows, to be compared
        [{"why": "one"}, {"why": "one"}],  # the rows must not be empty
        [{"selector": "#a", "why": "one"}],
    ],
)
def test_nothing_else_leaves_its_rows(items: list[dict[str, object]]) -> None:
    (table,) = tables(items)
    assert table.same == ()
    assert len(table.rows) == len(items)


def test_rows_know_which_items_they_are() -> None:
    one, other = tables([{"requests": 4}, {"url": "/a"}, {}, {"url": "/b"}])
    assert (one.numbers, other.numbers) == ((0,), (1, 3))


@given(st.text(max_size=300))
def test_an_address_is_whole_wherever_it_is_cut(text: str) -> None:
    found = address(text)
    assert found.whole == text
    assert len(found.end) in (0, END)


def test_https_goes_without_saying_and_http_does_not() -> None:
    assert address("https://a.test/") == Cell("a.test/", scheme="https://")
    assert address("http://a.test/") == Cell("http://a.test/")
    long = address("https://cdn.example.com/assets/js/vendor/carousel/1.8.1/carousel.min.js")
    assert (long.text[:16], long.end) == ("cdn.example.com/", "/carousel.min.js")


def test_what_is_no_moment_stays_as_it_is() -> None:
    assert moment("soon") == "soon"


def test_what_a_file_measures_is_no_address() -> None:
    (table,) = tables(
        [{"url": "https://a.test/a.png", "file": "900 by 900"}, {"url": "https://a.test/b.png", "file": "1 by 2"}]
    )
    assert [head.kind for head in table.heads] == ["address", "short"]
    (fonts,) = tables([{"family": "A", "file": "https://a.test/a.woff2"}, {"family": "B", "file": "/b.woff2"}])
    assert [head.kind for head in fonts.heads] == ["text", "address"]
