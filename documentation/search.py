"""The documentation's search index. static/js/search.js searches it in the browser, without a server."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator

from django.urls import reverse
from msgspec import Struct

from documentation.contents import OVERVIEW, address_of, guides
from documentation.reference import Operation, api
from scans.check_catalogue import check_page, entries

# Regular expression for words. Parts of words are also indexed: `options` matches `x-content-type-options`. The script
# search.js splits queries in the same way.
WORD = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")
PART = re.compile(r"[-_.]")
MAX_WORD_LENGTH = 40
# Frequent words that are not indexed, because most sections contain them.
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


class Section(Struct, frozen=True):
    """A documentation section that search results link to.

    `page` is its page's title.
    """

    title: str
    page: str
    url: str
    text: str


def search_index(address: Callable[[str], str] = str) -> str:
    """Return the index as a script.

    Pages with a file: URL may load scripts but no data.

    The script sets `searchIndex`: `sections` has [title, page, URL] of each section; `words` has, for each word, the
    numbers of the sections with the word in the title, and of the sections with the word in the text. `address` maps a
    path to the URL of a result.
    """
    sections = _sections()
    words: dict[str, tuple[list[int], list[int]]] = {}
    for number, section in enumerate(sections):
        title_words = _words(f"{section.title} {section.page}")
        for word in sorted(title_words | _words(section.text)):
            words.setdefault(word, ([], []))[word not in title_words].append(number)
    index = {"sections": [[section.title, section.page, address(section.url)] for section in sections], "words": words}
    return f"globalThis.searchIndex = {json.dumps(index, ensure_ascii=False, separators=(',', ':'))};\n"


def _words(text: str) -> set[str]:
    words = {word for word in WORD.findall(text.lower()) if len(word) <= MAX_WORD_LENGTH}
    parts = {part for word in words for part in PART.split(word)}
    return {word for word in words | parts if len(word) > 1} - STOP_WORDS


@functools.cache
def _sections() -> tuple[Section, ...]:
    return (*_guide_sections(), *_api_sections(), *_check_sections())


def _guide_sections() -> Iterator[Section]:
    for guide in (OVERVIEW, *guides()):
        for chunk in guide.chunks:
            # The text below a document's title begins the page, so its section has no anchor.
            title, anchor = (guide.title, "") if chunk.level == 1 else (chunk.title, f"#{chunk.anchor}")
            yield Section(title, guide.title, f"{address_of(guide)}{anchor}", chunk.text)


def _api_sections() -> Iterator[Section]:
    for group in api().groups.values():
        page = reverse("docs-group", args=[group.slug])
        for operation in group.operations:
            url = f"{page}#{operation.anchor}"
            yield Section(operation.title, f"API: {group.title}", url, _operation_text(operation))


def _operation_text(operation: Operation) -> str:
    fields = (
        *operation.parameters,
        *operation.body,
        *(field for answer in operation.answers for field in answer.fields),
    )
    words = (f"{field.name} {field.description}" for field in fields)
    return " ".join([operation.method, operation.path, operation.text, *words])


def _check_sections() -> Iterator[Section]:
    for check in entries().values():
        titles = [outcome.outline for outcome in check.outcomes]
        text = " ".join([*titles, check.why, check.judged, check.category, check.fix])
        yield Section(check.name, f"{check.type.label} check {check.id}", check_page(check.id), text)
