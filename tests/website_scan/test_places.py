"""Places: their columns, names and normal forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import pytest

from tests.website_scan.kinds_of_places import kinds
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


@dataclass(frozen=True, slots=True)
class Cookie(Place):
    """Cookie, for tests."""

    kind: ClassVar[str] = "cookie"

    cookie: Annotated[str, Identity(as_name), Column("Cookie", "mono")]
    host: Annotated[str, Identity(as_host), Column("Host", "mono")]
    secure: Annotated[bool, Column("Secure", "short")]
    note: Annotated[str | None, Column("Note")] = None
    hidden: str = ""


@dataclass(frozen=True, slots=True)
class Figure(Place):
    """Row that explains a figure, for tests."""

    kind: ClassVar[str] = "figure"

    size: Annotated[int, Column("Size", "number", "bytes")]
    about: Annotated[str, Column("About")]


def test_columns_of_a_kind_are_its_annotated_fields() -> None:
    assert list(Cookie.columns()) == ["cookie", "host", "secure", "note"]
    assert Cookie.columns()["secure"] == Column("Secure", "short")
    assert list(Cookie.identity()) == ["cookie", "host"]
    assert Figure.identity() == {}


def test_kind_inherits_the_columns_of_its_base() -> None:
    assert list(StyledElement.columns()) == list(Element.columns())
    assert StyledElement.is_styled


def test_name_of_a_place_consists_of_its_identifying_columns() -> None:
    cookie = Cookie("sid", "example.com", True, hidden="secret")
    assert cookie.in_words == cookie.label == "sid example.com"
    assert Figure(12, "x").in_words == "12 x"
    assert Element("#a", "<p>").in_words == "#a"
    assert Element("#a", "<p>").label == "<p> at #a"
    assert Header("Server", "nginx").label == "Server: nginx"


def test_shortened_selector_retains_its_end() -> None:
    labels = [Element(f"#top > {'div > ' * 40}a:nth-of-type({n})", "<a>").label for n in (1, 2)]
    assert labels[0] != labels[1]
    assert labels[1].startswith("<a> at #top > div")
    assert labels[1].endswith(" > a:nth-of-type(2)")
    assert max(map(len, labels)) < 100


def test_row_has_the_columns_with_a_value() -> None:
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
def test_normal_form_of_a_place_omits_what_changes(place: Place, expected: str) -> None:
    assert place.normal(PAGE) == expected


def test_normal_forms_of_texts_omit_numbers_and_generated_parts() -> None:
    assert as_written("  A b ", PAGE) == "a b"
    assert as_prose("Line 12 of\n 34", PAGE) == "line * of *"


def test_mapped_changes_all_texts_of_a_place() -> None:
    changed = Cookie("sid", "example.com", True, hidden="x").mapped(str.upper)
    assert changed == Cookie("SID", "EXAMPLE.COM", True, hidden="X")


def test_texts_of_places_have_one_line() -> None:
    """A message lists places, and a line break in a place would start a new line in a terminal or a log."""
    assert Rows.of([Header("A", "b\r\nSet-Cookie: c\x1b[31m")]).kept == (Header("A", "b Set-Cookie: c [31m"),)


def test_rows_are_ordered_by_kind() -> None:
    rows = Rows.of([Figure(1, "a"), Header("A", "b"), Figure(2, "c\u202e")])
    assert rows.kept == (Figure(1, "a"), Figure(2, "c[U+202E]"), Header("A", "b"))
    assert rows.totals == {Figure: 2, Header: 1}
    assert list(rows.by_kind) == [Figure, Header]


def test_each_name_of_a_kind_has_one_set_of_columns() -> None:
    """Programs read the tables of an export by their `kind`."""
    columns: dict[str, dict[str, Column]] = {}
    for kind in kinds():
        assert columns.setdefault(kind.kind, dict(kind.columns())) == kind.columns(), kind
    assert {"redirect", "element", "loaded-file", "embedded-file"} <= columns.keys()


def test_no_two_columns_of_a_kind_have_the_same_label() -> None:
    for kind in kinds():
        labels = [column.label for column in kind.columns().values()]
        assert len(set(labels)) == len(labels), kind


def test_labels_of_columns_are_words_for_people() -> None:
    as_in_code = ("hreflang", "font-display", "gzip would save", "robots.txt")
    for kind in kinds():
        for column in kind.columns().values():
            assert column.label[:1].isupper() or column.label in as_in_code, (kind, column)
            assert "_" not in column.label, (kind, column)
