"""Places of findings, and rows of tables.

Places are elements, files, headers and cookies. Rows explain a measured value.

Each kind of place is a record. Its fields are the columns of the table in a report, each with a label and a
format; the fields that identify the place form its fingerprint (ADR 11). A check with a kind of place of its own
declares the class in its own module.
"""

from __future__ import annotations

import typing
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from website_scan.addresses import normal_address
from website_scan.elements import element, prose
from website_scan.generated_names import mask_generated_parts
from website_scan.messages import cut, excerpt, single_line
from website_scan.written_urls import WrittenUrl

# `code` is for copying, `mono` for exact reading, `address` is a URL or a path, `short` is one or two words, `colour`
# is #rrggbb.
Format = Literal["text", "short", "mono", "code", "address", "number", "moment", "colour"]
Unit = Literal["", "bytes", "ms", "s", "px", "%"]
# Bytes are displayed in B, kB or MB, depending on the largest number of the column.
BYTES: Unit = "bytes"
Cell = str | int | float | bool | None
Normal = Callable[[str, WrittenUrl], str]


class Column(Struct, frozen=True):
    """Column in a table of places.

    It has the format of its values and the unit of its numbers.
    """

    label: str
    format: Format = "text"
    unit: Unit = ""


class Identity(Struct, frozen=True):
    """Annotation of a field that identifies a place.

    `normal(value, page)` returns the stable part of the value.
    """

    normal: Normal


def as_written(text: str, _page: WrittenUrl) -> str:
    return text.strip().lower()


def as_prose(text: str, _page: WrittenUrl) -> str:
    return prose(text)


def as_name(text: str, _page: WrittenUrl) -> str:
    return mask_generated_parts(text)


def as_host(text: str, page: WrittenUrl) -> str:
    """Return the host in normal form.

    It is empty for the page's own host, so that places are the same on a preview.
    """
    host = text.strip().lower().lstrip(".")
    return "" if host == page.hostname else host


class Place(Struct, frozen=True):
    """Base class for kinds of places.

    The fields of subclasses have a `Column` annotation.

    A kind without an `Identity` explains a figure or describes the whole page: its rows have no fingerprints. If places
    of a kind `are_counted`, a fourth place that looks the same is a new place; the number of files or cookies varies
    between visits, so they are not counted.
    """

    kind: ClassVar[str]
    are_counted: ClassVar[bool] = False

    @classmethod
    @cache
    def columns(cls) -> Mapping[str, Column]:
        """Return the table columns by field name."""
        return {name: column for name, column in _annotations(cls, Column) if column is not None}

    @classmethod
    @cache
    def identity(cls) -> Mapping[str, Normal]:
        """Return the normalization functions of the identifying fields.

        The mapping is by field name, in order, and may be empty.
        """
        return {name: identity.normal for name, identity in _annotations(cls, Identity) if identity is not None}

    @classmethod
    @cache
    def naming_columns(cls) -> tuple[str, ...]:
        """Return the columns that describe a place.

        These are the identifying columns or, if there are none, all columns.
        """
        return tuple(name for name in cls.identity() if name in cls.columns()) or tuple(cls.columns())

    @property
    def short_name(self) -> str:
        """Return a short description of the place."""
        return " ".join(str(value) for name in self.naming_columns() if (value := getattr(self, name)))

    @property
    def label(self) -> str:
        """Return a description of the place for use in a sentence."""
        return self.short_name

    def normal(self, page: WrittenUrl) -> str:
        """Return the place's normal form, which does not change from scan to scan.

        `page` is the URL of the page.
        """
        identity = self.identity()
        return " ".join(normal(str(getattr(self, name)), page) for name, normal in identity.items())

    def mapped(self, change: Callable[[str], str]) -> Self:
        """Return a copy of the place with `change` applied to all texts."""
        changed = {}
        for name, value in asdict(self).items():
            if isinstance(value, str) and (text := change(value)) != value:
                changed[name] = text
        return replace(self, **changed) if changed else self

    def row(self) -> dict[str, Cell]:
        """Return the place's values by column name.

        None values are left out.
        """
        values = {name: getattr(self, name) for name in self.columns()}
        return {name: value for name, value in values.items() if value is not None}


def _annotations(kind: type[Place], mark: type[Any]) -> Iterable[tuple[str, Any]]:
    for name, hint in typing.get_type_hints(kind, include_extras=True).items():
        if typing.get_origin(hint) is not ClassVar:
            yield name, next((item for item in getattr(hint, "__metadata__", ()) if isinstance(item, mark)), None)


# A finding with this number of places may have had more.
MAX_STORED_PLACES = 20


