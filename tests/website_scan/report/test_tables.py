"""Tests for tables of places and details."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.results import elements, stored_finding
from website_scan.json_types import JsonValue
from website_scan.places import Column, Element, Place, Resource, Rows
from website_scan.report.tables import END, Cell, ColumnHead, address, formatted, moment, tables
from website_scan.report_json import StoredColumn, StoredTable

TRANSFERRED = Column("Transferred", "number", "bytes")
AT: StoredColumn = {"name": "at_s", "label": "Starts at", "format": "number", "unit": "s"}
BYTES: StoredColumn = {"name": "wire_bytes", "label": "Transferred", "format": "number", "unit": "bytes"}
STATUS: StoredColumn = {"name": "status", "label": "HTTP status", "format": "number"}
SELECTOR: StoredColumn = {"name": "selector", "label": "Selector", "format": "code"}
WHY: StoredColumn = {"name": "why", "label": "What is wrong", "format": "text"}
URL: StoredColumn = {"name": "url", "label": "Address", "format": "address"}


def table(columns: Sequence[StoredColumn], *rows: Sequence[JsonValue]) -> StoredTable:
    return {"kind": "thing", "columns": list(columns), "rows": [list(row) for row in rows], "total": len(rows)}


def stored_tables(*places: Place) -> list[StoredTable]:
    """Return tables of details as a stored report contains them."""
    return stored_finding("x", details=Rows.of(places))["details"]


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        (TRANSFERRED, 2048, "2.0 kB"),
        (TRANSFERRED, 12, "12 B"),
        (TRANSFERRED, 12_500_000, "12.5 MB"),
        (TRANSFERRED, None, ""),
        (Column("Time to first byte", "number", "ms"), 44.4, "44.4 ms"),
        (Column("Lifetime", "number", "s"), 31_536_000, "31,536,000 s"),
        (Column("Share unused", "number", "%"), 38, "38 %"),
        (Column("In the HTML", "short"), False, "No"),
        (Column("Valid until", "moment"), "2027-01-21T15:36:31Z", "2027-01-21 15:36 UTC"),
        (Column("What is wrong"), None, ""),
    ],
)
def test_single_value_has_its_unit(column: Column, value: JsonValue, text: str) -> None:
    assert formatted(column, value) == text


def test_column_heading_states_the_unit() -> None:
    (only_table,) = tables([table([BYTES, AT], [900, 1.5], [115_084, None], [None, 2])])
    assert only_table.heads == (ColumnHead("Transferred (kB)", "number"), ColumnHead("Starts at (s)", "number"))
    assert [[cell.text for cell in row] for row in only_table.rows] == [["0.9", "1.5"], ["115", ""], ["", "2"]]


def test_finding_without_places_has_no_table() -> None:
    assert tables([]) == tables(stored_tables()) == ()
    assert tables([table([URL], ["/a"])], without=("url",)) == ()


def test_column_without_values_is_left_out() -> None:
    (only_table,) = tables(stored_tables(Element("#a"), Element("#b", why="")))
    assert [head.label for head in only_table.heads] == ["Selector"]


def test_shared_text_is_shown_once() -> None:
    why = "Element has no alt attribute"
    (only_table,) = tables([table([SELECTOR, WHY], ["#a", why], ["#b", why])])
    assert [(head.label, cell.text) for head, cell in only_table.same] == [("What is wrong", why)]
    assert [head.label for head in only_table.heads] == ["Selector"]
    assert [[cell.text for cell in row] for row in only_table.rows] == [["#a"], ["#b"]]


@pytest.mark.parametrize(
    "stored",
    [
        table([SELECTOR, WHY], ["#a", "one"], ["#b", "two"]),
        table([SELECTOR, WHY], ["#a", "one"], ["#b", None]),
        table([URL, STATUS], ["/a", 404], ["/b", 404]),  # Numbers remain in the rows.
        table([WHY], ["one"], ["one"]),  # A row must not be empty.
        table([SELECTOR, WHY], ["#a", "one"]),
    ],
)
def test_differing_columns_stay_in_rows(stored: StoredTable) -> None:
    (only_table,) = tables([stored])
    assert only_table.same == ()
    assert len(only_table.rows) == len(stored["rows"])


def test_row_numbers_continue_across_tables() -> None:
    one, other = tables(stored_tables(*elements("#a", "#b"), Resource("/a")))
    assert (one.numbers, other.numbers) == (range(2), range(2, 3))


@given(st.text(max_size=300))
def test_cell_contains_whole_address(text: str) -> None:
    address_cell = address(text)
    assert address_cell.whole == text
    assert len(address_cell.end) in (0, END)


def test_address_cell_hides_https() -> None:
    assert address("https://a.test/") == Cell("a.test/", scheme="https://")
    assert address("http://a.test/") == Cell("http://a.test/")
    long = address("https://cdn.example.com/assets/js/vendor/carousel/1.8.1/carousel.min.js")
    assert (long.text[:16], long.end) == ("cdn.example.com/", "/carousel.min.js")


def test_invalid_timestamp_is_unchanged() -> None:
    assert moment("soon") == "soon"


def test_hexadecimal_colours_are_displayed() -> None:
    column: StoredColumn = {"name": "text_colour", "label": "Text colour", "format": "colour"}
    (only_table,) = tables([table([column], ["#9aa0a6"], ['#9aa0a6" onload="x'], ["red"])])
    assert [row[0].is_colour for row in only_table.rows] == [True, False, False]
