"""Focusable elements that screen readers do not announce."""

from __future__ import annotations

from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from website_scan.accessibility.aria.framework_bindings import may_be_written
from website_scan.accessibility.aria.native_roles import role
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.roles import is_focusable, is_tabbable
from website_scan.accessibility.verdicts import Faults
from website_scan.accessibility.wai_aria import WIDGETS
from website_scan.page.markup import attribute, elements, live

MAX_STEPS = 100_000  # per rule and page


def find_hidden_focusable(document: AccessibleDocument) -> Faults:
    """Find elements with aria-hidden that the Tab key can reach, or whose descendants the Tab key can reach.

    No element is faulty if the page shows a modal dialog, which may cover the elements.
    """
    outermost: list[LexborNode] = []
    faulty: list[LexborNode] = []
    visited: set[int] = set()
    for node in live(document.document, "[aria-hidden]"):
        if node.mem_id in visited or not _is_hidden_by_aria(node):
            continue
        outermost.append(node)
        descendants = [node, *_elements_in(node)]
        visited.update(descendant.mem_id for descendant in descendants if _is_hidden_by_aria(descendant))
        if any(_is_reached(document, descendant) for descendant in descendants):
            faulty.append(node)
    return Faults(outermost, () if _shows_modal(document) else faulty)


def find_controls_in_text(document: AccessibleDocument) -> Faults:
    """Find elements with the role text that contain a focusable control."""
    nodes = (element for element in document.exposed("[role]") if attribute(element, "role") == "text")
    steps = iter(range(MAX_STEPS))
    return Faults.find(
        nodes,
        lambda node: any(
            _is_control(document, descendant) for _, descendant in zip(steps, _elements_in(node), strict=False)
        ),
        lambda node: may_be_written(node, "role"),
    )


def _elements_in(node: LexborNode) -> Iterator[LexborNode]:
    pending = [node]
    while pending:
        for child in elements(pending.pop()):
            yield child
            pending.append(child)


def _is_hidden_by_aria(node: LexborNode) -> bool:
    return attribute(node, "aria-hidden") == "true"


def _is_reached(document: AccessibleDocument, node: LexborNode) -> bool:
    """Return True if the Tab key reaches the node, no style sheet may hide the node, and no script moves the focus."""
    if not is_tabbable(node) or attribute(node, "onfocus") is not None:
        return False
    return not (document.visibility.is_hidden(node) or document.visibility.may_be_hidden(node))


def _is_control(document: AccessibleDocument, node: LexborNode) -> bool:
    return is_focusable(node) and role(document, node) in WIDGETS and not document.visibility.is_hidden(node)


def _shows_modal(document: AccessibleDocument) -> bool:
    return any(
        (dialog.tag == "dialog" or attribute(dialog, "role") == "dialog" or attribute(dialog, "aria-modal") == "true")
        and not (document.visibility.is_hidden(dialog) or document.visibility.may_be_hidden(dialog))
        for dialog in live(document.document, "dialog, [role], [aria-modal]")
    )
