"""Metadata for search engines and social networks: titles, descriptions, cards, and elements outside the head."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from website_scan.crawl.indexing import robots_name
from website_scan.page.evidence import Document
from website_scan.page.markup import attribute, enclosing, live

METADATA = "title, link[rel][href], meta[name][content]"
# Advance widths of Arial in thousandths of the font size, by character. Others count as wide as a digit.
ARIAL = {
    character: width
    for width, characters in {
        191: "'",
        222: "ijl\u2018\u2019",
        260: "|",
        278: " !,./:;I[\\]ft·",
        333: "()-`r\u201c\u201d",
        334: "{}",
        350: "•",
        355: '"',
        389: "*",
        500: "Jcksvxyz",
        584: "+<=>~",
        611: "FTZ",
        667: "&ABEKPSVXY",
        722: "CDHNRUw",
        737: "©®",
        778: "GOQ",
        833: "Mm",
        889: "%",
        944: "W",
        1000: "\u2014…™",
        1015: "@",
    }.items()
    for character in characters
}
DIGIT_WIDTH = 556
# Font size of titles in Google's desktop results, which are one line of Arial.
TITLE_SIZE_PX = 20

IMAGE_PROPERTIES = ("og:image", "og:image:url", "og:image:secure_url")

CANONICAL, HREFLANG, ROBOTS, TITLE = "canonical link", "hreflang link", "robots meta", "title"


@dataclass(frozen=True, slots=True)
class SocialMetadata:
    """Metadata for previews in social networks (Open Graph, Twitter cards). Missing values are empty.

    `needless` is the reason why a page without such metadata needs none, for example a log-in page. Otherwise empty.
    """

    title: str = ""
    image: str = ""
    url: str = ""
    card: str = ""
    description: str = ""
    site_name: str = ""
    needless: str = ""

    @property
    def is_missing(self) -> bool:
        """True if the page has no metadata for a preview; a site name alone does not count."""
        return not (self.title or self.image or self.url or self.card or self.description)


@dataclass(frozen=True, slots=True)
class ElementOutsideHead:
    """Metadata element in the body: its kind, such as "canonical link", and its markup."""

    kind: str
    snippet: str


@dataclass(frozen=True, slots=True)
class MetadataOutsideHead:
    """Titles, canonical and hreflang links, and robots meta elements in the body, in document order.

    `head_end` is the tag or text that ended the head before its end tag, or empty if unknown.
    """

    elements: tuple[ElementOutsideHead, ...] = ()
    head_end: str = ""


def titles(document: Document) -> Iterator[str]:
    """Return the texts of the title elements, without titles of SVG drawings."""
    return (_collapse_spaces(node.text()) for node in live(document, "title") if enclosing(node, "svg") is None)


def descriptions(document: Document) -> list[str]:
    """Return the contents of the `<meta name="description">` elements."""
    return [
        _collapse_spaces(attribute(node, "content"))
        for node in live(document, "meta[name]")
        if (attribute(node, "name") or "").strip().lower() == "description"
    ]


def latin_width(text: str) -> int:
    """Return the width of a text in Latin letters. Chinese, Japanese and Korean characters count as two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def title_px(text: str) -> int:
    """Return the approximate width of a title in search results, in pixels of Arial at 20 px."""
    return round(sum(map(advance_width, text)) * TITLE_SIZE_PX / 1000)


def advance_width(character: str) -> int:
    """Return the advance width of a character in thousandths of the font size."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf", "Cc"):
        return 0
    if unicodedata.east_asian_width(character) in "WF":
        return 1000
    # An accented letter is as wide as the letter without its accent.
    return ARIAL.get(character) or ARIAL.get(unicodedata.normalize("NFD", character)[0], DIGIT_WIDTH)


def read_social_metadata(document: Document) -> SocialMetadata:
    """Read the first non-empty value of each Open Graph and Twitter property."""
    properties: dict[str, str] = {}
    for node in live(document, "meta[content]"):
        content = (attribute(node, "content") or "").strip()
        for key in ("property", "name") if content else ():
            properties.setdefault((attribute(node, key) or "").strip().lower(), content)
    return SocialMetadata(
        title=properties.get("og:title", ""),
        image=next((properties[name] for name in properties if name in IMAGE_PROPERTIES), ""),
        url=properties.get("og:url", ""),
        card=properties.get("twitter:card", ""),
        description=properties.get("og:description", ""),
        site_name=properties.get("og:site_name", ""),
    )


def metadata_kinds(document: Document) -> list[str]:
    """Return the kinds of metadata that occur in the head or body, in the order of their first elements."""
    kinds = (_metadata_kind(node) for node in live(document, METADATA))
    return list(dict.fromkeys(kind for kind in kinds if kind is not None))


def read_metadata_outside_head(document: Document) -> MetadataOutsideHead:
    """Find the metadata elements outside the head, and the tag or text that ended the head."""
    elements = tuple(
        ElementOutsideHead(kind, (node.html or "")[:1000])
        for node in live(document, METADATA)
        if (kind := _metadata_kind(node)) is not None and enclosing(node, "head") is None
    )
    return MetadataOutsideHead(elements, _head_end(document)) if elements else MetadataOutsideHead()


def _head_end(document: Document) -> str:
    body = document.tree.body
    first = body.first_child if body is not None else None
    while first is not None and _is_blank(first):
        first = first.next
    if first is None or (not first.is_text_node and _metadata_kind(first) is not None):
        return ""
    return f"“{(first.text() or '').strip()}”" if first.is_text_node else f"<{first.tag}>"


def _metadata_kind(node: LexborNode) -> str | None:
    if node.tag == "title":
        return TITLE if enclosing(node, "svg") is None else None
    if node.tag == "meta":
        return ROBOTS if robots_name(node) else None
    if node.tag != "link":
        return None
    relations = (attribute(node, "rel") or "").lower().split()
    if "canonical" in relations:
        return CANONICAL
    return HREFLANG if "alternate" in relations and attribute(node, "hreflang") is not None else None


def _is_blank(node: LexborNode) -> bool:
    return node.is_comment_node or (node.is_text_node and not (node.text() or "").strip())


def _collapse_spaces(value: str | None) -> str:
    return " ".join((value or "").split())
