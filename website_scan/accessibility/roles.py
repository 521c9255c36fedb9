"""Roles in the role attribute, and when role none is ignored."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from website_scan.accessibility.wai_aria import DPUB, GLOBAL_ATTRIBUTES, ROLES
from website_scan.page.markup import MAX_DEPTH, attribute, select

PRESENTATIONAL = frozenset({"none", "presentation"})
# Elements that support the `disabled` attribute.
DISABLEABLE = frozenset({"button", "fieldset", "input", "optgroup", "option", "select", "textarea"})
# As in axe-core, frames, media players and editable texts are missing.
CONTROLS = frozenset({"button", "select", "summary", "textarea"})


def explicit_role(node: LexborNode) -> str | None:
    """Return the first valid role of the role attribute.

    `presentation` becomes `none`.
    """
    for token in (attribute(node, "role") or "").lower().split():
        if token in ROLES:
            return "none" if token in PRESENTATIONAL else token
    return None


def sole_role(node: LexborNode) -> str | None:
    """Return the role attribute if it is a single valid role.

    DPUB-ARIA roles do not count. `presentation` becomes `none`. axe-core reads role attributes in this way by default.
    """
    token = (attribute(node, "role") or "").strip().lower()
    if token not in ROLES or token in DPUB:
        return None
    return "none" if token in PRESENTATIONAL else token


def first_role(node: LexborNode) -> str | None:
    """Return the first valid role of the role attribute.

    DPUB-ARIA roles are left out, because some axe-core rules ignore them.
    """
    for token in (attribute(node, "role") or "").lower().split():
        if token in ROLES and token not in DPUB:
            return "none" if token in PRESENTATIONAL else token
    return None


def is_presentational(node: LexborNode) -> bool:
    """Return True if role none applies to the element.

    Focusable elements and global ARIA attributes override the role.
    """
    return explicit_role(node) == "none" and not ignores_role_none(node)


def ignores_role_none(node: LexborNode) -> bool:
    """Return True if an element keeps its role despite role none.

    WAI-ARIA 1.2, section 7.
    """
    return is_focusable(node) or has_global_attribute(node)


def is_focusable(node: LexborNode) -> bool:
    """Return True if the element is focusable, natively or with a tabindex.

    As in axe-core, hidden elements count.
    """
    return (tab_index(node) is not None or _is_native_control(node)) and not _is_disabled_element(node)


def is_summary_of_details(node: LexborNode) -> bool:
    """Return True for the first summary element of a details element.

    Other summary elements are not controls (HTML, "summary").
    """
    if node.tag != "summary" or node.parent is None or node.parent.tag != "details":
        return False
    before = node.prev
    while before is not None and before.tag != "summary":
        before = before.prev
    return before is None


def is_tabbable(node: LexborNode) -> bool:
    """Return True if the Tab key can reach the element when visible."""
    index = tab_index(node)
    return (index is None or index >= 0) and is_focusable(node)


def tab_index(node: LexborNode) -> int | None:
    """Return the tabindex, or None if the value is not a number.

    Numbers with more than nine digits keep only their sign.
    """
    match = re.match(r"\s*([+-]?[0-9]{1,9})", attribute(node, "tabindex") or "")
    return int(match[1]) if match else None


def has_negative_tabindex(node: LexborNode) -> bool:
    return (tab_index(node) or 0) < 0


def has_global_attribute(node: LexborNode) -> bool:
    """Return True if the element has a global ARIA attribute.

    An empty attribute counts, as in axe-core.
    """
    return any(name in GLOBAL_ATTRIBUTES for name in node.attributes)


def _is_native_control(node: LexborNode) -> bool:
    tag = node.tag or ""
    if tag in ("a", "area"):
        return attribute(node, "href") is not None
    if tag == "input":
        return (attribute(node, "type") or "").lower() != "hidden"
    if tag == "details":
        return not select(node, "summary")
    return tag in CONTROLS


def _is_disabled_element(node: LexborNode) -> bool:
    """Return True if the element is inert or disabled.

    A fieldset also disables its elements, unless they are inside the legend.
    """
    if node.tag in DISABLEABLE and attribute(node, "disabled") is not None:
        return True
    current: LexborNode | None = node
    is_in_legend = False
    for _ in range(MAX_DEPTH):
        if current is None or not current.is_element_node:
            return False
        if attribute(current, "inert") is not None:
            return True
        if current.tag == "legend" and current.mem_id != node.mem_id:
            is_in_legend = True
        if current.tag == "fieldset" and not is_in_legend and attribute(current, "disabled") is not None:
            return True
        current = current.parent
    return False
