"""Indexing rules of a page for search engines.

They are in robots meta elements and X-Robots-Tag headers.
"""

from __future__ import annotations

import email.utils
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec import Struct
from selectolax.lexbor import LexborNode

from website_scan.crawl.robots import GOOGLEBOT
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, live

HEADER = "X-Robots-Tag"
MAX_RULES_LENGTH = 5_000  # Maximum number of characters of one header line or meta element.
ALL_CRAWLERS = "robots"
# Meta elements with these names have rules for one crawler or all.
CRAWLER_META_NAMES = frozenset(
    {
        ALL_CRAWLERS,
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
# Excluding one of these crawlers hides a page from searches.
SEARCH_ENGINES = (CRAWLER_META_NAMES - {ALL_CRAWLERS}) | {
    *("googlebot-image", "googlebot-video", "bingpreview", "yandeximages", "baiduspider-image", "yahoo", "naverbot"),
    *("yeti", "seznambot", "sogou", "petalbot", "qwantbot", "qwantify", "mojeekbot", "coccocbot", "360spider"),
}
# In a header, any other name before a colon is a crawler's name.
RULES_WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview", "indexifembedded"}
)
NAMED = re.compile(r"([^\s:,]+)\s*:\s*(.*)", re.DOTALL)
# Part of a date after its comma (RFC 822, RFC 850).
DATE_AFTER_COMMA = re.compile(r"\s*\d")
ISO_DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ]+(\d\d:\d\d(?::\d\d)?))?\s*(.*)")
SHORT_DATE = re.compile(r"(?:\w+,\s*)?\d{1,2}[ -]\w{3,}[ -]\d{2,4}")


class IndexingRule(Struct, frozen=True):
    """Indexing rule such as noindex.

    `agent` is the crawler in lower case. `source` names the header or element.
    """

    agent: str
    name: str
    value: str
    source: str
    text: str  # Whole header line or content attribute, as sent.

    @property
    def applies_to_google(self) -> bool:
        return self.agent in (ALL_CRAWLERS, GOOGLEBOT)

    @property
    def shown(self) -> str:
        """Return the rule with its source, such as "noindex in X-Robots-Tag"."""
        rule = f"{self.name}: {self.value}" if self.value else self.name
        to = "" if self.agent == ALL_CRAWLERS or "<" in self.source else f" for {self.agent}"
        return f"{rule} in {self.source}{to}"


class IndexingRules(Struct, frozen=True):
    """Indexing rules of a page.

    `excluding` are those that exclude the page from search at the time of the scan.
    """

    rules: tuple[IndexingRule, ...] = ()
    excluding: tuple[IndexingRule, ...] = ()

    @property
    def decisive(self) -> tuple[IndexingRule, ...]:
        """Return the rules that exclude the page from Google's index."""
        return tuple(rule for rule in self.excluding if rule.applies_to_google)

    @property
    def unreadable_dates(self) -> list[IndexingRule]:
        """Return `unavailable_after` rules with an invalid date.

        Search engines ignore them.
        """
        return [rule for rule in self.rules if rule.name == "unavailable_after" and parse_date(rule.value) is None]

    @property
    def ambiguous(self) -> list[IndexingRule]:
        """Return noindex rules that lack the comma between them and other rules."""
        return [rule for rule in self.rules if len(words := re.split(r"[\s;]+", rule.name)) > 1 and "noindex" in words]


def read_indexing_rules(page: Page, document: Document, now: datetime) -> IndexingRules:
    """Return the indexing rules of headers, then of meta elements.

    X-Robots-Tag headers, then meta elements in head and body. A rule that allows indexing never overrides a rule that
    excludes the page.
    """
    rules: list[IndexingRule] = []
    for line in page.headers.all(HEADER):
        rules.extend(_parse_rules(line, ALL_CRAWLERS, HEADER, names_agents=True))
    for node in live(document, "meta[name][content]"):
        if name := addressed_crawler(node):
            rules.extend(
                _parse_rules(attribute(node, "content") or "", name, f'<meta name="{name}">', names_agents=False)
            )
    return IndexingRules(tuple(rules), tuple(rule for rule in rules if _excludes_page(rule, now)))


def addressed_crawler(meta: LexborNode) -> str:
    """Return the name of the crawler that a meta element addresses.

    It may be ALL_CRAWLERS. Empty for other meta elements.
    """
    name = (attribute(meta, "name") or "").strip().lower()
    return name if name in CRAWLER_META_NAMES else ""


def parse_date(text: str) -> datetime | None:
    """Parse a date as an aware datetime.

    RFC 822, RFC 850 or ISO 8601, with or without a time. None if invalid.
    """
    text = text.strip()
    if SHORT_DATE.fullmatch(text):
        text += " 00:00:00 GMT"
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except (ValueError, IndexError, OverflowError):
        iso = ISO_DATE.fullmatch(text)
        if iso is None:
            return None
        zone = "" if iso[3].upper() in ("GMT", "UTC") else iso[3]
        try:
            moment = datetime.fromisoformat(f"{iso[1]}T{iso[2] or '00:00'}{zone}")
        except ValueError:
            return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _excludes_page(rule: IndexingRule, now: datetime) -> bool:
    if rule.name == "unavailable_after":
        date = parse_date(rule.value)
        return date is not None and date < now
    return rule.name in ("noindex", "none")


def _parse_rules(text: str, agent: str, source: str, *, names_agents: bool) -> Iterator[IndexingRule]:
    """Yield the indexing rules of a header line or meta element.

    In a header, a name followed by a colon sets the crawler.
    """
    pieces = text[:MAX_RULES_LENGTH].split(",")
    while pieces:
        piece = pieces.pop(0).strip()
        match = NAMED.fullmatch(piece)
        if match is not None and names_agents and match[1].lower() not in RULES_WITH_VALUE:
            agent, piece = match[1].lower(), match[2].strip()
            match = NAMED.fullmatch(piece)
        if match is None:
            if piece:
                yield IndexingRule(agent, piece.lower(), "", source, text)
            continue
        name, value = match[1].lower(), match[2].strip()
        if name == "unavailable_after" and pieces and DATE_AFTER_COMMA.match(pieces[0]):
            # A date such as “Fri, 25 Jun 2010” contains a comma.
            value = f"{value}, {pieces.pop(0).strip()}"
        yield IndexingRule(agent, name, value, source, text)
