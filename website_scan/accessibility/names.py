"""Accessible name of an element (W3C Accessible Name and Description Computation 1.2), from markup alone.

Departures from the specification follow axe-core: a hidden label gives no name; an enclosing label names a control,
whichever ID its `for` has; embedded content (svg, video …) is skipped; text that a style sheet adds by ::before or
::after is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.roles import explicit_role, is_presentational, overrides_none
from website_scan.accessibility.wai_aria import NAMED_BY_CONTENT, VALUE_ROLES
from website_scan.page.markup import attribute, select

MAX_NODES = 2_000  # per name
MAX_DEPTH = 100  # per name; a level takes a few of Python's stack frames
TOO_DEEP = 0  # marker in `_NameState.visited`: some nodes were deeper than MAX_DEPTH and were skipped
MAX_TEXTS = 50_000  # per page
# Inline elements, whose text joins the text before and after them without a space.
INLINE = frozenset(
    {"a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd", "label"}
    | {"mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"}
)
NATIVELY_NAMED_BY_CONTENT = frozenset(
    ("a", "button", "summary", "h1", "h2", "h3", "h4", "h5", "h6", "th", "td", "option", "legend", "caption", "output")
)
BUTTONS = frozenset({"button", "submit", "reset"})
# Texts that browsers show on buttons without a value, by input type.
DEFAULT_VALUES = {"submit": "Submit", "reset": "Reset", "image": "Submit"}
LABELLED = frozenset({"input", "select", "textarea", "meter", "progress", "output", "button"})
# Tags of the child elements that name an element.
CAPTIONS = {"fieldset": "legend", "figure": "figcaption", "table": "caption"}
# Elements whose content is a fallback for browsers without support, or is not HTML.
EMBEDDED = frozenset({"audio", "canvas", "embed", "iframe", "img", "math", "object", "svg", "video"})
# Widgets whose content is their value, not a name. The value of a textbox is its text.
VALUE_WIDGETS = VALUE_ROLES - {"textbox"}
VALUE_TAGS = frozenset({"select", "textarea"})
TEXT_INPUTS = frozenset({"", "text", "search", "tel", "url", "email", "password", "number"})


@dataclass(frozen=True)
class _NameState:
    """State of the computation of one name: the visited nodes, and the context of the current node."""

    visited: set[int] = field(default_factory=set)
    start: int = 0  # `mem_id` of the element to name, whose own value is never part of its name
    depth: int = 0
    in_reference: bool = False  # inside a target of aria-labelledby, where other aria-labelledby are ignored
    in_label: bool = False  # inside a label, where a control's value counts in place of its name
    shows_hidden: bool = False  # inside a hidden target of aria-labelledby, whose hidden content counts


def accessible_name(document: AccessibleDocument, node: LexborNode) -> str:
    """Return the accessible name of an element, with whitespace collapsed. Empty if the element has no name."""
    return _collapse_whitespace(_compute_name(document, node, _NameState(start=node.mem_id)))


def has_content_name(document: AccessibleDocument, node: LexborNode) -> bool:
    """Return True if the element is named by its content. Also True if the content exceeds the limits."""
    role = explicit_role(node)
    if node.tag in EMBEDDED or role in VALUE_ROLES:
        return False
    if role not in (None, "none") and role not in NAMED_BY_CONTENT:
        return False
    return has_content(document, node)


def has_content(document: AccessibleDocument, node: LexborNode) -> bool:
    """Return True if the element has text or a named element inside, regardless of its own role.

    Also True if the content exceeds the limits.
    """
    state = _NameState({node.mem_id})
    text = _name_from_content(document, node, state)
    return bool(text.strip()) or _is_truncated(state) or not document.has_name_steps


def label_text(document: AccessibleDocument, label: LexborNode, control: LexborNode) -> str:
    """Return the name that a label gives a control: the label's text and the values of other controls inside."""
    return _collapse_whitespace(
        _compute_name(document, label, _NameState({control.mem_id}, in_label=True), in_content=True)
    )


