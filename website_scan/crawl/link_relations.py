"""Links with a relation such as `canonical`.

They are link elements in the head, and Link headers (RFC 8288).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, http_address, live, resolve
from website_scan.urls import Url

ELEMENT, HEADER = "<link>", "Link header"
ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)
HEADER_LINK_TARGET = re.compile(r"\s*+,?\s*+<([^>]*)>")
HEADER_LINK_PARAMETER = re.compile(r"""\s*;\s*([\w!#$&+.^`|~*-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?""")


class RelatedLink(Struct, frozen=True):
    """Link with a relation.

    `url` is absolute and has no fragment; None if it is not http(s). `source` is ELEMENT or HEADER. An element without
    href has an empty `reference`. Its `url` is None, as with an empty href, which browsers ignore. `attributes` are the
    attributes of the element, or the parameters of the header.
    """

    reference: str
    url: str | None
    source: str
    attributes: Mapping[str, str | None]

    @property
    def is_absolute(self) -> bool:
        return is_absolute(self.reference)


def is_absolute(reference: str) -> bool:
    """Return True if a reference is an absolute http(s) URL."""
    return ABSOLUTE.match(reference.strip()) is not None


def related_links(page: Page, document: Document, relation: str) -> Iterator[RelatedLink]:
    """Yield the page's links with this relation.

    The relation is in lower case. Link elements in the head come first, then Link headers.
    """
    for node in live(document, "head > link[rel]"):
        if relation in (attribute(node, "rel") or "").lower().split():
            reference = attribute(node, "href") or ""
            url = http_address(resolve(document, reference)) if reference.strip() else None
            yield RelatedLink(reference, url, ELEMENT, node.attributes)
    for reference, parameters in header_links(page):
        if relation in parameters.get("rel", "").lower().split():
            url = http_address(Url.parse(reference, page.target.url))
            yield RelatedLink(reference, url, HEADER, dict(parameters))


def header_links(page: Page) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield target and parameters of each link in Link headers.

    RFC 8288, section 3. Of several parameters with the same name, the first counts.
    """
    for line in page.headers.all("Link"):
        position = 0
        while (target := HEADER_LINK_TARGET.match(line, position)) is not None:
            position = target.end()
            parameters: dict[str, str] = {}
            while (parameter := HEADER_LINK_PARAMETER.match(line, position)) is not None:
                position = parameter.end()
                quoted = re.sub(r"\\(.)", r"\1", parameter[2]) if parameter[2] is not None else parameter[3]
                parameters.setdefault(parameter[1].lower(), quoted or "")
            yield target[1].strip(), parameters
            # Skip invalid text after the link, up to the next comma.
            following = line.find(",", position)
            if following < 0:
                break
            position = following
