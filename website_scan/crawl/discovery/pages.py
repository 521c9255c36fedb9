"""Ordered list of a site's pages during discovery.

It has no duplicates and a maximum length.
"""

from __future__ import annotations

from enum import Enum, auto

from msgspec import Struct

from website_scan.crawl.discovery.addresses import has_file_extension, identity, key_of_normalised_path
from website_scan.crawl.discovery.effort import Effort
from website_scan.crawl.discovery.patterns import Patterns
from website_scan.crawl.robots import CrawlerRules, normalised_path


class Admission(Enum):
    """Result of adding a URL to the list."""

    NEW = auto()  # The URL is new and was added to the list.
    KNOWN = auto()  # The URL is already known.
    REFUSED = auto()  # The URL is not a page, or is excluded by patterns or robots.txt.
    OVERFLOWING = auto()  # The URL could be listed, but the list is full.


class Place(Struct):
    """Position in a discovery's list of pages.

    The page at the position may change, and the position may become empty.
    """

    path: str | None = None


class PageList:
    """List of a site's pages as paths with query.

    `forbidden` counts URLs that robots.txt disallows, `unwanted` URLs that the patterns exclude, `overflow` pages that
    did not fit into the list.
    """

    def __init__(self, rules: CrawlerRules, patterns: Patterns, max_pages: int, effort: Effort) -> None:
        self._rules = rules
        self._patterns = patterns
        self._max_pages = max_pages
        self._effort = effort
        self._order: list[Place] = []
        self._positions_by_key: dict[str, Place] = {}
        # Storing the URLs instead of hashes would need too much memory.
        self._unlisted_hashes: set[int] = set()
        self._filled = 0
        self.forbidden = 0
        self.unwanted = 0
        self.overflow = 0

    def __len__(self) -> int:
        return self._filled

    @property
    def is_full(self) -> bool:
        """Return True if the list has reached its maximum length."""
        return self._filled >= self._max_pages

    @property
    def found(self) -> int:
        """Return the number of known pages.

        Pages that did not fit into the list count, too.
        """
        return self._filled + self.overflow

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths of the listed pages, in order."""
        return tuple(place.path for place in self._order if place.path is not None)

    def is_known(self, path: str) -> bool:
        """Return True if a URL is already known, listed or not."""
        key = identity(path)
        return key in self._positions_by_key or hash(key) in self._unlisted_hashes

    def add(self, path: str, *, is_page: bool = False) -> Admission:
        """Add a URL to the list if the URL may be listed.

        If `is_page` is True, the URL's file extension is ignored. Raises `EffortExhausted`.
        """
        return self._add_page(path, None, is_page)

    def may_list(self, path: str) -> bool:
        """Return True if a new URL qualifies for the list.

        The list may be full. Otherwise, record the URL as known.
        """
        if not self.is_known(path) and not has_file_extension(path) and self.is_permitted(path):
            return True
        self.add(path)
        return False

    def record_unlisted(self, path: str) -> None:
        """Record a URL as known, without adding the URL to the list."""
        self._effort.count_url()
        self._unlisted_hashes.add(hash(identity(path)))

    def drop(self, path: str) -> None:
        """Remove a listed URL that is not a page.

        The URL can't be added again.
        """
        self._remove_page(identity(path))

    def redirect(self, path: str, other: str) -> Admission:
        """Replace a listed page by the target of its redirect.

        Returns NEW if the target was not known before. If it was known or is refused, the page is dropped.
        """
        return self._add_page(other, self._remove_page(identity(path)), is_page=True)

    def rename(self, path: str, other: str) -> None:
        """Change a listed page's URL to its redirect's target.

        The new URL is equivalent.
        """
        if (place := self._positions_by_key.get(identity(path))) is not None:
            place.path = other

    def merge(self, path: str, canonical: str) -> None:
        """Replace a listed page by its canonical page.

        Only one of them is then listed. If the canonical page is refused, or was not a page, the page stays.
        """
        key, other = identity(path), identity(canonical)
        if key == other:
            return
        place = self._remove_page(key)
        if (
            place is None
            or other in self._positions_by_key
            or self._add_page(canonical, place, is_page=True) is Admission.NEW
        ):
            return
        self._unlisted_hashes.discard(hash(key))
        self._insert_page(key, place, path)

    def _add_page(self, path: str, place: Place | None, is_page: bool) -> Admission:
        self._effort.count_step()
        normal = normalised_path(path)
        key = key_of_normalised_path(normal)
        if key in self._positions_by_key or hash(key) in self._unlisted_hashes:
            return Admission.KNOWN
        self._effort.count_url()
        admission = Admission.REFUSED if has_file_extension(path) and not is_page else self._judge_admission(normal)
        if admission is Admission.NEW:
            if place is None:
                place = Place()
                self._order.append(place)
            self._insert_page(key, place, path)
        else:
            self._unlisted_hashes.add(hash(key))
            self.overflow += admission is Admission.OVERFLOWING
        return admission

    def _insert_page(self, key: str, place: Place, path: str) -> None:
        place.path = path
        self._positions_by_key[key] = place
        self._filled += 1

    def _remove_page(self, key: str) -> Place | None:
        place = self._positions_by_key.pop(key, None)
        if place is not None:
            place.path = None
            self._unlisted_hashes.add(hash(key))
            self._filled -= 1
        return place

    def is_permitted(self, path: str) -> bool:
        """Return True if robots.txt and the patterns allow a URL.

        Thread-safe.
        """
        normal = normalised_path(path)
        return self._patterns.admit(normal) and self._rules.allows(normal)

    def _judge_admission(self, normal: str) -> Admission:
        if not self._patterns.admit(normal):
            self.unwanted += 1
            return Admission.REFUSED
        if not self._rules.allows(normal):
            self.forbidden += 1
            return Admission.REFUSED
        return Admission.OVERFLOWING if self.is_full else Admission.NEW
