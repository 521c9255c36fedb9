"""What a badge looks like: cells with texts that fit, in colours on which they can be read. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

HEIGHT = 20
MARGIN = 6
FONT_SIZE = 11
# On which white text has a contrast of 4.5 and more (WCAG 2.2, 1.4.3).
LABEL_COLOUR = "#3d4454"
NEUTRAL = "#5c6370"
COLOURS = {"A": "#16703c", "B": "#4c6b12", "C": "#8a5a00", "D": "#a8440b", "F": "#b3261e"}
# Of the characters in Verdana at this size, in pixels. Where another font is at hand, `textLength` makes it fit.
NARROW, MIDDLE, WIDE = frozenset("iljI.,:"), frozenset("frt ()"), frozenset("mwMWO@")
WIDTHS = ((NARROW, 3.6), (MIDDLE, 4.6), (WIDE, 9.8))
UPPER, USUAL = 7.8, 6.9


@dataclass(frozen=True, slots=True)
class Cell:
    """A part of a badge, in pixels: the box from `x`, and `text_width` of room for its text, in its middle."""

    text: str
    colour: str
    x: float
    width: float

    @property
    def middle(self) -> float:
        return round(self.x + self.width / 2, 1)

    @property
    def text_width(self) -> float:
        return round(self.width - 2 * MARGIN, 1)


@dataclass(frozen=True, slots=True)
class Drawing:
    """`title` says to whom the picture does not show what it shows."""

    cells: Sequence[Cell]
    title: str
    width: float
    height: int = HEIGHT
    font_size: int = FONT_SIZE


def draw(parts: Iterable[tuple[str, str | None, int | None]], title: str = "") -> Drawing:
    """A label with a grade and a score for each part; without a grade it says that there is no result yet."""
    found = list(parts)
    texts: list[tuple[str, str]] = []
    said: list[str] = []
    for label, grade, score in found:
        value = f"{grade} {score}" if grade else "no result yet"
        texts += [(label, LABEL_COLOUR), (value, COLOURS.get((grade or "")[:1], NEUTRAL))]
        said.append(f"{label}: grade {grade}, {score} of 100" if grade else f"{label}: no result yet")
    return _drawn(texts, title or "; ".join(said))


def draw_note(note: str) -> Drawing:
    """A badge that has nothing to show, and says why."""
    return _drawn([("Website scan", LABEL_COLOUR), (note, NEUTRAL)], f"Website scan: {note}")


def _drawn(texts: Iterable[tuple[str, str]], title: str) -> Drawing:
    cells: list[Cell] = []
    x = 0.0
    for text, colour in texts:
        width = round(text_width(text) + 2 * MARGIN, 1)
        cells.append(Cell(text, colour, round(x, 1), width))
        x += width
    return Drawing(cells, title, round(x, 1))


def text_width(text: str) -> float:
    """Pixels that the text takes."""
    return round(sum(_width(each) for each in text), 1)


def _width(character: str) -> float:
    for characters, width in WIDTHS:
        if character in characters:
            return width
    return UPPER if character.isupper() else USUAL
