"""Pages that send their visitors on by themselves: `<meta http-equiv=refresh>` and the Refresh header."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from scans.engine.page.evidence import Document, Page
from scans.engine.page.markup import attribute, http_equivs, live, resolve

# Seconds, then where to, with or without `url=` and quotes (HTML, "shared declarative refresh steps").
REFRESH = re.compile(
    r"\s*+(?P<seconds>\d*+)[\d.]*+(?:(?:\s*+[;,]|\s)\s*+(?:url\s*+=\s*+)?(?P<quote>[\"']?)(?P<url>.*))?", re.I | re.S
)


@dataclass(frozen=True, slots=True)
class Refresh:
    """After so many seconds the page is loaded again, or where `url` is set another one."""

    seconds: int
    url: str | None


def refresh(page: Page, document: Document) -> Refresh | None:
    """The refresh that browsers obey: the header's, else the first meta's that can be read."""
    for value in (page.headers.get("Refresh"), *http_equivs(document, "refresh", anywhere=True)):
        found = REFRESH.fullmatch(value or "")
        if not value or found is None or not (found["seconds"] or value.strip().startswith(".")):
            continue
        reference = found["url"] or ""
        if found["quote"]:
            reference = reference.partition(found["quote"])[0]
        url = resolve(document, reference.strip()) if reference.strip() else None
        seconds = int(found["seconds"][:9] or "0")
        if url is None or url.protocol not in ("http:", "https:"):
            return Refresh(seconds, None)
        url.hash = ""
        address = url.href.removesuffix("#")
        return Refresh(seconds, None if address == page.target.url else address)
    return None


LEADING_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE)


def viewport_metas(document: Document) -> Iterator[tuple[LexborNode, dict[str, str]]]:
    """Each viewport element with its properties in lower case; of one that is named twice the last counts."""
    for node in live(document, "meta[name][content]"):
        if (attribute(node, "name") or "").strip().lower() == "viewport":
            yield node, _properties((attribute(node, "content") or "").lower())


def _properties(content: str) -> dict[str, str]:
    """White space separates as a comma does, and may stand around the equals sign."""
    parts = (part.replace("=", " = ").split() for part in re.split(r"[,;]", content))
    threes = (three for words in parts for three in zip(words, words[1:], words[2:], strict=False))
    return {name: value for name, sign, value in threes if sign == "=" and value != "="}


def scale(value: str) -> float | None:
    """The number at the beginning of a value, which is all that browsers read; None without one."""
    found = LEADING_NUMBER.match(value)
    return float(found[0]) if found else None
