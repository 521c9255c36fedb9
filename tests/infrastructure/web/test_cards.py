"""Cards of links: size, colours, texts that have room, and how often one is drawn."""

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


def picture(card: Card) -> Image.Image:
    return Image.open(io.BytesIO(draw(card))).convert("RGB")


def has(picture: Image.Image, colour: str, least: int) -> bool:
    """Return True if so many pixels have this colour, or nearly, as the palette has."""
    wanted = [int(colour[n : n + 2], 16) for n in (1, 3, 5)]
    found = 0
    for number, pixel in picture.getcolors(1200 * 630) or ():
        if all(abs(one - other) <= 6 for one, other in zip(pixel, wanted, strict=True)):  # type: ignore[arg-type]
            found += number
    return found >= least


@pytest.mark.parametrize("drawn", [BRAND, card(), card(LONG), Card(HOST, grades=FOUR), Card(HOST, "Scan in progress")])
def test_a_card_is_a_small_png_of_the_size_that_networks_ask_for(drawn: Card) -> None:
    data = draw(drawn)
    shown = Image.open(io.BytesIO(data))
    assert (shown.format, shown.size, shown.mode) == ("PNG", (1200, 630), "P")
    assert len(data) < 40_000


@pytest.mark.parametrize("grade", ["A+", "B", "C", "D", "F"])
def test_the_gauge_has_the_colour_of_the_grade_and_the_arc_of_the_score(grade: str) -> None:
    colour = colours.gauge_colour(grade)
    assert has(picture(card(grade=grade, score=75)), colour, 20_000)
    # The ring's left half belongs to the second half of the points, its right one to the first.
    low = picture(card(grade=grade, score=25))
    assert not has(low.crop((740, 120, 800, 510)), colour, 1)
    assert has(low.crop((1060, 120, 1150, 300)), colour, 2_000)
    for other in {"A", "B", "C", "D", "F"} - {grade[0]}:
        assert not has(low, colours.gauge_colour(other), 500)


def test_different_results_and_hosts_have_different_pictures_and_addresses() -> None:
    cards = [card(), card(grade="D", score=61), card(score=48), card("a.example"), card(path="/b"), BRAND]
    cards += [Card(HOST, grades=FOUR), Card(HOST, grades=FOUR[1:])]
    for one, other in combinations(cards, 2):
        assert draw(one) != draw(other)
        assert digest_of(one) != digest_of(other)


def test_an_audit_has_a_gauge_for_each_type() -> None:
    shown = picture(Card(HOST, grades=FOUR))
    for number, each in enumerate(FOUR):
        column = shown.crop((80 + number * 260, 340, 340 + number * 260, 630))
        assert has(column, colours.gauge_colour(each.grade), 1_000)


def test_cards_without_a_result_claim_no_grade() -> None:
    for each in (BRAND, Card(HOST, "Scan in progress")):
        for colour in colours.LINES.values():
            assert not has(picture(each), colour, 1)


@pytest.mark.parametrize(
    "host", [HOST, "a.de", LONG, LONG.replace("w", "i"), "xn--" + "9" * 59 + ".example", "a-b." * 60 + "uk", EVIL]
)
@pytest.mark.parametrize("grades", [(), FOUR[:1], FOUR])
def test_texts_stay_in_their_place(monkeypatch: pytest.MonkeyPatch, host: str, grades: tuple[CardGrade, ...]) -> None:
    """No text leaves the card, reaches the large gauge or meets another text."""
    boxes: list[tuple[float, float, float, float]] = []
    text = ImageDraw.ImageDraw.text

    def noting(self: ImageDraw.ImageDraw, xy: tuple[float, float], drawn: str, *args: Any, **options: Any) -> None:
        font, anchor, stroke = args[1], options["anchor"], options["stroke_width"]
        boxes.append(self.textbbox(xy, drawn, font, anchor=anchor, stroke_width=stroke))
        text(self, xy, drawn, *args, **options)

    monkeypatch.setattr(ImageDraw.ImageDraw, "text", noting)
    drawing._png(Card(host, "Accessibility report", "/" + "W" * 8_000, "26 Nov 2026", grades))
    right = 750 if len(grades) == 1 else 1130
    for left, top, end, bottom in (tuple(each / drawing.SCALE for each in box) for box in boxes):
        assert left >= 60
        assert top >= 60
        assert bottom <= 610
        assert end <= right or (len(grades) == 1 and left >= 755)
    for one, other in combinations(boxes, 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        # Lines of a host may touch by the outline of their letters.
        assert apart or min(one[3], other[3]) - max(one[1], other[1]) <= 8


def test_what_the_font_does_not_have_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    text = drawing.Pen.text

    def noting(self: drawing.Pen, x: float, y: float, said: str, *args: Any, **options: Any) -> Any:
        drawn.append(said)
        return text(self, x, y, said, *args, **options)

    monkeypatch.setattr(
        drawing.Pen,
        "text",
        noting,
    )
    drawing._png(card(EVIL, path="/\u202e\x07"))
    assert "?gpj.evil????.example/??" in "".join(drawn)
    assert "".join(drawn).isprintable()
    assert "".join(drawn).isascii()


def test_the_end_of_a_long_host_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(drawing.Pen, "text", lambda self, x, y, said, *args, **options: drawn.append(said))
    drawing._png(card("www.bank.example." * 12 + "evil.example"))
    assert any(each.endswith("evil.example") for each in drawn)
    assert any(each.startswith("…") for each in drawn)


def test_each_card_is_drawn_once_and_only_at_its_own_address(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Card] = []

    def draw(card: Card) -> bytes:
        drawn.append(card)
        return b"PNG"

    monkeypatch.setattr(drawing, "_drawn", draw)
    drawing.draw.cache_clear()
    request = RequestFactory().get("/")
    address = "/card/{}.png".format
    asked = (digest_of(BRAND), digest_of(BRAND), "0" * 16, "x")
    answers = [card_at(request, BRAND, each, address, responses.PUBLIC) for each in asked]
    assert [each.status_code for each in answers] == [200, 200, 302, 302]
    assert {each["Location"] for each in answers[2:]} == {address(digest_of(BRAND))}
    assert drawn == [BRAND]
    for number in range(drawing.CACHED_CARDS + 50):
        drawing.draw(Card(f"{number}.example"))
    assert drawing.draw.cache_info().currsize == drawing.CACHED_CARDS
    drawing.draw.cache_clear()


def test_titles_lead_with_the_result_and_are_short_and_plain() -> None:
    assert title_of("F (49): security of", "https://shop.example.com/") == "F (49): security of shop.example.com"
    assert title_of("A (92): SEO of", "https://a.example:8443/b?key=secret") == "A (92): SEO of a.example:8443/b"
    long = title_of("F (49): accessibility of", f"https://{LONG}/{'x' * 500}")
    assert len(long) <= 125
    assert "w.com/" in long
    assert title_of("A (92): SEO of", f"https://{EVIL}/").isprintable()


def test_an_address_leaves_the_query_out() -> None:
    assert address_of("https://xn--fiqs8s.example:444/a/b?token=1") == ("xn--fiqs8s.example:444", "/a/b")
