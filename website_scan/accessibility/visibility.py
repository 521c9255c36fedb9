"""Find hidden elements.

They are hidden from everybody, from assistive technology, or perhaps by an external style sheet.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from msgspec import Struct
from selectolax.lexbor import LexborNode

from website_scan.accessibility.ancestors import InheritedProperty
from website_scan.accessibility.styles.cascade import Cascade
from website_scan.accessibility.styles.rules import inline_style
from website_scan.page.markup import attribute, enclosing

# Browsers never render these tags. `area` is left out, because an area is drawn on its image.
NEVER_RENDERED_TAGS = frozenset(
    {"base", "basefont", "datalist", "head", "link", "meta", "noembed", "noframes", "noscript", "param", "rp", "script"}
    | {"style", "template"}
)
# Browsers never render a form as a direct child of these tags (HTML Standard, section 15.3.9).
TABLE_PART_TAGS = frozenset({"table", "tbody", "tfoot", "thead", "tr"})
# HTML elements that browsers render even with the attribute `hidden`.
TAGS_IGNORING_HIDDEN = frozenset({"embed", "marquee"})
FOREIGN = frozenset({"svg", "math"})
# Content of these SVG and MathML elements is HTML (HTML Standard, section 13.2.6).
HTML_INTEGRATION_POINTS = frozenset(
    {"annotation-xml", "desc", "foreignobject", "mi", "mn", "mo", "ms", "mtext", "title"}
)

# Words in class names hint at the rules of external style sheets.
CLASS_NAME_SEPARATOR = re.compile(r"[:_-]")
# `md:hidden` and `d-lg-none` hide elements at some widths only.
HIDING_WORDS = tuple(frozenset(name.split()) for name in ("hidden", "hide", "invisible", "d none"))
# `o-hidden` is about CSS overflow, but the o of `o-modal` stands for an object.
OVERFLOW = re.compile(r"(?:.*:)?(?:o|of|ov)[-_]?[xy]?[-_]hidden")
# Scripts show these elements later, or style sheets do at some widths.
HIDDEN_UNTIL_USED_WORDS = frozenset(
    {"collapse", "modal", "popup", "dialog", "offcanvas", "drawer", "dropdown", "submenu", "lightbox", "overlay"}
    | {"tooltip", "mobile", "desktop"}
)
HIDDEN_UNTIL_USED_WORD_PAIRS = (frozenset({"sub", "menu"}), frozenset({"tab", "pane"}))
LISTS = frozenset({"ul", "ol"})
# Classes of html and body describe the state of the whole page.
ROOT_ELEMENTS = frozenset({"html", "body"})
# Class names with these words do not hide the element, such as those of dialog buttons, borders and screen reader text.
UNRELATED_WORDS = frozenset(
    {"overflow", "visually", "backface", "sr", "has", "with", "not", "border", "print", "noprint", "toggle", "toggler"}
    | {"trigger", "button", "btn", "link", "open", "opened", "opener", "friendly", "ready", "scrollbar"}
)
PRINT_CLASSES = frozenset({"print", "print-only", "only-print", "visible-print", "d-print-block", "d-print-inline"})
# Class names that end with these words show a dialog, tab or menu.
SHOWING = frozenset({"show", "shown", "active", "open", "opened", "visible", "expanded"})


class DisplayState(Struct, frozen=True):
    """Display state of an element, including the effects of its ancestors."""

    undisplayed: bool = False  # The element or an ancestor is not rendered, for example with `display: none`.
    invisible: bool = False  # A descendant may override `visibility: hidden`.
    unexposed: bool = False  # The element or an ancestor has aria-hidden or inert.
    uncertain: bool = False  # An external style sheet may hide the element.
    has_foreign_content: bool = False  # The element's content is SVG or MathML.


class Visibility:
    """Visibility of a document's elements, with a cache."""

    def __init__(self, cascade: Cascade) -> None:
        self._cascade = cascade
        self._states = InheritedProperty(DisplayState(), self._compute_state)

    def is_hidden(self, node: LexborNode) -> bool:
        """Return True if the element is invisible.

        An external style sheet may still show it.
        """
        state = self._states.inherited_value(node)
        return state.undisplayed or state.invisible

    def is_hidden_from_at(self, node: LexborNode) -> bool:
        """Return True if the element is hidden from assistive technology (AT)."""
        return self.is_hidden(node) or self._states.inherited_value(node).unexposed

    def may_be_hidden(self, node: LexborNode) -> bool:
        """Return True if a style sheet may hide the element or an ancestor.

        Signs are a CSS rule that may not apply, and a class name that hints at the rule of an external style sheet.
        """
        return self._states.inherited_value(node).uncertain

    def _compute_state(self, node: LexborNode, parent_state: DisplayState) -> DisplayState:
        is_foreign_element = parent_state.has_foreign_content or node.tag in FOREIGN
        keywords, uncertain = self._cascade.display_keywords(node)
        display, visibility = keywords.get("display", ""), keywords.get("visibility", "")
        classes = (attribute(node, "class") or "").split()
        uncertain = uncertain or _has_hiding_class(node.tag or "", classes)
        return DisplayState(
            undisplayed=parent_state.undisplayed
            or _is_undisplayed(node, display, is_html=not is_foreign_element)
            or _is_hidden_by_parent(node),
            invisible=visibility in ("hidden", "collapse") if visibility else parent_state.invisible,
            unexposed=parent_state.unexposed
            or (attribute(node, "aria-hidden") or "").strip().lower() == "true"
            or attribute(node, "inert") is not None,
            uncertain=parent_state.uncertain or uncertain,
            has_foreign_content=is_foreign_element and (node.tag or "").lower() not in HTML_INTEGRATION_POINTS,
        )


