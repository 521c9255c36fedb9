"""Links by relation, such as `canonical`: link elements in the head, and Link headers (RFC 8288)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, http_address, live, resolve
from website_scan.urls import Url

ELEMENT, HEADER = "<link>", "Link header"
ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)
ESCAPE = re.compile(r"%[0-9a-f]{2}", re.IGNORECASE)
LINK_TARGET = re.compile(r"\s*+,?\s*+<([^>]*)>")
LINK_PARAMETER = re.compile(r"""\s*;\s*([\w!#$&+.^`|~*-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?""")


@dataclass(frozen=True, slots=True)
class RelatedLink:
    """Link with a relation. `url` is absolute, without fragment; None if not http(s). `source` is ELEMENT or HEADER.

    `attributes` are the attributes of the element, or the parameters of the header.
    """

    reference: str
    url: str | None
    source: str
    attributes: Mapping[str, str | None]

    @property
    def is_absolute(self) -> bool:
        return is_absolute(self.reference)


def is_absolute(reference: str) -> bool:
    """Return True if a reference has an http(s) scheme."""
    return ABSOLUTE.match(reference.strip()) is not None


def same_escapes(url: str) -> str:
    """Return the URL with upper-case percent escapes (RFC 3986, section 6.2.2.1); WordPress writes lower case."""
    return ESCAPE.sub(lambda match: match[0].upper(), url)


def related_links(page: Page, document: Document, relation: str) -> Iterator[RelatedLink]:
    """Yield the links with a relation (in lower case): those in the head, then those in Link headers."""
    for node in live(document, "head > link[rel][href]"):
        if relation in (attribute(node, "rel") or "").lower().split():
            reference = attribute(node, "href") or ""
            yield RelatedLink(reference, http_address(resolve(document, reference)), ELEMENT, node.attributes)
    for reference, parameters in header_links(page):
        if relation in parameters.get("rel", "").lower().split():
            url = http_address(Url.parse(reference, page.target.url))
            yield RelatedLink(reference, url, HEADER, dict(parameters))


def header_links(page: Page) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield reference and parameters of the links in all Link headers (RFC 8288, section 3), the first of each name."""
    for line in page.headers.all("Link"):
        position = 0
        while (target := LINK_TARGET.match(line, position)) is not None:
            position = target.end()
            parameters: dict[str, str] = {}
            while (parameter := LINK_PARAMETER.match(line, position)) is not None:
                position = parameter.end()
                quoted = re.sub(r"\\(.)", r"\1", parameter[2]) if parameter[2] is not None else parameter[3]
                parameters.setdefault(parameter[1].lower(), quoted or "")
            yield target[1].strip(), parameters
            # Skip invalid text up to the next link.
            following = line.find(",", position)
            if following < 0:
                break
            position = following
