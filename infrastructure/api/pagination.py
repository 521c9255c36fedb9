"""Query parameters, read strictly: a wrong one is `INVALID_PARAMS`, never a silent default."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.http import QueryDict

from infrastructure.api.errors import InvalidParams

# PostgreSQL's OFFSET is a bigint; nobody pages that far.
MAX_OFFSET = 2**53
USUAL_PAGE, MAX_PAGE = 20, 100


def integer(query: QueryDict, name: str, *, default: int, least: int, most: int) -> int:
    """A whole number between `least` and `most`."""
    raw = query.get(name)
    if raw is None:
        return default
    # 16 digits hold `MAX_OFFSET`; longer ones are refused before int() has to read them.
    if not re.fullmatch(r"[0-9]{1,16}", raw, re.ASCII) or not least <= int(raw) <= most:
        raise InvalidParams(f"{name} must be a whole number from {least} to {most}.")
    return int(raw)


def page_of(query: QueryDict) -> tuple[int, int]:
    """`limit` and `offset`: how many are asked for, and how many before them are left out."""
    limit = integer(query, "limit", default=USUAL_PAGE, least=1, most=MAX_PAGE)
    return limit, integer(query, "offset", default=0, least=0, most=MAX_OFFSET)


def choice(query: QueryDict, name: str, known: Sequence[str]) -> str | None:
    """One of the known values, None when the parameter is absent."""
    raw = query.get(name)
    if raw is not None and raw not in known:
        raise InvalidParams(f"{name} must be one of {', '.join(known)}.")
    return raw
