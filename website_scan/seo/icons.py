"""Text that people see in an element.

Icon ligatures and text for screen readers are left out.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from website_scan.page.markup import attribute

# Icon fonts replace a word by an icon in elements with classes such as `mdi`.
ICON_CLASS = re.compile(
    r"(?:^|[\s_-])(?:icons?|iconfont|glyphs?|glyphicons?|ligatures?|symbols?|mdi|mdc-icon)(?:[\s_-]|$)", re.IGNORECASE
)
ICON_ELEMENTS = frozenset({"mat-icon", "md-icon", "ion-icon", "v-icon", "q-icon"})
LIGATURE = re.compile(r"[a-z][a-z0-9_]{1,39}")
# Classes of text that only screen readers read (Bootstrap, Tailwind, WordPress and others).
SCREEN_READER_CLASS = re.compile(
    r"(?:^|\s)(?:sr-only|visually-?hidden|screen-?reader(?:-text|-only)?|a11y-hidden)(?:\s|$)", re.IGNORECASE
)
MAX_CLASS_CHARACTERS = 500


def is_icon_ligature(node: LexborNode) -> bool:
    """Return True if an element shows an icon for its text.

    An example is `<i class="material-icons">shopping_cart</i>`.
    """
    classes = (attribute(node, "class") or "")[:MAX_CLASS_CHARACTERS]
    if node.tag not in ICON_ELEMENTS and not ICON_CLASS.search(classes):
        return False
    return LIGATURE.fullmatch((node.text() or "").strip()) is not None


def visible_text_of(node: LexborNode) -> str:
    """Return the text that people see in an element.

    Ligatures of icon fonts, SVG and text for screen readers are left out.
    """
    parts = []
    stack = [node]
    while stack:
        current = stack.pop()
        for child in current.iter(include_text=True):
            if child.is_text_node:
                parts.append(child.text_content or "")
            elif child.is_element_node and child.tag != "svg" and not _is_unseen(child):
                stack.append(child)
    return "".join(parts)


def _is_unseen(node: LexborNode) -> bool:
    classes = (attribute(node, "class") or "")[:MAX_CLASS_CHARACTERS]
    return SCREEN_READER_CLASS.search(classes) is not None or is_icon_ligature(node)
