"""Lists: their allowed content, and the allowed parents of list items, as in axe-core 4.12."""

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

# Placeholder that a script replaces, in the syntax of most template languages.
PLACEHOLDER = re.compile(r"\{\{|\{%|<%|\[\[|\$\{")
ITEM_ROLES = frozenset({"listitem"})
DESCRIPTION_ROLES = frozenset({"definition", "term", "listitem"})
# Elements with such an implicit role.
ITEMS = frozenset({"li"})
DESCRIPTION_ITEMS = frozenset({"dt", "dd", "dfn", "li"})


@dataclass(frozen=True, slots=True)
class Strays:
    """Content of a list that is not an item: for certain, or unless scripts or external style sheets change it."""

    certain: bool = False
    uncertain: bool = False

    def __or__(self, other: Strays) -> Strays:
        return Strays(self.certain or other.certain, self.uncertain or other.uncertain)


def without_role(document: AccessibleDocument, selector: str) -> Iterator[LexborNode]:
    """Yield the exposed elements that match and have no role attribute."""
    return (node for node in document.exposed(selector) if not attribute(node, "role"))


def list_items(document: AccessibleDocument) -> Iterator[LexborNode]:
    """Yield the li without a role, except those in a ul or ol whose role requires other children, such as tabs."""
    for item in without_role(document, "li"):
        around = item.parent
        if around is None or around.tag not in ("ul", "ol") or sole_role(around) not in WITH_PARTS:
            yield item


def find_strays(
    document: AccessibleDocument, selector: str, strays_in: Callable[[AccessibleDocument, LexborNode], Strays]
) -> Faults:
    """Judge the lists that match: faulty are those with content that is not an item."""
    found = [(node, strays_in(document, node)) for node in without_role(document, selector)]
    return Faults(
        [node for node, _ in found],
        certain=[node for node, strays in found if strays.certain],
        uncertain=[node for node, strays in found if strays.uncertain],
    )


def stray_content_of_list(document: AccessibleDocument, node: LexborNode) -> Strays:
    """Find content of an ol or ul that is not an li."""
    return _stray_content(document, node, ITEMS, ITEM_ROLES)


def stray_content_of_dl(document: AccessibleDocument, node: LexborNode) -> Strays:
    """Find content of a dl, or of a div in it, that is not a dt or dd. Wrong order of these is a certain fault, too."""
    found = Strays(certain=_is_unordered(node)) | _stray_content(
        document, node, DESCRIPTION_ITEMS, DESCRIPTION_ROLES, has_groups=True
    )
    for group in elements(node):
        if _is_group(group):
            found |= _stray_content(document, group, DESCRIPTION_ITEMS, DESCRIPTION_ROLES)
    return found


def _is_unordered(node: LexborNode) -> bool:
    """Return True if a dl has dt or dd, but no dd after a dt. (The content of a div is not looked at.)"""
    tags = [child.tag for child in elements(node)]
    if "dt" in tags:
        return "dd" not in tags[tags.index("dt") :]
    return "dd" in tags


def is_in_list(document: AccessibleDocument, item: LexborNode) -> bool:
    """Return True if an li is a direct child of a list, or of an element with role none."""
    return item.parent is not None and role(document, item.parent) in ("list", "none")


def is_in_descriptions(item: LexborNode) -> bool:
    """Return True if a dt or dd is inside a dl, or in a div in one."""
    around = item.parent
    if around is not None and around.tag == "div" and sole_role(around) in (None, "none"):
        around = around.parent
    return around is not None and around.tag == "dl" and sole_role(around) in (None, "none", "list")


def is_in_component(item: LexborNode) -> bool:
    """Return True if an item is inside a custom element, which may contain the list."""
    around = item.parent
    if around is not None and around.tag == "div":
        around = around.parent
    return any("-" in (element.tag or "") for element in (item.parent, around) if element is not None)


def _stray_content(
    document: AccessibleDocument,
    node: LexborNode,
    tags: frozenset[str],
    roles: frozenset[str],
    *,
    has_groups: bool = False,
) -> Strays:
    found = Strays()
    for text in texts(node):
        found |= Strays(uncertain=True) if PLACEHOLDER.search(text) else Strays(certain=True)
    for child in elements(node):
        own = sole_role(child)
        is_item = own in roles if own is not None else child.tag in tags
        if is_item or (has_groups and _is_group(child)) or document.visibility.is_hidden_from_at(child):
            continue
        is_uncertain = document.visibility.may_be_hidden(child) or _may_become_item(child)
        found |= Strays(uncertain=True) if is_uncertain else Strays(certain=True)
    return found


def _is_group(node: LexborNode) -> bool:
    return node.tag == "div" and sole_role(node) is None


def _may_become_item(node: LexborNode) -> bool:
    """Return True for a custom element, which may give itself a role, and for a slot, which its content replaces."""
    return "-" in (node.tag or "") or node.tag == "slot" or attribute(node, "is") is not None