def _is_undisplayed(node: LexborNode, display: str, *, is_html: bool) -> bool:
    tag = node.tag or ""
    if tag == "form" and node.parent is not None and node.parent.tag in TABLE_PART_TAGS:
        return True
    if display:
        return display == "none"  # The page's CSS overrides the hidden attribute.
    if tag in NEVER_RENDERED_TAGS or (is_html and _is_hidden_by_attribute(node)):
        return True
    if tag == "dialog":
        return attribute(node, "open") is None
    if tag == "audio":
        return attribute(node, "controls") is None
    if tag == "title":
        return enclosing(node, "svg") is None  # A title in an SVG is the name of the drawing.
    return tag == "input" and (attribute(node, "type") or "").lower() == "hidden"


def _is_hidden_by_attribute(node: LexborNode) -> bool:
    """Return True if `hidden` or `popover` hides the element.

    SVG and MathML do not support these attributes.
    """
    if attribute(node, "popover") is not None:
        return True
    return (
        attribute(node, "hidden") is not None
        and not _is_hidden_until_found(node)
        and node.tag not in TAGS_IGNORING_HIDDEN
    )


def _is_hidden_until_found(node: LexborNode) -> bool:
    """Return True for hidden=until-found.

    It hides the element's content but not the element itself.
    """
    return (attribute(node, "hidden") or "").lower() == "until-found"


def _is_hidden_by_parent(node: LexborNode) -> bool:
    """Return True if the parent hides its content.

    A closed details element, or `content-visibility: hidden`.
    """
    parent = node.parent
    if parent is None or not parent.is_element_node:
        return False
    if inline_style(parent).get("content-visibility") == "hidden" or _is_hidden_until_found(parent):
        return True
    if parent.tag != "details" or attribute(parent, "open") is not None:
        return False
    if node.tag != "summary":
        return True
    before = node.prev
    while before is not None and before.tag != "summary":
        before = before.prev
    return before is not None


def _has_hiding_class(tag: str, classes: Collection[str]) -> bool:
    """Return True if a class name commonly hides elements.

    An example is `hidden`.
    """
    if tag in ROOT_ELEMENTS:
        return False
    has_hidden_until_used_class = False
    has_showing_class = False
    for name in map(str.lower, classes):
        if name in PRINT_CLASSES:
            return True
        words = CLASS_NAME_SEPARATOR.split(name)
        has_showing_class = has_showing_class or words[-1] in SHOWING or name == "in"
        if not UNRELATED_WORDS.isdisjoint(words) or OVERFLOW.fullmatch(name):
            continue
        if any(hiding_words.issubset(words) for hiding_words in HIDING_WORDS):
            return True
        if name == "dropdown" and tag not in LISTS:
            continue
        has_hidden_until_used_class = has_hidden_until_used_class or not HIDDEN_UNTIL_USED_WORDS.isdisjoint(words)
        has_hidden_until_used_class = has_hidden_until_used_class or any(
            word_pair.issubset(words) for word_pair in HIDDEN_UNTIL_USED_WORD_PAIRS
        )
    return has_hidden_until_used_class and not has_showing_class
