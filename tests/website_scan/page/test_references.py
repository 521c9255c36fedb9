from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.cast import document, head, page
from website_scan.page.css import StyleReferences, style_references
from website_scan.page.references import MAX_CHARACTERS, best_candidate, references
from website_scan.security.mixed_content import insecure_resources

BASE = "https://site.example.com/shop/"


def references_of_style(markup: str) -> list[tuple[str, str, bool]]:
    parsed = document(page(head("", markup)))
    return [
        (reference.url.removeprefix(BASE), reference.kind.value, reference.eager) for reference in references(parsed)
    ]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<script src=a.js></script>", [("a.js", "script", True)]),
        ("<script src=a.js type=module></script>", [("a.js", "script", True)]),
        ("<script src=a.js type='text/javascript; charset=utf-8'></script>", [("a.js", "script", True)]),
        ("<script src=a.js nomodule></script>", []),
        ("<script src=a.html type=text/template></script>", []),
        ("<script>load('a.js')</script>", []),
        ("<link rel=stylesheet href=a.css>", [("a.css", "stylesheet", True)]),
        ("<link rel='StyleSheet' href=a.css media=print>", [("a.css", "stylesheet", True)]),
        ("<link rel='alternate stylesheet' href=a.css>", [("a.css", "stylesheet", False)]),
        ("<link rel=stylesheet href=a.css disabled>", []),
        ("<link rel=preload href=a.woff2 as=font crossorigin>", [("a.woff2", "font", True)]),
        ("<link rel=preload href=a.woff2>", []),
        ("<link rel=modulepreload href=a.js>", [("a.js", "script", True)]),
        ("<link rel='shortcut icon' href=a.ico>", [("a.ico", "icon", False)]),
        ("<link rel=prefetch href=a>", []),
        ("<link rel=canonical href=a>", []),
        ("<img src=a.png>", [("a.png", "image", True)]),
        ("<img src=a.png loading=lazy>", [("a.png", "image", False)]),
        ("<img src=a.png loading=lazy><img src=a.png>", [("a.png", "image", True)]),
        ("<img src='a.png#x'><img src=a.png>", [("a.png", "image", True)]),
        ("<img src='data:image/gif;base64,R0'>", []),
        ("<img src=''>", []),
        ("<img src='https://'>", []),
        ("<img src=s.png srcset='m.png 2x'>", [("m.png", "image", True)]),
        (
            "<picture><source srcset=a.avif type=image/avif><img src=a.png></picture>",
            [("a.avif", "image", True)],
        ),
        (
            "<picture><source srcset=a.jxl type=image/jxl><source srcset=w.webp media='(min-width: 900px)'>"
            "<img src=a.png></picture>",
            [("a.png", "image", True)],
        ),
        ("<noscript><img src=a.png></noscript>", []),
        ("<template><img src=a.png></template>", []),
        ("<input type=image src=a.png><input src=b.png>", [("a.png", "image", True)]),
        (
            "<video poster=a.png><source src=a.webm><source src=a.mp4></video>",
            [("a.png", "image", True), ("a.webm", "media", False)],
        ),
        ("<svg><image xlink:href=a.png /></svg>", [("a.png", "image", True)]),
        ("<iframe src=a.html></iframe>", []),
        ("<p style='background: url(a.png)'>", [("a.png", "image", True)]),
        (
            "<style>@import 'a.css'; p{background:url(a.png)} @font-face{src:url(a.woff2)}</style>",
            [("a.css", "stylesheet", True), ("a.woff2", "font", False), ("a.png", "image", False)],
        ),
    ],
)
def test_document_references_are_listed(markup: str, expected: list[tuple[str, str, bool]]) -> None:
    assert references_of_style(markup) == expected


@pytest.mark.parametrize(
    ("source_set", "chosen"),
    [
        ("", None),
        ("a.png", "a.png"),
        ("a.png 1x, b.png 2x, c.png 3x", "b.png"),
        ("a.png, b.png 1.5x", "b.png"),
        ("a.png 400w, b.png 824w, c.png 1600w", "b.png"),
        ("a.png 300w, b.png 600w", "b.png"),
        ("a.png 1600w,b.png 900w", "b.png"),
        ("/i,w_400/a.png 400w, /i,w_900/b.png 900w", "/i,w_900/b.png"),  # The URLs in this srcset contain commas.
        ("a.png 400w 300h, b.png 900w 700h", "b.png"),
        ("  \n a.png\n2x ,\n b.png 3x ", "a.png"),
        (",", None),
    ],
)
def test_srcset_image_for_phones_is_selected(source_set: str, chosen: str | None) -> None:
    assert best_candidate(source_set) == chosen


