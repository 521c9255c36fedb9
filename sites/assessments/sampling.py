"""Choice of a sample of an audit's pages, by the steps of WCAG-EM.

https://www.w3.org/TR/WCAG-EM/ step 3: a structured sample of different kinds of pages, and a random sample of a tenth.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable, Sequence
from urllib.parse import parse_qsl

from msgspec import Struct

from sites.models import AssessmentPage
from website_scan.urls import Url

Reason = AssessmentPage.Reason

# Pages that most sites have and WCAG-EM asks for (step 3.a): contact, help, search, log-in, legal information.
COMMON_PAGE = re.compile(
    r"contact|kontakt|search|suche|recherche|log-?in|sign-?in|register|account|help|hilfe|faq|about|impressum|imprint"
    r"|legal|privacy|datenschutz|accessib|barrierefrei|sitemap|cart|checkout|shop|ticket",
    re.IGNORECASE,
)
DIGITS = re.compile(r"\d+")


class Candidate(Struct, frozen=True):
    """Page of an audit with its accessibility score, in the audit's order."""

    url: str
    score: int | None


class ChosenPage(Struct, frozen=True):
    url: str
    reason: str


def choose_sample(candidates: Sequence[Candidate], size: int, seed: str) -> list[ChosenPage]:
    """Return at most `size` different pages: the first page, one of each kind, and a tenth of the sample at random.

    Pages of a kind have similar addresses; of these, the page with the lowest score is chosen. Kinds with a common
    page, such as contact or search, come first, then those with most pages. `seed` makes the choice repeatable.
    """
    if len(candidates) <= size:
        return [
            ChosenPage(page.url, Reason.START if position == 0 else Reason.STRUCTURE)
            for position, page in enumerate(candidates)
        ]
    chosen = {candidates[0].url: Reason.START}
    random_pages = min(math.ceil(size / 10), size - 1)
    for page in _worst_of_each_kind(candidates[1:]):
        if len(chosen) >= size - random_pages:
            break
        chosen[page.url] = Reason.STRUCTURE
    others = [page.url for page in candidates if page.url not in chosen]
    choice = random.Random(seed).sample(others, min(size - len(chosen), len(others)))  # noqa: S311  # no secret
    chosen |= dict.fromkeys(choice, Reason.RANDOM)
    return [ChosenPage(page.url, chosen[page.url]) for page in candidates if page.url in chosen]


def _worst_of_each_kind(candidates: Iterable[Candidate]) -> list[Candidate]:
    kinds: dict[tuple[str, ...], list[Candidate]] = {}
    for page in candidates:
        kinds.setdefault(_kind(page.url), []).append(page)
    ordered = sorted(kinds.values(), key=lambda pages: (not any(map(_is_common, pages)), -len(pages), pages[0].url))
    return [min(pages, key=lambda page: (page.score is None, page.score or 0, page.url)) for pages in ordered]


def _is_common(page: Candidate) -> bool:
    return COMMON_PAGE.search(Url.of(page.url).path) is not None


def _kind(url: str) -> tuple[str, ...]:
    """Return what pages of the same kind have in common: first folder, depth, and names of parameters."""
    parts = Url.of(url)
    folders = [DIGITS.sub("0", folder) for folder in parts.path.split("/") if folder]
    # A page directly below the start page is a kind of its own.
    first = folders[0] if folders else ""
    return first, str(len(folders)), *sorted(name for name, _ in parse_qsl(parts.query))
