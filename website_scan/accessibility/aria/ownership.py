"""Required children and parents of roles, seen through elements without a role (WAI-ARIA 1.2, section 5.2.6)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from website_scan.accessibility.ancestors import Inherited
from website_scan.accessibility.aria.native_roles import role
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.roles import explicit_role, overrides_none, sole_role
from website_scan.accessibility.wai_aria import REQUIRED_CHILDREN, REQUIRED_PARENTS
from website_scan.page.markup import MAX_DEPTH, attribute, live

MAX_STEPS = 100_000  # per rule and page
# Roles that may stand between a role and its required child or parent.
GROUPS = frozenset({"group", "rowgroup"})
# Roles that need their children at once: they are wrong while empty.
NEVER_EMPTY = frozenset({"feed", "row", "suggestion"})
# Roles that may contain their own kind inside a group.
SELF_NESTING = frozenset({"listitem", "treeitem"})


class Ownership:
    """Required children and parents in one document. When the step budget is used up, every answer is True."""

    def __init__(self, document: AccessibleDocument, steps: int = MAX_STEPS) -> None:
        self.document = document
        self.steps_left = steps
        # For each element: itself or its nearest ancestor that has a role or, being a custom element, may have one.
        self._nearest: Inherited[LexborNode | None] = Inherited(None, self._nearest_with_role)
        self._owners: dict[str, LexborNode] = {}
        for node in live(document.document, "[aria-owns]"):
            for id in (attribute(node, "aria-owns") or "").split():
                self._owners.setdefault(id, node)

    def has_required_children(self, node: LexborNode) -> bool:
        """Return True if an element contains only children that its role allows, and at least one.

        Also True if that can't be known: an empty element may be filled later, a custom element may have any role.
        """
        own = explicit_role(node)
        required = REQUIRED_CHILDREN.get(own or "")
        if required is None or not _has_one_role(node):
            return True
        is_found = has_content = False
        for child, its_role in self._owned_children(node, required):
            if child.is_text_node:
                has_content = has_content or bool((child.text_content or "").strip())
                continue
            if its_role is None and "-" in (child.tag or ""):
                return True
            if its_role not in required:
                return False
            is_found = True
        if is_found or self.steps_left <= 0 or attribute(node, "aria-busy") == "true":
            return True
        return not has_content and own not in NEVER_EMPTY

    def has_required_parent(self, node: LexborNode) -> bool:
        """Return True if an element has an ancestor that its role requires."""
        own = sole_role(node)
        required = REQUIRED_PARENTS.get(own or "")
        if own is None or required is None:
            return True
        missing = self._missing_parents(own, node.parent, required)
        if not missing:
            return True
        current: LexborNode | None = node
        for _ in range(MAX_DEPTH):
            if current is None or self.steps_left <= 0:
                break
            self.steps_left -= 1
            owner = self._owners.get(attribute(current, "id") or "")
            if owner is not None:
                missing = self._missing_parents(own, owner, missing)
                if not missing:
                    return True
            current = current.parent
        return self.steps_left <= 0

    def nearest_ancestor_role(self, node: LexborNode) -> str | None:
        """Return the role of the nearest ancestor that has one."""
        around = self._nearest.of(node.parent)
        return role(self.document, around) if around is not None else None

    def _owned_children(self, node: LexborNode, required: frozenset[str]) -> Iterator[tuple[LexborNode, str | None]]:
        """Yield the pieces of text and the elements with a role inside an element, also those in its allowed groups."""
        pending = deque(self._children(node))
        while pending and self.steps_left > 0:
            self.steps_left -= 1
            each = pending.popleft()
            if each.is_text_node:
                yield each, None
            if not each.is_element_node or self.document.visibility.is_hidden_from_at(each):
                continue
            its_role = role(self.document, each)
            its_role = None if its_role == "none" else its_role
            is_custom = its_role is None and "-" in (each.tag or "")
            if its_role in GROUPS and its_role in required:
                pending.extend(self._children(each, is_owner=False))
            elif its_role is not None or is_custom or overrides_none(each):
                yield each, its_role
            else:
                pending.extend(self._children(each, is_owner=False))

    def _children(self, node: LexborNode, *, is_owner: bool = True) -> Iterator[LexborNode]:
        owned = {element.mem_id: element for element in self.document.referenced(node, "aria-owns")} if is_owner else {}
        child = node.first_child
        while child is not None:
            if child.mem_id not in owned:
                yield child
            child = child.next
        yield from owned.values()

    def _missing_parents(self, own: str, start: LexborNode | None, required: frozenset[str]) -> frozenset[str]:
        """Return the required parent roles that are missing around an element. Empty if one was found."""
        takes_groups = "group" in required
        current = start
        for _ in range(MAX_DEPTH):
            current = self._nearest.of(current)
            if current is None or self.steps_left <= 0:
                return required
            self.steps_left -= 1
            around = role(self.document, current)
            if "-" in (current.tag or "") and around is None:
                return frozenset()
            if around == "group" and takes_groups:
                required = (required | {own} if own in SELF_NESTING else required) - {"group"}
                current = current.parent
            else:
                return frozenset() if around in required else required
        return required

    def _nearest_with_role(self, node: LexborNode, above: LexborNode | None) -> LexborNode | None:
        has_role = role(self.document, node) not in (None, "none") or "-" in (node.tag or "")
        return node if has_role else above


def _has_one_role(node: LexborNode) -> bool:
    return len((attribute(node, "role") or "").split()) == 1
