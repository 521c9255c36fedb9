from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.website_scan.cast import body, document, message, outcome, page, rows, severity_of, verdict
from tests.website_scan.performance.cast import HERE, image, labels, resources_of, sheet, styles_of
from website_scan.findings import Severity
from website_scan.outcomes import Fault, Fix
from website_scan.page.image_headers import ImageFormat
from website_scan.performance.checks import images as checks
from website_scan.performance.evidence import Resource, Styles
from website_scan.performance.probes.styles import styles

KIB = 1024
IMG = "<img src=/a.png>"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("", "n/a"),
        ("<img src=/a.png width=3 height=2>", "pass"),
        ("<img src=/a.png width=3px height=' 2.5'>", "pass"),
        (IMG, "warn"),
        (IMG * 4, "warn"),
        (IMG * 5, "fail"),
        ("<img src=/a.png width=3>", "warn"),
        ("<img src=/a.png width=100% height=100%>", "warn"),
        ("<img src=/a.png width=auto height=auto>", "warn"),
        ("<img src=/a.png style='height:3em'>", "pass"),
        ("<img src=/a.png style='aspect-ratio: 16 / 9'>", "pass"),
        ("<img src=/a.png style='height:auto'>", "warn"),
        ("<img src=/a.png style='max-height:9px'>", "warn"),
        ("<img src=/a.png style='position:absolute'>", "pass"),  # An absolutely positioned image moves no content.
        ("<img src=/a.png style='display:none'>", "pass"),
        ("<img src=/a.png hidden>", "n/a"),
        ("<img src='data:image/gif;base64,R0lGOD' data-src=/a.png>", "n/a"),  # A script sets the attribute src later.
        ("<img data-src=/a.png>", "n/a"),
        ("<img srcset='/a.png 2x'>", "warn"),
    ],
)
def test_image_dimensions_check_verdict(markup: str, expected: str) -> None:
    scanned_page = page(body(markup))
    finding = checks.image_dimensions(document(scanned_page), Styles(), resources_of())
    assert verdict(finding) == expected
    assert outcome(finding) == ("unsized" if expected in ("warn", "fail") else expected)


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("img{height:200px}", "pass"),
        ("img{max-width:100%;height:auto}", "warn"),
        (".card img{aspect-ratio:1}", "pass"),  # The selector may match this image.
        ("a, b > .c.photo:hover{height:9px}", "pass"),
        (".photo.large{height:9px}", "warn"),
        (".other{height:9px}", "warn"),
        ("@media (min-width:9px){#hero{height:9px}}", "pass"),
        ("*{height:9px}", "pass"),
        ("p{height:9px}", "warn"),
        (".md\\:photo{height:9px}", "pass"),
        ("/* img{height:9px} */", "warn"),
        ("img{content:'}'; height:9px !important}", "pass"),
        (".photo{height:min-content}", "warn"),
        (":is(.x) .photo:not(.y){position:fixed!important}", "pass"),
    ],
)
def test_image_sized_by_css_does_not_count(css: str, expected: str) -> None:
    markup = body("<a><b><p class='card x'><img src=/a.png class='c photo md:photo' id=hero></b></a>")
    scanned_page = page(markup)
    finding = checks.image_dimensions(document(scanned_page), styles_of(css, markup), resources_of())
    assert verdict(finding) == expected
    assert outcome(finding) == ("unsized" if expected in ("warn", "fail") else expected)


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ((image(900, ImageFormat.PNG, 35, 32),), "pass"),  # Small images such as icons do not count.
        ((image(900, ImageFormat.PNG, 35, 33),), "warn"),
        # An image that could not be loaded is not judged.
        ((replace(image(900, ImageFormat.PNG), status=404, picture=None),), "pass"),
        ((replace(image(900, ImageFormat.PNG), picture=None),), "warn"),
        ((sheet("", "https://cdn.example.org/a.css"),), "warn"),
        # An unreadable style sheet may set the image's size.
        ((replace(sheet("", "https://cdn.example.org/a.css"), status=None),), "pass"),
        ((replace(sheet("", "https://fonts.googleapis.com/css"), status=None),), "warn"),
    ],
)
def test_image_without_layout_shift_does_not_count(items: tuple[Resource, ...], expected: str) -> None:
    html = document(page(body("<img src=/a.png>")))
    finding = checks.image_dimensions(html, styles(html, resources_of(*items)), resources_of(*items))
    assert verdict(finding) == expected
    assert outcome(finding) == ("unsized" if expected in ("warn", "fail") else expected)


