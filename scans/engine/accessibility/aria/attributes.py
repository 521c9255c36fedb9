"""What is wrong with attributes of ARIA: whether they exist, have a valid value and suit their elements."""

from __future__ import annotations

from collections import Counter

from selectolax.lexbor import LexborNode

from scans.engine.accessibility.aria.allowed_roles import HTML, is_said_natively
from scans.engine.accessibility.aria.native_roles import has_native_role, input_type, role
from scans.engine.accessibility.aria.ownership import Ownership
from scans.engine.accessibility.aria.values import Verdict, is_reference, judge_value
from scans.engine.accessibility.document import AccessibleDocument
from scans.engine.accessibility.framework_bindings import has_scripts, is_plain, may_be_written
from scans.engine.accessibility.names import accessible_name, has_content, has_content_name
from scans.engine.accessibility.roles import is_focusable, sole_role
from scans.engine.accessibility.verdicts import Faults, may_be_filled, sorted_out
from scans.engine.accessibility.wai_aria import (
    ATTRIBUTES,
    GLOBAL_ATTRIBUTES,
    NAME_PROHIBITED,
    NAMING_ATTRIBUTES,
    REQUIRED_ATTRIBUTES,
    ROLES,
    USED_IN_ROLES,
    WIDGETS,
)
from scans.engine.page.markup import MAX_DEPTH, attribute, live

PREFIX = "aria-"
# Only rows of a treegrid have a place in a tree.
OF_TREE_ROWS = ("aria-posinset", "aria-setsize", "aria-expanded", "aria-level")
TABLES = frozenset({"table", "grid", "treegrid"})
# Without a role, they have nothing to say.
BREAKS = frozenset({"br", "wbr"})


def unknown_attributes(document: AccessibleDocument) -> Faults:
    """Elements with attributes that begin like those of ARIA, but are not."""
    nodes = _with_aria(document)
    found = {each.mem_id: names for each in nodes if (names := [n for n in _aria(each) if n not in ATTRIBUTES])}
    wrong = [each for each in nodes if each.mem_id in found]
    words = (name for names in found.values() for name in names)
    return sorted_out(document, nodes, wrong, lambda node: not any(map(is_plain, found[node.mem_id])), words=words)


def invalid_values(document: AccessibleDocument) -> Faults:
    """Elements with attributes whose value is none that they take."""
    nodes = _with_aria(document)
    invalid: dict[int, list[str]] = {}
    uncertain: dict[int, list[str]] = {}
    for each in nodes:
        for name in _aria(each):
            verdict = judge_value(document, each, name)
            if verdict is not Verdict.VALID:
                (invalid if verdict is Verdict.INVALID else uncertain).setdefault(each.mem_id, []).append(name)
    is_scripted = has_scripts(document)
    return sorted_out(
        document,
        nodes,
        [each for each in nodes if each.mem_id in invalid],
        # A script may also put the element there that an ID refers to.
        lambda node: all(
            may_be_written(node, name) or (is_scripted and is_reference(name)) for name in invalid[node.mem_id]
        ),
        review=[each for each in nodes if each.mem_id in uncertain],
        words=(name for names in (invalid or uncertain).values() for name in names),
    )


def missing_attributes(document: AccessibleDocument) -> Faults:
    """Elements without an attribute that their role needs."""
    nodes = list(document.exposed("[role]"))
    found = {each.mem_id: names for each in nodes if (names := _missing(each))}
    return sorted_out(
        document,
        nodes,
        [each for each in nodes if each.mem_id in found],
        lambda node: may_be_written(node, "role", *found[node.mem_id]),
        words=(name for names in found.values() for name in names),
    )


def unsuited_attributes(document: AccessibleDocument) -> Faults:
    """Elements with attributes that their role does not have."""
    nodes = _with_aria(document)
    found = {each.mem_id: names for each in nodes if (names := _unsuited(document, each))}
    wrong = [each for each in nodes if each.mem_id in found]
    foreign = {each.mem_id for each in wrong if _is_foreign(document, each)}
    return sorted_out(
        document,
        nodes,
        [each for each in wrong if each.mem_id not in foreign],
        lambda node: may_be_written(node, "role", "href", "type"),
        review=[each for each in wrong if each.mem_id in foreign],
        words=(name for names in found.values() for name in names),
    )


def vain_names(document: AccessibleDocument) -> Faults:
    """Elements that ARIA names although their role takes no name."""
    nodes = _with_aria(document)
    ownership = Ownership(document)
    wrong = [each for each in nodes if _is_named_in_vain(document, ownership, each)]
    with_content = {each.mem_id for each in wrong if has_content(document, each)}
    return sorted_out(
        document,
        nodes,
        [each for each in wrong if each.mem_id not in with_content],
        lambda node: may_be_written(node, "role", "href") or may_be_filled(node),
        review=[each for each in wrong if each.mem_id in with_content],
    )


def contradictions(document: AccessibleDocument) -> Faults:
    """Elements whose attributes contradict what they are."""
    nodes = _with_aria(document)
    wrong = [each for each in nodes if _contradicts_state(document, each) or _is_no_tree_row(document, each)]
    return sorted_out(document, nodes, wrong, lambda node: may_be_written(node, "role", "checked", "aria-checked"))


