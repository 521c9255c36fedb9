"""What is wrong with roles: whether they exist, suit their elements and keep what they promise."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from scans.engine.accessibility.aria.allowed_roles import unallowed_roles
from scans.engine.accessibility.aria.native_roles import has_native_role
from scans.engine.accessibility.aria.ownership import Ownership
from scans.engine.accessibility.document import AccessibleDocument
from scans.engine.accessibility.framework_bindings import may_be_written
from scans.engine.accessibility.roles import explicit_role, is_focusable, says_more, sole_role
from scans.engine.accessibility.verdicts import Faults, sorted_out
from scans.engine.accessibility.wai_aria import (
    ABSTRACT,
    DEPRECATED,
    REQUIRED_CHILDREN,
    REQUIRED_PARENTS,
    ROLES,
)
from scans.engine.page.markup import attribute


def unknown_roles(document: AccessibleDocument) -> Faults:
    """Role attributes without a role, or with an abstract one."""
    nodes = _with_role(document)
    wrong = [each for each in nodes if _is_no_role(attribute(each, "role") or "")]
    return sorted_out(document, nodes, wrong, _may_change, words=(attribute(each, "role") or "" for each in wrong))


def deprecated_roles(document: AccessibleDocument) -> Faults:
    """Elements whose role is deprecated."""
    nodes = _with_role(document)
    wrong = [each for each in nodes if explicit_role(each) in DEPRECATED]
    return sorted_out(document, nodes, wrong, _may_change, words=(explicit_role(each) or "" for each in wrong))


def unsuited_roles(document: AccessibleDocument) -> Faults:
    """Roles that their elements may not have."""
    nodes = [each for each in document.exposed("[role]") if explicit_role(each) is not None]
    found = {each.mem_id: roles for each in nodes if (roles := unallowed_roles(document, each))}
    wrong = [each for each in nodes if each.mem_id in found]
    return sorted_out(document, nodes, wrong, _may_change, words=(role for roles in found.values() for role in roles))


def contradicted_decoration(document: AccessibleDocument) -> Faults:
    """Elements that say they are none, but take the focus or say more by ARIA."""
    nodes = [each for each in document.exposed("img, [role]") if _is_decoration(document, each)]
    return sorted_out(document, nodes, [each for each in nodes if is_focusable(each) or says_more(each)], _may_change)


def wrong_children(document: AccessibleDocument) -> Faults:
    """Elements whose role needs others in it, which are not there, or others are."""
    nodes = [each for each in document.exposed("[role]") if _own(each) in REQUIRED_CHILDREN]
    ownership = Ownership(document)
    return sorted_out(
        document, nodes, [each for each in nodes if not ownership.has_required_children(each)], _may_change
    )


def wrong_parents(document: AccessibleDocument) -> Faults:
    """Elements whose role needs another around it, which is not there."""
    nodes = [each for each in document.exposed("[role]") if _own(each) in REQUIRED_PARENTS]
    ownership = Ownership(document)
    wrong = [each for each in nodes if not ownership.has_required_parent(each)]
    return sorted_out(document, nodes, wrong, _may_change, words=(_own(each) for each in wrong))


def _with_role(document: AccessibleDocument) -> list[LexborNode]:
    return [each for each in document.exposed("[role]") if (attribute(each, "role") or "").strip()]


def _own(node: LexborNode) -> str:
    return sole_role(node) or ""


def _is_no_role(value: str) -> bool:
    tokens = value.split()
    known = ROLES | ABSTRACT
    return not ABSTRACT.isdisjoint(tokens) or not any(each.lower() in known for each in tokens)


def _is_decoration(document: AccessibleDocument, node: LexborNode) -> bool:
    says_none = attribute(node, "role") in ("none", "presentation")
    return (says_none or (node.tag == "img" and attribute(node, "alt") == "")) and has_native_role(document, node)


def _may_change(node: LexborNode) -> bool:
    return may_be_written(node, "role")
