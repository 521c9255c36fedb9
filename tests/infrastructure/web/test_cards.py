"""Tests for cards, the pictures in link previews."""

from __future__ import annotations

import io
from itertools import combinations
from typing import Any

import pytest
from django.test import RequestFactory
from PIL import Image, ImageDraw

from infrastructure.web import colours
from infrastructure.web.cards import drawing, responses
from infrastructure.web.cards.drawing import BRAND, Card, CardGrade, draw
from infrastructure.web.cards.previews import address_of, title_of
from infrastructure.web.cards.responses import card_at, digest_of

HOST = "shop.example.com"
LONG = ("w" * 63 + ".") * 3 + "w" * 57 + ".com"
EVIL = "\u202egpj.evil\x00\n\u2066店.example"
FOUR = tuple(CardGrade(label, grade, 50) for label, grade in zip(drawing.TYPES, ("F", "D", "B", "A+"), strict=True))


def card(host: str = HOST, grade: str = "F", score: int | None = 49, path: str = "/") -> Card:
    return Card(host, "Security report", path, "26 Nov 2026", (CardGrade("Security", grade, score),))


def draw_image(card: Card) -> Image.Image:
    return Image.open(io.BytesIO(draw(card))).convert("RGB")


def has_pixels(picture: Image.Image, colour: str, least: int) -> bool:
    """Return True if at least `least` pixels have this colour.

    The palette may change colours slightly.
    """
    expected = [int(colour[n : n + 2], 16) for n in (1, 3, 5)]
    pixels = 0
    for number, pixel in picture.getcolors(1200 * 630) or ():
        if all(abs(one - other) <= 6 for one, other in zip(pixel, expected, strict=True)):  # type: ignore[arg-type]
            pixels += number
    return pixels >= least


@pytest.mark.parametrize("drawn", [BRAND, card(), card(LONG), Card(HOST, grades=FOUR), Card(HOST, "Scan in progress")])
def test_card_is_a_small_png(drawn: Card) -> None:
    data = draw(drawn)
    image = Image.open(io.BytesIO(data))
    assert (image.format, image.size, image.mode) == ("PNG", (1200, 630), "P")
    assert len(data) < 40_000


@pytest.mark.parametrize("grade", ["A+", "B", "C", "D", "F"])
def test_gauge_shows_grade_and_score(grade: str) -> None:
    colour = colours.gauge_colour(grade)
    assert has_pixels(draw_image(card(grade=grade, score=75)), colour, 20_000)
    # The ring begins at the top, so a score up to 50 fills only the right half.
    low = draw_image(card(grade=grade, score=25))
    assert not has_pixels(low.crop((740, 120, 800, 510)), colour, 1)
    assert has_pixels(low.crop((1060, 120, 1150, 300)), colour, 2_000)
    for other in {"A", "B", "C", "D", "F"} - {grade[0]}:
        assert not has_pixels(low, colours.gauge_colour(other), 500)


def test_different_cards_have_different_pictures() -> None:
    cards = [card(), card(grade="D", score=61), card(score=48), card("a.example"), card(path="/b"), BRAND]
    cards += [Card(HOST, grades=FOUR), Card(HOST, grades=FOUR[1:])]
    for one, other in combinations(cards, 2):
        assert draw(one) != draw(other)
        assert digest_of(one) != digest_of(other)


def test_card_with_four_grades_has_four_gauges() -> None:
    image = draw_image(Card(HOST, grades=FOUR))
    for number, card_grade in enumerate(FOUR):
        column = image.crop((80 + number * 260, 340, 340 + number * 260, 630))
        assert has_pixels(column, colours.gauge_colour(card_grade.grade), 1_000)


def test_card_without_result_has_no_coloured_gauge() -> None:
    for card_without_result in (BRAND, Card(HOST, "Scan in progress")):
        for colour in colours.LINES.values():
            assert not has_pixels(draw_image(card_without_result), colour, 1)


