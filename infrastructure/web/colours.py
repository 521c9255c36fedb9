"""Grade colours for badges, cards and e-mails, which have no style sheet.

`site.css` defines the same ones.
"""

from __future__ import annotations

from msgspec import Struct


class Colours(Struct, frozen=True):
    """Background and text colour as `#rrggbb`.

    Their contrast is at least 4.5:1 (WCAG 2.2, 1.4.3).
    """

    fill: str
    text: str


# The fills of B, C and D are too bright for white text, so their text is dark.
GRADES = {
    "A": Colours("#0b7a4b", "#ffffff"),
    "B": Colours("#9fd14f", "#16210a"),
    "C": Colours("#ffc533", "#241a00"),
    "D": Colours("#ff8a3d", "#2b1200"),
    "F": Colours("#c81e3a", "#ffffff"),
}
# Colours of lines and large letters on a light background: `--line-a` and so on in site.css.
LINES = {"A": "#0b7a4b", "B": "#5b8c00", "C": "#b87a00", "D": "#d9560b", "F": "#c81e3a"}


def colours_of_grade(grade: str) -> Colours:
    """Return a grade's background and text colours.

    `A+` has the same colours as `A`.
    """
    return GRADES[grade[:1]]


def gauge_colour(grade: str) -> str:
    """Return the gauge colour for a grade. `A+` has the same colour as `A`."""
    return LINES[grade[:1]]
