"""What class names tell of style sheets that are not in the page."""

from __future__ import annotations

import re
from collections.abc import Collection

SEPARATOR = re.compile(r"[:_-]")
# What says by itself that it hides; `md:hidden` and `d-lg-none` at some widths only.
HIDING = tuple(frozenset(each.split()) for each in ("hidden", "hide", "invisible", "d none"))
# What scripts show later, or style sheets show at some widths only.
PUT_AWAY = frozenset(
    {"collapse", "modal", "popup", "dialog", "offcanvas", "drawer", "dropdown", "submenu", "lightbox", "overlay"}
    | {"tooltip", "mobile", "desktop"}
)
PUT_AWAY_BY_TWO = (frozenset({"sub", "menu"}), frozenset({"tab", "pane"}))
LISTS = frozenset({"ul", "ol"})
# A class on one of these tells in which state the whole page is.
WHOLE_PAGE = frozenset({"html", "body"})
# With one of these a name speaks of something else: of texts for screen readers, of what opens a dialog or holds one,
# of how borders are drawn, of what is not printed.
NEITHER = frozenset(
    {"overflow", "visually", "backface", "sr", "has", "with", "not", "border", "print", "noprint", "toggle", "toggler"}
    | {"trigger", "button", "btn", "link", "open", "opened", "opener", "friendly", "ready", "scrollbar"}
)
ON_PAPER = frozenset({"print", "print-only", "only-print", "visible-print", "d-print-block", "d-print-inline"})
# A dialog, tab or menu that has a name which ends so is shown.
SHOWING = frozenset({"show", "shown", "active", "open", "opened", "visible", "expanded"})


def may_hide(tag: str, names: Collection[str]) -> bool:
    """Whether one of an element's class names is one by which style sheets hide elements."""
    if tag in WHOLE_PAGE:
        return False
    is_put_away = False
    is_shown = False
    for name in map(str.lower, names):
        if name in ON_PAPER:
            return True
        words = SEPARATOR.split(name)
        is_shown = is_shown or words[-1] in SHOWING or name == "in"  # of Bootstrap 3
        if not NEITHER.isdisjoint(words):
            continue
        if any(each.issubset(words) for each in HIDING):
            return True
        if name == "dropdown" and tag not in LISTS:
            continue  # what is around such a menu, and shown
        is_put_away = is_put_away or not PUT_AWAY.isdisjoint(words)
        is_put_away = is_put_away or any(each.issubset(words) for each in PUT_AWAY_BY_TWO)
    return is_put_away and not is_shown
