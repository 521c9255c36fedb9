"""Focusable elements that screen readers do not announce."""

from __future__ import annotations

from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from website_scan.accessibility.aria.framework_bindings import may_be_set_by_script
from website_scan.accessibility.aria.native_roles import role
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.roles import is_focusable, is_tabbable
from website_scan.accessibility.verdicts import Faults
from website_scan.accessibility.wai_aria import WIDGETS
from website_scan.page.markup import attribute, elements, live

MAX_VISITED_ELEMENTS = 100_000
MAX_LEVELS = 100


def find_hidden_focusable(document: AccessibleDocument) -> Faults:
    """Find aria-hidden elements that the Tab key reaches.

    Elements that contain reachable elements are faulty, too. No element is faulty if the page shows a modal dialog,
    which may cover the elements. Elements are for review if the page has external style sheets, which often hide what
    has aria-hidden, and a class for them.
    """
    outermost_hidden: list[LexborNode] = []
    faulty: list[LexborNode] = []
    review: list[LexborNode] = []
    has_style_sheets = next(live(document.document, "link[rel~=stylesheet i][href]"), None) is not None
    visited: set[int] = set()
    for node in live(document.document, "[aria-hidden]"):
        if node.mem_id in visited or not _has_aria_hidden(node):
            continue
        outermost_hidden.append(node)
        descendants = [node, *_iterate_descendants(node)]
        visited.update(descendant.mem_id for descendant in descendants if _has_aria_hidden(descendant))
        reachable = [descendant for descendant in descendants if _is_reachable_by_tab_key(document, descendant)]
        if reachable:
            may_be_hidden = has_style_sheets and all(_has_class_within(each, node) for each in reachable)
            (review if may_be_hidden else faulty).append(node)
    if _shows_modal_dialog(document):
        return Faults(outermost_hidden)
    visible = [node for node in faulty if not document.visibility.may_be_hidden(node)]
    return Faults(outermost_hidden, uncertain=visible, review=review, unless="")


def _has_class_within(node: LexborNode, container: LexborNode) -> bool:
    """Return True if a class or ID is between element and container.

    The element and the container count.
    """
    current: LexborNode | None = node
    for _ in range(MAX_LEVELS):
        if current is None or attribute(current, "class") or attribute(current, "id"):
            return current is not None
        current = None if current.mem_id == container.mem_id else current.parent
    return False


def find_controls_in_text(document: AccessibleDocument) -> Faults:
    """Find elements with role=text that contain a focusable control."""
    nodes = (element for element in document.exposed("[role]") if attribute(element, "role") == "text")
    steps = iter(range(MAX_VISITED_ELEMENTS))
    return Faults.find(
        nodes,
        lambda node: any(
            _is_focusable_control(document, descendant)
            for _, descendant in zip(steps, _iterate_descendants(node), strict=False)
        ),
        lambda node: may_be_set_by_script(node, "role"),
    )


def _iterate_descendants(node: LexborNode) -> Iterator[LexborNode]:
    pending = [node]
    while pending:
        for child in elements(pending.pop()):
            yield child
            pending.append(child)


def _has_aria_hidden(node: LexborNode) -> bool:
    return attribute(node, "aria-hidden") == "true"


def _is_reachable_by_tab_key(document: AccessibleDocument, node: LexborNode) -> bool:
    """Return True if the Tab key reaches the element.

    Return False if CSS may hide it, or if a script may move the focus away.
    """
    if not is_tabbable(node) or attribute(node, "onfocus") is not None:
        return False
    return not (document.visibility.is_hidden(node) or document.visibility.may_be_hidden(node))


def _is_focusable_control(document: AccessibleDocument, node: LexborNode) -> bool:
    return is_focusable(node) and role(document, node) in WIDGETS and not document.visibility.is_hidden(node)


def _shows_modal_dialog(document: AccessibleDocument) -> bool:
    return any(
        (dialog.tag == "dialog" or attribute(dialog, "role") == "dialog" or attribute(dialog, "aria-modal") == "true")
        and not (document.visibility.is_hidden(dialog) or document.visibility.may_be_hidden(dialog))
        for dialog in live(document.document, "dialog, [role], [aria-modal]")
    )
