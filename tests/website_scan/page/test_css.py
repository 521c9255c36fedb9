from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.page.css import Compound, declarations, last_compounds, rules

Parsed = tuple[str, tuple[tuple[str, str], ...] | None, tuple[str, ...]]


def parsed_rules(css: str, *, is_closed: bool = False) -> list[Parsed]:
    """Return prelude, declarations and enclosing preludes of every rule.

    The declarations are None for a statement without a block.
    """
    return [
        (rule.prelude, None if rule.block is None else rule.declarations, rule.within)
        for rule in rules(css, is_closed=is_closed)
    ]


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("", []),
        ("a{b:c}", [("a", (("b", "c"),), ())]),
        (" A , b { B : C ; d:e } ", [("A , b", (("b", "C"), ("d", "e")), ())]),
        ("a{/* x:y; */b:c/* } */}", [("a", (("b", "c"),), ())]),
        ('a{b:\'}\';c:"\\"}"}', [("a", (("b", "'}'"), ("c", '"\\"}"')), ())]),
        ("a{b:url(data:x;y,{})}", [("a", (("b", "url(data:x;y,{})"),), ())]),
        ("@import 'a';p{}", [("@import 'a'", None, ()), ("p", (), ())]),
        ("@media x{a{b:c}}", [("a", (("b", "c"),), ("@media x",)), ("@media x", (), ())]),
        ("a{b:c;&.d{e:f}}", [("&.d", (("e", "f"),), ("a",)), ("a", (("b", "c"),), ())]),
        ("a{b:c", []),  # The style sheet ends within a value.
        ("@import 'a'", [("@import 'a'", None, ())]),
        ("<!-- a{b:c}", [("a", (("b", "c"),), ())]),
        (".a\\'b{c:d}p{e:'}'}", [(".a\\'b", (("c", "d"),), ()), ("p", (("e", "'}'"),), ())]),
        ("}a{b:c}", [("a", (("b", "c"),), ())]),
        ("a{b}", [("a", (), ())]),
    ],
)
def test_css_rules_are_parsed(css: str, expected: list[Parsed]) -> None:
    assert parsed_rules(css) == expected


def test_end_of_a_style_sheet_closes_open_rules() -> None:
    assert parsed_rules("@media x{a{b:c", is_closed=True) == [
        ("a", (("b", "c"),), ("@media x",)),
        ("@media x", (), ()),
    ]


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ("img", [Compound("img")]),
        ("a b > IMG.x.y#z:hover", [Compound("img", "z", frozenset({"x", "y"}))]),
        ("a, .b", [Compound("a"), Compound(classes=frozenset({"b"}))]),
        ("*", [Compound()]),
        (":root", [Compound()]),
        ("p::first-line", [Compound("p")]),
        ("a:not(.b, c) + d[e='f, g']", [Compound("d")]),
        (".md\\:flex:hover", [Compound(classes=frozenset({"md:flex"}))]),
        ("", [Compound()]),
    ],
)
def test_last_compound_of_every_selector_is_returned(selectors: str, expected: list[Compound]) -> None:
    assert list(last_compounds(selectors)) == expected


def test_compound_needs_all_its_names() -> None:
    compound = Compound("img", "", frozenset({"a"}))
    assert compound.may_match("img", "x", frozenset({"a", "b"}))
    assert not compound.may_match("p", "x", frozenset({"a"}))
    assert not compound.may_match("img", "x", frozenset())
    assert not Compound(id="y").may_match("img", "x", frozenset())


@given(st.text("ab:;{}()[]'\"\\/*@.,# \n", max_size=100))
def test_arbitrary_text_is_parsed_as_css(css: str) -> None:
    for rule in rules(css):
        list(last_compounds(rule.prelude))
        assert all(":" not in name for name, _ in rule.declarations)
    declarations(css)


@pytest.mark.parametrize("piece", ["a{", "a,", "/*", "'", "\\", "url(", ".a", "((", "[", ":is(", "a>", "a{b:c}", "::"])
def test_hostile_style_sheet_is_parsed_fast(piece: str) -> None:
    begin = time.process_time()
    for css in (piece * 200_000, f"{piece * 100_000}{{}}"):
        for rule in rules(css):
            list(last_compounds(rule.prelude))
            rule.declarations  # noqa: B018
    assert time.process_time() - begin < 4
