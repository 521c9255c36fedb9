"""Pages that send their visitors on by themselves: `<meta http-equiv=refresh>` and the Refresh header."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scans.engine.evidence import Document, Page
from scans.engine.markup import http_equivs, resolve

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
