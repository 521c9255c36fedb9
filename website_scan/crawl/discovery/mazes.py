"""Detect crawler traps, which are endless sets of URLs.

Examples are calendars, filters and growing links.
"""

from __future__ import annotations

import re
from collections import Counter

MAX_CLICK_DEPTH = 20  # Maximum number of clicks from the start page.
MAX_PAGES_OF_SHAPE_IN_A_ROW = 8  # Maximum number of pages in a row that link to a page of the same shape.
MAX_PATH_SEGMENTS = 15
MAX_SEGMENT_REPETITIONS = 3  # Maximum number of times that a path may contain the same segment.
MIN_URLS_PER_SHAPE = 20

NUMBER = re.compile(r"\d+")
RANDOM = re.compile(r"(?<![0-9a-z_])(?:(?=[a-z_]*\d)[0-9a-z_]{24,}|[0-9a-f]{16,}(?![0-9a-z_]))", re.IGNORECASE)
ANYTHING = "…"


def shape(path: str) -> str:
    """Return the pattern that similar URLs have in common.

    An example is `/calendar/…/…` for `/calendar/2026/11`. A query is replaced as well. A path without numbers and query
    is its own shape.
    """
    address, mark, _ = path.partition("?")
    return NUMBER.sub(ANYTHING, RANDOM.sub(ANYTHING, address)) + (f"?{ANYTHING}" if mark else "")


class CrawlerTraps:
    """Detector of crawler traps.

    It counts URLs by their shape, so that one shape fills at most half of a list. Each month of a calendar links to the
    next, while list pages link to a shop's articles. So the number of pages of one shape in a row, without links to
    other shapes, is limited as well.
    """

    def __init__(self, max_pages: int) -> None:
        self._max_urls_per_shape = max(MIN_URLS_PER_SHAPE, max_pages // 2)
        self._counts: Counter[str] = Counter()
        self.left_out = 0
        self.example = ""  # Shape of the first omitted URL.

    def is_new_shape(self, url_shape: str) -> bool:
        """Return True if the crawl has seen no URL of this shape before."""
        return url_shape not in self._counts

    def admit(self, path: str, url_shape: str, depth: int, generation: int) -> bool:
        """Return True if a link may be followed.

        `generation` is the number of consecutive pages with the same shape.
        """
        if depth <= MAX_CLICK_DEPTH and not _has_repeated_segments(path) and self._is_rare_shape(url_shape, generation):
            return True
        self.left_out += 1
        self.example = self.example or url_shape
        return False

    def _is_rare_shape(self, url_shape: str, generation: int) -> bool:
        if ANYTHING not in url_shape:
            return True
        self._counts[url_shape] += 1
        return generation <= MAX_PAGES_OF_SHAPE_IN_A_ROW and self._counts[url_shape] <= self._max_urls_per_shape


def _has_repeated_segments(path: str) -> bool:
    """Return True if a wrong relative link probably repeats in the path.

    Such a link makes the path longer and longer.
    """
    segments = [segment for segment in path.partition("?")[0].split("/") if segment]
    return len(segments) > MAX_PATH_SEGMENTS or max(Counter(segments).values(), default=0) > MAX_SEGMENT_REPETITIONS
