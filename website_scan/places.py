"""Places: the elements, files, headers or cookies at which a check found a fault, and the rows that explain a figure.

Each kind of place is one frozen dataclass. Its fields are the columns of the table that a report shows, each with a
label and a format, and those that identify the place make its fingerprint (ADR 11). A check that names a kind of place
of its own declares the dataclass beside itself.
"""

from __future__ import annotations

import typing
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self

from website_scan.addresses import normal_address
from website_scan.elements import element, prose
from website_scan.generated_names import without_generated
from website_scan.messages import cut, excerpt, single_line
from website_scan.written_urls import WrittenUrl

# `code` is for copying, `mono` for exact reading, `address` is a URL or a path, `short` is one or two words, `colour`
# is #rrggbb.
Format = Literal["text", "short", "mono", "code", "address", "number", "moment", "colour"]
Unit = Literal["", "bytes", "ms", "s", "px", "%"]
BYTES: Unit = "bytes"  # shown in B, kB or MB, depending on the column's largest number
Cell = str | int | float | bool | None
Normal = Callable[[str, WrittenUrl], str]


@dataclass(frozen=True, slots=True)
class Column:
    """Column of a kind of places. `unit` is the unit of its numbers."""

    label: str
    format: Format = "text"
    unit: Unit = ""


@dataclass(frozen=True, slots=True)
class Identity:
    """Marks a field that identifies the place; `normal` returns what endures of its value on a page with a URL."""

    normal: Normal


def as_written(text: str, _page: WrittenUrl) -> str:
    return text.strip().lower()


def as_prose(text: str, _page: WrittenUrl) -> str:
    return prose(text)


def as_name(text: str, _page: WrittenUrl) -> str:
    return without_generated(text)


def as_host(text: str, page: WrittenUrl) -> str:
    """Return the host, empty if it is that of the page, so that a preview has the same places."""
    host = text.strip().lower().lstrip(".")
    return "" if host == page.hostname else host


class Place:
    """Base of all kinds. Subclasses are frozen dataclasses with a `Column` in the annotation of each field.

    A kind without an `Identity` explains a figure or describes the whole page: its rows have no fingerprints. If places
    of a kind `are_counted`, a fourth one that looks the same is a new place; how many files or cookies there are
    changes by itself.
    """

    kind: ClassVar[str]
    are_counted: ClassVar[bool] = False

    @classmethod
    @cache
    def columns(cls) -> Mapping[str, Column]:
        """Return the columns of the kind by the names of its fields."""
        return {name: column for name, column in _marks(cls, Column) if column is not None}

    @classmethod
    @cache
    def identity(cls) -> Mapping[str, Normal]:
        """Return the normal forms of the fields that identify a place of the kind, in order; empty if it has none."""
        return {name: identity.normal for name, identity in _marks(cls, Identity) if identity is not None}

    @classmethod
    @cache
    def named_by(cls) -> tuple[str, ...]:
        """Return the names of the columns that name a place in words: those that identify it, else all."""
        return tuple(name for name in cls.identity() if name in cls.columns()) or tuple(cls.columns())

    @property
    def in_words(self) -> str:
        """Return the place in a few words."""
        return " ".join(str(value) for name in self.named_by() if (value := getattr(self, name)))

    @property
    def label(self) -> str:
        """Return the place as a sentence names it."""
        return self.in_words

    def normal(self, page: WrittenUrl) -> str:
        """Return the normal form of the place, on the page with this URL; the same in every report that has it."""
        identity = self.identity()
        return " ".join(normal(str(getattr(self, name)), page) for name, normal in identity.items())

    def mapped(self, change: Callable[[str], str]) -> Self:
        """Return the place with all its texts changed."""
        changed = {}
        for column in fields(self):  # type: ignore[arg-type]  # subclasses are dataclasses
            value = getattr(self, column.name)
            if isinstance(value, str) and (text := change(value)) != value:
                changed[column.name] = text
        return replace(self, **changed) if changed else self  # type: ignore[type-var]  # subclasses are dataclasses

    def row(self) -> dict[str, Cell]:
        """Return the values by the names of the columns, without those that are None."""
        values = {name: getattr(self, name) for name in self.columns()}
        return {name: value for name, value in values.items() if value is not None}


def _marks(kind: type[Place], mark: type[Any]) -> Iterable[tuple[str, Any]]:
    for name, hint in typing.get_type_hints(kind, include_extras=True).items():
        if typing.get_origin(hint) is not ClassVar:
            yield name, next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, mark)), None)


# A report keeps this many places of a finding. If it has this many, there may have been more.
MOST_ROWS = 20


