"""Read the metadata for search engines and social networks from a page."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from msgspec import Struct
from selectolax.lexbor import LexborNode

from website_scan.crawl.indexing import addressed_crawler
from website_scan.page.evidence import Document
from website_scan.page.markup import attribute, enclosing, live

METADATA = "title, link[rel][href], meta[name][content]"
# Widths of characters in Arial, in thousandths of the font size.
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
DIGIT_ADVANCE_WIDTH = 556
# Font size of titles in Google's desktop results, in Arial.
TITLE_FONT_SIZE_PX = 20

IMAGE_PROPERTIES = ("og:image", "og:image:url", "og:image:secure_url")

CANONICAL, HREFLANG, ROBOTS, TITLE = "canonical link", "hreflang link", "robots meta", "title"


class SocialMetadata(Struct, frozen=True):
    """Metadata for previews in social networks (Open Graph, Twitter cards).

    Missing values are empty.

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
        """Return True if the page has no metadata for a preview.

        A site name alone does not count.
        """
        return not (self.title or self.image or self.url or self.card or self.description)


class ElementOutsideHead(Struct, frozen=True):
    """Metadata element outside the head.

    It has a kind, such as "canonical link", and the markup.
    """

    kind: str
    snippet: str


class MetadataOutsideHead(Struct, frozen=True):
    """Metadata outside the head, in document order.

    It has titles, canonical links, hreflang links and robots meta elements.

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


def width_in_latin_letters(text: str) -> int:
    """Return the width of a text, measured in Latin letters.

    Chinese, Japanese and Korean characters count as two.
    """
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def title_width_px(text: str) -> int:
    """Return the approximate width in pixels of a title in search results."""
    return round(sum(map(advance_width, text)) * TITLE_FONT_SIZE_PX / 1000)


def advance_width(character: str) -> int:
    """Return the advance width of a character in thousandths of the font size."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf", "Cc"):
        return 0
    if unicodedata.east_asian_width(character) in "WF":
        return 1000
    # An accented letter is as wide as the same letter without an accent.
    return ARIAL.get(character) or ARIAL.get(unicodedata.normalize("NFD", character)[0], DIGIT_ADVANCE_WIDTH)


def read_social_metadata(document: Document) -> SocialMetadata:
    """Read the first values of Open Graph and Twitter card properties."""
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


def list_metadata_kinds(document: Document) -> list[str]:
    """Return the kinds of metadata in the document.

    They are in the order of their first elements.
    """
    kinds = (_metadata_kind(node) for node in live(document, METADATA))
    return list(dict.fromkeys(kind for kind in kinds if kind is not None))


def read_metadata_outside_head(document: Document) -> MetadataOutsideHead:
    """Find the metadata elements outside the head.

    The result includes the tag or text that ended the head too early.
    """
    elements = tuple(
        ElementOutsideHead(kind, (node.html or "")[:1000])
        for node in live(document, METADATA)
        if (kind := _metadata_kind(node)) is not None and enclosing(node, "head") is None
    )
    return MetadataOutsideHead(elements, _describe_head_end(document)) if elements else MetadataOutsideHead()


def _describe_head_end(document: Document) -> str:
    body = document.tree.body
    first = body.first_child if body is not None else None
    while first is not None and _is_blank_text(first):
        first = first.next
    if first is None or (not first.is_text_node and _metadata_kind(first) is not None):
        return ""
    return f"“{(first.text() or '').strip()}”" if first.is_text_node else f"<{first.tag}>"


def _metadata_kind(node: LexborNode) -> str | None:
    if node.tag == "title":
        return TITLE if enclosing(node, "svg") is None else None
    if node.tag == "meta":
        return ROBOTS if addressed_crawler(node) else None
    if node.tag != "link":
        return None
    relations = (attribute(node, "rel") or "").lower().split()
    if "canonical" in relations:
        return CANONICAL
    return HREFLANG if "alternate" in relations and attribute(node, "hreflang") is not None else None


def _is_blank_text(node: LexborNode) -> bool:
    return node.is_comment_node or (node.is_text_node and not (node.text() or "").strip())


def _collapse_spaces(value: str | None) -> str:
    return " ".join((value or "").split())