class Rows(Struct, frozen=True):
    """First places of a finding, sorted by kind.

    They come with the total number of places for each kind.
    """

    kept: tuple[Place, ...] = ()
    totals: Mapping[type[Place], int] = field(default_factory=dict)

    @classmethod
    def of(cls, places: Sequence[Place], total: int = 0) -> Rows:
        """Return the first MAX_STORED_PLACES places.

        `total` is the number of all places if `places` is incomplete.
        """
        totals = Counter(place.__class__ for place in places)
        if places and total > len(places):
            totals[places[0].__class__] += total - len(places)
        first = places[:MAX_STORED_PLACES]
        ordered = (place for kind in totals for place in first if place.__class__ is kind)
        return cls(tuple(place.mapped(single_line) for place in ordered), totals)

    def mapped(self, change: Callable[[str], str]) -> Rows:
        """Return a copy of the places with `change` applied to all texts."""
        return Rows(tuple(place.mapped(change) for place in self.kept), self.totals)

    @property
    def total(self) -> int:
        """Return the total number of places, including those that are not stored."""
        return sum(self.totals.values())

    @property
    def is_cut(self) -> bool:
        """Return True if the list is full.

        Then the check may have found more places.
        """
        return len(self.kept) >= MAX_STORED_PLACES

    @property
    def places_by_kind(self) -> Mapping[type[Place], list[Place]]:
        """Return the stored places grouped by class."""
        kinds: dict[type[Place], list[Place]] = {}
        for place in self.kept:
            kinds.setdefault(place.__class__, []).append(place)
        return kinds


NO_ROWS = Rows()

# Annotated types of columns that several kinds of places use.

HeaderName = Annotated[str, Identity(as_written), Column("Header", "mono")]
HeaderValue = Annotated[str, Column("Value", "mono")]
ElementType = Annotated[str, Identity(as_written), Column("Type of element", "mono")]
PlaceUrl = Annotated[str, Identity(normal_address), Column("Address", "address")]
Url = Annotated[str, Column("Address", "address")]
WireBytes = Annotated[int | None, Column("Transferred", "number", "bytes")]
Status = Annotated[int | None, Column("HTTP status", "number")]


class Element(Place, frozen=True):
    """HTML element of the page.

    Its `ancestry`, the names of its ancestors, is more stable than the selector. `page_width` is set if the fault is
    only there while the page has this width.
    """

    kind: ClassVar[str] = "element"
    are_counted: ClassVar[bool] = True
    # True if the fault is in a style sheet, so that the content of the element does not matter.
    is_styled: ClassVar[bool] = False

    selector: Annotated[str, Identity(as_written), Column("Selector", "code")]
    snippet: Annotated[str, Column("Element", "code")] = ""
    why: Annotated[str | None, Column("What is wrong")] = None
    wcag: Annotated[str | None, Column("WCAG", "short")] = None
    level: Annotated[str | None, Column("WCAG level", "short")] = None
    page_width: Annotated[int | None, Column("Only on a page this wide", "number", "px")] = None
    ancestry: str = ""

    @property
    def label(self) -> str:
        """Return the HTML of the element and its selector.

        Empty for `html`, which represents the whole page.
        """
        if self.selector == "html":
            return ""
        selector = shortened(self.selector, 76)
        return f"{cut(self.snippet, 80)} at {selector}" if self.snippet else selector

    def normal(self, page: WrittenUrl) -> str:
        path = self.ancestry or self.selector
        return element(path, self.snippet, page, is_styled=self.is_styled, why=self.why or "")


def shortened(selector: str, limit: int) -> str:
    """Truncate a selector in the middle to `limit` characters.

    Its end distinguishes elements.
    """
    if len(selector) <= limit:
        return selector
    end = 2 * limit // 3
    return f"{selector[: limit - end - 3].rstrip()} … {selector[-end:].lstrip()}"


class StyledElement(Element, frozen=True):
    """HTML element with a fault in a style sheet.

    An example is text with too little contrast.
    """

    kind: ClassVar[str] = "styled-element"
    is_styled: ClassVar[bool] = True


class Header(Place, frozen=True):
    """HTTP response header."""

    kind: ClassVar[str] = "header"

    header: HeaderName
    value: HeaderValue

    @classmethod
    def of(cls, name: str, values: Iterable[str]) -> list[Self]:
        """Return a place for each value of an HTTP response header."""
        return [cls(name, excerpt(value)) for value in values]

    @property
    def label(self) -> str:
        return f"{self.header}: {self.value}"


class RedirectHop(Place, frozen=True):
    """Hop of a redirect chain, as a table row that explains a finding."""

    kind: ClassVar[str] = "redirect"

    hop: Annotated[int, Column("Step", "number")]
    url: Url
    status: Status = None


class Resource(Place, frozen=True):
    """File that the page loads, such as an image."""

    kind: ClassVar[str] = "resource"

    url: PlaceUrl