@pytest.mark.parametrize(
    "host", [HOST, "a.de", LONG, LONG.replace("w", "i"), "xn--" + "9" * 59 + ".example", "a-b." * 60 + "uk", EVIL]
)
@pytest.mark.parametrize("grades", [(), FOUR[:1], FOUR])
def test_card_texts_do_not_overlap(monkeypatch: pytest.MonkeyPatch, host: str, grades: tuple[CardGrade, ...]) -> None:
    """Test that texts stay on the card and do not overlap.

    It must not touch the large gauge or another text.
    """
    boxes: list[tuple[float, float, float, float]] = []
    text = ImageDraw.ImageDraw.text

    def record_text(self: ImageDraw.ImageDraw, xy: tuple[float, float], drawn: str, *args: Any, **options: Any) -> None:
        font, anchor, stroke = args[1], options["anchor"], options["stroke_width"]
        boxes.append(self.textbbox(xy, drawn, font, anchor=anchor, stroke_width=stroke))
        text(self, xy, drawn, *args, **options)

    monkeypatch.setattr(ImageDraw.ImageDraw, "text", record_text)
    drawing._png(Card(host, "Accessibility report", "/" + "W" * 8_000, "26 Nov 2026", grades))
    right = 750 if len(grades) == 1 else 1130
    for left, top, end, bottom in (tuple(coordinate / drawing.SCALE for coordinate in box) for box in boxes):
        assert left >= 60
        assert top >= 60
        assert bottom <= 610
        assert end <= right or (len(grades) == 1 and left >= 755)
    for one, other in combinations(boxes, 2):
        are_disjoint = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        # Two lines of a host may touch at the edges of their letters.
        assert are_disjoint or min(one[3], other[3]) - max(one[1], other[1]) <= 8


def test_card_replaces_missing_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    text = drawing.Pen.text

    def record_text(self: drawing.Pen, x: float, y: float, line: str, *args: Any, **options: Any) -> Any:
        drawn.append(line)
        return text(self, x, y, line, *args, **options)

    monkeypatch.setattr(drawing.Pen, "text", record_text)
    drawing._png(card(EVIL, path="/\u202e\x07"))
    assert "?gpj.evil????.example/??" in "".join(drawn)
    assert "".join(drawn).isprintable()
    assert "".join(drawn).isascii()


def test_card_shortens_a_long_host(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(drawing.Pen, "text", lambda self, x, y, line, *args, **options: drawn.append(line))
    drawing._png(card("www.bank.example." * 12 + "evil.example"))
    assert any(line.endswith("evil.example") for line in drawn)
    assert any(line.startswith("…") for line in drawn)


def test_old_card_urls_redirect(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Card] = []

    def draw(card: Card) -> bytes:
        drawn.append(card)
        return b"PNG"

    monkeypatch.setattr(drawing, "_png", draw)
    drawing.draw.cache_clear()
    request = RequestFactory().get("/")
    address = "/card/{}.png".format
    digests = (digest_of(BRAND), digest_of(BRAND), "0" * 16, "x")
    answers = [card_at(request, BRAND, digest, address, responses.PUBLIC) for digest in digests]
    assert [answer.status_code for answer in answers] == [200, 200, 302, 302]
    assert {answer["Location"] for answer in answers[2:]} == {address(digest_of(BRAND))}
    assert drawn == [BRAND]
    for number in range(drawing.CACHED_CARDS + 50):
        drawing.draw(Card(f"{number}.example"))
    assert drawing.draw.cache_info().currsize == drawing.CACHED_CARDS
    drawing.draw.cache_clear()


def test_preview_titles_begin_with_the_result() -> None:
    assert title_of("F (49): security of", "https://shop.example.com/") == "F (49): security of shop.example.com"
    assert title_of("A (92): SEO of", "https://a.example:8443/b?key=secret") == "A (92): SEO of a.example:8443/b"
    long = title_of("F (49): accessibility of", f"https://{LONG}/{'x' * 500}")
    assert len(long) <= 125
    assert "w.com/" in long
    assert title_of("A (92): SEO of", f"https://{EVIL}/").isprintable()


def test_address_of_omits_the_query() -> None:
    assert address_of("https://xn--fiqs8s.example:444/a/b?token=1") == ("xn--fiqs8s.example:444", "/a/b")
