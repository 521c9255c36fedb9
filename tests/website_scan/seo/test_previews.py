"""Tests for previews of search results and shared links."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.cast import document, head, page
from website_scan.seo.metadata import title_width_px
from website_scan.seo.previews import MAX_TITLE_WIDTH_PX, cut_to_width, search_result, shared_link


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Shoes", "Shoes"),
        ("", ""),
        ("Shoes " * 20, "Shoes Shoes Shoes Shoes Shoes Shoes Shoes Shoes Shoes…"),
        ("W" * 60, "W" * 30 + "…"),
        ("鞋" * 60, "鞋" * 29 + "…"),
    ],
)
def test_title_is_cut_between_words(text: str, expected: str) -> None:
    assert cut_to_width(text, 20, 600) == expected


@given(st.text())
def test_cut_text_fits_into_limit(text: str) -> None:
    shortened = cut_to_width(text, 20, MAX_TITLE_WIDTH_PX)
    assert title_width_px(shortened) <= MAX_TITLE_WIDTH_PX
    assert shortened == text or shortened.endswith("…")


def test_missing_metadata_is_empty() -> None:
    html_document = document(page("<!doctype html><p>Text"))
    assert set(search_result(html_document, "https://a.test/").values()) == {"", "https://a.test/"}
    assert set(shared_link(html_document, "https://a.test/").values()) == {"", "https://a.test/"}


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("https://a.test/i.png", "https://a.test/i.png"),
        ("/i.png", ""),  # Social networks do not resolve relative URLs.
        ("javascript:alert(1)", ""),
        ("data:image/png;base64,AA", ""),
    ],
)
def test_preview_image_has_absolute_url(image: str, expected: str) -> None:
    html_document = document(page(head(f'<meta property="og:image" content="{image}">')))
    assert shared_link(html_document, "https://a.test/")["image"] == expected
