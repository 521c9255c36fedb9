"""The properties that networks read when a page is shared (Open Graph, Twitter cards)."""

from __future__ import annotations

from scans.engine.page.evidence import Document
from scans.engine.page.markup import attribute, live


def share_property(document: Document, *accepted: str) -> str:
    """The first value that is not empty of one of these properties, which may stand in `property` or `name`."""
    for node in live(document, "meta[content]"):
        names = {(attribute(node, each) or "").strip().lower() for each in ("property", "name")}
        content = (attribute(node, "content") or "").strip()
        if content and not names.isdisjoint(accepted):
            return content
    return ""


def share_picture(document: Document) -> str:
    """The address of the picture for sharing, under any of the names that Open Graph has for it."""
    return share_property(document, "og:image", "og:image:url", "og:image:secure_url")
