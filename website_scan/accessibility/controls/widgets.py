"""Find widgets that need an accessible name from ARIA.

As in axe-core's rules, the role is in the role attribute.
"""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.roles import explicit_role
from website_scan.page.markup import MAX_DEPTH, attribute, live, select

# Other rules judge elements that get their name from HTML.
TAGS_NAMED_BY_HTML = frozenset(
    {"area", "br", "button", "fieldset", "figure", "hr", "img", "input", "output", "select", "summary", "svg", "table"}
    | {"textarea"}
)
TAGS_WITHOUT_ROLE = frozenset({"div", "span"})


def aria_widgets(document: AccessibleDocument, *roles: str) -> list[LexborNode]:
    """Return elements with one of the roles that need a name from ARIA.

    The role is in their role attribute.
    """
    elements = [
        node
        for node in document.exposed("[role]")
        if attribute(node, "role") in roles and not _is_named_by_html(node) and not _is_combobox_around_input(node)
    ]
    if "listbox" not in roles:
        return elements
    popups = _combobox_popup_ids(document)
    return [
        node
        for node in elements
        if explicit_role(node) != "listbox" or not (_is_in_combobox(node) or attribute(node, "id") in popups)
    ]


def _is_named_by_html(node: LexborNode) -> bool:
    return node.tag in TAGS_NAMED_BY_HTML or (node.tag == "a" and attribute(node, "href") is not None)


def _is_combobox_around_input(node: LexborNode) -> bool:
    """Return True for an ARIA 1.1 combobox.

    It contains the input that needs the accessible name.
    """
    return explicit_role(node) == "combobox" and any(
        (attribute(field, "type") or "").strip().lower() != "hidden" for field in select(node, "input")
    )


def _is_in_combobox(node: LexborNode) -> bool:
    """Return True if the nearest ancestor with a role is a combobox."""
    current = node.parent
    for _ in range(MAX_DEPTH):
        if current is None or not current.is_element_node:
            return False
        role = explicit_role(current)
        if role not in (None, "none") or current.tag not in TAGS_WITHOUT_ROLE:
            return role == "combobox"
        current = current.parent
    return False


def _combobox_popup_ids(document: AccessibleDocument) -> frozenset[str]:
    return frozenset(
        id
        for node in live(document.document, "[role]")
        if explicit_role(node) == "combobox" and node.tag != "select"
        for name in ("aria-owns", "aria-controls")
        for id in (attribute(node, name) or "").split()
    )
