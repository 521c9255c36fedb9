from __future__ import annotations

import time

import pytest

from tests.website_scan.cast import document, page
from tests.website_scan.performance.cast import HERE, OTHER, found, read, sheet
from website_scan.page.css import Compound
from website_scan.performance.evidence import FontFace, StyleImport
from website_scan.performance.probes import styles as probe


def test_a_face_is_what_a_browser_would_choose() -> None:
    css = (
        '@font-face{font-family:"Open Sans";font-display:SWAP;unicode-range:U+0000-00FF;'
        "src:local('Open Sans'),url(a.eot) format('embedded-opentype'),url('../a.woff2') format('woff2')}"
        "@font-face{font-family:Greek;src:url(g.woff2);unicode-range:U+0370-03FF}"
        "@font-face{src:url(nameless.woff2)}@font-face{font-family:Inside;src:url(data:font/woff2,x)}"
    )
    assert read(css).faces == (
        FontFace("open sans", f"{HERE}/a.woff2", "swap", is_latin=True, is_local=True),
        FontFace("greek", f"{HERE}/css/g.woff2", "", is_latin=False),
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
def test_families_that_the_document_asks_for(css: str, families: set[str]) -> None:
    assert read(css, "<p id=main class='card'>Text").families == families


def test_sheets_that_do_not_hold_are_not_read() -> None:
    seen = probe.styles(document(page()), found(sheet("p{height:9px}", eager=False)))
    assert seen.sized == frozenset()


def test_imports_are_absolute_and_those_of_other_sites_are_read() -> None:
    seen = probe.styles(document(page()), found(sheet("@import 'b.css';p{height:9px}", f"{OTHER}/x/a.css")))
    assert seen.imports == (StyleImport(f"{OTHER}/x/a.css", f"{OTHER}/x/b.css"),)
    assert seen.sized == {Compound("p")}


def test_reading_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "MAX_CHARACTERS", 20)
    css = sheet("body{height:9px}"), sheet("p{height:9px}", f"{HERE}/b.css")
    assert probe.styles(document(page()), found(*css)).sized == {Compound("body")}


SLOW = ["a{}", ";", "a{height:1px}", "a{b:/**/c;}", "@import 'a.css';", "@font-face{font-family:a;src:url(x)}"]
SLOW += [f"{'a,' * 199}a{{height:1px}}", f"{'.a.b,' * 199}a{{display:none}}"]


@pytest.mark.parametrize("piece", SLOW)
def test_many_sheets_that_are_made_to_be_slow_are_not(piece: str) -> None:
    css = piece * (150_000 // len(piece))
    sheets = found(*(sheet(css, f"{HERE}/{number}.css") for number in range(14)))
    begin = time.thread_time()
    seen = probe.styles(document(page("<a class='a b'>x</a>")), sheets)
    assert time.thread_time() - begin < 2  # on a busy machine; up to 5.5 without a limit over all sheets
    assert Compound() in seen.sized or "height" not in piece  # the rest is unknown


def test_too_many_rules_about_sizes_leave_all_in_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "MAX_SIZED", 2)
    assert Compound() not in read("p{height:9px}body{height:9px}").sized
    assert Compound() in read("p{height:9px}body{height:9px}html{height:9px}").sized


def test_rules_for_what_the_document_does_not_have_say_nothing() -> None:
    assert read(".a,#b,table,p{height:9px}").sized == {Compound("p")}
