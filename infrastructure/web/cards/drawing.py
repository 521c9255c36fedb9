"""Draw cards as PNG without a browser.

A card is the link preview picture for chats and social networks.

Hosts are ASCII, because internationalized names are written in Punycode. Names of lists may have other letters of
Europe's scripts (`lettering.py`).
"""

from __future__ import annotations

import functools
import io
import re
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from infrastructure.web.cards.lettering import Face, drawable
from infrastructure.web.colours import gauge_colour

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

WIDTH, HEIGHT = 1200, 630
MARGIN = 80
# Cards are drawn larger by this factor and then reduced, so that arcs have smooth edges.
SCALE = 2
# With a palette of this many colours, PNG files look the same but are less than half as large.
PALETTE = 64
# Number of cards that a process caches, of 10 to 20 kB each.
CACHED_CARDS = 200

PAGE, SUNKEN, TEXT, MUTED, ACCENT = "#f6f7fa", "#e3e6ee", "#1a1f2e", "#545d72", "#3949c6"
PRODUCT = "Website Scan Service"
TYPES = ("Security", "Performance", "Accessibility", "SEO")
SLOGAN = ("Scan a page,", "watch a site,", "gate a build.")
ELLIPSIS = "…"
# A text's possible layouts: number of lines, largest font size and smallest font size.
Layouts: TypeAlias = Sequence[tuple[int, int, int]]
LARGE = 150  # Gauges of at least this radius in pixels have room for "/ 100".
# Longer texts never fit on a card, so they are cut before they are measured.
HOST_LENGTH, PATH_LENGTH = 253, 200


class CardGrade(Struct, frozen=True):
    """A scan type's grade on a card.

    `grade` is empty and `score` is None if the type has no result.
    """

    label: str
    grade: str
    score: int | None


class Card(Struct, frozen=True):
    """A card's content.

    A single grade is drawn as a large gauge, several grades as a row of gauges.

    `subject` is a host, or the name of a monitor or list. `path` is the path of a page.
    """

    subject: str
    heading: str = ""
    path: str = ""
    note: str = ""
    grades: tuple[CardGrade, ...] = ()


# Card for pages that show no result, such as the start page.
BRAND = Card("")
_drawing_lock = threading.Lock()


@functools.lru_cache(maxsize=CACHED_CARDS)
def draw(card: Card) -> bytes:
    """Return a card's PNG, which is 1200 pixels wide and 630 high.

    Each process caches the last cards, and draws one at a time, because drawing needs 30 ms and 30 MB.
    """
    with _drawing_lock:
        return _png(card)


