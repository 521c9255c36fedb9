"""Layout and colors of badge images. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from msgspec import Struct

from infrastructure.web.colours import Colours, colours_of_grade

HEIGHT = 20
MARGIN = 6
FONT_SIZE = 11
LABEL = Colours("#3d4454", "#ffffff")
NEUTRAL = Colours("#5c6370", "#ffffff")
# Widths of characters of the font Verdana at FONT_SIZE, in pixels. Other fonts are scaled by `textLength` in the SVG.
NARROW, MIDDLE, WIDE = frozenset("iljI.,:"), frozenset("frt ()"), frozenset("mwMWO@")
WIDTHS = ((NARROW, 3.6), (MIDDLE, 4.6), (WIDE, 9.8))
UPPER_WIDTH, OTHER_WIDTH = 7.8, 6.9


class Cell(Struct, frozen=True):
    """Box of a badge image with centered text.

    Positions and widths are in pixels.
    """

    text: str
    colours: Colours
    x: float
    width: float

    @property
    def middle(self) -> float:
        return round(self.x + self.width / 2, 1)

    @property
    def text_width(self) -> float:
        return round(self.width - 2 * MARGIN, 1)


class Drawing(Struct, frozen=True):
    """Layout of a badge image.

    It has the cells, the size in pixels and the text alternative (`title`).
    """

    cells: Sequence[Cell]
    title: str
    width: float
    height: int = HEIGHT
    font_size: int = FONT_SIZE


def draw_badge(parts: Iterable[tuple[str, str | None, int | None]], day: date | None = None) -> Drawing:
    """Draw a badge from (label, grade, score) triples.

    Without a grade, the text is "no result yet". `day` is the date of the latest result, so that readers of other sites
    can see the age of the badge.
    """
    texts: list[tuple[str, Colours]] = []
    alternatives: list[str] = []
    for label, grade, score in parts:
        value = f"{grade} {score}" if grade else "no result yet"
        texts += [(label, LABEL), (value, colours_of_grade(grade) if grade else NEUTRAL)]
        alternatives.append(f"{label}: grade {grade}, {score} of 100" if grade else f"{label}: no result yet")
    return _draw_dated_badge(texts, alternatives, day)


def draw_number_badge(number: str, text: str, grade: str, day: date | None = None) -> Drawing:
    """Draw a badge with a number in the colors of a grade, followed by a text."""
    return _draw_dated_badge([(number, colours_of_grade(grade)), (text, LABEL)], [f"{number} {text}"], day)


def draw_note(note: str) -> Drawing:
    """Draw a badge with a message instead of grades."""
    return _draw([("Website scan", LABEL), (note, NEUTRAL)], f"Website scan: {note}")


def _draw_dated_badge(texts: Sequence[tuple[str, Colours]], alternatives: Sequence[str], day: date | None) -> Drawing:
    if day is None:
        return _draw(texts, "; ".join(alternatives))
    date_text = f"last scanned on {day.day} {day:%B %Y}"
    return _draw([*texts, (f"{day.day} {day:%b %Y}", NEUTRAL)], "; ".join([*alternatives, date_text]))


def _draw(texts: Iterable[tuple[str, Colours]], title: str) -> Drawing:
    cells: list[Cell] = []
    x = 0.0
    for text, colours in texts:
        width = round(text_width(text) + 2 * MARGIN, 1)
        cells.append(Cell(text, colours, round(x, 1), width))
        x += width
    return Drawing(cells, title, round(x, 1))


def text_width(text: str) -> float:
    """Return the width of a text in pixels."""
    return round(sum(_width(character) for character in text), 1)


def _width(character: str) -> float:
    for characters, width in WIDTHS:
        if character in characters:
            return width
    return UPPER_WIDTH if character.isupper() else OTHER_WIDTH
