"""Card fonts: Aileron for ASCII, and Noto Sans for names with other Latin, Greek or Cyrillic letters.

Aileron (CC0) is the font that Pillow includes, which has only ASCII.
"""

from __future__ import annotations

import enum
import functools
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

MEASURED_SIZE = 200  # Font size in which the widths of characters are measured.
# Ranges of characters that Noto Sans has without gaps among assigned characters. A test compares them with the font.
RANGES = (
    *((0x20, 0x7E), (0xA1, 0xAC), (0xAE, 0x24F), (0x370, 0x3E1), (0x3F0, 0x481), (0x48A, 0x52F), (0x1E00, 0x1FFF)),
    *((0x2010, 0x2015), (0x2018, 0x201E), (0x2020, 0x2022), (0x2026, 0x2026), (0x2030, 0x2030), (0x20A0, 0x20C0)),
    *((0x2116, 0x2116), (0x2122, 0x2122)),
)


def is_drawable(text: str) -> bool:
    """Return True if cards can show all characters of a text."""
    return all(map(_has_glyph, unicodedata.normalize("NFC", text)))


def drawable(text: str) -> str:
    """Replace characters that cards cannot show by question marks."""
    return "".join(character if _has_glyph(character) else "?" for character in unicodedata.normalize("NFC", text))


class Face(enum.Enum):
    """A text's typeface."""

    AILERON = "Aileron"
    NOTO = "Noto Sans"

    @classmethod
    def of(cls, text: str) -> Face:
        """Return the typeface for a text. It is the same for all its lines."""
        return cls.AILERON if text.isascii() else cls.NOTO

    def font(self, size: int) -> FreeTypeFont:
        return _font(self, size)

    def advance(self, character: str) -> float:
        """Return a character's width at font size 1."""
        return _advance(self, character)


def _has_glyph(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in RANGES)


@functools.lru_cache(maxsize=2_000)
def _advance(face: Face, character: str) -> float:
    return _font(face, MEASURED_SIZE).getlength(character) / MEASURED_SIZE


@functools.lru_cache(maxsize=100)
def _font(face: Face, size: int) -> FreeTypeFont:
    # Pillow is imported here, because it takes 10 MB and most processes never draw.
    from PIL import ImageFont

    font = ImageFont.load_default(size) if face is Face.AILERON else ImageFont.truetype(_noto_sans(), size)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font


@functools.cache
def _noto_sans() -> str:
    import fontpkg

    return str(fontpkg.path("Noto Sans"))
