"""Tests of previews: search results and shared links."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.cast import document, head, page
from website_scan.seo.metadata import title_px
from website_scan.seo.previews import TITLE_PX, cut_to_width, search_result, shared_link


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
def test_title_is_cut_to_width_between_words(text: str, expected: str) -> None:
    assert cut_to_width(text, 20, 600) == expected


@given(st.text())
def test_cut_text_is_never_wider_than_limit(text: str) -> None:
    shortened = cut_to_width(text, 20, TITLE_PX)
    assert title_px(shortened) <= TITLE_PX
    assert shortened == text or shortened.endswith("…")


def test_missing_metadata_is_empty_in_previews() -> None:
    html_document = document(page("<!doctype html><p>Text"))
    assert set(search_result(html_document, "https://a.test/").values()) == {"", "https://a.test/"}
    assert set(shared_link(html_document, "https://a.test/").values()) == {"", "https://a.test/"}


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("https://a.test/i.png", "https://a.test/i.png"),
        ("/i.png", ""),  # social networks do not resolve relative URLs
        ("javascript:alert(1)", ""),
        ("data:image/png;base64,AA", ""),
    ],
)
def test_preview_image_is_absolute_http_url_or_empty(image: str, expected: str) -> None:
    html_document = document(page(head(f'<meta property="og:image" content="{image}">')))
    assert shared_link(html_document, "https://a.test/")["image"] == expected
