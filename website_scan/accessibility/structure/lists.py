"""Allowed content of lists, and allowed parents of list items, as in axe-core 4.12."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from website_scan.accessibility.aria.native_roles import role
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.roles import sole_role
from website_scan.accessibility.verdicts import Faults
from website_scan.accessibility.wai_aria import WITH_PARTS
from website_scan.page.markup import attribute, elements, texts

# Placeholder that a script replaces, in the syntax of common template languages.
PLACEHOLDER = re.compile(r"\{\{|\{%|<%|\[\[|\$\{")
ITEM_ROLES = frozenset({"listitem"})
DESCRIPTION_ROLES = frozenset({"definition", "term", "listitem"})
# Elements whose implicit role is in `ITEM_ROLES` or `DESCRIPTION_ROLES`.
ITEMS = frozenset({"li"})
DESCRIPTION_ITEMS = frozenset({"dt", "dd", "dfn", "li"})


@dataclass(frozen=True, slots=True)
class Strays:
    """Whether a list has content outside of items: certainly, or unless scripts or external style sheets change it."""

    certain: bool = False
    uncertain: bool = False

    def __or__(self, other: Strays) -> Strays:
        return Strays(self.certain or other.certain, self.uncertain or other.uncertain)


def without_role(document: AccessibleDocument, selector: str) -> Iterator[LexborNode]:
    """Yield the exposed elements that match a selector and have no role attribute."""
    return (node for node in document.exposed(selector) if not attribute(node, "role"))


def list_items(document: AccessibleDocument) -> Iterator[LexborNode]:
    """Yield the li elements without a role, except in a ul or ol whose role requires other children, such as tabs."""
    for item in without_role(document, "li"):
        parent = item.parent
        if parent is None or parent.tag not in ("ul", "ol") or sole_role(parent) not in WITH_PARTS:
            yield item


def find_strays(
    document: AccessibleDocument, selector: str, strays_in: Callable[[AccessibleDocument, LexborNode], Strays]
) -> Faults:
    """Find lists that match a selector and have content outside of items."""
    strays_by_list = [(node, strays_in(document, node)) for node in without_role(document, selector)]
    return Faults(
        [node for node, _ in strays_by_list],
        certain=[node for node, strays in strays_by_list if strays.certain],
        uncertain=[node for node, strays in strays_by_list if strays.uncertain],
    )


def stray_content_of_list(document: AccessibleDocument, node: LexborNode) -> Strays:
    """Judge whether an ol or ul has content outside of li elements."""
    return _stray_content(document, node, ITEMS, ITEM_ROLES)


def stray_content_of_dl(document: AccessibleDocument, node: LexborNode) -> Strays:
    """Judge whether a dl, or a div in it, has content outside of dt and dd. A wrong order of dt and dd is certain."""
    strays = Strays(certain=_is_unordered(node)) | _stray_content(
        document, node, DESCRIPTION_ITEMS, DESCRIPTION_ROLES, has_groups=True
    )
    for group in elements(node):
        if _is_group(group):
            strays |= _stray_content(document, group, DESCRIPTION_ITEMS, DESCRIPTION_ROLES)
    return strays


def _is_unordered(node: LexborNode) -> bool:
    """Return True if a dl has dt or dd, but no dd after a dt, except in the content of a div."""
    tags = [child.tag for child in elements(node)]
    if "dt" in tags:
        return "dd" not in tags[tags.index("dt") :]
    return "dd" in tags


def is_in_list(document: AccessibleDocument, item: LexborNode) -> bool:
    """Return True if an li is a direct child of a list or of an element with role none."""
    return item.parent is not None and role(document, item.parent) in ("list", "none")


def is_in_descriptions(item: LexborNode) -> bool:
    """Return True if a dt or dd is a child of a dl, or of a div in a dl."""
    parent = item.parent
    if parent is not None and parent.tag == "div" and sole_role(parent) in (None, "none"):
        parent = parent.parent
    return parent is not None and parent.tag == "dl" and sole_role(parent) in (None, "none", "list")


def is_in_component(item: LexborNode) -> bool:
    """Return True if a list item is inside a custom element, which may contain the list."""
    parent = item.parent
    if parent is not None and parent.tag == "div":
        parent = parent.parent
    return any("-" in (element.tag or "") for element in (item.parent, parent) if element is not None)


def _stray_content(
    document: AccessibleDocument,
    node: LexborNode,
    tags: frozenset[str],
    roles: frozenset[str],
    *,
    has_groups: bool = False,
) -> Strays:
    strays = Strays()
    for text in texts(node):
        strays |= Strays(uncertain=True) if PLACEHOLDER.search(text) else Strays(certain=True)
    for child in elements(node):
        child_role = sole_role(child)
        is_item = child_role in roles if child_role is not None else child.tag in tags
        if is_item or (has_groups and _is_group(child)) or document.visibility.is_hidden_from_at(child):
            continue
        is_uncertain = document.visibility.may_be_hidden(child) or _may_become_item(child)
        strays |= Strays(uncertain=True) if is_uncertain else Strays(certain=True)
    return strays


def _is_group(node: LexborNode) -> bool:
    return node.tag == "div" and sole_role(node) is None


def _may_become_item(node: LexborNode) -> bool:
    """Return True for a custom element, which may set its own role, and for a slot, whose content replaces the slot."""
    return "-" in (node.tag or "") or node.tag == "slot" or attribute(node, "is") is not None
