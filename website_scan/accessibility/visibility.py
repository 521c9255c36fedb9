"""Visibility of elements: hidden from everybody, hidden from assistive technology, or perhaps hidden by an external
style sheet."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from website_scan.accessibility.ancestors import Inherited
from website_scan.accessibility.styles.cascade import Cascade
from website_scan.accessibility.styles.rules import inline_style
from website_scan.page.markup import attribute, enclosing

# HTML Standard, section 15.3.1. The section also lists `area`, which is left out: an area is drawn on its image.
NEVER_SHOWN = frozenset(
    {"base", "basefont", "datalist", "head", "link", "meta", "noembed", "noframes", "noscript", "param", "rp", "script"}
    | {"style", "template"}
)
# HTML Standard, section 15.3.9: a form that is a direct child of one of these elements is never shown.
PARTS_OF_TABLES = frozenset({"table", "tbody", "tfoot", "thead", "tr"})
# HTML elements that the attribute `hidden` does not hide, because browsers always give them a box.
NEVER_HIDDEN = frozenset({"embed", "marquee"})
FOREIGN = frozenset({"svg", "math"})
# Descendants of SVG and MathML whose content is HTML again (HTML Standard, section 13.2.6).
INTEGRATION_POINTS = frozenset({"annotation-xml", "desc", "foreignobject", "mi", "mn", "mo", "ms", "mtext", "title"})

# Separator of words in class names. Class names hint at the rules of external style sheets.
WORD_SEPARATOR = re.compile(r"[:_-]")
# Words of class names that hide elements. `md:hidden` and `d-lg-none` hide at some widths only.
HIDING_WORDS = tuple(frozenset(name.split()) for name in ("hidden", "hide", "invisible", "d none"))
# Class names about overflow: `o-hidden`, `ov-x-hidden`. In `o-modal` and `o-card--hidden`, the o means an object.
OVERFLOW = re.compile(r"(?:.*:)?(?:o|of|ov)[-_]?[xy]?[-_]hidden")
# Classes of elements that scripts show later, or that style sheets show at some widths only.
HIDDEN_UNTIL_USED = frozenset(
    {"collapse", "modal", "popup", "dialog", "offcanvas", "drawer", "dropdown", "submenu", "lightbox", "overlay"}
    | {"tooltip", "mobile", "desktop"}
)
HIDDEN_UNTIL_USED_PAIRS = (frozenset({"sub", "menu"}), frozenset({"tab", "pane"}))
LISTS = frozenset({"ul", "ol"})
# A class of html or body describes the state of the whole page.
PAGE_ELEMENTS = frozenset({"html", "body"})
# Words of class names that are about something else: text for screen readers, a button that opens a dialog, an element
# that contains a dialog, the style of borders, content that is not printed.
UNRELATED_WORDS = frozenset(
    {"overflow", "visually", "backface", "sr", "has", "with", "not", "border", "print", "noprint", "toggle", "toggler"}
    | {"trigger", "button", "btn", "link", "open", "opened", "opener", "friendly", "ready", "scrollbar"}
)
PRINT_CLASSES = frozenset({"print", "print-only", "only-print", "visible-print", "d-print-block", "d-print-inline"})
# Last words of class names by which a dialog, tab or menu is shown.
SHOWING = frozenset({"show", "shown", "active", "open", "opened", "visible", "expanded"})


@dataclass(frozen=True, slots=True)
class State:
    """Display state of an element, including the effects of its ancestors."""

    undisplayed: bool = False  # the element or an ancestor has no box
    invisible: bool = False  # visibility: hidden, which a descendant may undo
    unexposed: bool = False  # aria-hidden or inert, on itself or an ancestor
    uncertain: bool = False  # an external style sheet may hide the element
    has_foreign_content: bool = False  # the element's content is SVG or MathML


class Visibility:
    """Visibility of the elements of one document, with a cache of their states."""

    def __init__(self, cascade: Cascade) -> None:
        self._cascade = cascade
        self._states = Inherited(State(), self._compute_state)

    def is_hidden(self, node: LexborNode) -> bool:
        """Return True if nobody sees the element, unless an external style sheet shows the element."""
        state = self._states.value_of(node)
        return state.undisplayed or state.invisible

    def is_hidden_from_at(self, node: LexborNode) -> bool:
        """Return True if the element is hidden from assistive technology (AT)."""
        return self.is_hidden(node) or self._states.value_of(node).unexposed

    def may_be_hidden(self, node: LexborNode) -> bool:
        """Return True if the element or an ancestor may be hidden.

        Signs are a CSS rule that may not apply, and a class name that hints at the rule of an external style sheet.
        """
        return self._states.value_of(node).uncertain

    def _compute_state(self, node: LexborNode, parent_state: State) -> State:
        is_foreign = parent_state.has_foreign_content or node.tag in FOREIGN
        keywords, uncertain = self._cascade.keywords_of(node)
        display, visibility = keywords.get("display", ""), keywords.get("visibility", "")
        classes = (attribute(node, "class") or "").split()
        uncertain = uncertain or _may_hide(node.tag or "", classes)
        return State(
            undisplayed=parent_state.undisplayed
            or _has_no_box(node, display, is_html=not is_foreign)
            or _is_hidden_by_parent(node),
            invisible=visibility in ("hidden", "collapse") if visibility else parent_state.invisible,
            unexposed=parent_state.unexposed
            or (attribute(node, "aria-hidden") or "").strip().lower() == "true"
            or attribute(node, "inert") is not None,
            uncertain=parent_state.uncertain or uncertain,
            has_foreign_content=is_foreign and (node.tag or "").lower() not in INTEGRATION_POINTS,
        )


def _has_no_box(node: LexborNode, display: str, *, is_html: bool) -> bool:
    tag = node.tag or ""
    if tag == "form" and node.parent is not None and node.parent.tag in PARTS_OF_TABLES:
        return True
    if display:
        return display == "none"  # an author's display value also overrides the hidden attribute
    if tag in NEVER_SHOWN or (is_html and _is_hidden_by_attribute(node)):
        return True
    if tag == "dialog":
        return attribute(node, "open") is None
    if tag == "audio":
        return attribute(node, "controls") is None
    if tag == "title":
        return enclosing(node, "svg") is None  # a title in an svg names the drawing
    return tag == "input" and (attribute(node, "type") or "").lower() == "hidden"


def _is_hidden_by_attribute(node: LexborNode) -> bool:
    """Return True if `hidden` or `popover` hides the element. SVG and MathML do not support these attributes."""
    if attribute(node, "popover") is not None:
        return True
    return attribute(node, "hidden") is not None and not _is_until_found(node) and node.tag not in NEVER_HIDDEN


def _is_until_found(node: LexborNode) -> bool:
    """Return True for hidden=until-found, which hides the element's content but not its box."""
    return (attribute(node, "hidden") or "").lower() == "until-found"


