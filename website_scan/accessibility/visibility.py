"""Visibility of elements: hidden from everybody, hidden from assistive technology, or perhaps hidden by a style sheet
that is not in the page."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from website_scan.accessibility.ancestors import Inherited
from website_scan.accessibility.styles.cascade import Cascade
from website_scan.accessibility.styles.rules import inline_style
from website_scan.page.markup import attribute, enclosing

# HTML Standard, section 15.3.1. It lists `area`, too, which is left out: an area is where its image is.
NEVER_SHOWN = frozenset(
    {"base", "basefont", "datalist", "head", "link", "meta", "noembed", "noframes", "noscript", "param", "rp", "script"}
    | {"style", "template"}
)
# HTML Standard, section 15.3.9: a form that is a direct child of one of these is never shown.
PARTS_OF_TABLES = frozenset({"table", "tbody", "tfoot", "thead", "tr"})
# Elements of HTML that `hidden` does not hide, because browsers give them a box by themselves.
NEVER_HIDDEN = frozenset({"embed", "marquee"})
FOREIGN = frozenset({"svg", "math"})
# Children of SVG and MathML whose content is HTML again (HTML Standard, section 13.2.6).
INTEGRATION_POINTS = frozenset({"annotation-xml", "desc", "foreignobject", "mi", "mn", "mo", "ms", "mtext", "title"})

# Class names hint at style sheets that are not in the page. This separates their words.
WORD_SEPARATOR = re.compile(r"[:_-]")
# Class names that say by themselves that they hide. `md:hidden` and `d-lg-none` hide at some widths only.
HIDING_WORDS = tuple(frozenset(name.split()) for name in ("hidden", "hide", "invisible", "d none"))
# Short for overflow: `o-hidden`, `ov-x-hidden`. In `o-modal` and `o-card--hidden`, the o stands for an object.
OVERFLOW = re.compile(r"(?:.*:)?(?:o|of|ov)[-_]?[xy]?[-_]hidden")
# Classes of elements that scripts show later, or that style sheets show at some widths only.
HIDDEN_UNTIL_USED = frozenset(
    {"collapse", "modal", "popup", "dialog", "offcanvas", "drawer", "dropdown", "submenu", "lightbox", "overlay"}
    | {"tooltip", "mobile", "desktop"}
)
HIDDEN_UNTIL_USED_PAIRS = (frozenset({"sub", "menu"}), frozenset({"tab", "pane"}))
LISTS = frozenset({"ul", "ol"})
# A class on one of these describes the state of the whole page.
PAGE_ELEMENTS = frozenset({"html", "body"})
# A class name with one of these words is about something else: text for screen readers, a button that opens a dialog
# or an element that contains one, how borders are drawn, what is not printed.
UNRELATED_WORDS = frozenset(
    {"overflow", "visually", "backface", "sr", "has", "with", "not", "border", "print", "noprint", "toggle", "toggler"}
    | {"trigger", "button", "btn", "link", "open", "opened", "opener", "friendly", "ready", "scrollbar"}
)
PRINT_CLASSES = frozenset({"print", "print-only", "only-print", "visible-print", "d-print-block", "d-print-inline"})
# A dialog, tab or menu with a class name that ends so is shown.
SHOWING = frozenset({"show", "shown", "active", "open", "opened", "visible", "expanded"})


@dataclass(frozen=True, slots=True)
class State:
    """Display state of an element, its ancestors taken into account."""

    undisplayed: bool = False  # the element or an ancestor has no box
    invisible: bool = False  # visibility: hidden, which a descendant may undo
    unexposed: bool = False  # aria-hidden or inert, on itself or an ancestor
    uncertain: bool = False  # a style sheet may hide it
    has_foreign_content: bool = False  # its content is SVG or MathML


class Visibility:
    """Visibility of the elements of one document, with a cache of the states of their ancestors."""

    def __init__(self, cascade: Cascade) -> None:
        self._cascade = cascade
        self._states = Inherited(State(), self._next)

    def is_hidden(self, node: LexborNode) -> bool:
        """Return True if nobody sees the element, unless an external style sheet shows it."""
        state = self._states.of(node)
        return state.undisplayed or state.invisible

    def is_hidden_from_at(self, node: LexborNode) -> bool:
        """Return True if the element is hidden from assistive technology (AT)."""
        return self.is_hidden(node) or self._states.of(node).unexposed

    def may_be_hidden(self, node: LexborNode) -> bool:
        """Return True if the element may be hidden.

        Signs are a CSS rule that may not apply, or a class of the element or of an ancestor.
        """
        return self._states.of(node).uncertain

    def _next(self, node: LexborNode, above: State) -> State:
        is_foreign = above.has_foreign_content or node.tag in FOREIGN
        keywords, uncertain = self._cascade.of(node)
        display, visibility = keywords.get("display", ""), keywords.get("visibility", "")
        classes = (attribute(node, "class") or "").split()
        uncertain = uncertain or _may_hide(node.tag or "", classes)
        return State(
            undisplayed=above.undisplayed
            or _has_no_box(node, display, is_html=not is_foreign)
            or _is_hidden_by_parent(node),
            invisible=visibility in ("hidden", "collapse") if visibility else above.invisible,
            unexposed=above.unexposed
            or (attribute(node, "aria-hidden") or "").strip().lower() == "true"
            or attribute(node, "inert") is not None,
            uncertain=above.uncertain or uncertain,
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
        return enclosing(node, "svg") is None  # in an svg, title is the drawing's name
    return tag == "input" and (attribute(node, "type") or "").lower() == "hidden"


def _is_hidden_by_attribute(node: LexborNode) -> bool:
    """Return True if `hidden` or `popover` hides the element. SVG and MathML do not know these attributes."""
    if attribute(node, "popover") is not None:
        return True
    return attribute(node, "hidden") is not None and not _is_until_found(node) and node.tag not in NEVER_HIDDEN


def _is_until_found(node: LexborNode) -> bool:
    """Return True for hidden=until-found: the element keeps its box while its content is hidden."""
    return (attribute(node, "hidden") or "").lower() == "until-found"


def _is_hidden_by_parent(node: LexborNode) -> bool:
    """Return True if the parent hides its content: a closed details, or content-visibility: hidden."""
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


def _may_hide(tag: str, names: Collection[str]) -> bool:
    """Return True if a class name is one that style sheets commonly use to hide elements."""
    if tag in PAGE_ELEMENTS:
        return False
    is_hidden_until_used = False
    is_shown = False
    for name in map(str.lower, names):
        if name in PRINT_CLASSES:
            return True
        words = WORD_SEPARATOR.split(name)
        is_shown = is_shown or words[-1] in SHOWING or name == "in"  # Bootstrap 3
        if not UNRELATED_WORDS.isdisjoint(words) or OVERFLOW.fullmatch(name):
            continue
        if any(hiding_words.issubset(words) for hiding_words in HIDING_WORDS):
            return True
        if name == "dropdown" and tag not in LISTS:
            continue  # the element around such a menu, which is shown
        is_hidden_until_used = is_hidden_until_used or not HIDDEN_UNTIL_USED.isdisjoint(words)
        is_hidden_until_used = is_hidden_until_used or any(
            word_pair.issubset(words) for word_pair in HIDDEN_UNTIL_USED_PAIRS
        )
    return is_hidden_until_used and not is_shown
