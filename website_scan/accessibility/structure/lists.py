"""Allowed content of lists and parents of list items.

As in axe-core 4.12.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct
from selectolax.lexbor import LexborNode

from website_scan.accessibility.aria.native_roles import role
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.roles import sole_role
from website_scan.accessibility.verdicts import Faults
from website_scan.accessibility.wai_aria import ROLES_WITH_OTHER_ITEMS
from website_scan.page.markup import attribute, elements, texts

# Template placeholder, such as `{{ item }}`, that a script replaces.
PLACEHOLDER = re.compile(r"\{\{|\{%|<%|\[\[|\$\{")
LIST_ITEM_ROLES = frozenset({"listitem"})
DESCRIPTION_ITEM_ROLES = frozenset({"definition", "term", "listitem"})
# Elements with the implicit role of list or description items.
LIST_ITEM_TAGS = frozenset({"li"})
DESCRIPTION_ITEM_TAGS = frozenset({"dt", "dd", "dfn", "li"})


class StrayContent(Struct, frozen=True):
    """Content of a list outside its items.

    Scripts or external style sheets may change `uncertain` content.
    """

    certain: bool = False
    uncertain: bool = False

    def __or__(self, other: StrayContent) -> StrayContent:
        return StrayContent(self.certain or other.certain, self.uncertain or other.uncertain)


def elements_without_role(document: AccessibleDocument, selector: str) -> Iterator[LexborNode]:
    """Yield exposed elements that match and have no role attribute.

    Exposed means to assistive technology.
    """
    return (node for node in document.exposed(selector) if not attribute(node, "role"))


def list_items(document: AccessibleDocument) -> Iterator[LexborNode]:
    """Yield the li elements without a role attribute.

    Elements in a list whose role requires other children are left out.
    """
    for item in elements_without_role(document, "li"):
        parent = item.parent
        if parent is None or parent.tag not in ("ul", "ol") or sole_role(parent) not in ROLES_WITH_OTHER_ITEMS:
            yield item


def find_stray_content(
    document: AccessibleDocument,
    selector: str,
    find_strays_in_list: Callable[[AccessibleDocument, LexborNode], StrayContent],
) -> Faults:
    """Find matching lists with content outside of their items."""
    lists_with_stray_content = [
        (node, find_strays_in_list(document, node)) for node in elements_without_role(document, selector)
    ]
    return Faults(
        [node for node, _ in lists_with_stray_content],
        certain=[node for node, strays in lists_with_stray_content if strays.certain],
        uncertain=[node for node, strays in lists_with_stray_content if strays.uncertain],
    )


def stray_content_of_list(document: AccessibleDocument, node: LexborNode) -> StrayContent:
    """Judge whether an ol or ul has content outside of li elements."""
    return _find_content_outside_items(document, node, LIST_ITEM_TAGS, LIST_ITEM_ROLES)


def stray_content_of_dl(document: AccessibleDocument, node: LexborNode) -> StrayContent:
    """Judge the content of a dl or of its div groups.

    It must be in dt and dd elements. A wrong order of dt and dd is certain.
    """
    strays = StrayContent(certain=_has_wrong_dt_dd_order(node)) | _find_content_outside_items(
        document, node, DESCRIPTION_ITEM_TAGS, DESCRIPTION_ITEM_ROLES, allows_div_groups=True
    )
    for group in elements(node):
        if _is_div_group(group):
            strays |= _find_content_outside_items(document, group, DESCRIPTION_ITEM_TAGS, DESCRIPTION_ITEM_ROLES)
    return strays


def _has_wrong_dt_dd_order(node: LexborNode) -> bool:
    """Return True if a dl has a dt or dd as a child, but no dd after a dt."""
    tags = [child.tag for child in elements(node)]
    if "dt" in tags:
        return "dd" not in tags[tags.index("dt") :]
    return "dd" in tags


def is_in_list(document: AccessibleDocument, item: LexborNode) -> bool:
    """Return True if the parent of an li is a list or has role none."""
    return item.parent is not None and role(document, item.parent) in ("list", "none")


def is_in_descriptions(item: LexborNode) -> bool:
    """Return True if the parent of a dt or dd is a dl, or a div in a dl."""
    parent = item.parent
    if parent is not None and parent.tag == "div" and sole_role(parent) in (None, "none"):
        parent = parent.parent
    return parent is not None and parent.tag == "dl" and sole_role(parent) in (None, "none", "list")


def is_in_component(item: LexborNode) -> bool:
    """Return True if a list item is inside a custom element.

    That element may contain the list.
    """
    parent = item.parent
    if parent is not None and parent.tag == "div":
        parent = parent.parent
    return any("-" in (element.tag or "") for element in (item.parent, parent) if element is not None)


def _find_content_outside_items(
    document: AccessibleDocument,
    node: LexborNode,
    tags: frozenset[str],
    roles: frozenset[str],
    *,
    allows_div_groups: bool = False,
) -> StrayContent:
    strays = StrayContent()
    for text in texts(node):
        strays |= StrayContent(uncertain=True) if PLACEHOLDER.search(text) else StrayContent(certain=True)
    for child in elements(node):
        child_role = sole_role(child)
        is_list_item = child_role in roles if child_role is not None else child.tag in tags
        if is_list_item or (allows_div_groups and _is_div_group(child)) or document.visibility.is_hidden_from_at(child):
            continue
        is_uncertain = document.visibility.may_be_hidden(child) or _may_become_item(child)
        strays |= StrayContent(uncertain=True) if is_uncertain else StrayContent(certain=True)
    return strays


def _is_div_group(node: LexborNode) -> bool:
    return node.tag == "div" and sole_role(node) is None


def _may_become_item(node: LexborNode) -> bool:
    """Return True for an element that may become a list item.

    A custom element may set its own role. The content of a slot replaces the slot.
    """
    return "-" in (node.tag or "") or node.tag == "slot" or attribute(node, "is") is not None
