"""The colours of grades where no style sheet reaches: badges and e-mails. The scanner's `site.css` has the same."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Colours:
    """A filled shape and the text on it, of a contrast of at least 4.5:1 (WCAG 2.2, 1.4.3), as `#rrggbb`."""

    fill: str
    text: str


# Amber and orange that look like it are too bright for white text; dark text stands on them.
GRADES = {
    "A": Colours("#0b7a4b", "#ffffff"),
    "B": Colours("#9fd14f", "#16210a"),
    "C": Colours("#ffc533", "#241a00"),
    "D": Colours("#ff8a3d", "#2b1200"),
    "F": Colours("#c81e3a", "#ffffff"),
}


def of_grade(grade: str) -> Colours:
    """Those of `A+` are those of `A`."""
    return GRADES[grade[:1]]
