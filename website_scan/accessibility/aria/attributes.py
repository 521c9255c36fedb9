"""Find ARIA attributes that are unknown, invalid or not allowed."""

from __future__ import annotations

from collections import Counter
from functools import partial

from selectolax.lexbor import LexborNode

from website_scan.accessibility.aria.allowed_roles import HTML, has_native_value
from website_scan.accessibility.aria.framework_bindings import (
    has_scripts,
    is_plain_name,
    may_be_named_by_script,
    may_be_set_by_script,
)
from website_scan.accessibility.aria.native_roles import has_native_role, input_type, role
from website_scan.accessibility.aria.ownership import Ownership
from website_scan.accessibility.aria.values import Validity, is_id_reference, judge_value
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import accessible_name, has_content, has_content_name
from website_scan.accessibility.roles import is_focusable, sole_role
from website_scan.accessibility.verdicts import Faults
from website_scan.accessibility.wai_aria import (
    ATTRIBUTES,
    GLOBAL_ATTRIBUTES,
    NAMING_ATTRIBUTES,
    REQUIRED_ATTRIBUTES,
    ROLES,
    ROLES_BY_ATTRIBUTE,
    ROLES_THAT_PROHIBIT_NAMES,
    WIDGETS,
)
from website_scan.page.markup import MAX_DEPTH, attribute, live

PREFIX = "aria-"
# aria-* attributes that only the table rows of a treegrid may have.
TREEGRID_ROW_ATTRIBUTES = ("aria-posinset", "aria-setsize", "aria-expanded", "aria-level")
TABLES = frozenset({"table", "grid", "treegrid"})
# ARIA attributes have no effect on these elements, unless they have a role.
BREAKS = frozenset({"br", "wbr"})


def find_unknown_attributes(document: AccessibleDocument) -> Faults:
    """Find elements with an aria-* attribute that does not exist in ARIA."""
    return Faults.find(
        _elements_with_aria(document),
        _unknown_attributes,
        lambda node: not any(map(is_plain_name, _unknown_attributes(node))),
        fault_names=_unknown_attributes,
    )


def find_invalid_values(document: AccessibleDocument) -> Faults:
    """Find elements with invalid values of ARIA attributes.

    Values of uncertain validity need a manual review.
    """
    page_has_scripts = has_scripts(document)

    def invalid_names(node: LexborNode) -> list[str]:
        names_by_validity: dict[Validity, list[str]] = {}
        for name in _aria_attributes(node):
            names_by_validity.setdefault(judge_value(document, node, name), []).append(name)
        return names_by_validity.get(Validity.INVALID, names_by_validity.get(Validity.UNCERTAIN, []))

    def may_become_valid(node: LexborNode) -> bool:
        # A script may add the element that an ID of the attribute refers to.
        return all(
            may_be_set_by_script(node, name) or (page_has_scripts and is_id_reference(name))
            for name in invalid_names(node)
        )

    def needs_review(node: LexborNode) -> bool:
        return judge_value(document, node, invalid_names(node)[0]) is Validity.UNCERTAIN

    return Faults.find(
        _elements_with_aria(document),
        invalid_names,
        may_become_valid,
        needs_review=needs_review,
        fault_names=invalid_names,
    )


def find_missing_attributes(document: AccessibleDocument) -> Faults:
    """Find elements without an ARIA attribute that their role requires."""
    return Faults.find(
        document.exposed("[role]"),
        _missing_attributes,
        lambda node: may_be_set_by_script(node, "role", *_missing_attributes(node)),
        fault_names=_missing_attributes,
        # Browsers assume level 2 for a heading without aria-level.
        is_mild=lambda node: _missing_attributes(node) == ["aria-level"],
    )


def find_disallowed_attributes(document: AccessibleDocument) -> Faults:
    """Find elements with ARIA attributes that their role does not support."""
    return Faults.find(
        _elements_with_aria(document),
        partial(_disallowed_attributes, document),
        lambda node: may_be_set_by_script(node, "role", "href", "type"),
        needs_review=partial(_is_foreign_element, document),
        fault_names=partial(_disallowed_attributes, document),
    )


def find_prohibited_names(document: AccessibleDocument) -> Faults:
    """Find elements with a name that ARIA prohibits for their role.

    The name is from aria-label or aria-labelledby.
    """
    return Faults.find(
        _elements_with_aria(document),
        partial(_has_prohibited_name, document, Ownership(document)),
        lambda node: may_be_set_by_script(node, "role", "href") or may_be_named_by_script(node),
        needs_review=partial(has_content, document),
    )


def find_contradicting_attributes(document: AccessibleDocument) -> Faults:
    """Find ARIA states that contradict the element or its context.

    They are aria-checked of checkboxes, and treegrid attributes outside of a treegrid.
    """
    return Faults.find(
        _elements_with_aria(document),
        lambda node: _contradicts_native_state(document, node) or _is_row_outside_treegrid(document, node),
        lambda node: may_be_set_by_script(node, "role", "checked", "aria-checked"),
    )


def find_braille_only_texts(document: AccessibleDocument) -> Faults:
    """Find braille names without an equivalent for speech.

    The attributes are aria-braillelabel and aria-brailleroledescription.
    """
    nodes = list(document.exposed("[aria-braillelabel], [aria-brailleroledescription]"))
    return Faults(nodes, review=[node for node in nodes if _has_only_braille_text(document, node)])


