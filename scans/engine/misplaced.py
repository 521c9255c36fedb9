"""Metadata that does not stand in the head: search engines read most of it there only.

A browser ends the head at the first element that may not be in it, and everything behind goes to the body.
"""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from scans.engine.evidence import Document
from scans.engine.indexing_rules import META_NAMES
from scans.engine.markup import attribute, enclosing, live

CANONICAL, HREFLANG, ROBOTS, TITLE = "canonical link", "hreflang link", "robots meta", "title"


@dataclass(frozen=True, slots=True)
class Misplaced:
    """A piece of metadata in the body: what it is, and its markup."""

    kind: str
    snippet: str


def misplaced(document: Document) -> tuple[Misplaced, ...]:
    """Titles, canonical and hreflang links, and robots metas that are in the body, in document order."""
    return tuple(
        Misplaced(kind, (node.html or "")[:1000])
        for node in live(document, "title, link[rel][href], meta[name][content]")
        if (kind := _kind(node)) is not None and enclosing(node, "head") is None
    )


def head_end(document: Document) -> str:
    """What the body begins with, so what ended the head where the markup did not; empty if metadata does."""
    body = document.tree.body
    first = body.first_child if body is not None else None
    while first is not None and _is_blank(first):
        first = first.next
    if first is None or (not first.is_text_node and _kind(first) is not None):
        return ""
    return f"“{(first.text() or '').strip()}”" if first.is_text_node else f"<{first.tag}>"


def _kind(node: LexborNode) -> str | None:
    if node.tag == "title":
        return TITLE if enclosing(node, "svg") is None else None
    if node.tag == "meta":
        return ROBOTS if (attribute(node, "name") or "").strip().lower() in META_NAMES else None
    if node.tag != "link":
        return None
    relations = (attribute(node, "rel") or "").lower().split()
    if "canonical" in relations:
        return CANONICAL
    return HREFLANG if "alternate" in relations and attribute(node, "hreflang") is not None else None


def _is_blank(node: LexborNode) -> bool:
    return node.is_comment_node or (node.is_text_node and not (node.text() or "").strip())
