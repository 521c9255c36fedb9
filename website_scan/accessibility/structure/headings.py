"""Headings and their levels, as in axe-core 4.12."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from website_scan.accessibility.ancestors import Inherited
from website_scan.accessibility.aria.native_roles import role
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import accessible_name
from website_scan.accessibility.verdicts import Faults
from website_scan.page.markup import attribute

TAGS = ("h1", "h2", "h3", "h4", "h5", "h6")
HEADINGS = f"{', '.join(TAGS)}, [role=heading]"
FRAMES = frozenset({"iframe", "frame"})
# Sections that usually are the same on all pages of a site.
REPEATED_SECTIONS = frozenset({"aside", "footer", "nav"})
REPEATED_ROLES = frozenset({"complementary", "contentinfo", "navigation"})
DEFAULT_LEVEL = 2


def level_one_headings(document: AccessibleDocument) -> list[LexborNode]:
    """Return the headings of level 1, without any h1 that has a role attribute but no aria-level."""
    return [heading for heading in document.exposed(HEADINGS) if _is_level_one(heading)]


def plain_headings(document: AccessibleDocument) -> list[LexborNode]:
    """Return the heading elements without a role attribute, and the elements with role heading."""
    return [heading for heading in document.exposed(HEADINGS) if attribute(heading, "role") in (None, "heading")]


def find_skipped_levels(document: AccessibleDocument) -> Faults:
    """Find headings that are more than one level deeper than the heading before them.

    A heading after a frame is not faulty, because the frame may contain headings. A heading that a style sheet may hide
    fills a gap, but is not faulty itself. Empty headings are not faulty, nor headings whose predecessor is in another
    repeated section: the levels in a sidebar or footer are the same on all pages (W3C WAI, "Page Structure",
    Headings).
    """
    headings: list[LexborNode] = []
    faulty: list[LexborNode] = []
    previous_level: int | None = None  # level of the previous heading; None if unknown
    sections = Inherited[LexborNode | None](
        None, lambda node, parent_section: node if _is_repeated_section(node) else parent_section
    )
    section: LexborNode | None = None  # repeated section of the previous heading
    for node in document.exposed(f"{HEADINGS}, iframe, frame"):
        previous_section, section = section, sections.value_of(node)
        if node.tag in FRAMES or not _is_same_node(previous_section, section):
            previous_level = None
        if node.tag in FRAMES:
            continue
        if role(document, node) != "heading":
            continue
        headings.append(node)
        level = _heading_level(node)
        if document.visibility.may_be_hidden(node):
            previous_level = None if previous_level is None else max(previous_level, level)
            continue
        if previous_level is not None and level - previous_level > 1 and accessible_name(document, node):
            faulty.append(node)
        previous_level = level
    return Faults(headings, faulty)


def _is_repeated_section(node: LexborNode) -> bool:
    written_role = attribute(node, "role")
    if node.tag in REPEATED_SECTIONS if written_role is None else written_role in REPEATED_ROLES:
        return True
    return any("sidebar" in (attribute(node, name) or "").lower() for name in ("id", "class"))


def _is_same_node(one: LexborNode | None, other: LexborNode | None) -> bool:
    return (one and one.mem_id) == (other and other.mem_id)


def _is_level_one(node: LexborNode) -> bool:
    level, written_role = attribute(node, "aria-level"), attribute(node, "role")
    if written_role is not None:
        return written_role == "heading" and level == "1"
    return level == "1" or (node.tag == "h1" and level is None)


def _heading_level(node: LexborNode) -> int:
    match = re.match(r"\s*\+?0*([1-9][0-9]{0,5})", attribute(node, "aria-level") or "")
    if match is not None:
        return int(match[1])
    return int((node.tag or "")[1]) if node.tag in TAGS else DEFAULT_LEVEL
