"""Text of PDF documents that Chromium has printed, by page and line."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

OBJECT = re.compile(rb"(\d+) 0 obj\n(.*?)\nendobj", re.DOTALL)
STREAM = re.compile(rb"stream\r?\n(.*)\r?\nendstream", re.DOTALL)
TOKEN = re.compile(rb"<([0-9A-Fa-f]*)>|/(\S+)|(-?\d*\.?\d+)|([A-Za-z*]+)|\[|\]")
MAPPED_CHARACTER = re.compile(rb"<([0-9A-F]{4})> <([0-9A-F]+)>$", re.MULTILINE)
MAPPED_RANGE = re.compile(rb"<([0-9A-F]{4})> <([0-9A-F]{4})> <([0-9A-F]{4})>")
# Margins of the style sheet at the top and bottom (18 mm), in points. They contain the address and the page number.
MARGIN_PT = 18 / 25.4 * 72
# Texts whose baselines differ by less are one line.
LINE_PT = 2.0

Matrix = tuple[float, float, float, float, float, float]
Glyphs = Mapping[int, str]


class Line(NamedTuple):
    """Line of text. `position` is its share of the printed height, from 0 at the top to 1 at the bottom."""

    position: float
    text: str


class PrintedPage(NamedTuple):
    """Page of a document, without its margins. The lines are sorted from top to bottom."""

    lines: list[Line]

    @property
    def blank_share(self) -> float:
        """Return the share of the height below the last line of text."""
        return 1 - self.lines[-1].position if self.lines else 1.0


def printed_pages(pdf: bytes) -> list[PrintedPage]:
    """Return the pages of a PDF document."""
    objects = {int(match[1]): match[2] for match in OBJECT.finditer(pdf)}
    return [_printed_page(objects, content) for content in objects.values() if re.search(rb"/Type /Page(?!s)", content)]


def _printed_page(objects: Mapping[int, bytes], page: bytes) -> PrintedPage:
    box = re.search(rb"/MediaBox \[0 0 \S+ (\S+)\]", page)
    contents = re.search(rb"/Contents (\d+) 0 R", page)
    assert box is not None
    assert contents is not None
    height = float(box[1]) - 2 * MARGIN_PT
    fonts = {match[1]: _glyphs(objects, int(match[2])) for match in re.finditer(rb"/(F\d+) (\d+) 0 R", page)}
    texts_by_line: dict[int, list[tuple[float, float, str]]] = {}
    for x, y, text in _TextReader(fonts).texts(_unpacked(objects[int(contents[1])])):
        position = 1 - (y - MARGIN_PT) / height
        if 0 <= position <= 1:
            texts_by_line.setdefault(round(y / LINE_PT), []).append((x, position, text))
    return PrintedPage(
        sorted(Line(texts[0][1], " ".join(text for _, _, text in sorted(texts))) for texts in texts_by_line.values())
    )


class _Text(NamedTuple):
    """Text at coordinates in points."""

    x: float
    y: float
    text: str


class _TextReader:
    """Interpreter of the operators for texts in a content stream (ISO 32000-1, sections 8.4 and 9.4)."""

    def __init__(self, fonts: Mapping[bytes, Glyphs]) -> None:
        self._fonts = fonts
        self._glyphs: Glyphs = {}
        self._transform: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
        self._saved: list[Matrix] = []
        self._text_matrix: Matrix = self._transform
        self._name = self._glyph_ids = b""
        self._characters: list[str] = []
        self._operands: list[float] = []
        self._operators: Mapping[bytes, Callable[[], None]] = {
            b"q": lambda: self._saved.append(self._transform),
            b"Q": self._restore,
            b"cm": self._concatenate,
            b"BT": self._characters.clear,
            b"Tm": self._set_text_matrix,
            b"Tf": self._set_font,
            b"Tj": self._show,
        }

    def texts(self, content: bytes) -> Iterator[_Text]:
        for token in TOKEN.finditer(content):
            glyph_ids, name, number, operator = token.groups()
            if number is not None:
                self._operands.append(float(number))
            elif operator is None:
                self._name = self._name if name is None else name
                self._glyph_ids = self._glyph_ids if glyph_ids is None else glyph_ids
            else:
                self._operators.get(operator, lambda: None)()
                self._operands.clear()
                if operator == b"ET":
                    *_, x, y = _product(self._text_matrix, self._transform)
                    yield _Text(x, y, "".join(self._characters))

    def _restore(self) -> None:
        self._transform = self._saved.pop()

    def _concatenate(self) -> None:
        self._transform = _product(_matrix(self._operands), self._transform)

    def _set_text_matrix(self) -> None:
        self._text_matrix = _matrix(self._operands)

    def _set_font(self) -> None:
        self._glyphs = self._fonts.get(self._name, {})

    def _show(self) -> None:
        ids = (int(self._glyph_ids[n : n + 4], 16) for n in range(0, len(self._glyph_ids), 4))
        self._characters += (self._glyphs.get(id, "") for id in ids)


def _glyphs(objects: Mapping[int, bytes], font: int) -> Glyphs:
    """Return the characters of a font by glyph ID."""
    to_unicode = re.search(rb"/ToUnicode (\d+) 0 R", objects[font])
    if to_unicode is None:
        return {}
    mapping = _unpacked(objects[int(to_unicode[1])])
    glyphs = {
        int(glyph, 16): bytes.fromhex(character.decode()).decode("utf-16-be")
        for glyph, character in MAPPED_CHARACTER.findall(mapping)
    }
    for first, last, character in MAPPED_RANGE.findall(mapping):
        for offset in range(int(last, 16) - int(first, 16) + 1):
            glyphs[int(first, 16) + offset] = chr(int(character, 16) + offset)
    return glyphs


def _unpacked(stream_object: bytes) -> bytes:
    stream = STREAM.search(stream_object)
    assert stream is not None
    return zlib.decompress(stream[1])


def _matrix(operands: list[float]) -> Matrix:
    a, b, c, d, e, f = operands[-6:]
    return a, b, c, d, e, f


def _product(first: Matrix, second: Matrix) -> Matrix:
    a, b, c, d, e, f = first
    p, q, r, s, t, u = second
    return a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u
