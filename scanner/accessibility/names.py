"""The accessible name of an element (W3C Accessible Name and Description Computation 1.2), from markup alone.

Where it differs, it does as axe-core: a hidden label does not name, a label around a control names it whatever its
`for` says, the content of what is embedded (svg, video …) is not read, and what a style sheet adds by ::before or
::after is not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain

from selectolax.lexbor import LexborNode

from scanner.accessibility.document import AccessibleDocument
from scanner.accessibility.roles import explicit_role, is_presentational, overrides_none
from scanner.accessibility.wai_aria import HOLDING_A_VALUE, NAMED_BY_CONTENT
from scanner.page.markup import attribute, select

MAX_NODES = 2_000  # of one name
MAX_DEPTH = 100  # of one name; each level takes a few of Python's frames
TOO_DEEP = 0  # among the nodes that were visited: there were deeper ones than that
MAX_TEXTS = 50_000  # of a whole page
# Elements in a line of text: what is in them runs on into what stands beside them.
INLINE = frozenset(
    {"a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd", "label"}
    | {"mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"}
)
NATIVELY_NAMED_BY_CONTENT = frozenset(
    ("a", "button", "summary", "h1", "h2", "h3", "h4", "h5", "h6", "th", "td", "option", "legend", "caption", "output")
)
BUTTONS = frozenset({"button", "submit", "reset"})
# Buttons that have a text of their own.
DEFAULT_VALUES = {"submit": "Submit", "reset": "Reset", "image": "Submit"}
LABELLED = frozenset({"input", "select", "textarea", "meter", "progress", "output", "button"})
# Where a child element of this kind names its parent.
CAPTIONS = {"fieldset": "legend", "figure": "figcaption", "table": "caption"}
# What is in them is shown only where they can't be, or is no HTML.
EMBEDDED = frozenset({"audio", "canvas", "embed", "iframe", "img", "math", "object", "svg", "video"})
# What is in them is their value. (A textbox's is its text.)
SILENT_WIDGETS = HOLDING_A_VALUE - {"textbox"}
VALUED = frozenset({"select", "textarea"})
TEXT_INPUTS = frozenset({"", "text", "search", "tel", "url", "email", "password", "number"})


@dataclass(frozen=True)
class _Walk:
    """One name's way through the tree: what it has visited, and where it is."""

    seen: set[int] = field(default_factory=set)
    start: int = 0  # the element that is named (`mem_id`), whose own value names it nowhere
    depth: int = 0
    in_reference: bool = False  # below an element that aria-labelledby names, which names no further
    in_label: bool = False  # below a label, where a control is its value
    shows_hidden: bool = False  # that element is hidden, and is read all the same


def accessible_name(document: AccessibleDocument, node: LexborNode) -> str:
    """The name with its whitespace collapsed; empty where assistive technology finds none."""
    return _collapsed(_name(document, node, _Walk(start=node.mem_id)))


def has_content_name(document: AccessibleDocument, node: LexborNode) -> bool:
    """Whether what is in an element names it; yes, too, where there was too much of it to read."""
    role = explicit_role(node)
    if node.tag in EMBEDDED or role in HOLDING_A_VALUE:
        return False
    if role not in (None, "none") and role not in NAMED_BY_CONTENT:
        return False
    return has_content(document, node)


def has_content(document: AccessibleDocument, node: LexborNode) -> bool:
    """Whether there is text in an element, or something with a name, whatever the element's role."""
    walk = _Walk({node.mem_id})
    text = _content(document, node, walk)
    return bool(text.strip()) or _is_cut(walk) or not document.has_name_steps


def label_text(document: AccessibleDocument, label: LexborNode, control: LexborNode) -> str:
    """A label as a name of a control: its text, and the values of other controls in it."""
    return _collapsed(_name(document, label, _Walk({control.mem_id}, in_label=True), in_content=True))


def is_labelled(document: AccessibleDocument, control: LexborNode) -> bool:
    """By a label, for which axe-core also takes one that is named to the control, but hidden."""
    return any(
        label_text(document, each, control) or (document.visibility.is_hidden(each) and attribute(each, "for"))
        for each in document.labels(control)
    )


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
    if (attribute(node, "aria-label") or "").strip():
        return True
    return bool(_labelledby(document, node, _Walk(start=node.mem_id)).strip())


def has_title(node: LexborNode) -> bool:
    """Whether the title attribute has text."""
    return bool((attribute(node, "title") or "").strip())


def has_author_name(document: AccessibleDocument, node: LexborNode) -> bool:
    """Whether ARIA or a title names it."""
    return has_aria_name(document, node) or has_title(node)


def _is_cut(walk: _Walk) -> bool:
    return len(walk.seen) >= MAX_NODES or TOO_DEEP in walk.seen


