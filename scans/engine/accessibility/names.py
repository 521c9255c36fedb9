"""The accessible name of an element (W3C Accessible Name and Description Computation 1.2), from markup alone.

Two differences, both as axe-core has them: a hidden label does not name, and what a style sheet adds by
::before or ::after is not known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from scans.engine.accessibility.roles import NAMED_BY_CONTENT, explicit_role, is_presentational
from scans.engine.accessibility.tree import AccessibleDocument
from scans.engine.markup import attribute

MAX_NODES = 2_000  # of one name
# Elements in a line of text: what is in them runs on into what stands beside them.
INLINE = frozenset(
    ("a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd", "label")
    + ("mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr")
)
NATIVELY_NAMED_BY_CONTENT = frozenset(
    ("a", "button", "summary", "h1", "h2", "h3", "h4", "h5", "h6", "th", "td", "option", "legend", "caption", "output")
)
# Buttons that have a text of their own.
DEFAULT_VALUES = {"submit": "Submit", "reset": "Reset", "image": "Submit"}
LABELLED = frozenset({"input", "select", "textarea", "meter", "progress", "output", "button"})
# Where a child element of this kind names its parent.
CAPTIONS = {"fieldset": "legend", "figure": "figcaption", "table": "caption", "svg": "title"}
TEXT_INPUTS = frozenset({"", "text", "search", "tel", "url", "email", "password", "number"})


@dataclass
class _Walk:
    """What has been visited for one name, so that no element counts twice and none is endless."""

    seen: set[int] = field(default_factory=set)


def accessible_name(document: AccessibleDocument, node: LexborNode) -> str:
    """The name with its whitespace collapsed; empty where assistive technology finds none."""
    return _collapsed(_name(document, node, _Walk(), in_labelledby=False, in_content=False))


def visible_text(document: AccessibleDocument, node: LexborNode) -> str:
    """The text in an element that is not hidden, without names of images and controls."""
    parts: list[str] = []
    _gather_text(document, node, parts)
    return _collapsed("".join(parts))


def has_aria_name(document: AccessibleDocument, node: LexborNode) -> bool:
    """Whether aria-label or aria-labelledby gives a name."""
    return bool((attribute(node, "aria-label") or "").strip() or _labelledby(document, node, _Walk()).strip())


def has_title(node: LexborNode) -> bool:
    """Whether the title attribute has text."""
    return bool((attribute(node, "title") or "").strip())


def _collapsed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _labelledby(document: AccessibleDocument, node: LexborNode, walk: _Walk) -> str:
    parts = [
        _name(document, each, walk, in_labelledby=True, in_content=True)
        for each in document.referenced(node, "aria-labelledby")
    ]
    return " ".join(parts)


def _name(document: AccessibleDocument, node: LexborNode, walk: _Walk, *, in_labelledby: bool, in_content: bool) -> str:
    """Steps 2A to 2I. `in_labelledby`: the element, hidden or not, is named by an ID, and names no further."""
    if node.mem_id in walk.seen or len(walk.seen) >= MAX_NODES:
        return ""
    if not in_labelledby:
        if in_content and document.visibility.is_hidden_from_at(node):
            return ""
        by_ids = _labelledby(document, node, _Walk(walk.seen | {node.mem_id})) if not in_content else ""
        if by_ids.strip():
            return by_ids
    walk.seen.add(node.mem_id)
    label = attribute(node, "aria-label") or ""
    if label.strip():
        return label
    if not is_presentational(node) or in_labelledby:
        native = _native(document, node, walk, in_content=in_content)
        if native.strip():
            return native
    role = explicit_role(node)
    by_content = role in NAMED_BY_CONTENT if role else node.tag in NATIVELY_NAMED_BY_CONTENT
    if by_content or in_content or in_labelledby:
        text = _content(document, node, walk, shows_hidden=in_labelledby and document.visibility.is_hidden(node))
        if text.strip():
            return text
    return _last_resort(node)


def _native(document: AccessibleDocument, node: LexborNode, walk: _Walk, *, in_content: bool) -> str:
    tag = node.tag or ""
    kind = (attribute(node, "type") or "").strip().lower() if tag == "input" else ""
    if tag in ("img", "area") or kind == "image":
        alternative = attribute(node, "alt") or ""
        if alternative.strip() or kind != "image":
            return alternative
    if tag in LABELLED and kind != "hidden":
        if in_content:
            # A control inside a label adds its value to that label's text.
            return _value(node)
        parts = [
            _name(document, each, _Walk(walk.seen), in_labelledby=False, in_content=True)
            for each in document.labels(node)
        ]
        if (text := " ".join(parts)).strip():
            return text
    if kind in ("button", "submit", "reset"):
        return (attribute(node, "value") or "").strip() or DEFAULT_VALUES.get(kind, "")
    if kind == "image" and not has_title(node):
        return (attribute(node, "value") or "").strip()
    if tag in CAPTIONS:
        return _caption(document, node, walk, CAPTIONS[tag])
    return ""


def _caption(document: AccessibleDocument, node: LexborNode, walk: _Walk, tag: str) -> str:
    child = node.first_child
    while child is not None:
        if child.tag == tag and (tag == "title" or not document.visibility.is_hidden_from_at(child)):
            return _content(document, child, walk, shows_hidden=tag == "title")
        child = child.next
    return ""


def _content(document: AccessibleDocument, node: LexborNode, walk: _Walk, *, shows_hidden: bool) -> str:
    parts: list[str] = []
    child = node.first_child
    while child is not None:
        if child.is_text_node:
            parts.append(child.text_content or "")
        elif child.is_element_node:
            text = _name(document, child, walk, in_labelledby=shows_hidden, in_content=True)
            is_inline = child.tag in INLINE
            parts.append(text if is_inline else f" {text} ")
        child = child.next
    return "".join(parts)


def _value(node: LexborNode) -> str:
    if node.tag in ("input", "meter", "progress"):
        kind = (attribute(node, "type") or "").strip().lower()
        return (attribute(node, "value") or "") if node.tag != "input" or kind in {*TEXT_INPUTS, "range"} else ""
    if node.tag == "select":
        options = node.css("option")
        chosen = [each for each in options if attribute(each, "selected") is not None] or options[:1]
        return " ".join(each.text() for each in chosen)
    return node.text() if node.tag in ("textarea", "output") else ""


def _last_resort(node: LexborNode) -> str:
    title = attribute(node, "title") or ""
    if title.strip():
        return title
    kind = (attribute(node, "type") or "").strip().lower()
    if node.tag == "textarea" or (node.tag == "input" and kind in TEXT_INPUTS):
        return attribute(node, "placeholder") or ""
    return ""


def _gather_text(document: AccessibleDocument, node: LexborNode, parts: list[str]) -> None:
    pending = [node]
    while pending and len(parts) < MAX_NODES:
        each = pending.pop()
        if each.is_text_node:
            parts.append(each.text_content or "")
        elif each.is_element_node and not document.visibility.is_hidden_from_at(each):
            if each.tag not in INLINE:
                parts.append(" ")
            children = []
            child = each.first_child
            while child is not None:
                children.append(child)
                child = child.next
            pending.extend(reversed(children))