def _is_hidden_by_parent(node: LexborNode) -> bool:
    """Return True if the parent hides its content, by a closed details or by content-visibility: hidden."""
    parent = node.parent
    if parent is None or not parent.is_element_node:
        return False
    if inline_style(parent).get("content-visibility") == "hidden" or _is_until_found(parent):
        return True
    if parent.tag != "details" or attribute(parent, "open") is not None:
        return False
    if node.tag != "summary":
        return True
    before = node.prev
    while before is not None and before.tag != "summary":
        before = before.prev
    return before is not None


def _may_hide(tag: str, classes: Collection[str]) -> bool:
    """Return True if a class name is one by which style sheets commonly hide elements."""
    if tag in PAGE_ELEMENTS:
        return False
    is_hidden_until_used = False
    is_shown = False
    for name in map(str.lower, classes):
        if name in PRINT_CLASSES:
            return True
        words = WORD_SEPARATOR.split(name)
        is_shown = is_shown or words[-1] in SHOWING or name == "in"  # Bootstrap 3
        if not UNRELATED_WORDS.isdisjoint(words) or OVERFLOW.fullmatch(name):
            continue
        if any(hiding_words.issubset(words) for hiding_words in HIDING_WORDS):
            return True
        if name == "dropdown" and tag not in LISTS:
            continue  # a visible wrapper of the menu
        is_hidden_until_used = is_hidden_until_used or not HIDDEN_UNTIL_USED.isdisjoint(words)
        is_hidden_until_used = is_hidden_until_used or any(
            word_pair.issubset(words) for word_pair in HIDDEN_UNTIL_USED_PAIRS
        )
    return is_hidden_until_used and not is_shown
