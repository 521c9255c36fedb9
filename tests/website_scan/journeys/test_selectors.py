"""Tests for the selectors of recordings."""

from __future__ import annotations

import pytest

from website_scan.journeys.journey import SelectorKind, SelectorPart
from website_scan.journeys.selectors import css_string, selector_of, selector_texts

ARIA, CSS, PIERCE, TEXT, XPATH = (
    SelectorKind.ARIA, SelectorKind.CSS, SelectorKind.PIERCE, SelectorKind.TEXT, SelectorKind.XPATH,
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("#menu > a", SelectorPart(CSS, "#menu > a")),
        ("css/#menu", SelectorPart(CSS, "#menu")),
        ('a[href="/x"]', SelectorPart(CSS, 'a[href="/x"]')),
        ('a[href="javascript:void(0)"]', SelectorPart(CSS, 'a[href="javascript:void(0)"]')),
        ("aria/Sign in", SelectorPart(ARIA, "Sign in")),
        ("aria/  Sign   in ", SelectorPart(ARIA, "Sign in")),
        ('aria/Sign in[role="button"]', SelectorPart(ARIA, "Sign in", "button")),
        ("aria/[name='Sign in'][role='button']", SelectorPart(ARIA, "Sign in", "button")),
        ('aria/[role="main"]', SelectorPart(ARIA, "", "main")),
        ('aria/Size [unit="cm"]', SelectorPart(ARIA, 'Size [unit="cm"]')),
        ("aria/and/or", SelectorPart(ARIA, "and/or")),
        ("text/Menu", SelectorPart(TEXT, "Menu")),
        ('xpath///*[@id="menu"]', SelectorPart(XPATH, '//*[@id="menu"]')),
        ("pierce/#menu", SelectorPart(PIERCE, "#menu")),
    ],
)
def test_selector_is_read_by_its_prefix(text: str, part: SelectorPart) -> None:
    selector = selector_of(text)
    assert selector.parts == (part,)
    assert selector_of(selector_texts(selector)) == selector


def test_list_of_selectors_leads_through_shadow_trees() -> None:
    parts = ["my-menu", "pierce/my-item", "aria/Help"]
    selector = selector_of(parts)
    assert [part.kind for part in selector.parts] == [CSS, PIERCE, ARIA]
    assert selector_texts(selector) == parts


def test_css_that_looks_like_another_kind_has_a_prefix() -> None:
    selector = selector_of("css/text/x")
    assert selector.parts == (SelectorPart(CSS, "text/x"),)
    assert selector_texts(selector) == ["css/text/x"]


@pytest.mark.parametrize("role", ["<b>", "1", "x" * 41])
def test_role_must_be_a_word(role: str) -> None:
    with pytest.raises(ValueError, match="is not the name of a role"):
        selector_of(f'aria/x[role="{role}"]')


def test_quotation_marks_are_escaped_in_css() -> None:
    assert css_string('a"b\\') == '"a\\"b\\\\"'
