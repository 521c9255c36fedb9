"""What a badge looks like: cells with texts that fit, in colours on which they can be read. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from infrastructure.web.colours import Colours, of_grade

HEIGHT = 20
MARGIN = 6
FONT_SIZE = 11
LABEL = Colours("#3d4454", "#ffffff")
NEUTRAL = Colours("#5c6370", "#ffffff")
# Of the characters in Verdana at this size, in pixels. Where another font is at hand, `textLength` makes it fit.
NARROW, MIDDLE, WIDE = frozenset("iljI.,:"), frozenset("frt ()"), frozenset("mwMWO@")
WIDTHS = ((NARROW, 3.6), (MIDDLE, 4.6), (WIDE, 9.8))
UPPER, USUAL = 7.8, 6.9


@dataclass(frozen=True, slots=True)
class Cell:
    """A part of a badge, in pixels: the box from `x`, and `text_width` of room for its text, in its middle."""

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


@dataclass(frozen=True, slots=True)
class Drawing:
    """`title` says to whom the picture does not show what it shows."""

    cells: Sequence[Cell]
    title: str
    width: float
    height: int = HEIGHT
    font_size: int = FONT_SIZE


def draw(parts: Iterable[tuple[str, str | None, int | None]], day: date | None = None) -> Drawing:
    """A label with a grade and a score for each part; without a grade it says that there is no result yet.

    `day` is that of the latest of them: a picture on another site says nothing else of its age.
    """
    texts: list[tuple[str, Colours]] = []
    said: list[str] = []
    for label, grade, score in parts:
        value = f"{grade} {score}" if grade else "no result yet"
        texts += [(label, LABEL), (value, of_grade(grade) if grade else NEUTRAL)]
        said.append(f"{label}: grade {grade}, {score} of 100" if grade else f"{label}: no result yet")
    if day:
        texts.append((f"{day.day} {day:%b %Y}", NEUTRAL))
        said.append(f"last scanned on {day.day} {day:%B %Y}")
    return _drawn(texts, "; ".join(said))


def draw_note(note: str) -> Drawing:
    """A badge that has nothing to show, and says why."""
    return _drawn([("Website scan", LABEL), (note, NEUTRAL)], f"Website scan: {note}")


def _drawn(texts: Iterable[tuple[str, Colours]], title: str) -> Drawing:
    cells: list[Cell] = []
    x = 0.0
    for text, colours in texts:
        width = round(text_width(text) + 2 * MARGIN, 1)
        cells.append(Cell(text, colours, round(x, 1), width))
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