@given(st.text(alphabet="ab,. 2xw()\t", max_size=30))
def test_any_srcset_is_parsed(source_set: str) -> None:
    chosen = best_candidate(source_set)
    assert chosen is None or chosen in source_set


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("", StyleReferences()),
        ('@import "a.css";', StyleReferences(imports=("a.css",))),
        ("@import url(a.css) screen; @import url('b.css');", StyleReferences(imports=("a.css", "b.css"))),
        ("@import 'a.css' layer(x); p{content:'b.css'}", StyleReferences(imports=("a.css",))),
        ("p{background:url( a.png ),URL('b.png')}", StyleReferences(images=("a.png", "b.png"))),
        ("/* url(a.png) */ p{content:'url(b.png)'}", StyleReferences()),
        ("p{background:url(data:image/png;base64,AA==);filter:url(#f)}", StyleReferences()),
        (
            "@font-face{src:url(a.eot);src:url(a.eot?#x) format('embedded-opentype'),url(a.woff2) format('woff2'),"
            "url(a.woff) format('woff')}",
            StyleReferences(fonts=("a.woff2",)),
        ),
        ("@font-face{src:local('A'),url(a.ttf)} p{background:url(b.png)}", StyleReferences((), ("a.ttf",), ("b.png",))),
        ("@font-face{src:url(a.eot),url(a.svg#x) format('svg')}", StyleReferences()),
        ("p{background:url(a.png", StyleReferences()),
    ],
)
def test_style_sheet_references_are_listed(css: str, expected: StyleReferences) -> None:
    assert style_references(css) == expected


@given(st.text(alphabet="@importurl(fn-ace){};\"'/* :", max_size=60))
def test_any_style_sheet_is_parsed(css: str) -> None:
    assert isinstance(style_references(css), StyleReferences)


@pytest.mark.parametrize(
    ("css", "imports", "images"),
    [
        ("@import 'a.css'; b{background:url(c)}", ("a.css",), ("c",)),
        ("a{content:'\\'; url(no)'} b{background:url(yes)}", (), ("yes",)),
        (f"a{{content:'{'x' * 2000} url(no)'}} b{{background:url(yes)}}", (), ("yes",)),
        ('a{content:"no end url(no)\n} b{background:url(yes)}', (), ("yes",)),
        ('@import "no-end.css\n; b{background:url(yes)}', (), ("yes",)),
        ('@import "the-file-ends-it.css', ("the-file-ends-it.css",), ()),
    ],
)
def test_css_strings_are_parsed_as_in_browsers(css: str, imports: tuple[str, ...], images: tuple[str, ...]) -> None:
    references_of_style = style_references(css)
    assert (references_of_style.imports, references_of_style.images) == (imports, images)


LIST = "a 1x, " * 333_000
LONG = "background:url(x);" * 11_000


@pytest.mark.parametrize(
    "markup",
    [
        f'<p style="{LONG}">' * 10,
        f"<style>{'@import url(a);' * 140_000}</style>",
        f"<style>{'@font-face{src:url(a)}' * 90_000}</style>",
        f'<img srcset="{LIST}">',
        "".join(f"<script src=/{number}/a></script>" for number in range(66_000)),
    ],
    ids=range(5),
)
def test_references_are_found_within_two_seconds(markup: str) -> None:
    parsed = document(page(head("", markup)))
    for look in (references, insecure_resources):
        began = time.thread_time()
        look(parsed)
        assert time.thread_time() - began < 2.0


def test_references_after_css_limit_are_listed() -> None:
    css = f"<style>{'a{b:c}' * (MAX_CHARACTERS // 6)}</style>"
    assert references_of_style(f"{css}<p style='background:url(b.png)'><script src=a.js></script>") == [
        ("a.js", "script", True)
    ]
