from __future__ import annotations

import time

import pytest

from tests.website_scan.cast import document, page
from tests.website_scan.performance.cast import HERE, OTHER, resources_of, sheet, styles_of
from website_scan.page.css import Compound
from website_scan.performance.evidence import FontFace, StyleImport
from website_scan.performance.probes import styles as probe


def test_font_face_uses_source_of_browsers() -> None:
    css = (
        '@font-face{font-family:"Open Sans";font-display:SWAP;unicode-range:U+0000-00FF;'
        "src:local('Open Sans'),url(a.eot) format('embedded-opentype'),url('../a.woff2') format('woff2')}"
        "@font-face{font-family:Greek;src:url(g.woff2);unicode-range:U+0370-03FF}"
        "@font-face{src:url(nameless.woff2)}@font-face{font-family:Inside;src:url(data:font/woff2,x)}"
    )
    assert styles_of(css).faces == (
        FontFace("open sans", f"{HERE}/a.woff2", "swap", has_latin_letters=True, is_local=True),
        FontFace("greek", f"{HERE}/css/g.woff2", "", has_latin_letters=False),
    )


@pytest.mark.parametrize(
    ("css", "families"),
    [
        ("p{font-family:'A B',serif}", {"a b"}),
        ("p{font-family:A B}", {"a b"}),
        ("p{font-family:Serif,A}", {"serif"}),
        ("p{font:bold 1.2em/1.5 A,serif}", {"a"}),
        ("p{font:12px 'A'}", {"a"}),
        ("p{font:caption}", set()),
        ("p{font:inherit}", set()),
        (":root{--heading-font:A,serif}", {"a"}),
        (".missing{font-family:A}", set()),
        (".card p, .missing{font-family:A}", {"a"}),
        ("p.missing{font-family:A}", set()),
        ("#main{font-family:A !important}", {"a"}),
        ("p{font-family:}", set()),
    ],
)
def test_only_matching_css_rules_set_font_families(css: str, families: set[str]) -> None:
    assert styles_of(css, "<p id=main class='card'>Text").families == families


def test_unused_style_sheets_are_not_read() -> None:
    result = probe.styles(document(page()), resources_of(sheet("p{height:9px}", eager=False)))
    assert result.sized == frozenset()


def test_foreign_imports_get_absolute_urls() -> None:
    result = probe.styles(document(page()), resources_of(sheet("@import 'b.css';p{height:9px}", f"{OTHER}/x/a.css")))
    assert result.imports == (StyleImport(f"{OTHER}/x/a.css", f"{OTHER}/x/b.css"),)
    assert result.sized == {Compound("p")}


def test_style_sheets_beyond_limit_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "MAX_CHARACTERS", 20)
    css = sheet("body{height:9px}"), sheet("p{height:9px}", f"{HERE}/b.css")
    assert probe.styles(document(page()), resources_of(*css)).sized == {Compound("body")}


SLOW = ["a{}", ";", "a{height:1px}", "a{b:/**/c;}", "@import 'a.css';", "@font-face{font-family:a;src:url(x)}"]
SLOW += [f"{'a,' * 199}a{{height:1px}}", f"{'.a.b,' * 199}a{{display:none}}"]


@pytest.mark.parametrize("piece", SLOW)
def test_malicious_style_sheets_are_parsed_in_two_seconds(piece: str) -> None:
    css = piece * (150_000 // len(piece))
    sheets = resources_of(*(sheet(css, f"{HERE}/{number}.css") for number in range(14)))
    begin = time.thread_time()
    result = probe.styles(document(page("<a class='a b'>x</a>")), sheets)
    # Without a limit for all sheets together, parsing took up to 5.5 s.
    assert time.thread_time() - begin < 2
    assert Compound() in result.sized or "height" not in piece  # Unread rules may set the size of any element.


def test_unread_style_rules_may_size_any_element(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "MAX_SIZING_COMPOUNDS", 2)
    assert Compound() not in styles_of("p{height:9px}body{height:9px}").sized
    assert Compound() in styles_of("p{height:9px}body{height:9px}html{height:9px}").sized


def test_rules_without_elements_are_ignored() -> None:
    assert styles_of(".a,#b,table,p{height:9px}").sized == {Compound("p")}
