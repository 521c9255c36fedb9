"""Test that small parsers take linear time on any input."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.cast import document, head, page
from website_scan.accessibility.styles.rules import page_rules
from website_scan.page.css import style_references
from website_scan.page.meta import refresh
from website_scan.page.references import best_candidate
from website_scan.page.registrable_domain import is_same_site, site_of

FIELD = st.text(alphabet="abnoidex:;,=<>\"' \\/._-1237", max_size=60)


@given(FIELD)
def test_refresh_parser_accepts_any_text(value: str) -> None:
    page_with_refresh = page(head(""), ("Refresh", value))
    parsed = refresh(page_with_refresh, document(page_with_refresh))
    assert parsed is None or parsed.seconds >= 0


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("www.example.com", "example.com"),
        ("example.com", "example.com"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("example.de", "example.de"),
        ("co.uk", "co.uk"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("localhost", "localhost"),
    ],
)
def test_site_of_returns_registrable_domain(host: str, site: str) -> None:
    assert site_of(host) == site


def test_two_IP_addresses_are_two_sites() -> None:
    assert not is_same_site("203.0.113.1", "203.0.114.1")
    assert not is_same_site("a.co.uk", "b.co.uk")
    assert is_same_site("m.example.com", "www.example.com")


@pytest.mark.parametrize(
    "read",
    [
        lambda: style_references('\\"' * 200_000),
        lambda: style_references("url(" + " " * 300_000),
        lambda: style_references("format(" * 100_000),
        lambda: style_references("@import " * 100_000),
        lambda: style_references("/*" * 300_000),
        lambda: best_candidate("a" + "," * 300_000 + "b"),
        lambda: best_candidate("( " * 100_000),
        lambda: best_candidate("a 1x," * 100_000),
        lambda: refresh(seen := page(head(""), ("Refresh", "1" * 200_000 + "x")), document(seen)),
        lambda: page_rules(document(page(head(f"<style>{'.a{display:none}' * 40_000}</style>")))),
        lambda: page_rules(document(page(head(f"<style>{'{' * 300_000}</style>")))),
        # These selectors expand to 2^29 and 9^20 selectors, which took gigabytes of memory.
        lambda: page_rules(document(page(head(f"<style>{'a,b{' * 29}c{{display:none}}{'}' * 29}</style>")))),
        lambda: page_rules(document(page(head(f"<style>{'& & & & & & & & &{' * 20}c{{display:none}}</style>")))),
        lambda: page_rules(document(page(head(f"<style>{('a:hover,' * 199 + 'b{display:none}') * 900}</style>" * 5)))),
    ],
)
def test_hostile_values_are_parsed_fast(read: object) -> None:
    before = _cpu_s()
    read()  # type: ignore[operator]
    assert _cpu_s() - before < 5


def _cpu_s() -> float:
    """Return the CPU time of this process and its ended children.

    Other processes do not affect it.
    """
    return sum(os.times()[:4])
