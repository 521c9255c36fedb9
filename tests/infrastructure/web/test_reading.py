"""Template filters for long texts."""

from __future__ import annotations

import pytest

from infrastructure.web.reading import cut


@pytest.mark.parametrize(("text", "shown"), [("", ""), ("four", "four"), ("fives", "fiv…"), ("f" * 1000, "fff…")])
def test_a_long_text_is_cut_with_an_ellipsis_within_the_length(text: str, shown: str) -> None:
    assert cut(text, 4) == shown
