"""Addresses without end: calendars, filters, links that make themselves longer."""

from __future__ import annotations

import re
from collections import Counter

MAX_DEPTH = 20  # clicks from the start page
MAX_GENERATIONS = 8  # pages in a row that were found on a page of the same shape
MAX_SEGMENTS = 15
MAX_REPEATED = 3  # times that a segment may stand in one path
LEAST = 20

NUMBER = re.compile(r"\d+")
RANDOM = re.compile(r"(?<![0-9a-z_])(?:(?=[a-z_]*\d)[0-9a-z_]{24,}|[0-9a-f]{16,}(?![0-9a-z_]))", re.IGNORECASE)
ANYTHING = "…"


def shape(path: str) -> str:
    """What addresses that a program makes have in common: `/calendar/…/…` for `/calendar/2026/11`, `/list?…`.

    A path without numbers and query is its own shape.
    """
    address, mark, _ = path.partition("?")
    return NUMBER.sub(ANYTHING, RANDOM.sub(ANYTHING, address)) + (f"?{ANYTHING}" if mark else "")


class Mazes:
    """Counts addresses by their shape, so that one shape fills at most half of a list.

    A calendar's months are found one from the other, a shop's articles on its lists: so what matters as well is how
    many pages of one shape led here, one to the next, without bringing anything else.
    """

    def __init__(self, max_pages: int) -> None:
        self._most = max(LEAST, max_pages // 2)
        self._counts: Counter[str] = Counter()
        self.left_out = 0
        self.example = ""  # the shape of the first that was left out

    def is_new(self, found: str) -> bool:
        """Whether no address of this shape was seen before; one without numbers and query is alone in its shape."""
        return found not in self._counts

    def admit(self, path: str, found: str, depth: int, generation: int) -> bool:
        """Whether a link is worth following. `found` is its shape, `generation` how many in a row had the same."""
        if depth <= MAX_DEPTH and not _turns_in_circles(path) and self._is_rare(found, generation):
            return True
        self.left_out += 1
        self.example = self.example or found
        return False

    def _is_rare(self, found: str, generation: int) -> bool:
        if ANYTHING not in found:
            return True
        self._counts[found] += 1
        return generation <= MAX_GENERATIONS and self._counts[found] <= self._most


def _turns_in_circles(path: str) -> bool:
    """Whether a path is one that a wrong relative link makes longer and longer."""
    segments = [each for each in path.partition("?")[0].split("/") if each]
    return len(segments) > MAX_SEGMENTS or max(Counter(segments).values(), default=0) > MAX_REPEATED
