from __future__ import annotations

import pytest

from tests.website_scan.cast import message, outcome, rows, verdict
from tests.website_scan.performance.cast import HERE, face, font, labels, resource_with_url, resources_of, styles_of
from website_scan.performance.checks import fonts as checks
from website_scan.performance.checks.weight import font_weight
from website_scan.performance.evidence import FontFace, Resource, Styles
from website_scan.performance.probes.fonts import fonts

FACE = "@font-face{{font-family:'Inter';src:url(/i.woff2) format('woff2');{}}} body{{font-family:Inter,serif}}"


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("p{}", "n/a"),
        (FACE.format("font-display:swap"), "pass"),
        (FACE.format("font-display: Optional"), "pass"),
        (FACE.format("font-display:fallback"), "pass"),
        (FACE.format(""), "hidden"),
        (FACE.format("font-display:auto"), "hidden"),
        (FACE.format("font-display:block"), "hidden"),
        (FACE.format("unicode-range:U+0400-04FF"), "n/a"),  # This font face only covers Cyrillic characters.
        (FACE.format("unicode-range:U+0000-00FF, U+0131"), "hidden"),
        (FACE.format("unicode-range:U+0??"), "hidden"),
        ("@font-face{font-family:Inter;src:url(/i.woff2)} .unused{font-family:Inter}", "n/a"),
        # Arial is a system font, which needs no download.
        ("@font-face{font-family:Inter;src:url(/i.woff2)} p{font-family:Arial,Inter}", "n/a"),
        ("@font-face{font-family:Inter;src:url(/i.woff2)} p{font:italic bold 12px/1.5 'Inter', serif}", "hidden"),
        ("@font-face{font-family:Inter;src:url(/i.woff2)} :root{--font-sans:'Inter',sans-serif}", "hidden"),
        ("@font-face{font-family:Inter;src:local('Inter'),url(/i.woff2)} p{font-family:Inter}", "n/a"),
        ("@font-face{font-family:Inter;src:url(data:font/woff2;base64,d09G)} p{font-family:Inter}", "n/a"),
        ("@font-face{font-family:My Icons;src:url(/i.woff2);font-display:block} p{font-family:My Icons}", "n/a"),
        # For icon fonts, `auto` is judged like `block`.
        ("@font-face{font-family:My Icons;src:url(/i.woff2)} p{font-family:My Icons}", "n/a"),
        ("@font-face{font-family:My Icons;src:url(/i.woff2);font-display:swap} p{font-family:My Icons}", "pass"),
        ("@font-face{font-family:Nucleo;src:url(/i.woff2)} p{font:1em/1 'Nucleo';speak:none}", "n/a"),
        ("@font-face{font-family:Inter;src:url(/i.woff2)} p{font-family:Inter}i{font-family:Fe;speak:none}", "hidden"),
        ("@media screen{@font-face{font-family:Inter;src:url(/i.woff2)}} p{font-family:Inter}", "hidden"),
    ],
)  # fmt: skip
def test_font_display_check_verdict(css: str, expected: str) -> None:
    finding = checks.font_display(fonts(resources_of(), styles_of(css)), styles_of(css))
    assert outcome(finding) == expected
    assert verdict(finding) == (expected if expected in ("pass", "n/a") else "warn")


def test_font_face_label_is_its_family() -> None:
    css_facts = styles_of(FACE.format("font-display:block"))
    finding = checks.font_display(fonts(resources_of(), css_facts), css_facts)
    assert message(finding) == "1 font face does not set font-display to swap, optional or fallback."
    assert labels(finding) == ["inter"]
    assert rows(finding) == [{"family": "inter", "font_display": "block", "file": f"{HERE}/i.woff2"}]


def used_fonts(*faces: FontFace) -> Styles:
    return Styles(faces, frozenset(face.family for face in faces))


def test_lightest_font_file_counts() -> None:
    styles = used_fonts(face("inter", "regular"), face("inter", "bold"), face("lora", "lora"))
    items = resources_of(font("regular", 30_000), font("bold", 20_000), font("lora"), font("unnamed"))
    assert [file.url for file in fonts(items, styles).files] == [f"{HERE}/bold", f"{HERE}/lora"]


