from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.performance.compression import count_css_waste_bytes, count_javascript_waste_bytes
from website_scan.performance.javascript_tokens import TokenKind, tokenize_script

# These unminified files begin with 60 bytes of needless white space.
UNMINIFIED_JS, UNMINIFIED_CSS = b"a;" + b" " * 60 + b";", b"a{" + b" " * 60 + b"}"


@pytest.mark.parametrize(
    ("script", "waste"),
    [
        (b"var a=1;", 0),
        (b"var  a = 1;\n", 1 + 2 + 1),
        (b"a;// gone\nb", 8),
        (b"a/* gone */b", 9),  # Without this white space, two words would join.
        (b"/*! kept */a", 0),
        (b"/** @license MIT */a", 0),
        (b"//# sourceMappingURL=a.map", 0),
        (b"a\nb", 0),  # The line end terminates the first statement.
        (b"a\n\n\nb", 2),
        (b"{\n  a\n}", 1 + 2 + 1),
        (b"a + +b", 1),
        (b"s='a  b   // c'", 0),
        (b's="a \\"  // b"', 0),
        (b"s=`a   b ${ c } d   e`", 2),
        (b"s=`${ `  ${ {a:1} }  ` }  `", 1 + 1 + 1 + 1),
        (b"r=/[/]   \\/  '/;", 0),
        (b"return /  '/;", 1),
        (b"a / b / c", 4),
        (b"a[0] / 2; 'x  y'", 3),
        # This slash may not divide, so the rest of the line does not count.
        (b"(a) / b  /  c;\nd ;", 1 + 1 + 1),
        (b"if (a) /'/.test(b);\n  c ;", 1 + 1 + 3 + 1),
        # A template or comment may begin after this slash.
        (b"(a) / b ` c\n   d;", 1),
        (b"it's broken\n  a ;", 2 + 1),
        (b"a; /* no end   ", 1),
    ],
)
def test_javascript_waste_is_counted(script: bytes, waste: int) -> None:
    assert count_javascript_waste_bytes(UNMINIFIED_JS + script) == 60 + waste


@pytest.mark.parametrize(
    ("css", "waste"),
    [
        (b"a b{c:d}", 0),
        (b"a   b {\n  c : d ;\n}\n", 2 + 1 + 3 + 1 + 1 + 1),
        (b"/* gone */", 10),
        (b"/*! kept */", 0),
        (b"/*# sourceMappingURL=a.map */", 0),
        (b"a:after{content:'a   /* b */'}", 0),
        (b"a{b:url( x  y )}", 0),
        (b"a{width:calc(1px  +  2px)}", 2),
        (b"a :hover{}", 0),
        (b"a{b:'x\\'  y'}", 0),
    ],
)
def test_css_waste_is_counted(css: bytes, waste: int) -> None:
    assert count_css_waste_bytes(UNMINIFIED_CSS + css) == 60 + waste


def test_minified_file_has_no_waste() -> None:
    assert count_javascript_waste_bytes(b"var a=1;" * 1000) == 0
    assert count_css_waste_bytes(b"a{b:c}" * 1000) == 0


@given(st.text("ab01 \n'\"`/*\\{}()[]$+;=", max_size=80))
def test_script_tokens_are_in_order(script: str) -> None:
    spans = [(start, end) for _, start, end in tokenize_script(script)]
    assert all(start <= end <= len(script) for start, end in spans)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    assert 0 <= count_javascript_waste_bytes(script.encode()) <= len(script)
    assert 0 <= count_css_waste_bytes(script.encode()) <= len(script)


def test_script_tokenizer_recognizes_literals() -> None:
    assert [kind for kind, _, _ in tokenize_script("a='b' ;(c)/d")] == [
        TokenKind.LITERAL,
        TokenKind.SPACE,
        TokenKind.UNKNOWN,
    ]


@pytest.mark.parametrize("piece", [b"/*", b"'", b"`${", b"a/[", b"= /[\n", b")/ '", b" \n", b"/* */", b"//\n", b"url("])
def test_malicious_file_is_scanned_within_seconds(piece: bytes) -> None:
    source = b" " * 60_000 + piece * (500_000 // len(piece))
    begin = time.process_time()
    count_javascript_waste_bytes(source)
    count_css_waste_bytes(source)
    assert time.process_time() - begin < 3
