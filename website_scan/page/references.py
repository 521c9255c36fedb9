"""Subresources that a document loads on a current phone.

Each image has one candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct
from selectolax.lexbor import LexborNode

from website_scan.page.css import Allowance, style_images, style_references
from website_scan.page.evidence import Document
from website_scan.page.markup import attribute, http_address, live
from website_scan.urls import Url


class ResourceKind(StrEnum):
    """Kind of a subresource, such as script or image."""

    SCRIPT = "script"
    STYLESHEET = "stylesheet"
    IMAGE = "image"
    FONT = "font"
    MEDIA = "media"
    ICON = "icon"
    OTHER = "other"


# Maximum number of characters in style sheets, `style` and `srcset` attributes together.
MAX_CHARACTERS = 512 * 1024
# A phone's screen has 412 CSS pixels, and images are assumed to fill the width.
PHONE_WIDTH_PIXELS = 824
PHONE_DENSITY = 2.0
JAVASCRIPT_TYPES = re.compile(r"(?:text|application)/(?:x-)?(?:java|ecma|j|live)script.*|module|", re.IGNORECASE)
IMAGE_TYPES = frozenset(
    {"", "image/avif", "image/webp", "image/png", "image/jpeg", "image/jpg", "image/gif", "image/svg+xml"}
)
ICONS = frozenset({"icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"})
# Kinds of resources by the `as` attribute of a preload link.
DESTINATIONS = {
    "script": ResourceKind.SCRIPT,
    "style": ResourceKind.STYLESHEET,
    "image": ResourceKind.IMAGE,
    "font": ResourceKind.FONT,
    "fetch": ResourceKind.OTHER,
}
# Maximum number of children of a picture element that are examined for each image.
MAX_PICTURE_CHILDREN = 50
CANDIDATE = re.compile(r"[\s,]*+(?P<url>\S++)")
DESCRIPTORS = re.compile(r"(?:[^,(]|\([^)]{0,100}\))*+,?")
DESCRIPTOR = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([wx])")


class Reference(Struct, frozen=True):
    """Subresource of a document.

    It has an absolute http(s) URL without fragment and a kind. `eager` says whether it loads with the page.
    """

    url: str
    kind: ResourceKind
    eager: bool


class References(Struct, frozen=True):
    """Subresources of the page as evidence, in document order, each URL once."""

    items: tuple[Reference, ...]


class Reading:
    """Budget for parsing a page's style sheets and `srcset` attributes.

    No page may take long to examine.
    """

    def __init__(self, characters: int = MAX_CHARACTERS) -> None:
        self._remaining = characters
        self.allowance = Allowance()

    def take(self, text: str | None) -> str:
        """Return the text, truncated to the remaining budget, and reduce the budget."""
        part = (text or "")[: self._remaining]
        self._remaining -= len(part)
        return part


def references(document: Document) -> tuple[Reference, ...]:
    """Return the document's subresources in document order, each URL once.

    Subresources of its frames are left out.
    """
    references_by_url: dict[str, Reference] = {}
    reading = Reading()
    for node in live(document, "script, link, img, input, video, audio, source, image, style, [style]"):
        for address, kind, eager in _element_resources(node, reading):
            keep(references_by_url, document.base.url, address, kind, eager)
    return tuple(references_by_url.values())


def keep(references_by_url: dict[str, Reference], base: str, address: str, kind: ResourceKind, eager: bool) -> None:
    """Add a reference to `references_by_url`.

    A URL is eager if any reference to it is eager.
    """
    href = http_address(Url.parse(address.strip(), base)) if address.strip() else None
    if href is None:
        return
    known = references_by_url.get(href)
    if known is None or (eager and not known.eager):
        references_by_url[href] = Reference(href, known.kind if known else kind, eager)


def best_candidate(source_set: str) -> str | None:
    """Return the smallest image in a `srcset` for a phone.

    It must be large enough. The result is its URL.

    If none is large enough, return the URL of the largest.
    """
    sized = [(_density(descriptors), url) for url, descriptors in candidates(source_set)]
    enough = [pair for pair in sized if pair[0] >= PHONE_DENSITY]
    if enough:
        return min(enough, key=lambda pair: pair[0])[1]
    return max(sized, key=lambda pair: pair[0])[1] if sized else None


def candidates(source_set: str) -> Iterator[tuple[str, str]]:
    """Yield the URLs of a `srcset` with their descriptors.

    HTML, "parse a srcset attribute".
    """
    position = 0
    while (match := CANDIDATE.match(source_set, position)) is not None:
        url, position, descriptors = match["url"], match.end(), ""
        if not url.endswith(",") and (descriptors_match := DESCRIPTORS.match(source_set, position)) is not None:
            descriptors, position = descriptors_match[0], descriptors_match.end()
        yield url.rstrip(","), descriptors


def _density(descriptors: str) -> float:
    """Return an image's pixels per CSS pixel if the image fills a phone's width."""
    match = DESCRIPTOR.search(descriptors)
    if match is None:
        return 1.0
    size = float(match[1])
    return size / PHONE_WIDTH_PIXELS * PHONE_DENSITY if match[2] == "w" else size


def _element_resources(  # noqa: C901 -- one branch for each element that loads a resource
    node: LexborNode, reading: Reading
) -> Iterator[tuple[str, ResourceKind, bool]]:
    match node.tag:
        case "script":
            source = attribute(node, "src")
            is_nomodule = attribute(node, "nomodule") is not None
            if source and not is_nomodule and JAVASCRIPT_TYPES.fullmatch((attribute(node, "type") or "").strip()):
                yield source, ResourceKind.SCRIPT, True
        case "link":
            yield from _link_resources(node, reading)
        case "img":
            listed = _picture_candidate(node, reading) or best_candidate(reading.take(attribute(node, "srcset")))
            chosen = listed or attribute(node, "src")
            if chosen:
                yield chosen, ResourceKind.IMAGE, (attribute(node, "loading") or "").strip().lower() != "lazy"
        case "input":
            if (attribute(node, "type") or "").strip().lower() == "image":
                yield attribute(node, "src") or "", ResourceKind.IMAGE, True
        case "video" | "audio":
            yield attribute(node, "poster") or "", ResourceKind.IMAGE, True
            yield attribute(node, "src") or "", ResourceKind.MEDIA, False
        case "source":
            if node.parent is not None and node.parent.tag in ("video", "audio") and _is_first_source(node):
                yield attribute(node, "src") or "", ResourceKind.MEDIA, False
        case "image":
            yield attribute(node, "href") or attribute(node, "xlink:href") or "", ResourceKind.IMAGE, True
        case "style":
            inside = style_references(reading.take(node.text()), reading.allowance)
            for address in inside.imports:
                yield address, ResourceKind.STYLESHEET, True
            for address in inside.fonts:
                yield address, ResourceKind.FONT, False
            for address in inside.images:
                yield address, ResourceKind.IMAGE, False
    if node.tag != "style":
        for address in style_images(reading.take(attribute(node, "style"))):
            yield address, ResourceKind.IMAGE, True


def _link_resources(node: LexborNode, reading: Reading) -> Iterator[tuple[str, ResourceKind, bool]]:
    relations = frozenset((attribute(node, "rel") or "").lower().split())
    address = attribute(node, "href") or ""
    if "stylesheet" in relations:
        if attribute(node, "disabled") is None:
            yield address, ResourceKind.STYLESHEET, "alternate" not in relations
    elif "modulepreload" in relations:
        yield address, ResourceKind.SCRIPT, True
    elif "preload" in relations:
        kind = DESTINATIONS.get((attribute(node, "as") or "").strip().lower())
        chosen = best_candidate(reading.take(attribute(node, "imagesrcset"))) or address
        if kind is not None and attribute(node, "media") is None:
            yield chosen, kind, True
    elif relations & ICONS:
        yield address, ResourceKind.ICON, False


def _picture_candidate(image: LexborNode, reading: Reading) -> str | None:
    """Return the URL of a picture's first usable source, or None.

    It has a supported type and no media condition.
    """
    if image.parent is None or image.parent.tag != "picture":
        return None
    child = image.parent.first_child
    for _ in range(MAX_PICTURE_CHILDREN):
        if child is None or child.mem_id == image.mem_id:
            break
        if child.tag == "source":
            kind = (attribute(child, "type") or "").partition(";")[0].strip().lower()
            if kind in IMAGE_TYPES and not (attribute(child, "media") or "").strip():
                return best_candidate(reading.take(attribute(child, "srcset")))
        child = child.next
    return None


def _is_first_source(node: LexborNode) -> bool:
    sibling = node.prev
    while sibling is not None:
        if sibling.tag == "source":
            return False
        sibling = sibling.prev
    return True
