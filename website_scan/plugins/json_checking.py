"""Strict readers of JSON from the process of a plug-in, which is data from outside."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from website_scan.plugins.errors import PlainError

MAX_TEXT = 2_000
MAX_NUMBER = 1e15
# UTF-8 or PostgreSQL rejects some of these characters; terminals obey others.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


class WrongData(PlainError):
    """Raised for data that contradicts the interface of plug-ins. The message is a clause."""


def one_line(message: str, limit: int) -> str:
    """Return the beginning of a message of a plug-in as one line for readers."""
    return " ".join(CONTROL.sub(" ", message[:limit]).split())


def mapping(value: object, name: str, limit: int = 100) -> Mapping[str, Any]:
    """Return a JSON object with at most `limit` keys, or raise WrongData."""
    if not isinstance(value, dict) or len(value) > limit:
        raise WrongData(f"{name} is not an object with at most {limit} keys")
    return value


def items(value: object, name: str, limit: int) -> list[Any]:
    """Return a JSON array with at most `limit` items, or raise WrongData."""
    if not isinstance(value, list) or len(value) > limit:
        raise WrongData(f"{name} is not a list of at most {limit} items")
    return value


def text(value: object, name: str, limit: int = MAX_TEXT, *, may_be_empty: bool = True) -> str:
    """Return a text without control characters, or raise WrongData."""
    if not isinstance(value, str):
        raise WrongData(f"{name} is not a text")
    if len(value) > limit:
        raise WrongData(f"{name} has more than {limit:,} characters")
    if CONTROL.search(value):
        raise WrongData(f"{name} has control characters")
    if not value.strip() and not may_be_empty:
        raise WrongData(f"{name} is empty")
    return value


def number(value: object, name: str) -> int | float:
    """Return a finite number of ordinary size, or raise WrongData."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WrongData(f"{name} is not a number")
    # The comparison comes first, because a huge integer cannot be converted.
    if not -MAX_NUMBER <= value <= MAX_NUMBER or not math.isfinite(value):
        raise WrongData(f"{name} is not a number of ordinary size")
    return value


def whole(value: object, name: str) -> int:
    """Return an integer that is not negative, or raise WrongData."""
    if not isinstance(found := number(value, name), int) or found < 0:
        raise WrongData(f"{name} is not a whole number from 0")
    return found


def digit(value: object, name: str) -> int:
    """Return a digit, or raise WrongData."""
    if (found := whole(value, name)) > 9:
        raise WrongData(f"{name} is not a digit")
    return found


def optional_text(value: object, name: str) -> str | None:
    """Return a text or None, or raise WrongData."""
    return None if value is None else text(value, name)


def share(value: object, name: str) -> float:
    """Return a number from 0 to 1, or raise WrongData."""
    if not 0 <= (found := number(value, name)) <= 1:
        raise WrongData(f"{name} is not a number from 0 to 1")
    return found


def moment(value: object, name: str) -> datetime:
    """Return a time in UTC from its ISO 8601 text with a time zone, or raise WrongData."""
    try:
        found = datetime.fromisoformat(text(value, name, 80))
        if found.tzinfo is not None:
            return found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise WrongData(f"{name} is not a time") from None
    raise WrongData(f"{name} is a time without a time zone")