@dataclass(frozen=True, slots=True)
class Rows:
    """The first places of a finding, kind by kind, and how many there are of each kind."""

    kept: tuple[Place, ...] = ()
    totals: Mapping[type[Place], int] = field(default_factory=dict)

    @classmethod
    def of(cls, places: Sequence[Place], total: int = 0) -> Rows:
        """Return the first of these places. `total` is the number of all if these are only the first, of one kind."""
        totals = Counter(each.__class__ for each in places)
        if places and total > len(places):
            totals[places[0].__class__] += total - len(places)
        first = places[:MOST_ROWS]
        ordered = (each for kind in totals for each in first if each.__class__ is kind)
        return cls(tuple(each.mapped(single_line) for each in ordered), totals)

    def mapped(self, change: Callable[[str], str]) -> Rows:
        """Return the rows with all their texts changed."""
        return Rows(tuple(each.mapped(change) for each in self.kept), self.totals)

    @property
    def total(self) -> int:
        """Return the number of all places."""
        return sum(self.totals.values())

    @property
    def is_cut(self) -> bool:
        """Return True if the check may have found more places than are kept."""
        return len(self.kept) >= MOST_ROWS

    @property
    def by_kind(self) -> Mapping[type[Place], list[Place]]:
        """Return the kept places by their kinds, in order."""
        kinds: dict[type[Place], list[Place]] = {}
        for each in self.kept:
            kinds.setdefault(each.__class__, []).append(each)
        return kinds


NO_ROWS = Rows()

# Columns that several kinds have.

HeaderName = Annotated[str, Identity(as_written), Column("Header", "mono")]
HeaderValue = Annotated[str, Column("Value", "mono")]
ElementType = Annotated[str, Identity(as_written), Column("Type of element", "mono")]
PlaceUrl = Annotated[str, Identity(normal_address), Column("Address", "address")]
Url = Annotated[str, Column("Address", "address")]
WireBytes = Annotated[int | None, Column("Transferred", "number", "bytes")]
Status = Annotated[int | None, Column("HTTP status", "number")]


@dataclass(frozen=True, slots=True)
class Element(Place):
    """Element of the page. `ancestry` is its path by names of elements, which changes less than its selector."""

    kind: ClassVar[str] = "element"
    are_counted: ClassVar[bool] = True
    # A rule of a style sheet is at fault, for all elements of the kind, whatever they contain.
    is_styled: ClassVar[bool] = False

    selector: Annotated[str, Identity(as_written), Column("Selector", "code")]
    snippet: Annotated[str, Column("Element", "code")] = ""
    why: Annotated[str | None, Column("What is wrong")] = None
    wcag: Annotated[str | None, Column("WCAG", "short")] = None
    level: Annotated[str | None, Column("WCAG level", "short")] = None
    ancestry: str = ""

    @property
    def label(self) -> str:
        """Return the element and its selector. Empty for the root, which stands for the whole page."""
        if self.selector == "html":
            return ""
        selector = shortened(self.selector, 76)
        return f"{cut(self.snippet, 80)} at {selector}" if self.snippet else selector

    def normal(self, page: WrittenUrl) -> str:
        path = self.ancestry or self.selector
        return element(path, self.snippet, page, is_styled=self.is_styled, why=self.why or "")


def shortened(selector: str, limit: int) -> str:
    """Return a selector of at most `limit` characters: its beginning, and its end, which tells elements apart."""
    if len(selector) <= limit:
        return selector
    end = 2 * limit // 3
    return f"{selector[: limit - end - 3].rstrip()} … {selector[-end:].lstrip()}"


@dataclass(frozen=True, slots=True)
class StyledElement(Element):
    """Element that a style sheet makes faulty, such as text with too little contrast."""

    kind: ClassVar[str] = "styled-element"
    is_styled: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Header(Place):
    """Header of a response."""

    kind: ClassVar[str] = "header"

    header: HeaderName
    value: HeaderValue

    @classmethod
    def of(cls, name: str, values: Iterable[str]) -> list[Self]:
        """Return the places for all values of a header."""
        return [cls(name, excerpt(value)) for value in values]

    @property
    def label(self) -> str:
        return f"{self.header}: {self.value}"


@dataclass(frozen=True, slots=True)
class RedirectHop(Place):
    """Step of a redirect; the whole chain explains a finding."""

    kind: ClassVar[str] = "redirect"

    hop: Annotated[int, Column("Step", "number")]
    url: Url
    status: Status = None


@dataclass(frozen=True, slots=True)
class Resource(Place):
    """Resource that the page loads, such as an image."""

    kind: ClassVar[str] = "resource"

    url: PlaceUrl
