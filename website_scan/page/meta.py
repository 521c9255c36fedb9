"""Read refresh and viewport from a page's meta elements and headers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from website_scan.page.evidence import Document, Page
from website_scan.page.fetch import parse_document
from website_scan.page.markup import attribute, http_address, http_equivs, metas_named, resolve
from website_scan.urls import are_equivalent

# A refresh has seconds, then a URL with or without `url=` and quotes (HTML, "shared declarative refresh steps").
REFRESH = re.compile(
    r"\s*+(?P<seconds>\d*+)[\d.]*+(?:(?:\s*+[;,]|\s)\s*+(?:url\s*+=\s*+)?(?P<quote>[\"']?)(?P<url>.*))?", re.I | re.S
)
# In UTF-16, NUL bytes are between the letters of "refresh".
REFRESH_WORD = re.compile(rb"r\x00?e\x00?f\x00?r\x00?e\x00?s\x00?h", re.IGNORECASE)
LEADING_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE)


class Refresh(Struct, frozen=True):
    """Refresh of the page after `seconds`.

    It leads to `url`, or to the same page if `url` is None.
    """

    seconds: int
    url: str | None


class Viewport(Struct, frozen=True):
    """Viewport meta element.

    `content` is the attribute as written, `properties` are its parsed values in lower case.
    """

    content: str
    properties: Mapping[str, str]


def refresh(page: Page, document: Document) -> Refresh | None:
    """Return the page's refresh, or None.

    The Refresh header counts, or else the first valid meta element.
    """
    for value in (page.headers.get("Refresh"), *http_equivs(document, "refresh", anywhere=True)):
        match = REFRESH.fullmatch(value or "")
        if not value or match is None or not (match["seconds"] or value.strip().startswith(".")):
            continue
        reference = match["url"] or ""
        if match["quote"]:
            reference = reference.partition(match["quote"])[0]
        address = http_address(resolve(document, reference.strip())) if reference.strip() else None
        seconds = int(match["seconds"][:9] or "0")
        return Refresh(seconds, None if address and are_equivalent(address, page.target.url) else address)
    return None


def instant_refresh(page: Page) -> str | None:
    """Return the page to which a refresh leads immediately, or None.

    The result is the URL of another page.

    A page with an error status counts as an error, wherever it leads.
    """
    if not page.is_html or page.response.status >= 400:
        return None
    if "Refresh" not in page.headers and REFRESH_WORD.search(page.response.body) is None:
        return None
    found = refresh(page, parse_document(page))
    return found.url if found is not None and found.seconds == 0 else None


def viewport(document: Document) -> Viewport | None:
    """Return the viewport meta element that browsers use, or None.

    It is the last one that sets a property.
    """
    last = None
    for node in metas_named(document, "viewport"):
        content = attribute(node, "content") or ""
        if properties := viewport_properties(content):
            last = Viewport(content, properties)
    return last


def viewport_properties(content: str) -> dict[str, str]:
    """Parse the content of a viewport meta element.

    Of several values of a property, the last counts.
    """
    parts = (part.replace("=", " = ").split() for part in re.split(r"[,;]", content.lower()))
    triples = (triple for words in parts for triple in zip(words, words[1:], words[2:], strict=False))
    return {name: value for name, sign, value in triples if sign == "=" and value != "="}


def scale(value: str) -> float | None:
    """Parse the number at the beginning of a viewport property.

    Browsers do the same. None if there is no number.
    """
    match = LEADING_NUMBER.match(value)
    return float(match[0]) if match else None
