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
    """A refresh after so many seconds: to `url`, or of the same page if it is None."""

    seconds: int
    url: str | None


@dataclass(frozen=True, slots=True)
class Viewport:
    """A viewport element: its content as written, and its properties in lower case."""

    content: str
    properties: Mapping[str, str]


def refresh(page: Page, document: Document) -> Refresh | None:
    """Return the refresh that browsers obey: from the Refresh header, else from the first valid meta element."""
    for value in (page.headers.get("Refresh"), *http_equivs(document, "refresh", anywhere=True)):
        found = REFRESH.fullmatch(value or "")
        if not value or found is None or not (found["seconds"] or value.strip().startswith(".")):
            continue
        reference = found["url"] or ""
        if found["quote"]:
            reference = reference.partition(found["quote"])[0]
        address = http_address(resolve(document, reference.strip())) if reference.strip() else None
        seconds = int(found["seconds"][:9] or "0")
        return Refresh(seconds, None if address == page.target.url else address)
    return None


def viewport(document: Document) -> Viewport | None:
    """Return the last viewport element that sets any property: browsers use that one. None without one."""
    found = None
    for node in metas_named(document, "viewport"):
        content = attribute(node, "content") or ""
        if properties := viewport_properties(content):
            found = Viewport(content, properties)
    return found


def viewport_properties(content: str) -> dict[str, str]:
    """Parse the properties of a viewport. White space separates like a comma, and may surround =; the last one wins."""
    parts = (part.replace("=", " = ").split() for part in re.split(r"[,;]", content.lower()))
    threes = (three for words in parts for three in zip(words, words[1:], words[2:], strict=False))
    return {name: value for name, sign, value in threes if sign == "=" and value != "="}


def scale(value: str) -> float | None:
    """Return the number at the beginning of a value, as browsers parse it; None without one."""
    found = LEADING_NUMBER.match(value)
    return float(found[0]) if found else None
