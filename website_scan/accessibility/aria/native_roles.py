"""Implicit (native) roles of elements, as in axe-core 4.12.1.

HTML Accessibility API Mappings 1.0.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import has_aria_name, has_title
from website_scan.accessibility.roles import first_role, ignores_role_none, sole_role
from website_scan.page.markup import MAX_DEPTH, attribute

# These elements always have the same implicit role.
FIXED_ROLE_BY_TAG = {
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
# Elements whose native role has no name in ARIA.
ELEMENTS_WITH_UNNAMED_ROLE = frozenset({"audio", "canvas", "dl", "embed", "iframe", "label", "object", "svg", "video"})
# Role none of these parents also applies to the child.
PARENTS_THAT_PASS_ON_NONE = {
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
ROLE_BY_INPUT_TYPE = {
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
COMBOBOX_INPUT_TYPES = frozenset({"email", "search", "tel", "text", "url"})
INPUT_TYPES = frozenset(
    {"button", "checkbox", "color", "date", "datetime-local", "email", "file", "hidden", "image", "month", "number"}
    | {"password", "radio", "range", "reset", "search", "submit", "tel", "text", "time", "url", "week"}
)


def role(document: AccessibleDocument, node: LexborNode, *, takes_first_valid: bool = False) -> str | None:
    """Return the computed ARIA role of the element: `none` for role none.

    None if ARIA has no name for the role. A role attribute with several words counts only with `takes_first_valid`. As
    in axe-core, a DPUB-ARIA role never counts.
    """
    read_role_attribute = first_role if takes_first_valid else sole_role
    explicit = read_role_attribute(node)
    if explicit is not None and not (explicit == "none" and ignores_role_none(node)):
        return explicit
    implicit = implicit_role(document, node)
    if implicit is not None and _inherits_role_none(node, read_role_attribute):
        return "none"
    return implicit


def implicit_role(document: AccessibleDocument, node: LexborNode) -> str | None:
    """Return the role that the element has without its role attribute.

    A `th` without a scope is a columnheader here, while axe-core also examines the neighbouring cells.
    """
    fixed_role = FIXED_ROLE_BY_TAG.get(node.tag or "")
    if fixed_role is not None:
        return fixed_role
    compute = COMPUTE_ROLE_BY_TAG.get(node.tag or "")
    return document.native_role(node, compute) if compute is not None else None


def has_native_role(document: AccessibleDocument, node: LexborNode) -> bool:
    """Return True if the element has a native role.

    ARIA may have no name for the role.
    """
    return node.tag in ELEMENTS_WITH_UNNAMED_ROLE or implicit_role(document, node) is not None


def input_type(node: LexborNode) -> str:
    """Return an input's type as browsers interpret the attribute.

    An unknown type is `text`.
    """
    kind = (attribute(node, "type") or "").lower()
    return kind if kind in INPUT_TYPES else "text"


def _inherits_role_none(node: LexborNode, read_role_attribute: Callable[[LexborNode], str | None]) -> bool:
    current = node
    for _ in range(MAX_DEPTH):
        parent = current.parent
        if parent is None or parent.tag not in PARENTS_THAT_PASS_ON_NONE.get(current.tag or "", ()):
            return False
        explicit = read_role_attribute(parent)
        if explicit == "none" and not ignores_role_none(parent):
            return True
        if explicit is not None:
            return False
        current = parent
    return False


def _link_role(_: AccessibleDocument, node: LexborNode) -> str | None:
    return "link" if attribute(node, "href") is not None else None


def _aside_role(document: AccessibleDocument, node: LexborNode) -> str | None:
    has_name = has_aria_name(document, node) or has_title(node)
    return "complementary" if has_name or not document.is_in_section(node.parent) else None


def _footer_role(document: AccessibleDocument, node: LexborNode) -> str | None:
    return None if document.is_in_section(node, or_main=True) else "contentinfo"


def _header_role(document: AccessibleDocument, node: LexborNode) -> str | None:
    return None if document.is_in_section(node, or_main=True) else "banner"


def _form_role(document: AccessibleDocument, node: LexborNode) -> str | None:
    return "form" if has_aria_name(document, node) else None


def _section_role(document: AccessibleDocument, node: LexborNode) -> str | None:
    return "region" if has_aria_name(document, node) else None


def _image_role(_: AccessibleDocument, node: LexborNode) -> str:
    return "none" if attribute(node, "alt") == "" and not ignores_role_none(node) else "img"


def _input_role(document: AccessibleDocument, node: LexborNode) -> str:
    kind = input_type(node)
    if kind in COMBOBOX_INPUT_TYPES and (lists := document.referenced(node, "list")) and lists[0].tag == "datalist":
        return "combobox"
    return ROLE_BY_INPUT_TYPE.get(kind, "textbox")


def _select_role(_: AccessibleDocument, node: LexborNode) -> str:
    rows = re.match(r"\s*\+?([0-9]{1,9})", attribute(node, "size") or "")
    has_several_rows = rows is not None and int(rows[1]) > 1
    return "listbox" if has_several_rows or attribute(node, "multiple") is not None else "combobox"


def _data_cell_role(_: AccessibleDocument, node: LexborNode) -> str:
    current = node.parent
    for _level in range(MAX_DEPTH):
        if current is None or current.tag == "table":
            break
        current = current.parent
    is_in_grid = current is not None and sole_role(current) in ("grid", "treegrid")
    return "gridcell" if is_in_grid else "cell"


def _header_cell_role(_: AccessibleDocument, node: LexborNode) -> str:
    return "rowheader" if attribute(node, "scope") == "row" else "columnheader"


# Elements whose implicit role depends on their attributes or ancestors.
COMPUTE_ROLE_BY_TAG: dict[str, Callable[[AccessibleDocument, LexborNode], str | None]] = {
    "a": _link_role,
    "area": _link_role,
    "aside": _aside_role,
    "footer": _footer_role,
    "form": _form_role,
    "header": _header_role,
    "img": _image_role,
    "input": _input_role,
    "section": _section_role,
    "select": _select_role,
    "td": _data_cell_role,
    "th": _header_cell_role,
}
