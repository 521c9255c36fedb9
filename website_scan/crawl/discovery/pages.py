"""List of a site's pages while it is being built: ordered, without duplicates, of limited length."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from website_scan.crawl.discovery.addresses import identity, identity_of_normalised, is_file
from website_scan.crawl.discovery.effort import Effort
from website_scan.crawl.discovery.patterns import Patterns
from website_scan.crawl.robots import CrawlerRules, normalised_path


class Admission(Enum):
    """Result of adding a URL to the list."""

    NEW = auto()  # added to the list
    KNOWN = auto()  # seen before
    REFUSED = auto()  # not a page, not wanted, or forbidden by robots.txt
    OVERFLOWING = auto()  # acceptable, but the list is full


@dataclass(slots=True)
class Place:
    """A position in the list. Its page may change, and it may become empty."""

    path: str | None = None


class PageList:
    """Pages of one site, as paths with query.

    `forbidden` counts URLs that robots.txt forbids, `unwanted` those that the patterns exclude, `overflow` pages beyond
    the length of the list.
    """

    def __init__(self, rules: CrawlerRules, patterns: Patterns, max_pages: int, effort: Effort) -> None:
        self._rules = rules
        self._patterns = patterns
        self._max_pages = max_pages
        self._effort = effort
        self._order: list[Place] = []
        self._places: dict[str, Place] = {}  # by identity
        # Hashes of all other URLs seen. Not the URLs, because they may be very many and long.
        self._others: set[int] = set()
        self._filled = 0
        self.forbidden = 0
        self.unwanted = 0
        self.overflow = 0

    def __len__(self) -> int:
        return self._filled

    @property
    def is_full(self) -> bool:
        """Return True if there is no place left."""
        return self._filled >= self._max_pages

    @property
    def found(self) -> int:
        """Return the number of known pages, including those without a place."""
        return self._filled + self.overflow

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the pages, in the order of their places."""
        return tuple(each.path for each in self._order if each.path is not None)

    def knows(self, path: str) -> bool:
        """Return True if a URL was seen before."""
        key = identity(path)
        return key in self._places or hash(key) in self._others

    def add(self, path: str, *, is_page: bool = False) -> Admission:
        """Add a URL if acceptable. With `is_page` it is a page, regardless of its extension. Raises `Exhausted`."""
        return self._add(path, None, is_page)

    def judge(self, path: str) -> bool:
        """Return True if a URL may be put on the list if there is room; else record it as known."""
        if not self.knows(path) and not is_file(path) and self.permits(path):
            return True
        self.add(path)
        return False

    def leave_out(self, path: str) -> None:
        """Record a URL as known, without listing it."""
        self._effort.address()
        self._others.add(hash(identity(path)))

    def drop(self, path: str) -> None:
        """Remove a listed URL that is not a page. It can't be added again."""
        self._take_out(identity(path))

    def redirect(self, path: str, other: str) -> Admission:
        """Put a redirect's target in the page's place.

        Returns NEW if the target was not known before. If it was known or is refused, the page is dropped.
        """
        return self._add(other, self._take_out(identity(path)), is_page=True)

    def rename(self, path: str, other: str) -> None:
        """List a page under another URL with the same identity: the one where it responds."""
        if (place := self._places.get(identity(path))) is not None:
            place.path = other

    def merge(self, path: str, canonical: str) -> None:
        """Replace a page by its canonical page, so that only one of them is listed.

        If the canonical page is refused, or was not a page, the page stays.
        """
        key, other = identity(path), identity(canonical)
        if key == other:
            return
        place = self._take_out(key)
        if place is None or other in self._places or self._add(canonical, place, is_page=True) is Admission.NEW:
            return
        self._others.discard(hash(key))
        self._put_in(key, place, path)

    def _add(self, path: str, place: Place | None, is_page: bool) -> Admission:
        self._effort.step()
        normal = normalised_path(path)
        key = identity_of_normalised(normal)
        if key in self._places or hash(key) in self._others:
            return Admission.KNOWN
        self._effort.address()
        admission = Admission.REFUSED if is_file(path) and not is_page else self._judge(normal)
        if admission is Admission.NEW:
            if place is None:
                place = Place()
                self._order.append(place)
            self._put_in(key, place, path)
        else:
            self._others.add(hash(key))
            self.overflow += admission is Admission.OVERFLOWING
        return admission

    def _put_in(self, key: str, place: Place, path: str) -> None:
        place.path = path
        self._places[key] = place
        self._filled += 1

    def _take_out(self, key: str) -> Place | None:
        place = self._places.pop(key, None)
        if place is not None:
            place.path = None
            self._others.add(hash(key))
            self._filled -= 1
        return place

    def permits(self, path: str) -> bool:
        """Return True if robots.txt and the patterns allow a page. Thread-safe."""
        normal = normalised_path(path)
        return self._patterns.admit(normal) and self._rules.allows(normal)

    def _judge(self, normal: str) -> Admission:
        if not self._patterns.admit(normal):
            self.unwanted += 1
            return Admission.REFUSED
        if not self._rules.allows(normal):
            self.forbidden += 1
            return Admission.REFUSED
        return Admission.OVERFLOWING if self.is_full else Admission.NEW
