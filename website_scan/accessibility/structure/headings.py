"""Headings and their levels, as axe-core 4.12 reads them."""

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
# Sections that are the same on all pages of a site.
FIXED = frozenset({"aside", "footer", "nav"})
FIXED_ROLES = frozenset({"complementary", "contentinfo", "navigation"})
LEVEL_WITHOUT_ONE = 2


def level_one_headings(document: AccessibleDocument) -> list[LexborNode]:
    """Return the headings of level 1. An h1 with a role attribute but no aria-level is not one."""
    return [heading for heading in document.exposed(HEADINGS) if _is_top(heading)]


def plain_headings(document: AccessibleDocument) -> list[LexborNode]:
    """Return the headings by tag that have no role attribute, and those by role."""
    return [heading for heading in document.exposed(HEADINGS) if attribute(heading, "role") in (None, "heading")]


def find_skipped_levels(document: AccessibleDocument) -> Faults:
    """Judge all headings: faulty are those more than one level deeper than the heading before them.

    It is no fault if a frame stands between the two, because it may contain headings, or if a heading that a style
    sheet may hide bridges the gap. Such headings are not judged themselves. Neither are empty ones, nor those whose
    predecessor is in another fixed section: the levels in a sidebar or footer are the same on all pages (W3C WAI, "Page
    Structure", Headings).
    """
    found: list[LexborNode] = []
    wrong: list[LexborNode] = []
    above: int | None = None  # the level before the next heading; None if unknown
    sections = Inherited[LexborNode | None](None, lambda node, around: node if _is_fixed(node) else around)
    section: LexborNode | None = None  # of the heading before
    for node in document.exposed(f"{HEADINGS}, iframe, frame"):
        before, section = section, sections.of(node)
        if node.tag in FRAMES or not _is_same(before, section):
            above = None
        if node.tag in FRAMES:
            continue
        if role(document, node) != "heading":
            continue
        found.append(node)
        level = _level(node)
        if document.visibility.may_be_hidden(node):
            above = None if above is None else max(above, level)
            continue
        if above is not None and level - above > 1 and accessible_name(document, node):
            wrong.append(node)
        above = level
    return Faults(found, wrong)


def _is_fixed(node: LexborNode) -> bool:
    named = attribute(node, "role")
    if node.tag in FIXED if named is None else named in FIXED_ROLES:
        return True
    return any("sidebar" in (attribute(node, name) or "").lower() for name in ("id", "class"))


def _is_same(one: LexborNode | None, other: LexborNode | None) -> bool:
    return (one and one.mem_id) == (other and other.mem_id)


def _is_top(node: LexborNode) -> bool:
    level, named = attribute(node, "aria-level"), attribute(node, "role")
    if named is not None:
        return named == "heading" and level == "1"
    return level == "1" or (node.tag == "h1" and level is None)


def _level(node: LexborNode) -> int:
    found = re.match(r"\s*\+?0*([1-9][0-9]{0,5})", attribute(node, "aria-level") or "")
    if found is not None:
        return int(found[1])
    return int((node.tag or "")[1]) if node.tag in TAGS else LEVEL_WITHOUT_ONE
