"""Elements with a widget role, as selected by axe-core's rules about the names of widgets."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.roles import explicit_role
from website_scan.page.markup import MAX_DEPTH, attribute, live, select

# Elements that HTML provides with a name, so that other rules judge them.
NAMED_BY_HTML = frozenset(
    {"area", "br", "button", "fieldset", "figure", "hr", "img", "input", "output", "select", "summary", "svg", "table"}
    | {"textarea"}
)
WITHOUT_A_ROLE = frozenset({"div", "span"})


def aria_widgets(document: AccessibleDocument, *roles: str) -> list[LexborNode]:
    """Return the elements whose role attribute is one of the given roles and that need a name from ARIA."""
    elements = [
        node
        for node in document.exposed("[role]")
        if attribute(node, "role") in roles and not _is_named_by_html(node) and not _has_input(node)
    ]
    if "listbox" not in roles:
        return elements
    popups = _ids_of_popups(document)
    return [
        node
        for node in elements
        if explicit_role(node) != "listbox" or not (_is_in_combobox(node) or attribute(node, "id") in popups)
    ]


def _is_named_by_html(node: LexborNode) -> bool:
    return node.tag in NAMED_BY_HTML or (node.tag == "a" and attribute(node, "href") is not None)


def _has_input(node: LexborNode) -> bool:
    """Return True for a combobox of ARIA 1.1, where the input inside needs the name."""
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
        if role not in (None, "none") or current.tag not in WITHOUT_A_ROLE:
            return role == "combobox"
        current = current.parent
    return False


def _ids_of_popups(document: AccessibleDocument) -> frozenset[str]:
    return frozenset(
        id
        for node in live(document.document, "[role]")
        if explicit_role(node) == "combobox" and node.tag != "select"
        for name in ("aria-owns", "aria-controls")
        for id in (attribute(node, name) or "").split()
    )
