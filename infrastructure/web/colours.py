"""Colours of grades for badges and e-mails, which have no style sheet. The scanner's `site.css` has the same ones."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Colours:
    """Fill and text colour as `#rrggbb`, with a contrast of at least 4.5:1 (WCAG 2.2, 1.4.3)."""

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


def of_grade(grade: str) -> Colours:
    """Return the colours of a grade. `A+` has those of `A`."""
    return GRADES[grade[:1]]
