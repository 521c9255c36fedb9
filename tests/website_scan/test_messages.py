"""Test that long texts are truncated with an ellipsis."""

from __future__ import annotations

import pytest

from website_scan.messages import cut


@pytest.mark.parametrize(
    ("text", "shown"), [("", ""), ("four", "four"), ("fives", "fiv…"), ("in two", "in…"), ("f" * 1000, "fff…")]
)
def test_long_text_is_cut_with_an_ellipsis(text: str, shown: str) -> None:
    assert cut(text, 4) == shown
