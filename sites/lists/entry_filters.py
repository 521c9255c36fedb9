"""Filters of a list's entries."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Q
from django.db.models.lookups import GreaterThanOrEqual, LessThan
from msgspec import Struct
from msgspec.structs import asdict

from infrastructure.api.errors import InvalidParams
from infrastructure.api.pagination import choice, integer
from scans.models import Scan
from sites.lists.check_names import check_of, outcome_of
from sites.models import ListEntry, SiteList
from sites.models.site_list import ENTRY_ADDRESS
from website_scan.json_types import GRADES

MAX_TEXT_LENGTH = 200
TYPES: Sequence[str] = Scan.Type.values
# Lists with at most this number of entries are searched completely.
MAX_SMALL_LIST = 20_000
# The last character of Unicode. An address that begins with a text is less than the text with this character.
LAST_CHARACTER = "\U0010ffff"


class EntryFilter(Struct, frozen=True):
    """Filter of a list's entries. Fields that are empty or None are ignored.

    `grade`, `least` and `most` (scores) apply to the scan `type`, or to any type if it is empty; `type` alone matches
    entries with a score of this type. `check` is the ID of a failed check, `outcome` an outcome that failed or warned,
    such as `hsts.short`. `text` is a part of the URL or the note, or in large lists the beginning of the URL.

    The last four are facts about the site: `hsts` is yes or no, `http_status` a number such as 404, `generator` a part
    of the generator's name, `language` a tag such as `de`, which includes `de-AT`.
    """

    tag: str = ""
    type: str = ""
    grade: str = ""
    least: int | None = None
    most: int | None = None
    check: str = ""
    outcome: str = ""
    state: str = ""
    text: str = ""
    hsts: str = ""
    http_status: int | None = None
    generator: str = ""
    language: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str], *, is_lenient: bool = False) -> EntryFilter:
        """Parse the filter from query parameters, which have the names of the fields.

        Raises InvalidParams for an invalid value. If `is_lenient`, invalid values are ignored, as in the dashboard.
        """
        values: dict[str, Any] = {}
        for name, parsed in PARSERS.items():
            if name in query:
                try:
                    values[name] = parsed(query, name)
                except InvalidParams:
                    if not is_lenient:
                        raise
        return cls(**values)

    @property
    def parameters(self) -> dict[str, str]:
        """Return the filter as query parameters, without empty values."""
        return {name: str(value) for name, value in asdict(self).items() if value not in ("", None)}

    def condition_in(self, site_list: SiteList) -> Q:
        """Return the filter as a condition of the ORM for entries of a list."""
        is_small = site_list.entries_count <= MAX_SMALL_LIST
        condition = Q()
        if self.tag:
            condition &= Q(tags__contains=[self.tag])
        if self.state:
            condition &= Q(state=self.state)
        if self.check:
            condition &= Q(failing__contains=[self.check])
        if self.outcome:
            condition &= Q(outcomes__contains=[self.outcome])
        if self.text:
            condition &= _contains(self.text) if is_small else _begins_with(self.text)
        condition &= self._fact_condition
        if self._has_scores:
            condition &= self._any_type(self._type_condition)
        return condition

    def indexed_conditions(self) -> Iterator[Sequence[Q]]:
        """Yield the conditions of the filter for which the table has an index.

        Each is a condition of its own, which the whole filter includes. It consists of alternatives; an entry meets at
        most one of them. Text is that of a large list.
        """
        if self.text:
            yield _beginnings(self.text)
        if self.http_status is not None:
            yield [Q(facts__status=self.http_status)]
        if self.check:
            yield [Q(failing__contains=[self.check])]
        if self.outcome:
            yield [Q(outcomes__contains=[self.outcome])]
        if self.tag:
            yield [Q(tags__contains=[self.tag])]
        if self.state:
            yield [Q(state=self.state)]
        if self.grade:
            yield [self._any_type(lambda type: Q(**{f"{type}_grade": self.grade}))]
        if self.least is not None or self.most is not None:
            yield [self._any_type(self._score_condition)]

    @property
    def _has_scores(self) -> bool:
        return bool(self.type or self.grade) or self.least is not None or self.most is not None

    def _any_type(self, condition_of: Callable[[str], Q]) -> Q:
        """Return the condition that the filter's type meets a condition, or any type if the filter has none."""
        return functools.reduce(operator.or_, map(condition_of, [self.type] if self.type else TYPES))

    @property
    def _fact_condition(self) -> Q:
        condition = Q()
        if self.hsts:
            condition &= Q(facts__hsts=self.hsts == "yes")
        if self.http_status is not None:
            condition &= Q(facts__status=self.http_status)
        if self.generator:
            condition &= Q(facts__generator__icontains=self.generator)
        if self.language:
            condition &= Q(facts__language__iexact=self.language) | Q(facts__language__istartswith=f"{self.language}-")
        return condition

    def _type_condition(self, type: str) -> Q:
        condition = self._score_condition(type)
        return condition & Q(**{f"{type}_grade": self.grade}) if self.grade else condition

    def _score_condition(self, type: str) -> Q:
        condition = Q(**{f"{type}_score__isnull": False})
        if self.least is not None:
            condition &= Q(**{f"{type}_score__gte": self.least})
        if self.most is not None:
            condition &= Q(**{f"{type}_score__lte": self.most})
        return condition


