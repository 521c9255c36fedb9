"""Implicit (native) roles of elements (HTML Accessibility API Mappings 1.0), as in axe-core 4.12.1."""

from __future__ import annotations

import re
from collections.abc import Callable

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import has_aria_name, has_title
from website_scan.accessibility.roles import first_role, overrides_none, sole_role
from website_scan.page.markup import MAX_DEPTH, attribute

# Elements with the same role everywhere.
FIXED = {
    "article": "article",
    "body": "document",
    "button": "button",
    "datalist": "listbox",
    "dd": "definition",
    "details": "group",
    "dfn": "term",
    "dialog": "dialog",
    "dt": "term",
    "fieldset": "group",
    "figure": "figure",
    "h1": "heading",
    "h2": "heading",
    "h3": "heading",
    "h4": "heading",
    "h5": "heading",
    "h6": "heading",
    "hr": "separator",
    "li": "listitem",
    "main": "main",
    "math": "math",
    "menu": "list",
    "meter": "meter",
    "nav": "navigation",
    "ol": "list",
    "optgroup": "group",
    "option": "option",
    "output": "status",
    "progress": "progressbar",
    "search": "search",
    "summary": "button",
    "table": "table",
    "tbody": "rowgroup",
    "textarea": "textbox",
    "tfoot": "rowgroup",
    "thead": "rowgroup",
    "tr": "row",
    "ul": "list",
}
# Elements to which browsers give a role that has no name in ARIA.
WITH_UNNAMED_ROLE = frozenset({"audio", "canvas", "dl", "embed", "iframe", "label", "object", "svg", "video"})
# Parents whose role none the child takes over.
INHERITS_NONE_FROM = {
    "td": frozenset({"tr"}),
    "th": frozenset({"tr"}),
    "tr": frozenset({"thead", "tbody", "tfoot", "table"}),
    "thead": frozenset({"table"}),
    "tbody": frozenset({"table"}),
    "tfoot": frozenset({"table"}),
    "li": frozenset({"ol", "ul"}),
    "dt": frozenset({"dl", "div"}),
    "dd": frozenset({"dl", "div"}),
    "div": frozenset({"dl"}),
}
INPUT_ROLES = {
    "button": "button",
    "checkbox": "checkbox",
    "image": "button",
    "number": "spinbutton",
    "radio": "radio",
    "range": "slider",
    "reset": "button",
    "search": "searchbox",
    "submit": "button",
}
COMBOBOX_TYPES = frozenset({"email", "search", "tel", "text", "url"})
INPUT_TYPES = frozenset(
    {"button", "checkbox", "color", "date", "datetime-local", "email", "file", "hidden", "image", "month", "number"}
    | {"password", "radio", "range", "reset", "search", "submit", "tel", "text", "time", "url", "week"}
)


def role(document: AccessibleDocument, node: LexborNode, *, takes_first_valid: bool = False) -> str | None:
    """Return the role that the element has in the end: `none` for role none, None if ARIA has no name for the role.

    A role attribute with several words counts only with `takes_first_valid`. A DPUB-ARIA role never counts, as in
    axe-core.
    """
    read = first_role if takes_first_valid else sole_role
    explicit = read(node)
    if explicit is not None and not (explicit == "none" and overrides_none(node)):
        return explicit
    implicit = implicit_role(document, node)
    if implicit is not None and _inherits_none(node, read):
        return "none"
    return implicit


def implicit_role(document: AccessibleDocument, node: LexborNode) -> str | None:
    """Return the role that the element has without its role attribute.

    A `th` without a scope is a columnheader here; axe-core also looks at the cells beside it.
    """
    fixed = FIXED.get(node.tag or "")
    if fixed is not None:
        return fixed
    depends = CONDITIONAL_ROLES.get(node.tag or "")
    return document.native_role(node, depends) if depends is not None else None


def has_native_role(document: AccessibleDocument, node: LexborNode) -> bool:
    """Return True if browsers give the element a role, even one that has no name in ARIA."""
    return node.tag in WITH_UNNAMED_ROLE or implicit_role(document, node) is not None


def input_type(node: LexborNode) -> str:
    """Return the type of an `input` as browsers read it: `text` for an unknown type."""
    kind = (attribute(node, "type") or "").lower()
    return kind if kind in INPUT_TYPES else "text"


def _inherits_none(node: LexborNode, read: Callable[[LexborNode], str | None]) -> bool:
    current = node
    for _ in range(MAX_DEPTH):
        parent = current.parent
        if parent is None or parent.tag not in INHERITS_NONE_FROM.get(current.tag or "", ()):
            return False
        explicit = read(parent)
        if explicit == "none" and not overrides_none(parent):
            return True
        if explicit is not None:
            return False
        current = parent
    return False


def _of_link(_: AccessibleDocument, node: LexborNode) -> str | None:
    return "link" if attribute(node, "href") is not None else None


def _of_aside(document: AccessibleDocument, node: LexborNode) -> str | None:
    is_named = has_aria_name(document, node) or has_title(node)
    return "complementary" if is_named or not document.is_in_section(node.parent) else None


def _of_footer(document: AccessibleDocument, node: LexborNode) -> str | None:
    return None if document.is_in_section(node, or_main=True) else "contentinfo"


def _of_header(document: AccessibleDocument, node: LexborNode) -> str | None:
    return None if document.is_in_section(node, or_main=True) else "banner"


def _of_form(document: AccessibleDocument, node: LexborNode) -> str | None:
    return "form" if has_aria_name(document, node) else None


def _of_section(document: AccessibleDocument, node: LexborNode) -> str | None:
    return "region" if has_aria_name(document, node) else None


def _of_image(_: AccessibleDocument, node: LexborNode) -> str:
    return "none" if attribute(node, "alt") == "" and not overrides_none(node) else "img"


def _of_input(document: AccessibleDocument, node: LexborNode) -> str:
    kind = input_type(node)
    if kind in COMBOBOX_TYPES and (lists := document.referenced(node, "list")) and lists[0].tag == "datalist":
        return "combobox"
    return INPUT_ROLES.get(kind, "textbox")


def _of_select(_: AccessibleDocument, node: LexborNode) -> str:
    rows = re.match(r"\s*\+?([0-9]{1,9})", attribute(node, "size") or "")
    is_long = rows is not None and int(rows[1]) > 1
    return "listbox" if is_long or attribute(node, "multiple") is not None else "combobox"


def _of_data_cell(_: AccessibleDocument, node: LexborNode) -> str:
    current = node.parent
    for _level in range(MAX_DEPTH):
        if current is None or current.tag == "table":
            break
        current = current.parent
    is_in_grid = current is not None and sole_role(current) in ("grid", "treegrid")
    return "gridcell" if is_in_grid else "cell"


def _of_header_cell(_: AccessibleDocument, node: LexborNode) -> str:
    return "rowheader" if attribute(node, "scope") == "row" else "columnheader"


# Elements whose role depends on their attributes and their position.
CONDITIONAL_ROLES: dict[str, Callable[[AccessibleDocument, LexborNode], str | None]] = {
    "a": _of_link,
    "area": _of_link,
    "aside": _of_aside,
    "footer": _of_footer,
    "form": _of_form,
    "header": _of_header,
    "img": _of_image,
    "input": _of_input,
    "section": _of_section,
    "select": _of_select,
    "td": _of_data_cell,
    "th": _of_header_cell,
}
