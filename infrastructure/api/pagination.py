"""Strict parsers for query parameters. They refuse invalid values instead of using a default."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict, TypeVar, overload

from django.db.models import Model, QuerySet
from django.http import QueryDict
from msgspec import Struct

from infrastructure.api.errors import InvalidParams

M = TypeVar("M", bound=Model)
T = TypeVar("T")

# PostgreSQL's OFFSET is a bigint and allows larger values. No real collection is this large.
MAX_OFFSET = 2**53
DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE = 20, 100


def integer(query: Mapping[str, str], name: str, *, default: int, least: int, most: int) -> int:
    """Return the parameter as a whole number between `least` and `most`, or `default` if it is absent."""
    raw = query.get(name)
    if raw is None:
        return default
    # MAX_OFFSET has 16 digits; a longer value is refused before int() parses it.
    if not re.fullmatch(r"[0-9]{1,16}", raw, re.ASCII) or not least <= int(raw) <= most:
        raise InvalidParams(f"{name} must be a whole number from {least} to {most}.")
    return int(raw)


class SliceBounds(TypedDict):
    """Number of rows in a collection, and the requested part of it."""

    total: int
    limit: int
    offset: int


class Slice(Struct, frozen=True):
    """The part of a collection that a request asks for. It has at most `limit` rows after the first `offset` rows.

    Only API collections that are documented with `limit` and `offset` use slices. All others use keyset pagination.
    """

    limit: int
    offset: int

    @overload
    def of(self, rows: QuerySet[M]) -> QuerySet[M]: ...
    @overload
    def of(self, rows: Sequence[T]) -> Sequence[T]: ...
    def of(self, rows: Any) -> Any:
        """Return the rows in this slice."""
        return rows[self.offset : self.offset + self.limit]

    def bounds(self, rows: QuerySet[Any]) -> SliceBounds:
        """Return the members of a response that say which part of the rows it contains. Counts the rows."""
        return {"total": rows.count(), "limit": self.limit, "offset": self.offset}


def parse_limit_and_offset(query: QueryDict) -> Slice:
    """Return the slice that the parameters `limit` and `offset` select. Raises InvalidParams."""
    limit = integer(query, "limit", default=DEFAULT_PAGE_SIZE, least=1, most=MAX_PAGE_SIZE)
    return Slice(limit, integer(query, "offset", default=0, least=0, most=MAX_OFFSET))


def unknown_format(known: Iterable[str]) -> InvalidParams:
    """Return the refusal for a path that ends with an unknown export format."""
    return InvalidParams(f"Unknown export format. Allowed: {', '.join(known)}.")


def choice(query: Mapping[str, str], name: str, known: Sequence[str]) -> str | None:
    """Return the parameter if it is a known value, or None if it is absent. Raises InvalidParams for other values."""
    raw = query.get(name)
    if raw is not None and raw not in known:
        raise InvalidParams(f"{name} must be one of {', '.join(known)}.")
    return raw
