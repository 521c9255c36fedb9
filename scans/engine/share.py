"""The properties that networks read when a page is shared (Open Graph, Twitter cards)."""

from __future__ import annotations

from scans.engine.evidence import Document
from scans.engine.markup import attribute, live


def share_property(document: Document, name: str) -> str:
    """The first value that is not empty; the property may stand in `property` or `name`."""
    for node in live(document, "meta[content]"):
        names = ((attribute(node, each) or "").strip().lower() for each in ("property", "name"))
        content = (attribute(node, "content") or "").strip()
        if content and name in names:
            return content
    return ""