def is_labelled(document: AccessibleDocument, control: LexborNode) -> bool:
    """Return True if a label names the control. As in axe-core, a hidden label counts if it has a `for`."""
    return any(
        label_text(document, label, control) or (document.visibility.is_hidden(label) and attribute(label, "for"))
        for label in document.labels(control)
    )


def visible_text(document: AccessibleDocument, node: LexborNode) -> str:
    """Return the text inside an element that assistive technology reads, without names of images and controls."""
    return _collapse_whitespace("".join(_iterate_texts(document.visibility.is_hidden_from_at, node, MAX_NODES)))


def shown_text(document: AccessibleDocument, node: LexborNode, enough: int | None = None) -> str:
    """Return the text inside an element that people see, even text that is hidden from assistive technology.

    With `enough`, the text ends soon after that many characters.
    """
    pieces = []
    characters = 0
    for piece in _iterate_texts(document.visibility.is_hidden, node, MAX_TEXTS):
        pieces.append(piece)
        characters += len(piece)
        if enough is not None and characters >= enough:
            break
    return _collapse_whitespace("".join(pieces))


def has_aria_name(document: AccessibleDocument, node: LexborNode) -> bool:
    """Return True if aria-label or aria-labelledby gives the element a name."""
    if (attribute(node, "aria-label") or "").strip():
        return True
    return bool(_name_from_labelledby(document, node, _NameState(start=node.mem_id)).strip())


def has_title(node: LexborNode) -> bool:
    """Return True if the element's title attribute has text."""
    return bool((attribute(node, "title") or "").strip())


def has_author_name(document: AccessibleDocument, node: LexborNode) -> bool:
    """Return True if ARIA or a title names the element."""
    return has_aria_name(document, node) or has_title(node)


def _is_truncated(state: _NameState) -> bool:
    return len(state.visited) >= MAX_NODES or TOO_DEEP in state.visited


