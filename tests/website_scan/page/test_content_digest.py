"""Tests for the digest of a page's elements and texts."""

from __future__ import annotations

import pytest

from tests.website_scan.cast import body, document, page
from website_scan.page.content_digest import content_digest


def digest(markup: str) -> str:
    return content_digest(document(page(body(markup))))


@pytest.mark.parametrize(
    "other",
    [
        "<p class='b'>Open since  1904</p><img src=2.png>",  # attributes, white space and digits
        "<p>Open since 1905</p><img src=a.png><script>token = 'x'</script><style>p { color: red }</style>",
    ],
)
def test_page_is_the_same_despite_tokens_and_counters(other: str) -> None:
    assert digest("<p>Open since 1905</p><img src=a.png>") == digest(other)


@pytest.mark.parametrize(
    "other", ["<p>Closed since 1905</p><img src=a.png>", "<p>Open since 1905</p>", "<h2>Open since 1905</h2><img>"]
)
def test_page_with_other_texts_or_elements_has_changed(other: str) -> None:
    assert digest("<p>Open since 1905</p><img src=a.png>") != digest(other)