def _png(card: Card) -> bytes:
    # Pillow is imported here, because it takes 10 MB and most processes never draw.
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (WIDTH * SCALE, HEIGHT * SCALE), PAGE)
    pen = Pen(ImageDraw.Draw(image))
    _draw_brand(pen)
    if card == BRAND:
        _draw_slogan(pen)
    elif len(card.grades) > 1:
        _draw_several_grades(pen, card)
    else:
        _draw_single_grade(pen, card)
    # Pillow's default method of quantization takes eight times as long.
    small = image.reduce(SCALE).quantize(PALETTE, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    file = io.BytesIO()
    small.save(file, "PNG")
    return file.getvalue()


class Pen(Struct, frozen=True):
    """Draws in the card's coordinates, which it scales to the enlarged picture."""

    on: ImageDraw
    face: Face = Face.AILERON

    def text(
        self, x: float, y: float, text: str, size: int, colour: str, *, bold: bool = False, anchor: str = "ls"
    ) -> None:
        """Draw a line of text with its baseline at `y`.

        Bold text has an outline, because the font has one weight.
        """
        stroke = _outline(size) * SCALE if bold else 0
        font = self.face.font(size * SCALE)
        self.on.text((x * SCALE, y * SCALE), text, colour, font, anchor=anchor, stroke_width=stroke)

    def gauge(self, x: float, y: float, radius: float, width: float, grade: CardGrade) -> None:
        """Draw a score's ring as in the report, with the grade at its centre."""
        colour = gauge_colour(grade.grade) if grade.grade else MUTED
        box = [coordinate * SCALE for coordinate in (x - radius, y - radius, x + radius, y + radius)]
        thickness = round(width * SCALE)
        self.on.arc(box, 0, 360, SUNKEN, thickness)
        if grade.score:
            self.on.arc(box, -90, -90 + 3.6 * grade.score, colour, thickness)
        letter_size = round(radius * 0.86)
        self.text(x, y + radius * 0.18, grade.grade or "-", letter_size, colour, bold=True, anchor="ms")
        if grade.score is None:
            label, relative_size = "no result", 0.27
        elif radius < LARGE:
            label, relative_size = f"{grade.score}", 0.36
        else:
            label, relative_size = f"{grade.score} / 100", 0.27
        self.text(x, y + radius * 0.55, label, round(radius * relative_size), MUTED, anchor="ms")

    def mark(self, x: float, y: float, size: float) -> None:
        """Draw the product's logo with the coordinates of icon.svg, which is 32 units wide."""
        unit = size / 32 * SCALE
        left, top = x * SCALE, y * SCALE
        self.on.rounded_rectangle([left, top, left + 32 * unit, top + 32 * unit], 8 * unit, ACCENT)
        points = [(left + dx * unit, top + dy * unit) for dx, dy in ((8, 17), (13, 22), (24, 10))]
        self.on.line(points, "#ffffff", round(3.5 * unit), joint="curve")
        for point in (points[0], points[-1]):
            self.on.circle(point, 1.75 * unit, "#ffffff")


def _draw_brand(pen: Pen) -> None:
    pen.mark(MARGIN, 64, 56)
    pen.text(MARGIN + 76, 103, PRODUCT, 32, TEXT, bold=True)


def _draw_slogan(pen: Pen) -> None:
    for number, line in enumerate(SLOGAN):
        pen.text(MARGIN, 270 + number * 92, line, 80, TEXT, bold=True)
    pen.text(MARGIN, 540, "Grades, and what to fix first.", 34, MUTED)
    for number, label in enumerate(TYPES):
        y = 180 + number * 100
        pen.mark(800, y, 60)
        pen.text(884, y + 42, label, 40, TEXT)


def _draw_single_grade(pen: Pen, card: Card) -> None:
    for grade in card.grades:
        pen.gauge(945, 315, 190, 36, grade)
    width = 600 if card.grades else WIDTH - 2 * MARGIN
    pen.text(MARGIN, 222, card.heading, 36, MUTED)
    _draw_address(pen, card, 236, width, ((1, 80, 60), (2, 80, 52), (3, 52, 36)))
    pen.text(MARGIN, 560, card.note, 30, MUTED)


def _draw_several_grades(pen: Pen, card: Card) -> None:
    pen.text(WIDTH - MARGIN, 103, ", ".join(filter(None, (card.heading, card.note))), 32, MUTED, anchor="rs")
    _draw_address(pen, card, 150, WIDTH - 2 * MARGIN, ((1, 80, 60), (2, 60, 36)))
    column_width = (WIDTH - 2 * MARGIN) / len(card.grades)
    for number, grade in enumerate(card.grades):
        x = MARGIN + column_width * (number + 0.5)
        pen.gauge(x, 442, 92, 20, grade)
        pen.text(x, 588, grade.label, 32, TEXT, anchor="ms")


def _draw_address(pen: Pen, card: Card, top: float, width: float, layouts: Layouts) -> None:
    """Draw the card's subject and path below the y coordinate `top`."""
    subject = drawable(card.subject)[-HOST_LENGTH:]
    face = Face.of(subject)
    size, lines = _fitted(subject, face, width, layouts)
    y = top
    for line in lines:
        y += size * 1.14
        replace(pen, face=face).text(MARGIN, y, line, size, TEXT, bold=True)
    if card.path not in {"", "/"}:
        pen.text(MARGIN, y + 54, _cut(_ascii(card.path[:PATH_LENGTH]), width, 34), 34, MUTED)


def _fitted(text: str, face: Face, width: float, layouts: Layouts) -> tuple[int, Sequence[str]]:
    """Return the font size and lines for the first layout that fits a text.

    A text that is too long for all layouts is cut at its beginning, because the end of a host identifies its owner.
    """
    for max_lines, largest, smallest in layouts:
        for size in range(largest, smallest - 1, -4):
            lines = list(_broken(text, face, width, size))
            if len(lines) <= max_lines:
                return size, lines
    while len(lines) > max_lines:
        text = text[4:]
        lines = list(_broken(f"{ELLIPSIS}{text}", face, width, size))
    return size, lines


def _broken(text: str, face: Face, width: float, size: int) -> Iterator[str]:
    """Break a text into lines of at most `width` pixels.

    Breaks follow dots and spaces if possible.
    """
    line = ""
    for part in re.findall(r"[^. ]*[. ]|[^. ]+", text):
        if line and _width(line + part, face, size) > width:
            yield line
            line = ""
        for character in part:
            if _width(line + character, face, size) > width:
                yield line
                line = ""
            line += character
    yield line


def _cut(text: str, width: float, size: int) -> str:
    if _width(text, Face.AILERON, size) <= width:
        return text
    while _width(f"{text}{ELLIPSIS}", Face.AILERON, size) > width:
        text = text[:-1]
    return f"{text}{ELLIPSIS}"


def _width(text: str, face: Face, size: int) -> float:
    """Return a bold text's width in card pixels."""
    return sum(map(face.advance, text)) * size + 2 * _outline(size)


def _outline(size: int) -> float:
    return size / 55


def _ascii(text: str) -> str:
    """Replace characters outside printable ASCII, which the font cannot draw, by question marks."""
    return re.sub(r"[^ -~]", "?", text)
