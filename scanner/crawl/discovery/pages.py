"""The list of pages while it is made: in order, each page once, no more than are wanted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from scanner.crawl.discovery.addresses import identity, identity_of_normalised, is_file
from scanner.crawl.discovery.effort import Effort
from scanner.crawl.discovery.patterns import Patterns
from scanner.crawl.robots import CrawlerRules, normalised_path


class Admission(Enum):
    """What became of an address."""

    NEW = auto()  # it is on the list now
    KNOWN = auto()  # it was looked at before
    REFUSED = auto()  # it is no page, not wanted, or robots.txt forbids it
    OVERFLOWING = auto()  # it would be on the list if that were longer


@dataclass(slots=True)
class Place:
    """A page's place in the list. Which page it is may change, and the place may become empty."""

    path: str | None = None


class PageList:
    """Pages of one site, as paths with query.

    `forbidden` counts addresses that robots.txt forbids, `unwanted` those that the patterns leave out, `overflow`
    pages for which the list is too short.
    """

    def __init__(self, rules: CrawlerRules, patterns: Patterns, max_pages: int, effort: Effort) -> None:
        self._rules = rules
        self._patterns = patterns
        self._max_pages = max_pages
        self._effort = effort
        self._order: list[Place] = []
        self._places: dict[str, Place] = {}  # by identity
        # Of all others that were looked at. Hashes, as there may be very many and long ones.
        self._others: set[int] = set()
        self._filled = 0
        self.forbidden = 0
        self.unwanted = 0
        self.overflow = 0

    def __len__(self) -> int:
        return self._filled

    @property
    def is_full(self) -> bool:
        """Whether there is no place left."""
        return self._filled >= self._max_pages

    @property
    def found(self) -> int:
        """Pages that are known, whether there is a place for them or not."""
        return self._filled + self.overflow

    @property
    def paths(self) -> tuple[str, ...]:
        """The pages, in the order of their places."""
        return tuple(each.path for each in self._order if each.path is not None)

    def knows(self, path: str) -> bool:
        """Whether an address was looked at before."""
        key = identity(path)
        return key in self._places or hash(key) in self._others

    def add(self, path: str, *, is_page: bool = False) -> Admission:
        """Look at an address; with `is_page` it is known to be a page, however it ends. Raises `Exhausted`."""
        return self._add(path, None, is_page)

    def judge(self, path: str) -> bool:
        """Whether an address may be put on the list if there is room; if not, it is known from now on."""
        if not self.knows(path) and not is_file(path) and self.permits(path):
            return True
        self.add(path)
        return False

    def leave_out(self, path: str) -> None:
        """Have an address known that is not to be listed."""
        self._effort.address()
        self._others.add(hash(identity(path)))

    def drop(self, path: str) -> None:
        """Take a page from the list that turned out to be none; it will not come back."""
        self._take_out(identity(path))

    def redirect(self, path: str, other: str) -> Admission:
        """Have the page in a page's place that it redirects to.

        NEW when that one was not known before. Where it was, or is refused, the page is dropped.
        """
        return self._add(other, self._take_out(identity(path)), is_page=True)

    def rename(self, path: str, other: str) -> None:
        """List a page under another address of the same identity, the one where it answers."""
        if (place := self._places.get(identity(path))) is not None:
            place.path = other

    def merge(self, path: str, canonical: str) -> None:
        """A page names another as the one that stands for it: leave one of them.

        Where the other is refused, or was no page, the page stays.
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
        """Whether robots.txt and the patterns let a page through; may be asked by any thread."""
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
