"""Faults of roles: unknown, deprecated or disallowed roles, and missing required children or parents."""

from __future__ import annotations

from functools import partial

from selectolax.lexbor import LexborNode

from website_scan.accessibility.aria.allowed_roles import disallowed_roles_of
from website_scan.accessibility.aria.framework_bindings import may_be_written
from website_scan.accessibility.aria.native_roles import has_native_role
from website_scan.accessibility.aria.ownership import Ownership
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.roles import explicit_role, overrides_none, sole_role
from website_scan.accessibility.verdicts import Faults
from website_scan.accessibility.wai_aria import (
    ABSTRACT,
    DEPRECATED,
    REQUIRED_CHILDREN,
    REQUIRED_PARENTS,
    ROLES,
    WITH_PARTS,
)
from website_scan.page.markup import attribute, elements, select

LISTS = frozenset({"ul", "ol"})


def find_unknown_roles(document: AccessibleDocument) -> Faults:
    """Find elements whose role attribute has no valid role, or has an abstract role."""
    return Faults.find(
        _elements_with_role(document),
        lambda node: _is_unknown(attribute(node, "role") or ""),
        _may_change,
        fault_names=lambda node: [attribute(node, "role") or ""],
        # Without a valid role, the element's native role applies.
        is_mild=partial(has_native_role, document),
    )


def find_deprecated_roles(document: AccessibleDocument) -> Faults:
    """Find elements whose role is deprecated."""
    return Faults.find(
        _elements_with_role(document),
        lambda node: explicit_role(node) in DEPRECATED,
        _may_change,
        fault_names=lambda node: [explicit_role(node) or ""],
    )


def find_disallowed_roles(document: AccessibleDocument) -> Faults:
    """Find elements with a role that HTML does not allow on them."""
    disallowed_roles = partial(disallowed_roles_of, document)
    nodes = (node for node in document.exposed("[role]") if explicit_role(node) is not None)
    return Faults.find(nodes, disallowed_roles, _may_change, fault_names=disallowed_roles)


def find_conflicting_presentation(document: AccessibleDocument) -> Faults:
    """Find elements with role none that are focusable or have a global ARIA attribute, so that the role is ignored."""
    nodes = (node for node in document.exposed("img, [role]") if _is_decoration(document, node))
    return Faults.find(nodes, overrides_none, _may_change)


def find_missing_children(document: AccessibleDocument) -> Faults:
    """Find elements without the children that their role requires, or with children that the role does not allow."""
    nodes = (element for element in document.exposed("[role]") if _own_role(element) in REQUIRED_CHILDREN)
    ownership = Ownership(document)
    return Faults.find(
        nodes,
        lambda node: not ownership.has_required_children(node),
        _may_change,
        is_mild=_wraps_children,
    )


def find_missing_parents(document: AccessibleDocument) -> Faults:
    """Find elements without the parent that their role requires.

    Elements in an li of the required parent are left out, because the li is a fault of the parent's children.
    """
    nodes = (
        element
        for element in document.exposed("[role]")
        if _own_role(element) in REQUIRED_PARENTS and not _is_in_plain_item(element)
    )
    ownership = Ownership(document)
    return Faults.find(
        nodes,
        lambda node: not ownership.has_required_parent(node),
        _may_change,
        fault_names=lambda node: [_own_role(node)],
    )


def _wraps_children(node: LexborNode) -> bool:
    """Return True if only li without a role wrap the children that the role requires, as in Bootstrap's tabs.

    Browsers ignore the li, so the fault has little effect on people.
    """
    required = REQUIRED_CHILDREN[_own_role(node)]
    return node.tag in LISTS and all(
        item.tag == "li"
        and sole_role(item) is None
        and any(explicit_role(descendant) in required for descendant in select(item, "[role]"))
        for item in elements(node)
    )


def _is_in_plain_item(node: LexborNode) -> bool:
    item = node.parent
    if item is None or item.tag != "li" or sole_role(item) is not None or item.parent is None:
        return False
    return item.parent.tag in LISTS and sole_role(item.parent) in WITH_PARTS


def _elements_with_role(document: AccessibleDocument) -> list[LexborNode]:
    return [each for each in document.exposed("[role]") if (attribute(each, "role") or "").strip()]


def _own_role(node: LexborNode) -> str:
    return sole_role(node) or ""


def _is_unknown(value: str) -> bool:
    tokens = value.split()
    known_roles = ROLES | ABSTRACT
    return not ABSTRACT.isdisjoint(tokens) or not any(token.lower() in known_roles for token in tokens)


def _is_decoration(document: AccessibleDocument, node: LexborNode) -> bool:
    says_none = attribute(node, "role") in ("none", "presentation")
    return (says_none or (node.tag == "img" and attribute(node, "alt") == "")) and has_native_role(document, node)


def _may_change(node: LexborNode) -> bool:
    return may_be_written(node, "role")
