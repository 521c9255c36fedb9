"""Test the search for elements of own requirements."""

from __future__ import annotations

import contextlib
import time

import pytest
from selectolax.lexbor import LexborHTMLParser

from website_scan.requirements.selection import select
from website_scan.requirements.selectors import parse_selector

MARKUP = """<!doctype html><html><head><title>Shop</title></head><body>
<nav id=top class="main wide"><a class=logo href="/">Home</a> text <a href="/imprint" data-x='1'>Imprint</a></nav>
<main><section><div><p>One</p><b>bold</b><p class=last>Two</p></div></section><p></p></main>
<footer><a href="/imprint">Imprint</a><input required><p>End</p></footer></body></html>"""


@pytest.mark.parametrize(
    "selector",
    [
        "*", "p", "#top", ".main", ".main.wide", "nav.main a", "nav > a", "main p", "main > p", "b + p", "p ~ p",
        "nav a ~ a", "a[href]", "a[href='/imprint']", 'a[href^="/im"]', "a[href$=print i]", "a[data-x=\"1\"]",
        "p:first-child", "p:last-child", "p:empty", "input:required", "a:not(.logo)", "p:not(:empty)", ":root",
        "nav a, footer a", "main div > b + p.last", "main section p", "body main > section div p", "p:only-child",
        "html > body > main", "nav, nav", "a:not([href='/'])", "b ~ b", "p a", "footer > a ~ p",
    ],
)  # fmt: skip
def test_selection_equals_that_of_the_parser(selector: str) -> None:
    tree = LexborHTMLParser(MARKUP)
    found = {node.mem_id for node in select(tree, parse_selector(selector))}
    assert found == {node.mem_id for node in tree.css(selector)}


@pytest.mark.parametrize(
    ("selector", "fault"),
    [
        ("p:nth-child(2)", ":nth-child"), ("p:has(a)", ":has"), ("p::before", ":before"), ("a:hover", ":hover"),
        (":not(:not(p))", "has :not"), ("p:is(a b)", ":is"), ("p,", "is not a valid"), (",p", "is not a valid"),
        ("> p", "is not a valid"), ("p >", "is not a valid"), ("a[href", "is not a valid"), ("", "is not a valid"),
        ("p > > p", "is not a valid"), ("a[b='\n']", "is not a valid"), ("1p", "is not a valid"),
        ("p" * 301, "more than 300"), (" ".join("p" * 13), "more than 12 parts"),
        (":not(" * 40 + "p" + ")" * 40, "has :not"), ("p/**/a", "is not a valid"), ("p{}", "is not a valid"),
    ],
)  # fmt: skip
def test_unsupported_selectors_are_refused(selector: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault.replace("[", r"\[")):
        parse_selector(selector)


@pytest.mark.parametrize(
    "text", ["p" + ":not(p)" * 40, "[a" * 90, "a" * 300 + "]", "\\" * 299, '[a="' + "b" * 290, "-" * 300]
)
def test_hostile_text_is_parsed_in_linear_time(text: str) -> None:
    start = time.process_time()
    with contextlib.suppress(ValueError):
        parse_selector(text)
    assert time.process_time() - start < 0.1


@pytest.mark.parametrize(
    ("markup", "selector"),
    [
        # The parser's own search takes more than 20 seconds for each of these pages.
        ("<p class=a>x</p>" * 100_000, "b ~ p ~ p"),
        ("<p class=a>x</p>" * 100_000, "p ~ p ~ p ~ i"),
        (("<div class=a>" * 190 + "</div>" * 190) * 500, "b div div div div"),
        (("<div class=a>" * 1900 + "</div>" * 1900) * 50, "div > div div > b"),
    ],
)
def test_hostile_selectors_of_large_pages_take_linear_time(markup: str, selector: str) -> None:
    tree = LexborHTMLParser(markup)
    start = time.process_time()
    assert select(tree, parse_selector(selector)) == []
    assert time.process_time() - start < 5
