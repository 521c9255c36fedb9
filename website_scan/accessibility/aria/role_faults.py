"""Find invalid roles, and roles without required relatives.

The roles are unknown, deprecated or disallowed. The relatives are children or parents.
"""

from __future__ import annotations

from functools import partial

from selectolax.lexbor import LexborNode

from website_scan.accessibility.aria.allowed_roles import list_disallowed_roles
from website_scan.accessibility.aria.framework_bindings import may_be_set_by_script
from website_scan.accessibility.aria.native_roles import has_native_role
from website_scan.accessibility.aria.ownership import Ownership
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.roles import explicit_role, ignores_role_none, sole_role
from website_scan.accessibility.verdicts import Faults
from website_scan.accessibility.wai_aria import (
    ABSTRACT,
    DEPRECATED,
    REQUIRED_CHILD_ROLES,
    REQUIRED_PARENT_ROLES,
    ROLES,
    ROLES_WITH_OTHER_ITEMS,
)
from website_scan.page.markup import attribute, elements, select

LISTS = frozenset({"ul", "ol"})


def find_unknown_roles(document: AccessibleDocument) -> Faults:
    """Find elements without a valid role in their role attribute.

    Elements with an abstract role are faulty, too.
    """
    return Faults.find(
        _elements_with_role(document),
        lambda node: _is_unknown_role(attribute(node, "role") or ""),
        _may_set_role,
        fault_names=lambda node: [attribute(node, "role") or ""],
        # Browsers use the native role of these elements, so an invalid role does little harm.
        is_mild=partial(has_native_role, document),
    )


def find_deprecated_roles(document: AccessibleDocument) -> Faults:
    """Find elements whose role is deprecated."""
    return Faults.find(
        _elements_with_role(document),
        lambda node: explicit_role(node) in DEPRECATED,
        _may_set_role,
        fault_names=lambda node: [explicit_role(node) or ""],
    )


def find_disallowed_roles(document: AccessibleDocument) -> Faults:
    """Find elements whose role is not allowed for their HTML tag."""
    list_faulty_roles = partial(list_disallowed_roles, document)
    nodes = (node for node in document.exposed("[role]") if explicit_role(node) is not None)
    return Faults.find(nodes, list_faulty_roles, _may_set_role, fault_names=list_faulty_roles)


def find_conflicting_presentation(document: AccessibleDocument) -> Faults:
    """Find elements whose role none is ignored.

    They are focusable or have a global ARIA attribute.
    """
    nodes = (node for node in document.exposed("img, [role]") if _has_presentational_markup(document, node))
    return Faults.find(nodes, ignores_role_none, _may_set_role)


def find_missing_children(document: AccessibleDocument) -> Faults:
    """Find elements with missing or wrong child roles."""
    nodes = (element for element in document.exposed("[role]") if _sole_role_or_empty(element) in REQUIRED_CHILD_ROLES)
    ownership = Ownership(document)
    return Faults.find(
        nodes,
        lambda node: not ownership.has_required_children(node),
        _may_set_role,
        is_mild=_has_children_wrapped_in_li,
    )


def find_missing_parents(document: AccessibleDocument) -> Faults:
    """Find elements that lack the parent role that their role requires.

    Elements in an li of the required parent are left out, because the li is a fault of the parent's children.
    """
    nodes = (
        element
        for element in document.exposed("[role]")
        if _sole_role_or_empty(element) in REQUIRED_PARENT_ROLES and not _is_in_li_without_role(element)
    )
    ownership = Ownership(document)
    return Faults.find(
        nodes,
        lambda node: not ownership.has_required_parent(node),
        _may_set_role,
        fault_names=lambda node: [_sole_role_or_empty(node)],
    )


def _has_children_wrapped_in_li(node: LexborNode) -> bool:
    """Return True if li elements wrap all required children.

    Bootstrap does so: ul[role=tablist] > li > [role=tab]. Browsers ignore the li, so the fault has little effect on
    people.
    """
    required = REQUIRED_CHILD_ROLES[_sole_role_or_empty(node)]
    return node.tag in LISTS and all(
        item.tag == "li"
        and sole_role(item) is None
        and any(explicit_role(descendant) in required for descendant in select(item, "[role]"))
        for item in elements(node)
    )


def _is_in_li_without_role(node: LexborNode) -> bool:
    item = node.parent
    if item is None or item.tag != "li" or sole_role(item) is not None or item.parent is None:
        return False
    return item.parent.tag in LISTS and sole_role(item.parent) in ROLES_WITH_OTHER_ITEMS


def _elements_with_role(document: AccessibleDocument) -> list[LexborNode]:
    return [each for each in document.exposed("[role]") if (attribute(each, "role") or "").strip()]


def _sole_role_or_empty(node: LexborNode) -> str:
    return sole_role(node) or ""


def _is_unknown_role(value: str) -> bool:
    tokens = value.split()
    known_roles = ROLES | ABSTRACT
    return not ABSTRACT.isdisjoint(tokens) or not any(token.lower() in known_roles for token in tokens)


def _has_presentational_markup(document: AccessibleDocument, node: LexborNode) -> bool:
    has_role_none = attribute(node, "role") in ("none", "presentation")
    return (has_role_none or (node.tag == "img" and attribute(node, "alt") == "")) and has_native_role(document, node)


def _may_set_role(node: LexborNode) -> bool:
    return may_be_set_by_script(node, "role")