def test_preloaded_font_file_counts() -> None:
    styles = used_fonts(face("inter", "regular"), face("inter", "bold"))
    items = resources_of(font("regular", 30_000, eager=True), font("bold", 20_000), font("other", eager=True))
    assert [file.url for file in fonts(items, styles).files] == [f"{HERE}/regular", f"{HERE}/other"]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (font("a"), "pass"),
        (font("a", signature=b"wOFF"), "warn"),
        (font("a", signature=b"\x00\x01\x00\x00"), "fail"),
        (font("a", signature=b"OTTO"), "fail"),
        (font("a", signature=b"<htm"), "n/a"),  # The server sends an error page instead of the font.
        # Google Fonts sends an old format, because it does not recognize a browser.
        (resource_with_url(font("a", signature=b"\x00\x01\x00\x00"), "https://fonts.gstatic.com/a"), "n/a"),
    ],
)
def test_font_format_check_verdict(item: Resource, expected: str) -> None:
    styles = used_fonts(FontFace("inter", item.url))
    finding = checks.font_format(fonts(resources_of(item), styles))
    assert verdict(finding) == expected
    assert outcome(finding) == ("old-format" if expected in ("warn", "fail") else expected)
    # No element of the page uses this font.
    assert verdict(checks.font_format(fonts(resources_of(item), Styles()))) == "n/a"


def test_old_font_formats_are_listed() -> None:
    items = resources_of(font("a", eager=True), font("b", signature=b"OTTO", eager=True))
    finding = checks.font_format(fonts(items, Styles()))
    assert message(finding) == "1 of 2 font files (20 kB) is not in WOFF2."
    assert labels(finding) == [f"{HERE}/b (OpenType)"]
    assert rows(finding) == [{"url": f"{HERE}/b", "format": "OpenType", "wire_bytes": 20_000}]


@pytest.mark.parametrize(
    ("count", "expected"), [(0, "n/a"), (1, "pass"), (2, "pass"), (3, "warn"), (5, "warn"), (6, "fail")]
)
def test_font_count_check_verdict(count: int, expected: str) -> None:
    items = resources_of(*(font(f"{number}", eager=True) for number in range(count)))
    finding = checks.font_count(fonts(items, Styles()))
    assert verdict(finding) == expected
    assert outcome(finding) == ("too-many" if expected in ("warn", "fail") else expected)


def test_font_count_message_lists_urls() -> None:
    items = resources_of(*(font(f"{number}", eager=True) for number in range(3)))
    assert message(checks.font_count(fonts(items, Styles()))) == (
        f"The page loads at least 3 font files (60 kB): {HERE}/0, {HERE}/1, {HERE}/2; up to 2 is good."
    )


@pytest.mark.parametrize(
    ("size", "expected"), [(130_000, "pass"), (131_000, "warn"), (300_000, "warn"), (301_000, "fail")]
)
def test_font_weight_check_verdict(size: int, expected: str) -> None:
    items = resources_of(font("a", size - 1_000, eager=True), font("b", 1_000, eager=True))
    finding = font_weight(items, fonts(items, Styles()))
    assert verdict(finding) == expected
    assert outcome(finding) == ("heavy" if expected in ("warn", "fail") else expected)


def test_font_weight_message_lists_loaded_fonts() -> None:
    items = resources_of(font("a", 10_000, eager=True))
    assert message(font_weight(items, fonts(items, Styles()))) == (
        "1 font that the page is certain to load weighs 10 kB."
    )


def test_adaptive_fonts_do_not_count() -> None:
    adapted = resources_of(resource_with_url(font("a", 900_000, eager=True), "https://fonts.gstatic.com/a"))
    unused = resources_of(font("a", 900_000))
    assert verdict(font_weight(adapted, fonts(adapted, Styles()))) == "n/a"
    assert verdict(font_weight(unused, fonts(unused, Styles()))) == "n/a"
