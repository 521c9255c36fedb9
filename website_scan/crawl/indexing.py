"""Indexing rules of a page for search engines: robots meta elements and X-Robots-Tag header lines together."""

from __future__ import annotations

import email.utils
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from selectolax.lexbor import LexborNode

from website_scan.crawl.robots import GOOGLEBOT
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, live

HEADER = "X-Robots-Tag"
MAX_LENGTH = 5_000  # characters per line or element
EVERYBODY = "robots"
# Names of meta elements that address a crawler. Meta elements with other names are not indexing rules.
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
# Crawlers of search engines: excluding one hides a page from people who search. GPTBot, for example, is none of them.
SEARCH_ENGINES = (META_NAMES - {EVERYBODY}) | {
    *("googlebot-image", "googlebot-video", "bingpreview", "yandeximages", "baiduspider-image", "yahoo", "naverbot"),
    *("yeti", "seznambot", "sogou", "petalbot", "qwantbot", "qwantify", "mojeekbot", "coccocbot", "360spider"),
}
# Rules with a value after a colon. In a header, a crawler's name precedes any other colon.
WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview", "indexifembedded"}
)
NAMED = re.compile(r"([^\s:,]+)\s*:\s*(.*)", re.DOTALL)
# Rest of a date by RFC 822, RFC 850 or ISO 8601 after its comma.
DATE_REST = re.compile(r"\s*\d")
ISO_DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ]+(\d\d:\d\d(?::\d\d)?))?\s*(.*)")
SHORT_DATE = re.compile(r"(?:\w+,\s*)?\d{1,2}[ -]\w{3,}[ -]\d{2,4}")


@dataclass(frozen=True, slots=True)
class IndexingRule:
    """Indexing rule. `agent` is lower case, EVERYBODY for all crawlers; `source` names the header or element."""

    agent: str
    name: str
    value: str
    source: str
    text: str  # whole header line or content attribute, as sent

    @property
    def is_for_google(self) -> bool:
        return self.agent in (EVERYBODY, GOOGLEBOT)

    @property
    def shown(self) -> str:
        """Return the rule and its source: "noindex in X-Robots-Tag"."""
        rule = f"{self.name}: {self.value}" if self.value else self.name
        to = "" if self.agent == EVERYBODY or "<" in self.source else f" for {self.agent}"
        return f"{rule} in {self.source}{to}"


@dataclass(frozen=True, slots=True)
class IndexingRules:
    """Indexing rules of a page, and those of them that exclude the page from an index at the time of the scan."""

    rules: tuple[IndexingRule, ...] = ()
    excluding: tuple[IndexingRule, ...] = ()

    @property
    def decisive(self) -> tuple[IndexingRule, ...]:
        """Return the rules in `excluding` that apply to Google."""
        return tuple(rule for rule in self.excluding if rule.is_for_google)

    @property
    def unreadable_dates(self) -> list[IndexingRule]:
        """Return `unavailable_after` rules with an invalid date, which search engines ignore."""
        return [rule for rule in self.rules if rule.name == "unavailable_after" and parse_date(rule.value) is None]

    @property
    def ambiguous(self) -> list[IndexingRule]:
        """Return rules that should exclude the page, but are joined to other rules without a comma."""
        return [rule for rule in self.rules if len(words := re.split(r"[\s;]+", rule.name)) > 1 and "noindex" in words]


def read_indexing_rules(page: Page, document: Document, now: datetime) -> IndexingRules:
    """Return the rules in header lines, then those in meta elements, including meta elements in the body.

    A rule that allows indexing never overrides a rule that excludes the page.
    """
    rules: list[IndexingRule] = []
    for line in page.headers.all(HEADER):
        rules.extend(_rules(line, EVERYBODY, HEADER, names_agents=True))
    for node in live(document, "meta[name][content]"):
        if name := robots_name(node):
            rules.extend(_rules(attribute(node, "content") or "", name, f'<meta name="{name}">', names_agents=False))
    return IndexingRules(tuple(rules), tuple(rule for rule in rules if _excludes(rule, now)))


def robots_name(meta: LexborNode) -> str:
    """Return the crawler that a meta element addresses, EVERYBODY included; empty for other metas."""
    name = (attribute(meta, "name") or "").strip().lower()
    return name if name in META_NAMES else ""


def parse_date(text: str) -> datetime | None:
    """Return a date by RFC 822, RFC 850 or ISO 8601, with or without a time, as an aware datetime; None if invalid."""
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


def _excludes(rule: IndexingRule, now: datetime) -> bool:
    if rule.name == "unavailable_after":
        date = parse_date(rule.value)
        return date is not None and date < now
    return rule.name in ("noindex", "none")


def _rules(text: str, agent: str, source: str, *, names_agents: bool) -> Iterator[IndexingRule]:
    """Yield the rules of a header line or meta element. In a header, a name with a colon sets the crawler."""
    pieces = text[:MAX_LENGTH].split(",")
    while pieces:
        piece = pieces.pop(0).strip()
        match = NAMED.fullmatch(piece)
        if match is not None and names_agents and match[1].lower() not in WITH_VALUE:
            agent, piece = match[1].lower(), match[2].strip()
            match = NAMED.fullmatch(piece)
        if match is None:
            if piece:
                yield IndexingRule(agent, piece.lower(), "", source, text)
            continue
        name, value = match[1].lower(), match[2].strip()
        if name == "unavailable_after" and pieces and DATE_REST.match(pieces[0]):
            value = f"{value}, {pieces.pop(0).strip()}"  # “Fri, 25 Jun 2010 …”
        yield IndexingRule(agent, name, value, source, text)
