"""The accessible name of an element (W3C Accessible Name and Description Computation 1.2), from markup alone.

Two differences, both as axe-core has them: a hidden label does not name, and what a style sheet adds by
::before or ::after is not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from scans.engine.accessibility.roles import NAMED_BY_CONTENT, explicit_role, is_presentational
from scans.engine.accessibility.tree import AccessibleDocument
from scans.engine.markup import attribute, select

MAX_NODES = 2_000  # of one name
MAX_TEXTS = 50_000  # of a whole page
# Elements in a line of text: what is in them runs on into what stands beside them.
INLINE = frozenset(
    {"a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd", "label"}
    | {"mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"}
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


@dataclass(frozen=True)
class _Walk:
    """One name's way through the tree: what it has visited, and where it is."""

    seen: set[int] = field(default_factory=set)
    in_reference: bool = False  # below an element that aria-labelledby names, which names no further
    shows_hidden: bool = False  # that element is hidden, and is read all the same


def accessible_name(document: AccessibleDocument, node: LexborNode) -> str:
    """The name with its whitespace collapsed; empty where assistive technology finds none."""
    return _collapsed(_name(document, node, _Walk()))


def visible_text(document: AccessibleDocument, node: LexborNode) -> str:
    """The text in an element that is not hidden, without names of images and controls."""
    return _collapsed("".join(_texts(document.visibility.is_hidden_from_at, node, MAX_NODES)))


def shown_text(document: AccessibleDocument, node: LexborNode, enough: int | None = None) -> str:
    """The text in an element that people see, whether or not it is hidden from assistive technology.

    With `enough`, no more is read once there are so many characters.
    """
    pieces = []
    characters = 0
    for piece in _texts(document.visibility.is_hidden, node, MAX_TEXTS):
        pieces.append(piece)
        characters += len(piece)
        if enough is not None and characters >= enough:
            break
    return _collapsed("".join(pieces))


def has_aria_name(document: AccessibleDocument, node: LexborNode) -> bool:
    """Whether aria-label or aria-labelledby gives a name."""
    return bool((attribute(node, "aria-label") or "").strip() or _labelledby(document, node, _Walk()).strip())


def has_title(node: LexborNode) -> bool:
    """Whether the title attribute has text."""
    return bool((attribute(node, "title") or "").strip())


def _collapsed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _labelledby(document: AccessibleDocument, node: LexborNode, walk: _Walk) -> str:
    parts = []
    for each in document.referenced(node, "aria-labelledby"):
        is_hidden = document.visibility.is_hidden_from_at(each)
        inner = _Walk(set(walk.seen), in_reference=True, shows_hidden=is_hidden)
        parts.append(_name(document, each, inner, in_content=True))
    return " ".join(parts)


def _name(document: AccessibleDocument, node: LexborNode, walk: _Walk, *, in_content: bool = False) -> str:
    """Steps 2A to 2I. `in_content`: it is read as a part of another element's name."""
    if node.mem_id in walk.seen or len(walk.seen) >= MAX_NODES:
        return ""
    if in_content and not walk.shows_hidden and document.visibility.is_hidden_from_at(node):
        return ""
    if not walk.in_reference and (by_ids := _labelledby(document, node, walk)).strip():
        return by_ids
    walk.seen.add(node.mem_id)
    label = attribute(node, "aria-label") or ""
    if label.strip():
        return label
    if in_content or not is_presentational(node):
        native = _native(document, node, walk, in_content=in_content)
        if native.strip():
            return native
    role = explicit_role(node)
    by_content = role in NAMED_BY_CONTENT if role else node.tag in NATIVELY_NAMED_BY_CONTENT
    if by_content or in_content:
        text = _content(document, node, walk)
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
        parts = [_name(document, each, walk, in_content=True) for each in document.labels(node)]
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
            return _content(document, child, walk)
        child = child.next
    return ""


def _content(document: AccessibleDocument, node: LexborNode, walk: _Walk) -> str:
    parts: list[str] = []
    child = node.first_child
    while child is not None:
        if child.is_text_node:
            parts.append(child.text_content or "")
        elif child.is_element_node:
            text = _name(document, child, walk, in_content=True)
            is_inline = child.tag in INLINE
            parts.append(text if is_inline else f" {text} ")
        child = child.next
    return "".join(parts)


def _value(node: LexborNode) -> str:
    if node.tag in ("input", "meter", "progress"):
        kind = (attribute(node, "type") or "").strip().lower()
        return (attribute(node, "value") or "") if node.tag != "input" or kind in {*TEXT_INPUTS, "range"} else ""
    if node.tag == "select":
        options = select(node, "option")
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


def _texts(is_hidden: Callable[[LexborNode], bool], node: LexborNode, limit: int) -> Iterator[str]:
    """The pieces of text that are not hidden, with a space where an element is no part of a line."""
    pending = [node]
    while pending and limit > 0:
        each = pending.pop()
        limit -= 1
        if each.is_text_node:
            yield each.text_content or ""
        elif each.is_element_node and not is_hidden(each):
            if each.tag not in INLINE:
                yield " "
            children = []
            child = each.first_child
            while child is not None:
                children.append(child)
                child = child.next
            pending.extend(reversed(children))
