"""Tests for names of keys."""

from __future__ import annotations

import pytest

from website_scan.journeys.keys import key_name, similar_key_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Enter", "Enter"), ("enter", "Enter"), ("\n", "Enter"), ("Esc", "Escape"), ("ctrl", "Control"), ("F12", "F12"),
        ("a", "a"), ("A", "A"), ("+", "+"), (" ", " "), ("page down", "PageDown"), ("KeyA", "KeyA"),
        ("F25", None), ("ä", None), ("", None), ("ab", None),
    ],
)  # fmt: skip
def test_key_has_a_name(text: str, name: str | None) -> None:
    assert key_name(text) == name


def test_similar_name_is_proposed() -> None:
    assert similar_key_name("Entr") == "Enter"
    assert similar_key_name("ArowUp") == "ArrowUp"
    assert similar_key_name("xyzzy") == ""
