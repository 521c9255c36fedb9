"""Refresh and viewport of a page, from its meta elements and headers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, http_address, http_equivs, metas_named, resolve

# Seconds, then the URL, with or without `url=` and quotes (HTML, "shared declarative refresh steps").
REFRESH = re.compile(
    r"\s*+(?P<seconds>\d*+)[\d.]*+(?:(?:\s*+[;,]|\s)\s*+(?:url\s*+=\s*+)?(?P<quote>[\"']?)(?P<url>.*))?", re.I | re.S
)
LEADING_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Refresh:
    """Refresh after `seconds`: to `url`, or of the same page if `url` is None."""

    seconds: int
    url: str | None


@dataclass(frozen=True, slots=True)
class Viewport:
    """Viewport element: its content as written, and its properties in lower case."""

    content: str
    properties: Mapping[str, str]


def refresh(page: Page, document: Document) -> Refresh | None:
    """Return the refresh that browsers obey: from the Refresh header, else from the first valid meta element."""
    for value in (page.headers.get("Refresh"), *http_equivs(document, "refresh", anywhere=True)):
        match = REFRESH.fullmatch(value or "")
        if not value or match is None or not (match["seconds"] or value.strip().startswith(".")):
            continue
        reference = match["url"] or ""
        if match["quote"]:
            reference = reference.partition(match["quote"])[0]
        address = http_address(resolve(document, reference.strip())) if reference.strip() else None
        seconds = int(match["seconds"][:9] or "0")
        return Refresh(seconds, None if address == page.target.url else address)
    return None


def viewport(document: Document) -> Viewport | None:
    """Return the last viewport element that sets any property, as browsers do, or None."""
    last = None
    for node in metas_named(document, "viewport"):
        content = attribute(node, "content") or ""
        if properties := viewport_properties(content):
            last = Viewport(content, properties)
    return last


def viewport_properties(content: str) -> dict[str, str]:
    """Return the properties of a viewport. Separators are commas, semicolons or white space; the last value counts."""
    parts = (part.replace("=", " = ").split() for part in re.split(r"[,;]", content.lower()))
    triples = (triple for words in parts for triple in zip(words, words[1:], words[2:], strict=False))
    return {name: value for name, sign, value in triples if sign == "=" and value != "="}


def scale(value: str) -> float | None:
    """Return the number at the beginning of a value, as browsers parse it, or None."""
    match = LEADING_NUMBER.match(value)
    return float(match[0]) if match else None
