"""Crawler traps: endless sets of URLs, such as calendars, filters and links that grow longer."""

from __future__ import annotations

import re
from collections import Counter

MAX_DEPTH = 20  # clicks from the start page
MAX_GENERATIONS = 8  # pages in a row, each found on a page of the same shape
MAX_SEGMENTS = 15
MAX_REPEATED = 3  # occurrences of one segment in a path
LEAST = 20

NUMBER = re.compile(r"\d+")
RANDOM = re.compile(r"(?<![0-9a-z_])(?:(?=[a-z_]*\d)[0-9a-z_]{24,}|[0-9a-f]{16,}(?![0-9a-z_]))", re.IGNORECASE)
ANYTHING = "…"


def shape(path: str) -> str:
    """Return the common pattern of generated URLs: `/calendar/…/…` for `/calendar/2026/11`, `/list?…`.

    A path without numbers and query is its own shape.
    """
    address, mark, _ = path.partition("?")
    return NUMBER.sub(ANYTHING, RANDOM.sub(ANYTHING, address)) + (f"?{ANYTHING}" if mark else "")


class Mazes:
    """Detector of crawler traps. It counts URLs by their shape, so that one shape fills at most half of a list.

    Each month of a calendar links to the next, while a shop's articles are found on list pages. So the number of pages
    of one shape that led here in a row, without links to anything else, counts as well.
    """

    def __init__(self, max_pages: int) -> None:
        self._most = max(LEAST, max_pages // 2)
        self._counts: Counter[str] = Counter()
        self.left_out = 0
        self.example = ""  # the shape of the first URL left out

    def is_new(self, found: str) -> bool:
        """Return True if no URL of this shape was seen before. One without numbers and query has a shape of its own."""
        return found not in self._counts

    def admit(self, path: str, found: str, depth: int, generation: int) -> bool:
        """Return True if a link may be followed. `found` is its shape, `generation` how many in a row have had it."""
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
    """Return True if the path looks like one that a wrong relative link makes longer and longer."""
    segments = [each for each in path.partition("?")[0].split("/") if each]
    return len(segments) > MAX_SEGMENTS or max(Counter(segments).values(), default=0) > MAX_REPEATED
