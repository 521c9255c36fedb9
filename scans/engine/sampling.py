"""Some of many, in the order they stand in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def spread(items: Sequence[T], count: int) -> list[T]:
    """At most `count` of them, evenly spread; all of them where they are no more."""
    if len(items) <= count:
        return list(items)
    return [items[position * len(items) // count] for position in range(count)]
