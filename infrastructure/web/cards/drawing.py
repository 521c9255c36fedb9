"""Pictures of links for chats and social networks (Open Graph), drawn as PNG without a browser.

Texts are drawn in the font that Pillow carries, Aileron (CC0), which has ASCII. Hosts are ASCII: other names are
written in Punycode.
"""

from __future__ import annotations

import functools
import io
import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from infrastructure.web.colours import line_of

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

WIDTH, HEIGHT = 1200, 630
MARGIN = 80
# Drawn in this scale and reduced, so that arcs have smooth edges.
SCALE = 2
# With a palette, files are less than half as large, and look the same.
PALETTE = 64
# Cards that a process keeps, at 10 to 20 kB each.
KEPT = 200

PAGE, SUNKEN, TEXT, MUTED, ACCENT = "#f6f7fa", "#e3e6ee", "#1a1f2e", "#545d72", "#3949c6"
PRODUCT = "Website Scan Service"
TYPES = ("Security", "Performance", "Accessibility", "SEO")
PROMISE = ("Scan a page,", "watch a site,", "gate a build.")
ELLIPSIS = "…"
# Number of lines, largest and smallest size.
Layouts: TypeAlias = Sequence[tuple[int, int, int]]
LARGE = 150  # radius from which a gauge has room for "/ 100"
MEASURED = 200  # size in which widths are measured
# Longest texts that are measured; longer ones never have room.
HOST_LENGTH, PATH_LENGTH = 253, 200


@dataclass(frozen=True, slots=True)
class CardGrade:
    """Grade on a card; `grade` is empty, and `score` is None, if a type has no result."""

    label: str
    grade: str
    score: int | None


@dataclass(frozen=True, slots=True)
class Card:
    """Content of a card: a large gauge for a single grade, a row of gauges for several.

    `subject` is a host, or what else the card is about, and `path` the path of a page.
    """

    subject: str
    heading: str = ""
    path: str = ""
    note: str = ""
    grades: tuple[CardGrade, ...] = ()


# The card of pages without a result, such as the start page.
BRAND = Card("")
_drawing = threading.Lock()


@functools.lru_cache(maxsize=KEPT)
def draw(card: Card) -> bytes:
    """Return the PNG of a card, 1200 pixels wide and 630 high.

    Each process keeps the last cards, and draws one at a time: a card takes 30 ms, and 30 MB while it is drawn.
    """
    with _drawing:
        return _drawn(card)