def test_images_beyond_limit_count_as_sized(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "MAX_CACHED_NAMES", 2)
    scanned_page = page(body("".join(f"<img src=/a.png class=a{number}>" for number in range(9))))
    finding = checks.image_dimensions(document(scanned_page), Styles(), resources_of())
    assert message(finding) == "2 of 9 images have no width and height."
    assert rows(finding) == [{"src": "/a.png"}] * 2


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ((), "n/a"),
        ((image(10_000, ImageFormat.PNG, 600),), "pass"),
        ((image(10_000 + 20 * KIB, ImageFormat.PNG, 600),), "pass"),
        ((image(10_001 + 20 * KIB, ImageFormat.PNG, 600),), "warn"),
        ((image(10_000 + 200 * KIB, ImageFormat.JPEG, 600),), "warn"),
        ((image(10_001 + 200 * KIB, ImageFormat.JPEG, 600),), "fail"),
        ((image(900_000, ImageFormat.BMP, 600),), "fail"),
        ((image(900_000, ImageFormat.WEBP, 600),), "pass"),
        ((image(900_000, ImageFormat.AVIF, 600),), "pass"),
        ((image(900_000, ImageFormat.GIF, 600),), "pass"),
        ((image(900_000, ImageFormat.SVG, 600),), "pass"),
        (tuple(image(4_096, ImageFormat.PNG, 1, 1) for _ in range(99)), "pass"),  # The saving is too small to matter.
        (tuple(image(4_097, ImageFormat.PNG, 1, 1) for _ in range(99)), "fail"),
        ((replace(image(900_000, ImageFormat.PNG), eager=False),), "n/a"),
        ((replace(image(900_000, ImageFormat.PNG), status=404),), "n/a"),
        # A file that is not a readable image is not judged.
        ((replace(image(900_000, ImageFormat.PNG), picture=None),), "pass"),
    ],
)
def test_image_format_check_verdict(items: tuple[Resource, ...], expected: str) -> None:
    finding = checks.image_format(resources_of(*items))
    assert verdict(finding) == expected
    assert outcome(finding) == ("old-format" if expected in ("warn", "fail") else expected)


def test_message_states_saving_of_modern_formats() -> None:
    resources = resources_of(image(10_000 + 30 * KIB, ImageFormat.PNG, 600))
    finding = checks.image_format(resources)
    assert severity_of(checks.image_format, finding) is Severity.MEDIUM
    assert message(finding) == "AVIF would save about 31 kB on 1 image (up to 20 kB is good)."
    assert labels(finding) == [f"{HERE}/a.png (41 kB)"]
    assert rows(finding) == [
        {
            "url": f"{HERE}/a.png",
            "format": "PNG",
            "width": 600,
            "height": 100,
            "wire_bytes": 40_720,
            "estimated_saving_bytes": 30_720,
        }
    ]


def test_large_saving_has_high_severity() -> None:
    finding = checks.image_format(resources_of(image(900_000, ImageFormat.PNG, 600)))
    assert severity_of(checks.image_format, finding) is Severity.HIGH


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ((), "n/a"),
        ((image(9_000_000, ImageFormat.PNG),), "n/a"),
        ((image(100 * KIB, ImageFormat.GIF, animated=True),), "pass"),
        ((image(100 * KIB + 1, ImageFormat.GIF, animated=True),), "warn"),
        ((image(100 * KIB + 1, ImageFormat.GIF),), "warn"),
    ],
)
def test_gif_video_check_verdict(items: tuple[Resource, ...], expected: str) -> None:
    finding = checks.gif_video(resources_of(*items))
    assert verdict(finding) == expected
    assert outcome(finding) == ("large" if expected in ("warn", "fail") else expected)


def test_fix_of_still_gif_is_image_format() -> None:
    finding = checks.gif_video(resources_of(image(200_000, ImageFormat.GIF)))
    assert isinstance(finding, Fault)
    assert finding.fix == Fix("Serve the image as WebP or AVIF.")
    assert message(finding) == "1 GIF is larger than 102 kB, 200 kB in all."
    assert rows(finding) == [{"url": f"{HERE}/a.gif", "wire_bytes": 200_000, "animated": False}]


def test_animated_gif_gets_check_fix() -> None:
    finding = checks.gif_video(resources_of(image(200_000, ImageFormat.GIF, animated=True)))
    assert isinstance(finding, Fault)
    assert finding.fix is None