def find_duplicate_ids(document: AccessibleDocument) -> Faults:
    """Find duplicate IDs that a label or ARIA attribute references."""
    referenced = _referenced_ids(document)
    nodes = [element for element in live(document.document, "[id]") if attribute(element, "id") in referenced]
    counts = Counter(attribute(element, "id") for element in nodes)
    repeated = [element for element in nodes if counts[attribute(element, "id")] > 1]
    return Faults(nodes, review=repeated, fault_names=lambda node: [attribute(node, "id") or ""])


def _elements_with_aria(document: AccessibleDocument) -> list[LexborNode]:
    return [
        node
        for node in live(document.document, "*")
        if any(name.startswith(PREFIX) for name in node.attributes) and not document.visibility.is_hidden_from_at(node)
    ]


def _aria_attributes(node: LexborNode) -> list[str]:
    return [name for name in node.attributes if name.startswith(PREFIX)]


def _unknown_attributes(node: LexborNode) -> list[str]:
    return [name for name in _aria_attributes(node) if name not in ATTRIBUTES]


def _has_attribute_text(node: LexborNode, name: str) -> bool:
    return bool((attribute(node, name) or "").strip())


def _missing_attributes(node: LexborNode) -> list[str]:
    explicit = sole_role(node) or ""
    required = REQUIRED_ATTRIBUTES.get(explicit, frozenset())
    is_requirement_waived = (
        (explicit == "separator" and not is_focusable(node))
        or (explicit == "combobox" and attribute(node, "aria-expanded") == "false")
        or (explicit == "slider" and _has_attribute_text(node, "aria-valuetext"))
    )
    if is_requirement_waived:
        return []
    return [name for name in sorted(required) if not attribute(node, name) and not has_native_value(node, name)]


def _disallowed_attributes(document: AccessibleDocument, node: LexborNode) -> list[str]:
    present = _aria_attributes(node)
    if node.tag in BREAKS and sole_role(node) is None:
        return [name for name in present if name in ATTRIBUTES and name != "aria-hidden"]
    element_role = role(document, node)
    return [
        name
        for name in present
        if name in ROLES_BY_ATTRIBUTE
        and element_role not in ROLES_BY_ATTRIBUTE[name]
        and not _is_ineffective_attribute(node, name)
    ]


def _is_ineffective_attribute(node: LexborNode, name: str) -> bool:
    if attribute(node, name) != "false":
        return False
    return name == "aria-required" or (name == "aria-multiline" and attribute(node, "contenteditable") is not None)


def _is_foreign_element(document: AccessibleDocument, node: LexborNode) -> bool:
    """Return True if the element is not HTML, such as SVG.

    Another standard may allow its attributes.
    """
    return node.tag not in HTML and role(document, node) is None and not is_focusable(node)


def _has_prohibited_name(document: AccessibleDocument, ownership: Ownership, node: LexborNode) -> bool:
    if not any(_has_attribute_text(node, name) for name in NAMING_ATTRIBUTES):
        return False
    element_role = role(document, node, takes_first_valid=True)
    if element_role in ROLES:
        return element_role in ROLES_THAT_PROHIBIT_NAMES
    if has_native_role(document, node) or node.tag == "input":
        return False
    return ownership.nearest_ancestor_role(node) not in WIDGETS


def _has_only_braille_text(document: AccessibleDocument, node: LexborNode) -> bool:
    if _has_attribute_text(node, "aria-brailleroledescription") and not _has_attribute_text(
        node, "aria-roledescription"
    ):
        return True
    if not _has_attribute_text(node, "aria-braillelabel") or accessible_name(document, node):
        return False
    return role(document, node) not in (None, "none") or not has_content_name(document, node)


def _contradicts_native_state(document: AccessibleDocument, node: LexborNode) -> bool:
    kind = input_type(node) if node.tag == "input" else ""
    aria_checked = (attribute(node, "aria-checked") or "").lower()
    if kind not in ("checkbox", "radio") or not aria_checked or role(document, node) != kind:
        return False
    state = aria_checked if aria_checked == "true" or (aria_checked == "mixed" and kind == "checkbox") else "false"
    return state != ("false" if attribute(node, "checked") is None else "true")


def _is_row_outside_treegrid(document: AccessibleDocument, node: LexborNode) -> bool:
    if not any(attribute(node, name) is not None for name in TREEGRID_ROW_ATTRIBUTES) or role(document, node) != "row":
        return False
    current: LexborNode | None = node
    for _ in range(MAX_DEPTH):
        if current is None or not current.is_element_node:
            return False
        role_attribute = attribute(current, "role")
        if current.tag == "table" if role_attribute is None else not TABLES.isdisjoint(role_attribute.split()):
            return role(document, current) not in (None, "treegrid")
        current = current.parent
    return False


def _referenced_ids(document: AccessibleDocument) -> frozenset[str]:
    invalid_names = [name for name in sorted(GLOBAL_ATTRIBUTES | ATTRIBUTES.keys()) if is_id_reference(name)]
    ids_in_aria_attributes = (
        id
        for node in live(document.document, ", ".join(f"[{name}]" for name in invalid_names))
        for name in invalid_names
        for id in (attribute(node, name) or "").split()
    )
    ids_in_labels = (attribute(node, "for") or "" for node in live(document.document, "label[for]"))
    return frozenset((*ids_in_aria_attributes, *ids_in_labels)) - {""}
