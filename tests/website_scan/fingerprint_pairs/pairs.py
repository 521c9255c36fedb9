"""Pairs of places as pages show them, each with the reason why they are the same or different."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

Item = Mapping[str, Any]
PAGE = "https://www.example.com/shop/bread"
GREY = "insufficient color contrast of 2.3 (foreground color: #AAAAAA, background color: #ffffff, font size: 12.0pt"
RED = "insufficient color contrast of 3.1 (foreground color: #ff5555, background color: #ffffff, font size: 12.0pt"


class Pair(NamedTuple):
    """Two items of evidence of a check, and why they name the same place or different ones."""

    is_same: bool
    why: str
    check_id: str
    one: Item
    other: Item


def element(markup: str, path: str = "main", selector: str = "x", why: str = "") -> Item:
    """Return an element within a path below body, as checks name it."""
    tag = markup[1:].partition(">")[0].partition(" ")[0]
    path = " > ".join(filter(None, ["html", "body", path, tag]))
    return {"selector": selector, "ancestry": path, "snippet": markup, "why": why, "wcag": "1.1.1", "level": "A"}


def elements(is_same: bool, why: str, check_id: str, pairs: Iterable[tuple[str, str]]) -> list[Pair]:
    """Pairs of elements at one place."""
    return [Pair(is_same, why, check_id, element(one), element(other, selector="y")) for one, other in pairs]


def ids(is_same: bool, why: str, pairs: Iterable[tuple[str, str]], attribute: str = "id") -> list[Pair]:
    tags = [(f'<input {attribute}="{one}">', f'<input {attribute}="{other}">') for one, other in pairs]
    return elements(is_same, why, "label", tags)


def paths(is_same: bool, why: str, markup: str, pairs: Iterable[tuple[str, str]], check_id: str = "x") -> list[Pair]:
    return [Pair(is_same, why, check_id, element(markup, one), element(markup, other)) for one, other in pairs]


def items(is_same: bool, why: str, check_id: str, pairs: Iterable[tuple[Item, Item]]) -> list[Pair]:
    return [Pair(is_same, why, check_id, one, other) for one, other in pairs]


def urls(is_same: bool, why: str, pairs: Iterable[tuple[str, str]]) -> list[Pair]:
    return items(is_same, why, "cache-short", [({"url": one}, {"url": other}) for one, other in pairs])


def classes(why: str, pairs: Iterable[tuple[str, str]]) -> list[Pair]:
    """Pairs of an image and a nameless button that differ only in their classes."""
    found = []
    for one, other in pairs:
        found += elements(True, why, "button-name", [(f'<button class="{one}">', f'<button class="{other}">')])
    return found
