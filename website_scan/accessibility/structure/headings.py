"""Headings and their levels, as in axe-core 4.12."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from website_scan.accessibility.ancestors import InheritedProperty
from website_scan.accessibility.aria.native_roles import role
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import accessible_name
from website_scan.accessibility.verdicts import Faults
from website_scan.page.markup import attribute

HEADING_TAGS = ("h1", "h2", "h3", "h4", "h5", "h6")
HEADINGS = f"{', '.join(HEADING_TAGS)}, [role=heading]"
FRAMES = frozenset({"iframe", "frame"})
# Page sections that are usually the same on all pages of a site.
REPEATED_SECTIONS = frozenset({"aside", "footer", "nav"})
REPEATED_ROLES = frozenset({"complementary", "contentinfo", "navigation"})
DEFAULT_HEADING_LEVEL = 2


def level_one_headings(document: AccessibleDocument) -> list[LexborNode]:
    """Return the headings of level 1.

    An h1 with a role attribute counts only if it has an aria-level.
    """
    return [heading for heading in document.exposed(HEADINGS) if _is_level_one_heading(heading)]


def plain_headings(document: AccessibleDocument) -> list[LexborNode]:
    """Return elements that are headings by tag or by role.

    A heading element with a role attribute does not count by its tag.
    """
    return [heading for heading in document.exposed(HEADINGS) if attribute(heading, "role") in (None, "heading")]


def find_skipped_levels(document: AccessibleDocument) -> Faults:
    """Find headings that skip a level.

    They are more than one level deeper than the heading before them. A heading after a frame is not faulty, because the
    frame may contain headings. A heading that a style sheet may hide fills a gap, but is not faulty itself. Empty
    headings are not faulty. Headings of a sidebar, navigation or footer are compared with each other, and those of the
    content too, because the levels in such a section are the same on all pages (W3C WAI, "Page Structure", Headings).
    """
    headings: list[LexborNode] = []
    faulty: list[LexborNode] = []
    sections = InheritedProperty[LexborNode | None](
        None, lambda node, parent_section: node if _is_repeated_section(node) else parent_section
    )
    # Previous level in each repeated section and in the main content (key None). A frame sets it to None.
    previous_levels: dict[int | None, int | None] = {}
    for node in document.exposed(f"{HEADINGS}, iframe, frame"):
        section = sections.inherited_value(node)
        key = section.mem_id if section is not None else None
        if node.tag in FRAMES:
            previous_levels[key] = None
            continue
        if role(document, node) != "heading":
            continue
        headings.append(node)
        level, previous_level = _heading_level(node), previous_levels.get(key)
        if document.visibility.may_be_hidden(node):
            previous_levels[key] = None if previous_level is None else max(previous_level, level)
            continue
        if previous_level is not None and level - previous_level > 1 and accessible_name(document, node):
            faulty.append(node)
        previous_levels[key] = level
    return Faults(headings, faulty)


def _is_repeated_section(node: LexborNode) -> bool:
    role_attribute = attribute(node, "role")
    if node.tag in REPEATED_SECTIONS if role_attribute is None else role_attribute in REPEATED_ROLES:
        return True
    return any("sidebar" in (attribute(node, name) or "").lower() for name in ("id", "class"))


def _is_level_one_heading(node: LexborNode) -> bool:
    level, role_attribute = attribute(node, "aria-level"), attribute(node, "role")
    if role_attribute is not None:
        return role_attribute == "heading" and level == "1"
    return level == "1" or (node.tag == "h1" and level is None)


def _heading_level(node: LexborNode) -> int:
    match = re.match(r"\s*\+?0*([1-9][0-9]{0,5})", attribute(node, "aria-level") or "")
    if match is not None:
        return int(match[1])
    return int((node.tag or "")[1]) if node.tag in HEADING_TAGS else DEFAULT_HEADING_LEVEL