def _collapse_whitespace(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _name_from_labelledby(document: AccessibleDocument, node: LexborNode, state: _NameState) -> str:
    parts = []
    for element in document.referenced(node, "aria-labelledby"):
        is_hidden = document.visibility.is_hidden_from_at(element)
        target_state = replace(state, depth=state.depth + 1, in_reference=True, shows_hidden=is_hidden)
        parts.append(_compute_name(document, element, target_state, in_content=True))
    return " ".join(parts)


def _compute_name(
    document: AccessibleDocument, node: LexborNode, state: _NameState, *, in_content: bool = False
) -> str:
    """Compute a name by steps 2A to 2I of the specification. `in_content`: as a part of another element's name."""
    if state.depth > MAX_DEPTH:
        state.visited.add(TOO_DEEP)
    if node.mem_id in state.visited or _is_truncated(state) or not document.use_name_step():
        return ""
    if in_content and not state.shows_hidden and document.visibility.is_hidden_from_at(node):
        return ""
    if not (state.in_reference or state.in_label) and (by_ids := _name_from_labelledby(document, node, state)).strip():
        return by_ids
    state.visited.add(node.mem_id)
    label = attribute(node, "aria-label") or ""
    if label.strip():
        return label
    is_ignored = is_presentational(node)
    if not is_ignored:
        native = _name_from_html(document, node, state, in_content=in_content)
        if native.strip():
            return native
    role = explicit_role(node)
    by_content = role in NAMED_BY_CONTENT if role else node.tag in NATIVELY_NAMED_BY_CONTENT
    if (by_content or in_content) and node.tag not in EMBEDDED | VALUE_TAGS and role not in VALUE_WIDGETS:
        text = _name_from_content(document, node, state)
        if text.strip():
            return text
    return "" if is_ignored or (in_content and _is_decoration(node)) else _name_from_title_or_placeholder(node)


def _name_from_html(document: AccessibleDocument, node: LexborNode, state: _NameState, *, in_content: bool) -> str:
    tag = node.tag or ""
    kind = (attribute(node, "type") or "").strip().lower() if tag == "input" else ""
    if tag in ("img", "area") or kind == "image":
        alternative = attribute(node, "alt") or ""
        if alternative.strip() or kind != "image":
            return alternative
    if tag in LABELLED and kind != "hidden":
        if not (state.in_reference or state.in_label):
            label_state = replace(state, depth=state.depth + 1, in_label=True)
            parts = [
                _compute_name(document, control_label, label_state, in_content=True)
                for control_label in document.labels(node)
            ]
            if (text := " ".join(parts)).strip():
                return text
        if in_content and kind not in BUTTONS:
            # A control inside a label adds its value to the label's text, unless the label names this control.
            is_ignored = node.mem_id == state.start or explicit_role(node) in VALUE_WIDGETS
            return "" if is_ignored else _control_value(node) or _default_button_text(kind)
    if kind in BUTTONS:
        return (attribute(node, "value") or "").strip() or _default_button_text(kind)
    if kind == "image" and not has_title(node):
        return (attribute(node, "value") or "").strip()
    if tag == "svg":
        return _name_from_svg_title(document, node, state)
    if tag in CAPTIONS:
        return _name_from_caption(document, node, state, CAPTIONS[tag])
    return ""


def _name_from_caption(document: AccessibleDocument, node: LexborNode, state: _NameState, tag: str) -> str:
    child = node.first_child
    while child is not None:
        if child.tag == tag and not document.visibility.is_hidden_from_at(child):
            return _name_from_content(document, child, state)
        child = child.next
    return ""


def _name_from_svg_title(document: AccessibleDocument, node: LexborNode, state: _NameState) -> str:
    """Return the text of the first title in a drawing, but not in a nested drawing, as in axe-core."""
    descendants = (element for element in select(node, "title, svg") if element.mem_id != node.mem_id)
    first = next(descendants, None)
    return _name_from_content(document, first, state) if first is not None and first.tag == "title" else ""


def _name_from_content(document: AccessibleDocument, node: LexborNode, state: _NameState) -> str:
    parts: list[str] = []
    child_state = replace(state, depth=state.depth + 1)
    for child in chain(_iterate_children(node), document.referenced(node, "aria-owns")):
        if _is_truncated(state) or not document.has_name_steps:
            break  # at a limit, further children are skipped
        if child.is_text_node:
            parts.append(child.text_content or "")
        elif child.is_element_node:
            text = _compute_name(document, child, child_state, in_content=True)
            is_inline = child.tag in INLINE
            parts.append(text if is_inline else f" {text} ")
    return "".join(parts)


def _iterate_children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def _is_decoration(node: LexborNode) -> bool:
    """Return True for an image with an empty alt, which has no name even if it has a title."""
    return node.tag == "img" and attribute(node, "alt") == "" and not overrides_none(node)


def _default_button_text(kind: str) -> str:
    return DEFAULT_VALUES.get(kind, "")


def _control_value(node: LexborNode) -> str:
    if node.tag in ("input", "meter", "progress"):
        kind = (attribute(node, "type") or "").strip().lower()
        return (attribute(node, "value") or "") if node.tag != "input" or kind in {*TEXT_INPUTS, "range"} else ""
    if node.tag == "select":
        options = select(node, "option")
        selected = [option for option in options if attribute(option, "selected") is not None] or options[:1]
        return " ".join(option.text() for option in selected)
    return node.text() if node.tag in ("textarea", "output") else ""


def _name_from_title_or_placeholder(node: LexborNode) -> str:
    title = attribute(node, "title") or ""
    if title.strip():
        return title
    kind = (attribute(node, "type") or "").strip().lower()
    if node.tag == "textarea" or (node.tag == "input" and kind in TEXT_INPUTS):
        return attribute(node, "placeholder") or ""
    return ""


def _iterate_texts(is_hidden: Callable[[LexborNode], bool], node: LexborNode, limit: int) -> Iterator[str]:
    """Yield the pieces of text that are not hidden, with a space before elements that are not inline."""
    pending = [node]
    while pending and limit > 0:
        current = pending.pop()
        limit -= 1
        if current.is_text_node:
            yield current.text_content or ""
        elif current.is_element_node and not is_hidden(current):
            if current.tag not in INLINE:
                yield " "
            pending.extend(reversed([*_iterate_children(current)]))
