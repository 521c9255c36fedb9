"""How soon browsers find an image: in the document itself, before its style sheets and scripts, and how urgently."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from scans.engine.evidence import Document, Page
from scans.engine.markup import attribute, live, resolve
from scans.engine.stylesheets import style_references

# Of one attribute with several candidates.
MAX_CANDIDATES = 50
MAX_SOURCE_SET = 50_000
LINK_VALUE = re.compile(r"<([^<>]{1,2000})>([^<>]{0,500})")
PRELOAD = re.compile(r""";\s{0,9}rel\s{0,9}=\s{0,9}"?preload\b""", re.IGNORECASE)
URGENT = re.compile(r""";\s{0,9}fetchpriority\s{0,9}=\s{0,9}"?high\b""", re.IGNORECASE)


def is_in_markup(page: Page, document: Document, url: str) -> bool:
    """Whether the document's elements, its styles or its Link headers ask for the image; no fragments."""
    nodes = live(document, "img, source, input, video, image, link, style, [style]")
    asked = (address for node in nodes for address in _addresses(node))
    return _is_among(document, asked, url) or _is_among(document, _preloads(page, PRELOAD), url)


def is_preloaded_urgently(page: Page, document: Document, url: str) -> bool:
    """Whether a preload with fetchpriority="high" asks for it."""
    nodes = live(document, "link[rel~=preload i][fetchpriority=high i]")
    asked = (address for node in nodes for address in _addresses(node))
    return _is_among(document, asked, url) or _is_among(document, _preloads(page, PRELOAD, URGENT), url)


def _is_among(document: Document, addresses: Iterator[str], url: str) -> bool:
    return any(
        (found := resolve(document, address)) is not None and found.href.partition("#")[0] == url
        for address in addresses
    )


def _addresses(node: LexborNode) -> Iterator[str]:
    for name in ("src", "href", "xlink:href", "poster"):
        if address := attribute(node, name):
            yield address.strip()
    for name in ("srcset", "imagesrcset"):
        # Descriptors are taken along: as addresses they lead elsewhere.
        for candidate in (attribute(node, name) or "")[:MAX_SOURCE_SET].split(maxsplit=MAX_CANDIDATES)[:MAX_CANDIDATES]:
            yield candidate.strip(",")
    css = node.text() or "" if node.tag == "style" else attribute(node, "style") or ""
    if css:
        yield from style_references(css).images


def _preloads(page: Page, *parameters: re.Pattern[str]) -> Iterator[str]:
    for header in page.headers.all("Link"):
        for address, behind in LINK_VALUE.findall(header):
            if all(each.search(behind) for each in parameters):
                yield address
