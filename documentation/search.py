"""Search index of the documentation, which static/js/search.js searches in the browser: no server is asked."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.urls import reverse

from documentation.contents import OVERVIEW, address_of, guides
from documentation.reference import Operation, api
from scans.check_catalogue import check_page, entries

# A word with its parts: `x-content-type-options` is found by `options`, too. search.js splits a query in the same way.
WORD = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")
PART = re.compile(r"[-_.]")
LONGEST_WORD = 40
# Words that are in most sections and lead nowhere.
STOP_WORDS = {
    *(
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "for",
        "from",
        "has",
        "have",
        "if",
        "in",
        "is",
        "it",
        "its",
        "no",
    ),
    *("not", "of", "on", "or", "that", "the", "this", "to", "was", "which", "with"),
}


@dataclass(frozen=True, slots=True)
class Section:
    """A section that a result leads to: its title, the page it is on, its address and its text."""

    title: str
    page: str
    url: str
    text: str


def search_index(address: Callable[[str], str] = str) -> str:
    """Return the index as a script, because a page of a file: URL may load scripts but no data.

    It sets `searchIndex`: `sections` has [title, page, address] of each section; `words` has, for each word, the
    numbers of the sections with the word in their title, and of those with it in their text. `address` maps a path to
    the address that a result leads to.
    """
    found = _sections()
    words: dict[str, tuple[list[int], list[int]]] = {}
    for number, section in enumerate(found):
        titled = _words(f"{section.title} {section.page}")
        for word in sorted(titled | _words(section.text)):
            words.setdefault(word, ([], []))[word not in titled].append(number)
    index = {"sections": [[each.title, each.page, address(each.url)] for each in found], "words": words}
    return f"globalThis.searchIndex = {json.dumps(index, ensure_ascii=False, separators=(',', ':'))};\n"


def _words(text: str) -> set[str]:
    whole = {each for each in WORD.findall(text.lower()) if len(each) <= LONGEST_WORD}
    parts = {part for each in whole for part in PART.split(each)}
    return {each for each in whole | parts if len(each) > 1} - STOP_WORDS


@functools.cache
def _sections() -> tuple[Section, ...]:
    return (*_of_guides(), *_of_api(), *_of_checks())


def _of_guides() -> Iterator[Section]:
    for guide in (OVERVIEW, *guides()):
        for chunk in guide.chunks:
            # The text below the title of a document is the start of its page.
            title, anchor = (guide.title, "") if chunk.level == 1 else (chunk.title, f"#{chunk.anchor}")
            yield Section(title, guide.title, f"{address_of(guide)}{anchor}", chunk.text)


def _of_api() -> Iterator[Section]:
    for group in api().groups.values():
        page = reverse("docs-group", args=[group.slug])
        for each in group.operations:
            yield Section(each.title, f"API: {group.title}", f"{page}#{each.anchor}", _text(each))


def _text(operation: Operation) -> str:
    fields = (*operation.parameters, *operation.body, *(field for each in operation.answers for field in each.fields))
    words = (f"{field.name} {field.description}" for field in fields)
    return " ".join([operation.method, operation.path, operation.text, *words])


def _of_checks() -> Iterator[Section]:
    for check in entries().values():
        titles = [outcome.outline for outcome in check.outcomes]
        text = " ".join([*titles, check.why, check.judged, check.category, check.fix])
        yield Section(check.name, f"{check.type.label} check {check.id}", check_page(check.id), text)
