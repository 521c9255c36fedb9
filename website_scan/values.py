"""Typed values of verdicts, and templates of sentences.

The values are inserted into the templates.

A check describes what it observed as a template with named values: ("The header lasts {lifetime}.",
lifetime=Seconds(300)). The unit belongs to the value, not to the sentence. Text of a site can only be an `Excerpt` or
one of its subclasses, which mask secrets and cut the text, and a value is never parsed as a part of the template.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import ClassVar, Self, TypedDict

from msgspec import Struct

from website_scan.messages import MAX_LENGTH, SHOWN, agreeing, clause, counted, duration, excerpt, part, size

# Limit for lists in JSON, because the scanned site decides how many values they have.
MAX_LIST_VALUES = 20
# Field of a template: {name}, or {name:one|many} for the singular and plural of a word. Other braces are text.
FIELD = re.compile(r"\{([a-z][a-z0-9_]*)(?::([^{}|]*)\|([^{}|]*))?\}")


class StoredValue(TypedDict):
    """Value of a finding as JSON: its kind, such as `bytes`, the value in the unit of the kind, and its text."""

    kind: str
    value: object
    text: str


class TemplateError(Exception):
    """Raised for an invalid template.

    Examples are a field without a value and a plural without a number.
    """


class Value(Struct, frozen=True):
    """Base class for values in verdicts, with a name (`kind`) for JSON."""

    kind: ClassVar[str]

    @property
    def text(self) -> str:
        """Return the value as formatted text with its unit."""
        raise NotImplementedError

    @property
    def data(self) -> object:
        """Return the value for JSON, in the unit of its kind."""
        raise NotImplementedError

    @property
    def number(self) -> float:
        """Return the number that selects singular or plural."""
        raise TemplateError(f"no word agrees with a {self.kind}")


class Count(Value, frozen=True):
    """Number of things: "1,200 forms", or "1,200" without a noun."""

    kind: ClassVar[str] = "count"
    value: int
    noun: str = ""
    plural: str | None = None

    @property
    def text(self) -> str:
        return counted(self.value, self.noun, self.plural) if self.noun else f"{self.value:,}"

    @property
    def data(self) -> int:
        return self.value

    @property
    def number(self) -> float:
        return self.value


class Share(Value, frozen=True):
    """Number of things out of a total, such as "2 of 3 forms".

    If all are counted, it is "3 forms".
    """

    kind: ClassVar[str] = "share"
    value: int
    total: int
    noun: str
    plural: str | None = None

    @property
    def text(self) -> str:
        return part(self.value, self.total, self.noun, self.plural)

    @property
    def data(self) -> dict[str, int]:
        return {"count": self.value, "total": self.total}

    @property
    def number(self) -> float:
        return self.value


class Bytes(Value, frozen=True):
    """Size in bytes: "12 kB"."""

    kind: ClassVar[str] = "bytes"
    value: float

    @property
    def text(self) -> str:
        return size(self.value)

    @property
    def data(self) -> float:
        return self.value


class Seconds(Value, frozen=True):
    """Measured time in seconds: "1.8 s"."""

    kind: ClassVar[str] = "seconds"
    value: float
    digits: int = 1

    @property
    def text(self) -> str:
        return f"{self.value:,.{self.digits}f} s"

    @property
    def data(self) -> float:
        return round(self.value, 4)


class Milliseconds(Value, frozen=True):
    """Measured time in milliseconds: "320 ms"."""

    kind: ClassVar[str] = "milliseconds"
    value: float

    @property
    def text(self) -> str:
        return f"{self.value:,.0f} ms"

    @property
    def data(self) -> float:
        return round(self.value, 1)


class Lifetime(Value, frozen=True):
    """Configured or remaining time in seconds, such as "90 days" or "5 minutes"."""

    kind: ClassVar[str] = "lifetime"
    value: float

    @property
    def text(self) -> str:
        whole = round(self.value)
        if whole < 120:
            return counted(whole, "second")
        if whole < 7200:
            return counted(whole // 60, "minute")
        return duration(timedelta(seconds=self.value))

    @property
    def data(self) -> float:
        return self.value


class Date(Value, frozen=True):
    """Date and time in UTC, such as "2026-11-21 07:15 UTC"."""

    kind: ClassVar[str] = "date"
    value: datetime

    @property
    def text(self) -> str:
        return f"{self.value:%Y-%m-%d %H:%M} UTC"

    @property
    def data(self) -> str:
        return f"{self.value:%Y-%m-%dT%H:%M:%SZ}"


class Number(Value, frozen=True):
    """Number without a unit: "0.104"."""

    kind: ClassVar[str] = "number"
    value: float
    digits: int = 0

    @property
    def text(self) -> str:
        return f"{self.value:,.{self.digits}f}"

    @property
    def data(self) -> float:
        return round(self.value, self.digits + 2) if self.digits else self.value


class Percent(Value, frozen=True):
    """Percentage of a whole, 0 to 100: "12%"."""

    kind: ClassVar[str] = "percent"
    value: float

    @property
    def text(self) -> str:
        return f"{self.value:.0f}%"

    @property
    def data(self) -> float:
        return round(self.value, 2)


class Word(Value, frozen=True):
    """Text from the scanner or a standard, such as "TLS 1.2".

    It never comes from a site.
    """

    kind: ClassVar[str] = "word"
    value: str

    @property
    def text(self) -> str:
        return self.value

    @property
    def data(self) -> str:
        return self.value


class Excerpt(Value, frozen=True):
    """Text from a site with masked secrets and a maximum length."""

    kind: ClassVar[str] = "text"
    value: str
    limit: int = MAX_LENGTH

    @property
    def text(self) -> str:
        return excerpt(self.value, self.limit)

    @property
    def data(self) -> str:
        return self.text


class Code(Excerpt, frozen=True):
    """Code from a site, such as markup, a header value or a name."""

    kind: ClassVar[str] = "code"


class Address(Excerpt, frozen=True):
    """URL or path from a site."""

    kind: ClassVar[str] = "address"


class Reason(Excerpt, frozen=True):
    """Error message as a clause, such as "the site did not answer"."""

    kind: ClassVar[str] = "reason"

    @property
    def text(self) -> str:
        return clause(self.value)


class Clause(Value, frozen=True):
    """Clause in a list, as a template with values, such as "Expires is missing"."""

    kind: ClassVar[str] = "clause"
    template: str
    values: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def of(cls, template: str, **values: Value | int | datetime) -> Self:
        return cls(template, tuple(typed(values).items()))

    @property
    def text(self) -> str:
        return filled(self.template, dict(self.values))

    @property
    def data(self) -> dict[str, object]:
        return {"template": self.template, "values": stored(dict(self.values))}


class Values(Value, frozen=True):
    """List of values that are joined by `separator`."""

    kind: ClassVar[str] = "list"
    values: Sequence[Value]
    separator: str = ", "

    @property
    def text(self) -> str:
        more = len(self.values) - SHOWN
        listed = self.separator.join(value.text for value in self.values[:SHOWN])
        return listed + (f" and {more:,} more" if more > 0 else "")

    @property
    def data(self) -> list[object]:
        return [value.data for value in self.values[:MAX_LIST_VALUES]]

    @property
    def number(self) -> float:
        return len(self.values)


def typed(values: Mapping[str, Value | int | datetime]) -> dict[str, Value]:
    """Convert integers to `Number` and datetimes to `Date`.

    Other values are unchanged.
    """
    return {name: _typed_value(value) for name, value in values.items()}


def _typed_value(value: Value | int | datetime) -> Value:
    if isinstance(value, Value):
        return value
    return Date(value) if isinstance(value, datetime) else Number(value)


def filled(template: str, values: Mapping[str, Value], text: Callable[[Value], str] = lambda value: value.text) -> str:
    """Insert values into a template, or raise TemplateError."""
    texts = []
    for piece in _pieces(template):
        if isinstance(piece, str):
            texts.append(piece)
        elif (value := values.get(piece.name)) is None:
            raise TemplateError(f"{template!r} has no value {piece.name}")
        else:
            texts.append(text(value) if piece.forms is None else agreeing(value.number, *piece.forms))
    return "".join(texts)


def outline(template: str) -> str:
    """Return the template for the documentation.

    It has an ellipsis instead of each value.
    """
    return "".join(
        piece if isinstance(piece, str) else "…" if piece.forms is None else piece.forms[1]
        for piece in _pieces(template)
    )


def template_fields(template: str) -> frozenset[str]:
    """Return the names of the fields in a template."""
    return frozenset(piece.name for piece in _pieces(template) if isinstance(piece, _Field))


def stored(values: Mapping[str, Value]) -> dict[str, StoredValue]:
    return {name: {"kind": value.kind, "value": value.data, "text": value.text} for name, value in values.items()}


class _Field(Struct, frozen=True):
    name: str
    forms: tuple[str, str] | None


@lru_cache(maxsize=2048)
def _pieces(template: str) -> tuple[str | _Field, ...]:
    """Split a template into text and fields."""
    pieces: list[str | _Field] = []
    at = 0
    for match in FIELD.finditer(template):
        name, one, many = match.groups()
        pieces += (template[at : match.start()], _Field(name, None if one is None else (one, many)))
        at = match.end()
    pieces.append(template[at:])
    return tuple(piece for piece in pieces if piece != "")
