"""Previews: titles and descriptions, cut as search engines do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.cast import document, head, page
from website_scan.seo.metadata import title_px
from website_scan.seo.previews import TITLE_PX, cut, search_result, shared_link


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Shoes", "Shoes"),
        ("", ""),
        ("Shoes " * 20, "Shoes Shoes Shoes Shoes Shoes Shoes Shoes Shoes Shoes…"),
        ("W" * 60, "W" * 30 + "…"),
        ("鞋" * 60, "鞋" * 29 + "…"),
    ],
)
def test_a_title_is_cut_at_its_room_and_between_words_where_there_are_any(text: str, shown: str) -> None:
    assert cut(text, 20, 600) == shown


@given(st.text())
def test_nothing_takes_more_room_than_there_is(text: str) -> None:
    shown = cut(text, 20, TITLE_PX)
    assert title_px(shown) <= TITLE_PX
    assert shown == text or shown.endswith("…")


def test_what_the_page_does_not_say_is_empty() -> None:
    found = document(page("<!doctype html><p>Text"))
    assert set(search_result(found, "https://a.test/").values()) == {"", "https://a.test/"}
    assert set(shared_link(found, "https://a.test/").values()) == {"", "https://a.test/"}


@pytest.mark.parametrize(
    ("image", "shown"),
    [
        ("https://a.test/i.png", "https://a.test/i.png"),
        ("/i.png", ""),  # social networks do not resolve it
        ("javascript:alert(1)", ""),
        ("data:image/png;base64,AA", ""),
    ],
)
def test_an_image_is_an_address_that_networks_would_load(image: str, shown: str) -> None:
    found = document(page(head(f'<meta property="og:image" content="{image}">')))
    assert shared_link(found, "https://a.test/")["image"] == shown
