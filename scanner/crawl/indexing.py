"""The rules that a page gives search engines: robots meta elements and X-Robots-Tag header lines, joined."""

from __future__ import annotations

import email.utils
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from selectolax.lexbor import LexborNode

from scanner.crawl.robots import GOOGLEBOT
from scanner.page.evidence import Document, Page
from scanner.page.markup import attribute, live

HEADER = "X-Robots-Tag"
MAX_LENGTH = 5_000  # characters of one line or element
EVERYBODY = "robots"
# Crawlers that a meta element may be named for; other names are other metas.
META_NAMES = frozenset(
    {
        EVERYBODY,
        GOOGLEBOT,
        "googlebot-news",
        "bingbot",
        "msnbot",
        "slurp",
        "yandex",
        "yandexbot",
        "baiduspider",
        "duckduckbot",
        "applebot",
    }
)
# Whom it matters to searchers that a rule excludes; others are no search engines, such as GPTBot.
SEARCH_ENGINES = (META_NAMES - {EVERYBODY}) | {
    *("googlebot-image", "googlebot-video", "bingpreview", "yandeximages", "baiduspider-image", "yahoo", "naverbot"),
    *("yeti", "seznambot", "sogou", "petalbot", "qwantbot", "qwantify", "mojeekbot", "coccocbot", "360spider"),
}
# Rules with a value behind a colon; before any other colon in a header stands a crawler's name.
WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview", "indexifembedded"}
)
NAMED = re.compile(r"([^\s:,]+)\s*:\s*(.*)", re.DOTALL)
# How a date in the forms of RFC 822, RFC 850 or ISO 8601 goes on behind a comma.
DATE_REST = re.compile(r"\s*\d")
ISO_DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ]+(\d\d:\d\d(?::\d\d)?))?\s*(.*)")
SHORT_DATE = re.compile(r"(?:\w+,\s*)?\d{1,2}[ -]\w{3,}[ -]\d{2,4}")


@dataclass(frozen=True, slots=True)
class IndexingRule:
    """One rule: `agent` is lower case, EVERYBODY for all; `source` is the header's or the element's name."""

    agent: str
    name: str
    value: str
    source: str
    text: str  # the whole line or content, as sent

    @property
    def is_for_google(self) -> bool:
        return self.agent in (EVERYBODY, GOOGLEBOT)

    @property
    def shown(self) -> str:
        """The rule with where it stands: "noindex in X-Robots-Tag"."""
        written = f"{self.name}: {self.value}" if self.value else self.name
        to = "" if self.agent == EVERYBODY or "<" in self.source else f" for {self.agent}"
        return f"{written} in {self.source}{to}"


@dataclass(frozen=True, slots=True)
class IndexingRules:
    """Every rule of a page, and those that keep it out of an index at the scan's time."""

    rules: tuple[IndexingRule, ...] = ()
    excluding: tuple[IndexingRule, ...] = ()

    @property
    def decisive(self) -> tuple[IndexingRule, ...]:
        """Those of `excluding` that hold for Google."""
        return tuple(rule for rule in self.excluding if rule.is_for_google)

    @property
    def unreadable_dates(self) -> list[IndexingRule]:
        """`unavailable_after` rules whose date search engines ignore, as it can't be read."""
        return [rule for rule in self.rules if rule.name == "unavailable_after" and parse_date(rule.value) is None]

    @property
    def ambiguous(self) -> list[IndexingRule]:
        """Rules that were meant to keep the page out, but run into others without a comma between them."""
        return [rule for rule in self.rules if len(words := re.split(r"[\s;]+", rule.name)) > 1 and "noindex" in words]


def read_indexing_rules(page: Page, document: Document, now: datetime) -> IndexingRules:
    """The rules in header lines, then in the document; meta elements in the body count too.

    A rule that allows never outweighs one that excludes.
    """
    found: list[IndexingRule] = []
    for line in page.headers.all(HEADER):
        found.extend(_rules(line, EVERYBODY, HEADER, names_agents=True))
    for node in live(document, "meta[name][content]"):
        if name := robots_name(node):
            found.extend(_rules(attribute(node, "content") or "", name, f'<meta name="{name}">', names_agents=False))
    return IndexingRules(tuple(found), tuple(rule for rule in found if _excludes(rule, now)))


def robots_name(meta: LexborNode) -> str:
    """The crawler's name that a meta element has, EVERYBODY among them; empty for other metas."""
    name = (attribute(meta, "name") or "").strip().lower()
    return name if name in META_NAMES else ""


def parse_date(text: str) -> datetime | None:
    """A date of RFC 822, RFC 850 or ISO 8601, with or without a time, as an aware moment."""
    text = text.strip()
    if SHORT_DATE.fullmatch(text):
        text += " 00:00:00 GMT"
    try:
        found = email.utils.parsedate_to_datetime(text)
    except (ValueError, IndexError, OverflowError):
        iso = ISO_DATE.fullmatch(text)
        if iso is None:
            return None
        zone = "" if iso[3].upper() in ("GMT", "UTC") else iso[3]
        try:
            found = datetime.fromisoformat(f"{iso[1]}T{iso[2] or '00:00'}{zone}")
        except ValueError:
            return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _excludes(rule: IndexingRule, now: datetime) -> bool:
    if rule.name == "unavailable_after":
        date = parse_date(rule.value)
        return date is not None and date < now
    return rule.name in ("noindex", "none")


def _rules(text: str, agent: str, source: str, *, names_agents: bool) -> Iterator[IndexingRule]:
    """The rules of one header line or meta element. In a header, a name with a colon changes whom they are for."""
    pieces = text[:MAX_LENGTH].split(",")
    while pieces:
        piece = pieces.pop(0).strip()
        named = NAMED.fullmatch(piece)
        if named is not None and names_agents and named[1].lower() not in WITH_VALUE:
            agent, piece = named[1].lower(), named[2].strip()
            named = NAMED.fullmatch(piece)
        if named is None:
            if piece:
                yield IndexingRule(agent, piece.lower(), "", source, text)
            continue
        name, value = named[1].lower(), named[2].strip()
        if name == "unavailable_after" and pieces and DATE_REST.match(pieces[0]):
            value = f"{value}, {pieces.pop(0).strip()}"  # “Fri, 25 Jun 2010 …”
        yield IndexingRule(agent, name, value, source, text)