def _text(query: Mapping[str, str], name: str) -> str:
    text = query[name]
    if not text.strip() or len(text) > MAX_TEXT_LENGTH or not text.isprintable():
        raise InvalidParams(f"{name} must have 1 to {MAX_TEXT_LENGTH} printable characters.")
    return text.strip()


def _begins_with(text: str) -> Q:
    """Return the condition for entries whose URL begins with a text, with or without its scheme and `www.`."""
    return functools.reduce(operator.or_, _beginnings(text))


def _beginnings(text: str) -> list[Q]:
    """Return the alternatives of `_begins_with`, without those that another one includes.

    An index has the beginnings of URLs. The conditions do not use LIKE, whose pattern would have to be known when
    PostgreSQL plans the query.
    """
    scheme, separator, rest = text.rpartition("://")
    host, slash, path = rest.partition("/")
    try:
        host = host.lower() if host.isascii() else host.lower().encode("idna").decode()
    except UnicodeError:
        host = host.lower()
    names = [host] if f"www.{host}".startswith(host) and not slash else [host, f"www.{host}"]
    return [
        Q(GreaterThanOrEqual(ENTRY_ADDRESS, beginning)) & Q(LessThan(ENTRY_ADDRESS, f"{beginning}{LAST_CHARACTER}"))
        for scheme in ([scheme.lower()] if separator else ["https", "http"])
        for beginning in (f"{scheme}://{name}{slash}{path}" for name in names)
    ]


# Parsers for the fields of `EntryFilter`. The API reports the first invalid parameter in this order.
PARSERS: Mapping[str, Callable[[Mapping[str, str], str], Any]] = {
    "least": functools.partial(integer, default=0, least=0, most=100),
    "most": functools.partial(integer, default=100, least=0, most=100),
    "tag": _text,
    "type": functools.partial(choice, known=TYPES),
    "grade": functools.partial(choice, known=GRADES),
    "check": lambda query, name: check_of(name, query[name]),
    "outcome": lambda query, name: outcome_of(name, query[name]),
    "state": functools.partial(choice, known=ListEntry.State.values),
    "text": _text,
    "hsts": functools.partial(choice, known=("yes", "no")),
    "http_status": functools.partial(integer, default=200, least=100, most=599),
    "generator": _text,
    "language": _text,
}


def _contains(text: str) -> Q:
    """Return the condition for entries that contain a text in their URL or note.

    Hosts are stored in Punycode.
    """
    condition = Q(url__icontains=text) | Q(note__icontains=text)
    if text.isascii():
        return condition
    try:
        return condition | Q(host__contains=text.lower().encode("idna").decode())
    except UnicodeError:
        return condition
