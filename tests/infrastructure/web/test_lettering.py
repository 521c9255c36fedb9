# ruff: noqa: RUF001  # The names have letters that look like ASCII.
"""Tests for the fonts of cards."""

from __future__ import annotations

import io
import unicodedata

import pytest
from PIL import Image

from infrastructure.web.cards import lettering
from infrastructure.web.cards.drawing import Card, draw
from infrastructure.web.cards.lettering import Face, drawable, is_drawable
from tests.infrastructure.web.test_cards import FOUR

CHINESE = "学"
# Texts with all letters of each alphabet, and some decomposed letters.
NAMES = {
    "german": "Städte und Größen",
    "french": "Mairies de l’Île-de-France, à l’œuvre",
    "spanish": "¿Qué municipios? ¡Señal!",
    "polish": "Pchnąć w tę łódź jeża",
    "czech": "Příliš žluťoučký kůň",
    "hungarian": "Árvíztűrő tükörfúrógép",
    "romanian": "Miniștri și orașe, ținuturi",
    "turkish": "Şehirler, ığdır, İzmir",
    "welsh": "Ŵyth ŷd",
    "maltese": "Ħal Għaxaq, Żebbuġ",
    "icelandic": "Þórshöfn, Ísafjörður",
    "latvian": "Ķekava, Ģibuļi, Ņīgrande",
    "greek": "Υπουργεία, Ξάνθη, Ϊ",
    "russian": "Съешь ещё этих мягких булок",
    "ukrainian": "Київ, Їжакевич, Ґалаґан",
    "serbian": "Љубав, Њујорк, Ђурђевдан",
    "vietnamese": "Thành phố Hồ Chí Minh",
    "decomposed": "Sta\u0308dte",
}


def glyph(character: str) -> bytes:
    mask = Face.NOTO.font(40).getmask(character)
    return bytes(mask) + repr(mask.size).encode()


def test_font_has_all_characters_that_cards_show() -> None:
    missing = glyph(CHINESE)
    for first, last in lettering.RANGES:
        for code in range(first, last + 1):
            if unicodedata.category(chr(code)) not in ("Cn", "Cf"):
                assert glyph(chr(code)) != missing, f"U+{code:04X}"


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_names_in_european_scripts_are_drawable(name: str) -> None:
    assert is_drawable(name)
    assert drawable(name) == unicodedata.normalize("NFC", name)


@pytest.mark.parametrize(
    "name", ["学校", "Երևան", "თბილისი", "שלום", "مدارس", "\u202egpj.evil", "a\u200bb", "tab\t", "🏫", "\u0301", "\x00"]
)
def test_undrawable_characters_are_replaced(name: str) -> None:
    assert not is_drawable(name)
    assert "?" in drawable(name)


def test_card_shows_the_letters_of_a_name() -> None:
    assert len({draw(Card(name, heading="2 sites")) for name in ("Städte", "Stadte", "St?dte")}) == 3


def test_host_names_have_a_different_font() -> None:
    assert Face.of("shop.example.com") is Face.AILERON
    assert Face.of("Städte") is Face.NOTO


@pytest.mark.parametrize("text", [*NAMES.values(), "a" + "ä" * 200, "Ш" * 300])
def test_long_names_stay_inside_the_card(text: str) -> None:
    for grades in ((), FOUR[:1], FOUR):
        image = Image.open(io.BytesIO(draw(Card(text, heading="2 sites", grades=grades)))).convert("RGB")
        right = 750 if len(grades) == 1 else 1130
        column = image.crop((right, 110, right + 4, 340))
        assert column.getcolors(2) == [(4 * 230, column.getpixel((0, 0)))], "the column beside the text is empty"
