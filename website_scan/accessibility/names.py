"""Compute an element's accessible name from the markup.

Accessible Name and Description Computation 1.2. Departures from the specification follow axe-core: a hidden label gives
no name; embedded content (svg, video …) is skipped; text that a style sheet adds by ::before or ::after is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain

from msgspec import Struct, field
from msgspec.structs import replace
from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.roles import explicit_role, ignores_role_none, is_presentational
from website_scan.accessibility.wai_aria import ROLES_NAMED_BY_CONTENT, VALUE_ROLES
from website_scan.page.markup import attribute, select

MAX_NODES = 2_000
MAX_DEPTH = 100  # Each level takes a few of Python's stack frames.
DEPTH_EXCEEDED_MARKER = 0  # Marker for nodes deeper than MAX_DEPTH, which were skipped.
MAX_TEXT_PIECES = 50_000
# Text of inline elements is joined to other text without a space.
INLINE = frozenset(
    {"a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd", "label"}
    | {"mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"}
)
TAGS_NAMED_BY_CONTENT = frozenset(
    ("a", "button", "summary", "h1", "h2", "h3", "h4", "h5", "h6", "th", "td", "option", "legend", "caption", "output")
)
BUTTONS = frozenset({"button", "submit", "reset"})
# Default texts of browsers on buttons without a value, by input type.
DEFAULT_BUTTON_TEXTS = {"submit": "Submit", "reset": "Reset", "image": "Submit"}
LABELLED = frozenset({"input", "select", "textarea", "meter", "progress", "output", "button"})
# This child names an element, such as the caption of a table.
CAPTIONS = {"fieldset": "legend", "figure": "figcaption", "table": "caption"}
# The content of these elements is not HTML, or is only a fallback.
EMBEDDED = frozenset({"audio", "canvas", "embed", "iframe", "img", "math", "object", "svg", "video"})
# The content of these roles is their value. A textbox is left out, because its value is its text.
VALUE_WIDGETS = VALUE_ROLES - {"textbox"}
VALUE_TAGS = frozenset({"select", "textarea"})
TEXT_INPUT_TYPES = frozenset({"", "text", "search", "tel", "url", "email", "password", "number"})


class _NameState(Struct, frozen=True):
    """State while computing one accessible name.

    It contains the visited nodes, and the context of the current node.
    """

    visited: set[int] = field(default_factory=set)
    start: int = 0  # `mem_id` of the element to name.
    depth: int = 0
    # A target of aria-labelledby ignores further aria-labelledby attributes.
    in_labelledby_target: bool = False
    in_label: bool = False  # Inside a label, a control's value counts instead of its name.
    includes_hidden_content: bool = False  # True in a hidden target of aria-labelledby, whose hidden content counts.


def accessible_name(document: AccessibleDocument, node: LexborNode) -> str:
    """Return the accessible name of an element, with whitespace collapsed.

    Empty if the element has no name.
    """
    return _collapse_whitespace(_compute_name(document, node, _NameState(start=node.mem_id)))


def has_content_name(document: AccessibleDocument, node: LexborNode) -> bool:
    """Return True if the element's content gives it an accessible name.

    Also True if the content exceeds the limits.
    """
    role = explicit_role(node)
    if node.tag in EMBEDDED or role in VALUE_ROLES:
        return False
    if role not in (None, "none") and role not in ROLES_NAMED_BY_CONTENT:
        return False
    return has_content(document, node)


def has_content(document: AccessibleDocument, node: LexborNode) -> bool:
    """Return True if the element contains text or an element with a name.

    Its own role does not matter. Also True if the content exceeds the limits.
    """
    state = _NameState({node.mem_id})
    text = _name_from_content(document, node, state)
    return bool(text.strip()) or _exceeds_limits(state) or not document.has_name_steps_left


def label_text(document: AccessibleDocument, label: LexborNode, control: LexborNode) -> str:
    """Return the accessible name that a label gives a control.

    It is the label's text with the values of other controls inside the label.
    """
    return _collapse_whitespace(
        _compute_name(document, label, _NameState({control.mem_id}, in_label=True), in_content=True)
    )


def is_labelled(document: AccessibleDocument, control: LexborNode) -> bool:
    """Return True if a label gives the control a name.

    As in axe-core, a hidden label counts if it has a `for` attribute.
    """
    return any(
        label_text(document, label, control) or (document.visibility.is_hidden(label) and attribute(label, "for"))
        for label in document.labels(control)
    )


def visible_text(document: AccessibleDocument, node: LexborNode) -> str:
    """Return the text of an element that assistive technology reads.

    Names of images and controls are left out.
    """
    return _collapse_whitespace("".join(_iterate_texts(document.visibility.is_hidden_from_at, node, MAX_NODES)))


def shown_text(document: AccessibleDocument, node: LexborNode, enough: int | None = None) -> str:
    """Return the text inside an element that people see.

    It may be hidden from assistive technology. With `enough`, the text ends soon after that many characters.
    """
    pieces = []
    characters = 0
    for piece in _iterate_texts(document.visibility.is_hidden, node, MAX_TEXT_PIECES):
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
    """Return True if ARIA or the title attribute names the element."""
    return has_aria_name(document, node) or has_title(node)


def _exceeds_limits(state: _NameState) -> bool:
    return len(state.visited) >= MAX_NODES or DEPTH_EXCEEDED_MARKER in state.visited


def _collapse_whitespace(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _name_from_labelledby(document: AccessibleDocument, node: LexborNode, state: _NameState) -> str:
    parts = []
    for element in document.referenced(node, "aria-labelledby"):
        is_hidden = document.visibility.is_hidden_from_at(element)
        target_state = replace(
            state, depth=state.depth + 1, in_labelledby_target=True, includes_hidden_content=is_hidden
        )
        parts.append(_compute_name(document, element, target_state, in_content=True))
    return " ".join(parts)


def _compute_name(
    document: AccessibleDocument, node: LexborNode, state: _NameState, *, in_content: bool = False
) -> str:
    """Compute an accessible name (steps 2A to 2I).

    If `in_content`, it becomes part of another element's name.
    """
    if state.depth > MAX_DEPTH:
        state.visited.add(DEPTH_EXCEEDED_MARKER)
    if node.mem_id in state.visited or _exceeds_limits(state) or not document.use_name_step():
        return ""
    if in_content and not state.includes_hidden_content and document.visibility.is_hidden_from_at(node):
        return ""
    if (
        not (state.in_labelledby_target or state.in_label)
        and (name_from_labelledby := _name_from_labelledby(document, node, state)).strip()
    ):
        return name_from_labelledby
    state.visited.add(node.mem_id)
    label = attribute(node, "aria-label") or ""
    if label.strip():
        return label
    has_no_role = is_presentational(node)
    if not has_no_role:
        native = _name_from_html(document, node, state, in_content=in_content)
        if native.strip():
            return native
    role = explicit_role(node)
    is_named_by_content = role in ROLES_NAMED_BY_CONTENT if role else node.tag in TAGS_NAMED_BY_CONTENT
    if (is_named_by_content or in_content) and node.tag not in EMBEDDED | VALUE_TAGS and role not in VALUE_WIDGETS:
        text = _name_from_content(document, node, state)
        if text.strip():
            return text
    return "" if has_no_role or (in_content and _is_decorative_image(node)) else _name_from_title_or_placeholder(node)


def _name_from_html(document: AccessibleDocument, node: LexborNode, state: _NameState, *, in_content: bool) -> str:
    tag = node.tag or ""
    kind = (attribute(node, "type") or "").strip().lower() if tag == "input" else ""
    if tag in ("img", "area") or kind == "image":
        alternative = attribute(node, "alt") or ""
        if alternative.strip() or kind != "image":
            return alternative
    if tag in LABELLED and kind != "hidden":
        if not (state.in_labelledby_target or state.in_label):
            label_state = replace(state, depth=state.depth + 1, in_label=True)
            parts = [
                _compute_name(document, control_label, label_state, in_content=True)
                for control_label in document.labels(node)
            ]
            if (text := " ".join(parts)).strip():
                return text
        if in_content and kind not in BUTTONS:
            # A control's value is part of a label that names another control.
            has_no_role = node.mem_id == state.start or explicit_role(node) in VALUE_WIDGETS
            return "" if has_no_role else _control_value(node) or _default_button_text(kind)
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
    """Return the text of an SVG's first title element.

    Titles of nested SVGs are left out, as in axe-core.
    """
    descendants = (element for element in select(node, "title, svg") if element.mem_id != node.mem_id)
    first = next(descendants, None)
    return _name_from_content(document, first, state) if first is not None and first.tag == "title" else ""


def _name_from_content(document: AccessibleDocument, node: LexborNode, state: _NameState) -> str:
    parts: list[str] = []
    child_state = replace(state, depth=state.depth + 1)
    for child in chain(_iterate_children(node), document.referenced(node, "aria-owns")):
        if _exceeds_limits(state) or not document.has_name_steps_left:
            break
        if child.is_text_node:
            parts.append(child.text_content or "")
        elif child.is_element_node:
            text = _compute_name(document, child, child_state, in_content=True)
            is_inline_element = child.tag in INLINE
            parts.append(text if is_inline_element else f" {text} ")
    return "".join(parts)


def _iterate_children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def _is_decorative_image(node: LexborNode) -> bool:
    """Return True for an image with an empty alt attribute.

    A decorative image has no name even if it has a title.
    """
    return node.tag == "img" and attribute(node, "alt") == "" and not ignores_role_none(node)


def _default_button_text(kind: str) -> str:
    return DEFAULT_BUTTON_TEXTS.get(kind, "")


def _control_value(node: LexborNode) -> str:
    if node.tag in ("input", "meter", "progress"):
        kind = (attribute(node, "type") or "").strip().lower()
        return (attribute(node, "value") or "") if node.tag != "input" or kind in {*TEXT_INPUT_TYPES, "range"} else ""
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
    if node.tag == "textarea" or (node.tag == "input" and kind in TEXT_INPUT_TYPES):
        return attribute(node, "placeholder") or ""
    return ""


def _iterate_texts(is_hidden: Callable[[LexborNode], bool], node: LexborNode, limit: int) -> Iterator[str]:
    """Yield the visible pieces of text inside an element.

    A space comes before elements that are not inline.
    """
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
