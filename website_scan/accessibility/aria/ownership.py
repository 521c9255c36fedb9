"""Required child and parent roles.

WAI-ARIA 1.2, sections 5.2.6 and 5.2.7. Elements without a role in between are ignored.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from website_scan.accessibility.ancestors import InheritedProperty
from website_scan.accessibility.aria.native_roles import role
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.roles import explicit_role, ignores_role_none, sole_role
from website_scan.accessibility.wai_aria import REQUIRED_CHILD_ROLES, REQUIRED_PARENT_ROLES
from website_scan.page.markup import MAX_DEPTH, attribute, live

MAX_VISITED_ELEMENTS = 100_000
# Roles that are allowed between a role and its required child or parent.
GROUPS = frozenset({"group", "rowgroup"})
# Scripts seldom fill elements with these roles later.
NEVER_EMPTY_ROLES = frozenset({"feed", "row", "suggestion"})
# Roles that may contain the same role inside a group.
SELF_NESTING_ROLES = frozenset({"listitem", "treeitem"})


class Ownership:
    """Checker of required child and parent roles in one document.

    After visits of `steps` elements, all results are True.
    """

    def __init__(self, document: AccessibleDocument, steps: int = MAX_VISITED_ELEMENTS) -> None:
        self.document = document
        self.steps_left = steps
        # Nearest element with a role, by element. Custom elements count as having a role.
        self._nearest_with_role: InheritedProperty[LexborNode | None] = InheritedProperty(
            None, self._compute_nearest_with_role
        )
        self._owners: dict[str, LexborNode] = {}
        for node in live(document.document, "[aria-owns]"):
            for id in (attribute(node, "aria-owns") or "").split():
                self._owners.setdefault(id, node)

    def has_required_children(self, node: LexborNode) -> bool:
        """Return True if an element has children, all with allowed roles.

        Also True if scripts decide: they may fill an empty element later, and a custom element may have any role.
        """
        element_role = explicit_role(node)
        required = REQUIRED_CHILD_ROLES.get(element_role or "")
        if required is None or not _has_single_role_token(node):
            return True
        has_allowed_child = has_content = False
        for child, child_role in self._owned_children(node, required):
            if child.is_text_node:
                has_content = has_content or bool((child.text_content or "").strip())
                continue
            if child_role is None and "-" in (child.tag or ""):
                return True
            if child_role not in required:
                return False
            has_allowed_child = True
        if has_allowed_child or self.steps_left <= 0 or attribute(node, "aria-busy") == "true":
            return True
        return not has_content and element_role not in NEVER_EMPTY_ROLES

    def has_required_parent(self, node: LexborNode) -> bool:
        """Return True if an ancestor has a role that the element requires."""
        element_role = sole_role(node)
        required = REQUIRED_PARENT_ROLES.get(element_role or "")
        if element_role is None or required is None:
            return True
        missing = self._missing_parents(element_role, node.parent, required)
        if not missing:
            return True
        current: LexborNode | None = node
        for _ in range(MAX_DEPTH):
            if current is None or self.steps_left <= 0:
                break
            self.steps_left -= 1
            owner = self._owners.get(attribute(current, "id") or "")
            if owner is not None:
                missing = self._missing_parents(element_role, owner, missing)
                if not missing:
                    return True
            current = current.parent
        return self.steps_left <= 0

    def nearest_ancestor_role(self, node: LexborNode) -> str | None:
        """Return the role of the nearest ancestor that has a role."""
        ancestor = self._nearest_with_role.inherited_value(node.parent)
        return role(self.document, ancestor) if ancestor is not None else None

    def _owned_children(self, node: LexborNode, required: frozenset[str]) -> Iterator[tuple[LexborNode, str | None]]:
        """Yield (node, role) for what an element owns.

        These are text nodes, and elements with a role. The role is None for text.
        """
        pending = deque(self._iterate_owned_nodes(node))
        while pending and self.steps_left > 0:
            self.steps_left -= 1
            child = pending.popleft()
            if child.is_text_node:
                yield child, None
            if not child.is_element_node or self.document.visibility.is_hidden_from_at(child):
                continue
            child_role = role(self.document, child)
            child_role = None if child_role == "none" else child_role
            may_have_any_role = child_role is None and "-" in (child.tag or "")
            if child_role in GROUPS and child_role in required:
                pending.extend(self._iterate_owned_nodes(child, is_owner=False))
            elif child_role is not None or may_have_any_role or ignores_role_none(child):
                yield child, child_role
            else:
                pending.extend(self._iterate_owned_nodes(child, is_owner=False))

    def _iterate_owned_nodes(self, node: LexborNode, *, is_owner: bool = True) -> Iterator[LexborNode]:
        owned = {element.mem_id: element for element in self.document.referenced(node, "aria-owns")} if is_owner else {}
        child = node.first_child
        while child is not None:
            if child.mem_id not in owned:
                yield child
            child = child.next
        yield from owned.values()

    def _missing_parents(self, child_role: str, start: LexborNode | None, required: frozenset[str]) -> frozenset[str]:
        """Return the required parent roles that no ancestor has.

        Empty if an ancestor has one of the required roles.
        """
        allows_groups = "group" in required
        current = start
        for _ in range(MAX_DEPTH):
            current = self._nearest_with_role.inherited_value(current)
            if current is None or self.steps_left <= 0:
                return required
            self.steps_left -= 1
            ancestor_role = role(self.document, current)
            if "-" in (current.tag or "") and ancestor_role is None:
                return frozenset()
            if ancestor_role == "group" and allows_groups:
                required = (required | {child_role} if child_role in SELF_NESTING_ROLES else required) - {"group"}
                current = current.parent
            else:
                return frozenset() if ancestor_role in required else required
        return required

    def _compute_nearest_with_role(self, node: LexborNode, parent_value: LexborNode | None) -> LexborNode | None:
        has_role = role(self.document, node) not in (None, "none") or "-" in (node.tag or "")
        return node if has_role else parent_value


def _has_single_role_token(node: LexborNode) -> bool:
    return len((attribute(node, "role") or "").split()) == 1