def _drawn(card: Card) -> bytes:
    # Loaded here, because most processes never draw, and it takes 10 MB.
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (WIDTH * SCALE, HEIGHT * SCALE), PAGE)
    pen = Pen(ImageDraw.Draw(image))
    _brand(pen)
    if card == BRAND:
        _promise(pen)
    elif len(card.grades) > 1:
        _several(pen, card)
    else:
        _single(pen, card)
    # The default method takes eight times as long.
    small = image.reduce(SCALE).quantize(PALETTE, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    file = io.BytesIO()
    small.save(file, "PNG")
    return file.getvalue()


@dataclass(frozen=True, slots=True)
class Pen:
    """Draws on the large picture with the coordinates of the card."""

    on: ImageDraw

    def text(
        self, x: float, y: float, text: str, size: int, colour: str, *, bold: bool = False, anchor: str = "ls"
    ) -> None:
        """Draw a line of text with its baseline at `y`. The font has one weight, so that bold is an outline."""
        stroke = _outline(size) * SCALE if bold else 0
        self.on.text((x * SCALE, y * SCALE), text, colour, _font(size * SCALE), anchor=anchor, stroke_width=stroke)

    def gauge(self, x: float, y: float, radius: float, width: float, grade: CardGrade) -> None:
        """Draw the ring of a score, as the report has it, with the grade at its centre."""
        colour = line_of(grade.grade) if grade.grade else MUTED
        around = [each * SCALE for each in (x - radius, y - radius, x + radius, y + radius)]
        thick = round(width * SCALE)
        self.on.arc(around, 0, 360, SUNKEN, thick)
        if grade.score:
            self.on.arc(around, -90, -90 + 3.6 * grade.score, colour, thick)
        letter = round(radius * 0.86)
        self.text(x, y + radius * 0.18, grade.grade or "-", letter, colour, bold=True, anchor="ms")
        if grade.score is None:
            told, share = "no result", 0.27
        elif radius < LARGE:
            told, share = f"{grade.score}", 0.36
        else:
            told, share = f"{grade.score} / 100", 0.27
        self.text(x, y + radius * 0.55, told, round(radius * share), MUTED, anchor="ms")

    def mark(self, x: float, y: float, size: float) -> None:
        """Draw the mark of the product (icon.svg, whose picture is 32 units wide)."""
        unit = size / 32 * SCALE
        left, top = x * SCALE, y * SCALE
        self.on.rounded_rectangle([left, top, left + 32 * unit, top + 32 * unit], 8 * unit, ACCENT)
        points = [(left + across * unit, top + down * unit) for across, down in ((8, 17), (13, 22), (24, 10))]
        self.on.line(points, "#ffffff", round(3.5 * unit), joint="curve")
        for across, down in (points[0], points[-1]):
            self.on.circle((across, down), 1.75 * unit, "#ffffff")


def _brand(pen: Pen) -> None:
    pen.mark(MARGIN, 64, 56)
    pen.text(MARGIN + 76, 103, PRODUCT, 32, TEXT, bold=True)


def _promise(pen: Pen) -> None:
    for number, line in enumerate(PROMISE):
        pen.text(MARGIN, 270 + number * 92, line, 80, TEXT, bold=True)
    pen.text(MARGIN, 540, "Grades, and what to fix first.", 34, MUTED)
    for number, label in enumerate(TYPES):
        y = 180 + number * 100
        pen.mark(800, y, 60)
        pen.text(884, y + 42, label, 40, TEXT)


def _single(pen: Pen, card: Card) -> None:
    for grade in card.grades:
        pen.gauge(945, 315, 190, 36, grade)
    room = 600 if card.grades else WIDTH - 2 * MARGIN
    pen.text(MARGIN, 222, card.heading, 36, MUTED)
    _address(pen, card, 236, room, ((1, 80, 60), (2, 80, 52), (3, 52, 36)))
    pen.text(MARGIN, 560, card.note, 30, MUTED)


def _several(pen: Pen, card: Card) -> None:
    pen.text(WIDTH - MARGIN, 103, ", ".join(filter(None, (card.heading, card.note))), 32, MUTED, anchor="rs")
    _address(pen, card, 150, WIDTH - 2 * MARGIN, ((1, 80, 60), (2, 60, 36)))
    room = (WIDTH - 2 * MARGIN) / len(card.grades)
    for number, each in enumerate(card.grades):
        x = MARGIN + room * (number + 0.5)
        pen.gauge(x, 442, 92, 20, each)
        pen.text(x, 588, each.label, 32, TEXT, anchor="ms")


def _address(pen: Pen, card: Card, top: float, room: float, layouts: Layouts) -> None:
    """Draw subject and path below `top`."""
    size, lines = _fitted(_ascii(card.subject)[-HOST_LENGTH:], room, layouts)
    y = top
    for line in lines:
        y += size * 1.14
        pen.text(MARGIN, y, line, size, TEXT, bold=True)
    if card.path not in {"", "/"}:
        pen.text(MARGIN, y + 54, _cut(_ascii(card.path[:PATH_LENGTH]), room, 34), 34, MUTED)


def _fitted(text: str, room: float, layouts: Layouts) -> tuple[int, Sequence[str]]:
    """Return the size and the lines of the first layout that has room for a text.

    A text that is too long for all of them loses its beginning: the end of a host says whose it is.
    """
    for most, largest, smallest in layouts:
        for size in range(largest, smallest - 1, -4):
            lines = list(_broken(text, room, size))
            if len(lines) <= most:
                return size, lines
    while len(lines) > most:
        text = text[4:]
        lines = list(_broken(f"{ELLIPSIS}{text}", room, size))
    return size, lines


def _broken(text: str, room: float, size: int) -> Iterator[str]:
    """Break a text after dots and spaces into lines that have room; a part that is too long breaks anywhere."""
    line = ""
    for part in re.findall(r"[^. ]*[. ]|[^. ]+", text):
        if line and _width(line + part, size) > room:
            yield line
            line = ""
        for each in part:
            if _width(line + each, size) > room:
                yield line
                line = ""
            line += each
    yield line


def _cut(text: str, room: float, size: int) -> str:
    if _width(text, size) <= room:
        return text
    while _width(f"{text}{ELLIPSIS}", size) > room:
        text = text[:-1]
    return f"{text}{ELLIPSIS}"


def _width(text: str, size: int) -> float:
    """Return the width of a text in bold, in the card's pixels."""
    return sum(map(_advance, text)) * size + 2 * _outline(size)


@functools.cache
def _advance(character: str) -> float:
    """Return the width of a character at size 1. Few are ever asked for: texts are ASCII here."""
    return _font(MEASURED).getlength(character) / MEASURED


def _outline(size: int) -> float:
    return size / 55


@functools.cache
def _font(size: int) -> FreeTypeFont:
    from PIL import ImageFont

    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font


def _ascii(text: str) -> str:
    """Replace what the font cannot draw, control characters included."""
    return re.sub(r"[^ -~]", "?", text)