def _collapsed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _labelledby(document: AccessibleDocument, node: LexborNode, walk: _Walk) -> str:
    parts = []
    for each in document.referenced(node, "aria-labelledby"):
        is_hidden = document.visibility.is_hidden_from_at(each)
        inner = replace(walk, depth=walk.depth + 1, in_reference=True, shows_hidden=is_hidden)
        parts.append(_name(document, each, inner, in_content=True))
    return " ".join(parts)


def _name(document: AccessibleDocument, node: LexborNode, walk: _Walk, *, in_content: bool = False) -> str:
    """Steps 2A to 2I. `in_content`: it is read as a part of another element's name."""
    if walk.depth > MAX_DEPTH:
        walk.seen.add(TOO_DEEP)
    if node.mem_id in walk.seen or _is_cut(walk) or not document.take_name_step():
        return ""
    if in_content and not walk.shows_hidden and document.visibility.is_hidden_from_at(node):
        return ""
    if not (walk.in_reference or walk.in_label) and (by_ids := _labelledby(document, node, walk)).strip():
        return by_ids
    walk.seen.add(node.mem_id)
    label = attribute(node, "aria-label") or ""
    if label.strip():
        return label
    is_silent = is_presentational(node)
    if not is_silent:
        native = _native(document, node, walk, in_content=in_content)
        if native.strip():
            return native
    role = explicit_role(node)
    by_content = role in NAMED_BY_CONTENT if role else node.tag in NATIVELY_NAMED_BY_CONTENT
    if (by_content or in_content) and node.tag not in EMBEDDED | VALUED and role not in SILENT_WIDGETS:
        text = _content(document, node, walk)
        if text.strip():
            return text
    return "" if is_silent or (in_content and _is_decoration(node)) else _last_resort(node)


def _native(document: AccessibleDocument, node: LexborNode, walk: _Walk, *, in_content: bool) -> str:
    tag = node.tag or ""
    kind = (attribute(node, "type") or "").strip().lower() if tag == "input" else ""
    if tag in ("img", "area") or kind == "image":
        alternative = attribute(node, "alt") or ""
        if alternative.strip() or kind != "image":
            return alternative
    if tag in LABELLED and kind != "hidden":
        if not (walk.in_reference or walk.in_label):
            inner = replace(walk, depth=walk.depth + 1, in_label=True)
            parts = [_name(document, each, inner, in_content=True) for each in document.labels(node)]
            if (text := " ".join(parts)).strip():
                return text
        if in_content and kind not in BUTTONS:
            # A control inside a label adds its value to that label's text, unless it is the one that is labelled.
            is_silent = node.mem_id == walk.start or explicit_role(node) in SILENT_WIDGETS
            return "" if is_silent else _value(node) or _default(kind)
    if kind in BUTTONS:
        return (attribute(node, "value") or "").strip() or _default(kind)
    if kind == "image" and not has_title(node):
        return (attribute(node, "value") or "").strip()
    if tag == "svg":
        return _svg_title(document, node, walk)
    if tag in CAPTIONS:
        return _caption(document, node, walk, CAPTIONS[tag])
    return ""


def _caption(document: AccessibleDocument, node: LexborNode, walk: _Walk, tag: str) -> str:
    child = node.first_child
    while child is not None:
        if child.tag == tag and not document.visibility.is_hidden_from_at(child):
            return _content(document, child, walk)
        child = child.next
    return ""


def _svg_title(document: AccessibleDocument, node: LexborNode, walk: _Walk) -> str:
    """The first title in the drawing, however deep, but not that of a drawing in it; as axe-core."""
    inside = (each for each in select(node, "title, svg") if each.mem_id != node.mem_id)
    first = next(inside, None)
    return _content(document, first, walk) if first is not None and first.tag == "title" else ""


def _content(document: AccessibleDocument, node: LexborNode, walk: _Walk) -> str:
    parts: list[str] = []
    inner = replace(walk, depth=walk.depth + 1)
    for child in chain(_children(node), document.referenced(node, "aria-owns")):
        if _is_cut(walk) or not document.has_name_steps:
            break  # there may be many more that were not read
        if child.is_text_node:
            parts.append(child.text_content or "")
        elif child.is_element_node:
            text = _name(document, child, inner, in_content=True)
            is_inline = child.tag in INLINE
            parts.append(text if is_inline else f" {text} ")
    return "".join(parts)


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def _is_decoration(node: LexborNode) -> bool:
    """An image with an empty alt has no name, not even by its title."""
    return node.tag == "img" and attribute(node, "alt") == "" and not overrides_none(node)


def _default(kind: str) -> str:
    return DEFAULT_VALUES.get(kind, "")


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
            pending.extend(reversed([*_children(each)]))
