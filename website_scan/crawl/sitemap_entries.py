"""Parse the entries of an XML sitemap.

Finds their faults and language versions. Faults violate sitemaps.org's protocol or Google's extensions. Elements of
other namespaces than those below are not judged, because anybody may extend the format.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from msgspec import Struct, field

from website_scan.urls import normal_form

MAX_EXAMPLES = 5
MAX_VALUE_LENGTH = 100  # Valid values of the checked elements are never longer than this.
# Further links are compared with the page only if they need no parsing.
MAX_PARSED_LINKS = 30_000
MAX_RETURNING_PAGES = 500
MAX_PAGE_VERSIONS = 500

XHTML = "http://www.w3.org/1999/xhtml"
IMAGE = "http://www.google.com/schemas/sitemap-image/1.1"
NEWS = "http://www.google.com/schemas/sitemap-news/0.9"
VIDEO = "http://www.google.com/schemas/sitemap-video/1.1"

# URLs that are already in canonical form need no parsing.
PLAIN_URL = re.compile(r"https?://([a-z0-9.-]+)/[A-Za-z0-9_~!$&'()*+,;=:@/-]*(?:\.[A-Za-z0-9_-]+)?")
# A date with a time needs a zone (W3C, “Date and Time Formats”).
W3C_DATE = re.compile(
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2})"
    r"(?P<time>T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?"
    r"(?P<zone>Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?)?)?"
)
PRIORITY = re.compile(r"\+?(?:0*1(?:\.0*)?|0+(?:\.[0-9]*)?|\.[0-9]+)")
FREQUENCIES = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})
ENTRY_NAMES = {"urlset": "url", "sitemapindex": "sitemap"}
CHILD_NAMES = {
    "url": frozenset({"loc", "lastmod", "changefreq", "priority"}),
    "sitemap": frozenset({"loc", "lastmod"}),
}

# Google's extensions require one name of each tuple.
REQUIRED: Mapping[tuple[str, str], tuple[tuple[str, ...], ...]] = {
    (IMAGE, "image"): (("loc",),),
    (NEWS, "news"): (("publication",), ("publication_date",), ("title",)),
    (NEWS, "publication"): (("name",), ("language",)),
    (VIDEO, "video"): (("thumbnail_loc",), ("title",), ("description",), ("content_loc", "player_loc")),
}
PREFIXES = {IMAGE: "image", NEWS: "news", VIDEO: "video"}
DATES = frozenset({(NEWS, "publication_date"), (VIDEO, "publication_date"), (VIDEO, "expiration_date")})


def url_key(url: str) -> str:
    """Return a key that is the same for equal URLs.

    The normal form of RFC 3986.
    """
    return url if PLAIN_URL.fullmatch(url) else normal_form(url)


def find_date_fault(text: str) -> str:
    """Return why a text is not a date in W3C format, as a clause.

    Empty for a valid date.
    """
    match = W3C_DATE.fullmatch(text)
    if match is None:
        return "is not a W3C date"
    try:
        date(int(match["year"]), int(match["month"] or 1), int(match["day"] or 1))
    except ValueError:
        return "is not in the calendar"
    return "has a time without a time zone" if match["time"] and not match["zone"] else ""


class EntryFault(Struct, frozen=True):
    """Fault of an entry that begins in `line`.

    `text` is a clause. If the fault `loses_entry`, crawlers ignore a part of the entry.
    """

    line: int
    text: str
    loses_entry: bool


class SitemapEntries(Struct, frozen=True):
    """Faults and language versions of a sitemap's entries.

    `faults` are the first ones, at most one for each entry. `has_language_links` is True if any entry lists language
    versions, `has_unread_links` if there were too many to compare all with the page. `returning` are the keys of URLs
    whose entries list the page as language version, `page_versions` those versions that the page's own entry lists, by
    hreflang code.
    """

    faults: tuple[EntryFault, ...] = ()
    fault_count: int = 0
    loses_entries: bool = False
    has_language_links: bool = False
    has_unread_links: bool = False
    returning: frozenset[str] = frozenset()
    page_versions: Mapping[str, str] = field(default_factory=dict)


class EntryReader:
    """Reader of sitemap entries.

    The XML parser calls it at the start and end of every element.
    """

    def __init__(self, page_keys: frozenset[str]) -> None:
        self._page_keys = page_keys
        self._namespace = ""
        self._entry_name = ""
        self._names: list[tuple[str, str]] = []  # Open elements below the root.
        self._seen: list[set[str]] = []  # Names of the non-empty elements in each open element.
        self._children: set[str] = set()  # Names of the entry's direct child elements, including empty ones.
        self._links: list[tuple[str, str]] = []  # Language code and URL of each language version of the entry.
        self._loc = ""
        self._line = 0
        self._fault: tuple[str, bool] | None = None
        self._faults: list[EntryFault] = []
        self._fault_count = 0
        self._loses_entries = False
        self._has_links = False
        self._parsed_links = 0
        self._returning: set[str] = set()
        self._page_versions: dict[str, str] = {}

    def start(self, namespace: str, name: str, attributes: Mapping[str, str], depth: int, line: int) -> None:
        """Begin an element at `depth`; the root has depth 0."""
        if depth == 0:
            self._namespace, self._entry_name = namespace, ENTRY_NAMES.get(name, "")
            return
        if depth == 1:
            self._line, self._fault, self._loc = line, None, ""
            self._links.clear()
        self._names.append((namespace, name))
        self._seen.append(set())
        if (namespace, name, depth) == (XHTML, "link", 2):
            self._add_link(attributes)

    def end(self, text: str | None) -> None:
        """End the innermost element.

        `text` is its text, None if it has child elements.
        """
        if not self._names:
            return
        namespace, name = self._names.pop()
        seen = self._seen.pop()
        value = (text or "").strip()
        depth = len(self._names)
        if depth and self._names[-1][0] == namespace and (value or seen):
            self._seen[-1].add(name)
        if not self._entry_name:
            return
        if depth == 0:
            self._end_entry(namespace, name)
        elif namespace == self._namespace:
            if depth == 1 and self._names[0] == (self._namespace, self._entry_name):
                self._judge_child(name, value)
        elif namespace in PREFIXES:
            self._judge_extension(namespace, name, seen, value)

    def result(self) -> SitemapEntries:
        return SitemapEntries(
            tuple(self._faults),
            self._fault_count,
            self._loses_entries,
            self._has_links,
            self._parsed_links > MAX_PARSED_LINKS,
            frozenset(self._returning),
            self._page_versions,
        )

    def _add_link(self, attributes: Mapping[str, str]) -> None:
        self._has_links = True
        if "alternate" not in attributes.get("rel", "").lower().split():
            return
        code, href = attributes.get("hreflang", "").strip(), attributes.get("href", "").strip()
        if code and href:
            self._links.append((code, href))

    def _judge_child(self, name: str, value: str) -> None:
        children = self._children
        if name not in CHILD_NAMES[self._entry_name]:
            self._add_fault(f"<{name[:40]}> is not an element of <{self._entry_name}>", loses_entry=False)
        elif name in children:
            self._add_fault(f"<{name}> appears twice", loses_entry=name == "loc")
        children.add(name)
        if name == "loc":
            self._loc = value
            if not value:
                self._add_fault("<loc> is empty", loses_entry=True)
        elif name == "lastmod" and (fault := find_date_fault(value)):
            self._add_fault(f"lastmod {_quoted(value)} {fault}", loses_entry=False)
        elif name == "changefreq" and value not in FREQUENCIES:
            self._add_fault(f"changefreq {_quoted(value)} is not one of the protocol's words", loses_entry=False)
        elif name == "priority" and (len(value) > MAX_VALUE_LENGTH or not PRIORITY.fullmatch(value)):
            self._add_fault(f"priority {_quoted(value)} is not a number from 0.0 to 1.0", loses_entry=False)

    def _judge_extension(self, namespace: str, name: str, seen: set[str], value: str) -> None:
        prefix = PREFIXES[namespace]
        for names in REQUIRED.get((namespace, name), ()):
            if seen.isdisjoint(names):
                missing = " or ".join(f"<{prefix}:{required}>" for required in names)
                self._add_fault(f"<{prefix}:{name}> has no {missing}", loses_entry=True)
        if (namespace, name) in DATES and value and (fault := find_date_fault(value)):
            self._add_fault(f"{prefix}:{name} {_quoted(value)} {fault}", loses_entry=False)

    def _end_entry(self, namespace: str, name: str) -> None:
        if namespace != self._namespace:
            return
        if name != self._entry_name:
            where = "outside an entry" if name in CHILD_NAMES[self._entry_name] else f"in place of <{self._entry_name}>"
            self._add_fault(f"<{name[:40]}> stands {where}", loses_entry=True)
        elif "loc" not in self._children:
            self._add_fault(f"<{name}> has no <loc>", loses_entry=True)
        self._children.clear()
        self._record_fault()
        if self._links and self._loc:
            self._read_versions(url_key(self._loc))

    def _read_versions(self, key: str) -> None:
        if key in self._page_keys:
            versions = {code.lower(): url_key(href) for code, href in self._links[:MAX_PAGE_VERSIONS]}
            self._page_versions = versions | self._page_versions
        if len(self._returning) < MAX_RETURNING_PAGES and any(self._is_page(href) for _, href in self._links):
            self._returning.add(key)

    def _is_page(self, href: str) -> bool:
        if href in self._page_keys or PLAIN_URL.fullmatch(href):
            return href in self._page_keys
        self._parsed_links += 1
        return self._parsed_links <= MAX_PARSED_LINKS and url_key(href) in self._page_keys

    def _add_fault(self, text: str, *, loses_entry: bool) -> None:
        """Keep the worst fault of the entry."""
        if self._fault is None or (loses_entry and not self._fault[1]):
            self._fault = (text, loses_entry)

    def _record_fault(self) -> None:
        if self._fault is None:
            return
        text, loses_entry = self._fault
        self._fault_count += 1
        self._loses_entries = self._loses_entries or loses_entry
        if len(self._faults) < MAX_EXAMPLES:
            self._faults.append(EntryFault(self._line, text, loses_entry))


def _quoted(value: str) -> str:
    return f"“{value[:40]}…”" if len(value) > 40 else f"“{value}”" if value else "(empty)"
