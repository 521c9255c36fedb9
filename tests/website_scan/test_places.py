"""Tests for places, with columns, labels and normal forms."""

from __future__ import annotations

from typing import Annotated, ClassVar

import pytest

from tests.website_scan.kinds_of_places import place_kinds
from website_scan.addresses import normal_address
from website_scan.places import (
    Column,
    Element,
    Header,
    Identity,
    Place,
    Resource,
    Rows,
    StyledElement,
    as_host,
    as_name,
    as_prose,
    as_written,
)
from website_scan.written_urls import split_url

PAGE = split_url("https://example.com/shop/")


class Cookie(Place, frozen=True):
    """Example place with an identity."""

    kind: ClassVar[str] = "cookie"

    cookie: Annotated[str, Identity(as_name), Column("Cookie", "mono")]
    host: Annotated[str, Identity(as_host), Column("Host", "mono")]
    secure: Annotated[bool, Column("Secure", "short")]
    note: Annotated[str | None, Column("Note")] = None
    hidden: str = ""


class Figure(Place, frozen=True):
    """Example row that explains a figure."""

    kind: ClassVar[str] = "figure"

    size: Annotated[int, Column("Size", "number", "bytes")]
    about: Annotated[str, Column("About")]


def test_place_columns_are_annotated_fields() -> None:
    assert list(Cookie.columns()) == ["cookie", "host", "secure", "note"]
    assert Cookie.columns()["secure"] == Column("Secure", "short")
    assert list(Cookie.identity()) == ["cookie", "host"]
    assert Figure.identity() == {}


def test_place_kind_inherits_columns() -> None:
    assert list(StyledElement.columns()) == list(Element.columns())
    assert StyledElement.is_styled


def test_place_name_has_identifying_columns() -> None:
    cookie = Cookie("sid", "example.com", True, hidden="secret")
    assert cookie.short_name == cookie.label == "sid example.com"
    assert Figure(12, "x").short_name == "12 x"
    assert Element("#a", "<p>").short_name == "#a"
    assert Element("#a", "<p>").label == "<p> at #a"
    assert Header("Server", "nginx").label == "Server: nginx"


def test_shortened_selector_keeps_its_end() -> None:
    labels = [Element(f"#top > {'div > ' * 40}a:nth-of-type({n})", "<a>").label for n in (1, 2)]
    assert labels[0] != labels[1]
    assert labels[1].startswith("<a> at #top > div")
    assert labels[1].endswith(" > a:nth-of-type(2)")
    assert max(map(len, labels)) < 100


def test_row_has_only_columns_with_values() -> None:
    assert Cookie("sid", "example.com", False, hidden="x").row() == {
        "cookie": "sid",
        "host": "example.com",
        "secure": False,
    }


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (Cookie("sid", ".Example.com", True), "sid "),
        (Cookie("sid", "other.example", False), "sid other.example"),
        (Header("Server", "nginx"), "server"),
        (Header("SERVER", "Apache"), "server"),
        (Resource("https://example.com/a.js"), normal_address("https://example.com/a.js", PAGE)),
    ],
)
def test_normal_form_omits_changing_parts(place: Place, expected: str) -> None:
    assert place.normal(PAGE) == expected


def test_normal_form_omits_numbers() -> None:
    assert as_written("  A b ", PAGE) == "a b"
    assert as_prose("Line 12 of\n 34", PAGE) == "line * of *"


def test_Place_mapped_changes_all_texts() -> None:
    changed = Cookie("sid", "example.com", True, hidden="x").mapped(str.upper)
    assert changed == Cookie("SID", "EXAMPLE.COM", True, hidden="X")


def test_place_texts_fit_on_one_line() -> None:
    """A line break in a place would start a new line in a log."""
    assert Rows.of([Header("A", "b\r\nSet-Cookie: c\x1b[31m")]).kept == (Header("A", "b Set-Cookie: c [31m"),)


def test_rows_are_ordered_by_kind() -> None:
    rows = Rows.of([Figure(1, "a"), Header("A", "b"), Figure(2, "c\u202e")])
    assert rows.kept == (Figure(1, "a"), Figure(2, "c[U+202E]"), Header("A", "b"))
    assert rows.totals == {Figure: 2, Header: 1}
    assert list(rows.places_by_kind) == [Figure, Header]


def test_place_kinds_with_one_name_share_columns() -> None:
    """Programs read the tables of an export by their `kind`."""
    columns: dict[str, dict[str, Column]] = {}
    for kind in place_kinds():
        assert columns.setdefault(kind.kind, dict(kind.columns())) == kind.columns(), kind
    assert {"redirect", "element", "loaded-file", "embedded-file"} <= columns.keys()


def test_column_labels_of_a_kind_are_unique() -> None:
    for kind in place_kinds():
        labels = [column.label for column in kind.columns().values()]
        assert len(set(labels)) == len(labels), kind


def test_column_labels_do_not_look_like_code() -> None:
    is_code_like = ("hreflang", "font-display", "gzip would save", "robots.txt")
    for kind in place_kinds():
        for column in kind.columns().values():
            assert column.label[:1].isupper() or column.label in is_code_like, (kind, column)
            assert "_" not in column.label, (kind, column)
