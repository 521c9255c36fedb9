"""Strict parsers of query parameters: an invalid value is `INVALID_PARAMS`, never a silent default."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from django.http import QueryDict

from infrastructure.api.errors import InvalidParams

# PostgreSQL's OFFSET is a bigint; nobody pages that far.
MAX_OFFSET = 2**53
USUAL_PAGE, MAX_PAGE = 20, 100


def integer(query: Mapping[str, str], name: str, *, default: int, least: int, most: int) -> int:
    """Return the parameter as a whole number between `least` and `most`, or `default` if it is absent."""
    raw = query.get(name)
    if raw is None:
        return default
    # MAX_OFFSET has 16 digits; a longer value is refused before int() parses it.
    if not re.fullmatch(r"[0-9]{1,16}", raw, re.ASCII) or not least <= int(raw) <= most:
        raise InvalidParams(f"{name} must be a whole number from {least} to {most}.")
    return int(raw)


def page_of(query: QueryDict) -> tuple[int, int]:
    """Return the parameters `limit` (number of rows) and `offset` (number of rows skipped)."""
    limit = integer(query, "limit", default=USUAL_PAGE, least=1, most=MAX_PAGE)
    return limit, integer(query, "offset", default=0, least=0, most=MAX_OFFSET)


def unknown_format(known: Iterable[str]) -> InvalidParams:
    """Return the refusal of a path that ends in an export format that there is not."""
    return InvalidParams(f"There is no such export format; there are {', '.join(known)}.")


def choice(query: Mapping[str, str], name: str, known: Sequence[str]) -> str | None:
    """Return the parameter if it is one of the known values, None if it is absent. Raises InvalidParams otherwise."""
    raw = query.get(name)
    if raw is not None and raw not in known:
        raise InvalidParams(f"{name} must be one of {', '.join(known)}.")
    return raw