def hidden_body(document: AccessibleDocument) -> Faults:
    """The body, if it is hidden from assistive technology, and all of the page with it."""
    bodies = [each for each in (document.document.tree.body,) if each is not None]
    return Faults(document, bodies, [each for each in bodies if attribute(each, "aria-hidden") == "true"])


def braille_only(document: AccessibleDocument) -> Faults:
    """Elements that say in braille what they do not say otherwise."""
    nodes = list(document.exposed("[aria-braillelabel], [aria-brailleroledescription]"))
    return Faults(document, nodes, review=[each for each in nodes if _is_for_braille_only(document, each)])


def repeated_ids(document: AccessibleDocument) -> Faults:
    """Elements that share an ID to which a label or an attribute of ARIA refers."""
    referenced = _referenced_ids(document)
    nodes = [each for each in live(document.document, "[id]") if attribute(each, "id") in referenced]
    counts = Counter(attribute(each, "id") or "" for each in nodes)
    repeated = [each for each in nodes if counts[attribute(each, "id") or ""] > 1]
    return Faults(document, nodes, review=repeated, words=tuple(name for name, count in counts.items() if count > 1))


def _with_aria(document: AccessibleDocument) -> list[LexborNode]:
    return [
        each
        for each in live(document.document, "*")
        if any(name.startswith(PREFIX) for name in each.attributes) and not document.visibility.is_hidden_from_at(each)
    ]


def _aria(node: LexborNode) -> list[str]:
    return [name for name in node.attributes if name.startswith(PREFIX)]


def _has_text(node: LexborNode, name: str) -> bool:
    return bool((attribute(node, name) or "").strip())


def _missing(node: LexborNode) -> list[str]:
    own = sole_role(node) or ""
    required = REQUIRED_ATTRIBUTES.get(own, frozenset())
    is_excepted = (
        (own == "separator" and not is_focusable(node))
        or (own == "combobox" and attribute(node, "aria-expanded") == "false")
        or (own == "slider" and _has_text(node, "aria-valuetext"))
    )
    if is_excepted:
        return []
    return [name for name in sorted(required) if not attribute(node, name) and not is_said_natively(node, name)]


def _unsuited(document: AccessibleDocument, node: LexborNode) -> list[str]:
    present = _aria(node)
    if node.tag in BREAKS and sole_role(node) is None:
        return [name for name in present if name in ATTRIBUTES and name != "aria-hidden"]
    own = role(document, node)
    return [
        name
        for name in present
        if name in USED_IN_ROLES and own not in USED_IN_ROLES[name] and not _says_nothing(node, name)
    ]


def _says_nothing(node: LexborNode, name: str) -> bool:
    if attribute(node, name) != "false":
        return False
    return name == "aria-required" or (name == "aria-multiline" and attribute(node, "contenteditable") is not None)


def _is_foreign(document: AccessibleDocument, node: LexborNode) -> bool:
    """Whether it is no element of HTML, so that what it is may be somebody else's business."""
    return node.tag not in HTML and role(document, node) is None and not is_focusable(node)


def _is_named_in_vain(document: AccessibleDocument, ownership: Ownership, node: LexborNode) -> bool:
    if not any(_has_text(node, name) for name in NAMING_ATTRIBUTES):
        return False
    own = role(document, node, takes_first_valid=True)
    if own in ROLES:
        return own in NAME_PROHIBITED
    if has_native_role(document, node) or node.tag == "input":
        return False
    return ownership.role_around(node) not in WIDGETS


def _is_for_braille_only(document: AccessibleDocument, node: LexborNode) -> bool:
    if _has_text(node, "aria-brailleroledescription") and not _has_text(node, "aria-roledescription"):
        return True
    if not _has_text(node, "aria-braillelabel") or accessible_name(document, node):
        return False
    return role(document, node) not in (None, "none") or not has_content_name(document, node)


def _contradicts_state(document: AccessibleDocument, node: LexborNode) -> bool:
    kind = input_type(node) if node.tag == "input" else ""
    said = (attribute(node, "aria-checked") or "").lower()
    if kind not in ("checkbox", "radio") or not said or role(document, node) != kind:
        return False
    taken = said if said == "true" or (said == "mixed" and kind == "checkbox") else "false"
    return taken != ("false" if attribute(node, "checked") is None else "true")


def _is_no_tree_row(document: AccessibleDocument, node: LexborNode) -> bool:
    if not any(attribute(node, name) is not None for name in OF_TREE_ROWS) or role(document, node) != "row":
        return False
    current: LexborNode | None = node
    for _ in range(MAX_DEPTH):
        if current is None or not current.is_element_node:
            return False
        named = attribute(current, "role")
        if current.tag == "table" if named is None else not TABLES.isdisjoint(named.split()):
            return role(document, current) not in (None, "treegrid")
        current = current.parent
    return False


def _referenced_ids(document: AccessibleDocument) -> frozenset[str]:
    names = [name for name in sorted(GLOBAL_ATTRIBUTES | ATTRIBUTES.keys()) if is_reference(name)]
    by_attributes = (
        each
        for node in live(document.document, ", ".join(f"[{name}]" for name in names))
        for name in names
        for each in (attribute(node, name) or "").split()
    )
    by_labels = (attribute(node, "for") or "" for node in live(document.document, "label[for]"))
    return frozenset((*by_attributes, *by_labels)) - {""}
