"""What a page tells search engines to do with it: robots metas and X-Robots-Tag lines, joined."""

from __future__ import annotations

import email.utils
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from selectolax.lexbor import LexborNode

from scans.engine.page.evidence import Document, Page
from scans.engine.page.markup import attribute, enclosing, live

HEADER = "X-Robots-Tag"
MAX_LENGTH = 5_000  # characters of one line or element
EVERYBODY = "robots"
GOOGLE = "googlebot"
# Crawlers that a meta element may be named for; other names are other metas.
META_NAMES = frozenset(
    {
        EVERYBODY,
        GOOGLE,
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
# Rules with a value behind a colon; before any other colon in a header stands a crawler's name.
WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview", "indexifembedded"}
)
PLAIN = frozenset(
    {
        "all",
        "index",
        "follow",
        "none",
        "noindex",
        "nofollow",
        "noarchive",
        "nocache",
        "nosnippet",
        "notranslate",
    }
    | {"noimageindex", "noodp", "noydir", "nositelinkssearchbox", "unavailable"}
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
    def shown(self) -> str:
        """The rule with where it stands: "noindex in X-Robots-Tag"."""
        written = f"{self.name}: {self.value}" if self.value else self.name
        to = "" if self.agent == EVERYBODY or "<" in self.source else f" for {self.agent}"
        return f"{written} in {self.source}{to}"


def indexing_rules(page: Page, document: Document) -> tuple[IndexingRule, ...]:
    """Every rule in the response's header lines, then in the document; metas in the body count too."""
    found: list[IndexingRule] = []
    for line in page.headers.all(HEADER):
        found.extend(_rules(line, EVERYBODY, HEADER, names_agents=True))
    for node in live(document, "meta[name][content]"):
        name = (attribute(node, "name") or "").strip().lower()
        if name in META_NAMES:
            content = attribute(node, "content") or ""
            found.extend(_rules(content, name, f'<meta name="{name}">', names_agents=False))
    return tuple(found)


def exclusions(rules: tuple[IndexingRule, ...], now: datetime) -> list[IndexingRule]:
    """The rules that keep the page out of an index at this time. A rule that allows never outweighs them."""
    return [
        rule
        for rule in rules
        if rule.name in ("noindex", "none") or (rule.name == "unavailable_after" and _is_past(rule.value, now))
    ]


def unreadable_dates(rules: tuple[IndexingRule, ...]) -> list[IndexingRule]:
    """`unavailable_after` rules whose date search engines ignore, as it can't be read."""
    return [rule for rule in rules if rule.name == "unavailable_after" and parse_date(rule.value) is None]


def muddled(rules: tuple[IndexingRule, ...]) -> list[IndexingRule]:
    """Rules that were meant to keep the page out, but run into others without a comma between them."""
    return [rule for rule in rules if len(words := re.split(r"[\s;]+", rule.name)) > 1 and "noindex" in words]


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


def _is_past(text: str, now: datetime) -> bool:
    date = parse_date(text)
    return date is not None and date < now


def _rules(text: str, agent: str, source: str, *, names_agents: bool) -> Iterator[IndexingRule]:
    """The rules of one header line or one meta. In a header a name with a colon changes whom they are for."""
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


CANONICAL, HREFLANG, ROBOTS, TITLE = "canonical link", "hreflang link", "robots meta", "title"


@dataclass(frozen=True, slots=True)
class Misplaced:
    """A piece of metadata in the body: what it is, and its markup."""

    kind: str
    snippet: str


def misplaced(document: Document) -> tuple[Misplaced, ...]:
    """Titles, canonical and hreflang links, and robots metas that are in the body, in document order."""
    return tuple(
        Misplaced(kind, (node.html or "")[:1000])
        for node in live(document, "title, link[rel][href], meta[name][content]")
        if (kind := _kind(node)) is not None and enclosing(node, "head") is None
    )


def head_end(document: Document) -> str:
    """What the body begins with, so what ended the head where the markup did not; empty if metadata does."""
    body = document.tree.body
    first = body.first_child if body is not None else None
    while first is not None and _is_blank(first):
        first = first.next
    if first is None or (not first.is_text_node and _kind(first) is not None):
        return ""
    return f"“{(first.text() or '').strip()}”" if first.is_text_node else f"<{first.tag}>"


def _kind(node: LexborNode) -> str | None:
    if node.tag == "title":
        return TITLE if enclosing(node, "svg") is None else None
    if node.tag == "meta":
        return ROBOTS if (attribute(node, "name") or "").strip().lower() in META_NAMES else None
    if node.tag != "link":
        return None
    relations = (attribute(node, "rel") or "").lower().split()
    if "canonical" in relations:
        return CANONICAL
    return HREFLANG if "alternate" in relations and attribute(node, "hreflang") is not None else None


def _is_blank(node: LexborNode) -> bool:
    return node.is_comment_node or (node.is_text_node and not (node.text() or "").strip())
