"""Tests for image checks that use the browser's layout.

The phone has 400 by 800 CSS pixels and a device pixel ratio of 2.
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.website_scan.browser.loads import HERE, largest_paint, load, request, visit
from tests.website_scan.cast import message, outcome, rows, verdict
from tests.website_scan.performance.cast import labels, resource
from website_scan.browser.evidence import Layout, LoadedRequest, RenderedImage, Viewport
from website_scan.findings import NotApplicable
from website_scan.outcomes import Verdict
from website_scan.page.image_headers import ImageFormat, ImageHeader
from website_scan.page.references import ResourceKind
from website_scan.performance.checks import images as checks
from website_scan.performance.evidence import Resource, Resources

KIB = 1024
A = f"{HERE}/a.png"
FAR = 800 * 4 + 1


def image(
    name: str = "a.png", box: tuple[float, float] = (100, 100), file: tuple[int, int] = (200, 200), **others: Any
) -> RenderedImage:
    """Return an image element.

    Its file has `file` pixels, and its box has `box` CSS pixels.
    """
    url = name if ":" in name else f"{HERE}/{name}"
    defaults: dict[str, Any] = {"top_px": 0.0, "left_px": 0.0, "fit": "fill", "is_visible": True, "is_lazy": False}
    return RenderedImage(f"#{name}", url, *box, *file, **(defaults | others))


def layout(*images: RenderedImage) -> Layout:
    return Layout("", {}, (), images, Viewport(400, 800, 2.0))


def image_request(name: str = "a.png", size: int = 100 * KIB, **others: Any) -> LoadedRequest:
    return request(name, ResourceKind.IMAGE, wire_bytes=size, **({"media_type": "image/png"} | others))


def image_file(name: str, width: int, height: int, format: ImageFormat = ImageFormat.PNG) -> Resource:
    return resource(f"{HERE}/{name}", ResourceKind.IMAGE, b"x", picture=ImageHeader(format, width, height))


def judge_oversized(
    *images: RenderedImage, requests: tuple[LoadedRequest, ...] = (image_request(),), files: tuple[Resource, ...] = ()
) -> Verdict:
    return checks.image_oversized(layout(*images), visit(load(*requests)), Resources(files))


def wasted_bytes_of(finding: Verdict) -> list[object]:
    return [row["wasted_bytes"] for row in rows(finding)] if not isinstance(finding, NotApplicable) else []


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        (image(file=(200, 200)), []),  # This file has exactly one pixel for each device pixel.
        (image(file=(50, 50)), []),  # Another check judges images with too few pixels.
        (image(file=(204, 204)), []),  # The wasted 3.9 % of the 100 KiB are below the limit.
        (image(file=(205, 205)), [4934]),
        (image(file=(400, 400)), [75 * KIB]),
        (image(file=(400, 200)), [50 * KIB]),
        # With `object-fit: cover`, the browser crops the image, so no pixel is wasted.
        (image(file=(800, 200), fit="cover"), []),
        (image(file=(1600, 400), fit="cover"), [75 * KIB]),
        (image(file=(1600, 400), fit="contain"), [round(100 * KIB * (1 - 1 / 64))]),
        (image(file=(4000, 4000), fit="none"), []),  # With `object-fit: none`, the element displays part of a sprite.
        (image(file=(400, 400), fit="scale-down"), [75 * KIB]),
        (image(file=(100, 100), fit="scale-down"), []),
        (image(file=(0, 0)), []),  # An image without pixels was not loaded.
        (image(file=(400, 400), is_visible=False), []),
        (image(file=(400, 400), box=(1, 1)), []),  # An element of one pixel is only for screen readers.
        (image(name="data:image/png;base64,iVBO", file=(4000, 4000)), []),
        (image(name="blob:https://site.example.com/1", file=(4000, 4000)), []),
        (image(name="unknown.png", file=(4000, 4000)), []),
        (image(name="a.png#part", file=(400, 400)), [75 * KIB]),
    ],
)
def test_excess_pixels_are_wasted(element: RenderedImage, expected: list[int]) -> None:
    assert wasted_bytes_of(judge_oversized(element)) == expected


def test_vector_images_are_never_oversized() -> None:
    svg = image_request(media_type="image/svg+xml")
    assert verdict(judge_oversized(image(file=(4000, 4000)), requests=(svg,))) == "pass"


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (20 * KIB, "pass"),
        (20 * KIB + 2, "warn"),
        (300 * KIB, "warn"),
        (300 * KIB + 2, "fail"),
    ],
)
def test_verdict_depends_on_wasted_bytes(size: int, expected: str) -> None:
    element = image(file=(20_000, 20_000))  # This image wastes nearly all of its bytes.
    finding = judge_oversized(element, requests=(image_request(size=round(size / 0.9999)),))
    assert verdict(finding) == expected
    assert outcome(finding) == ("pass" if expected == "pass" else "too-many-pixels")
    assert verdict(judge_oversized(element, requests=(image_request(size=9),))) == "pass"


def test_repeated_image_is_judged_by_largest_box() -> None:
    small, large = image(file=(400, 400)), image(file=(400, 400), box=(200, 200))
    hidden = replace(small, is_visible=False)
    assert wasted_bytes_of(judge_oversized(small, small)) == [75 * KIB]
    assert wasted_bytes_of(judge_oversized(small, large)) == []
    assert wasted_bytes_of(judge_oversized(small, hidden)) == []  # A hidden element may become larger later.


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        # For 2x images, the browser reports half of the file's width and height.
        ((image_file("a.png", 200, 200),), []),
        ((image_file("a.png", 400, 400),), [75 * KIB]),
        ((image_file("a.png", 212, 212),), []),  # For images with a srcset, 11 % waste is tolerated.
        ((image_file("a.png", 215, 215),), [13_790]),
        ((image_file("a.png", 4000, 4000, ImageFormat.SVG),), []),
        ((image_file("b.png", 4000, 4000),), []),
        ((), []),
    ],
)
def test_size_of_srcset_image_is_read_from_file(files: tuple[Resource, ...], expected: list[int]) -> None:
    assert wasted_bytes_of(judge_oversized(image(file=(200, 200), has_several_files=True), files=files)) == expected


def test_browser_reports_size_without_srcset() -> None:
    assert wasted_bytes_of(judge_oversized(image(file=(200, 200)), files=(image_file("a.png", 4000, 4000),))) == []


def test_rotated_photograph_has_swapped_sides() -> None:
    rotated = image(file=(100, 200), box=(100, 200), has_several_files=True, fit="cover")
    assert wasted_bytes_of(judge_oversized(rotated, files=(image_file("a.png", 400, 200),))) == []


def test_oversized_images_are_listed_worst_first() -> None:
    small, large = image(file=(400, 400)), image("b.png", file=(800, 800))
    finding = judge_oversized(small, large, requests=(image_request(), image_request("b.png")))
    assert message(finding) == ("2 images have more pixels than a phone shows, 173 kB too much (up to 20 kB is good).")
    assert labels(finding) == [
        f"{HERE}/b.png (800 by 800, shown as 200 by 200)",
        f"{A} (400 by 400, shown as 200 by 200)",
    ]
    assert rows(finding)[1] == {
        "url": A,
        "selector": "#a.png",
        "file": "400 by 400",
        "shown": "200 by 200",
        "wire_bytes": 102_400,
        "wasted_bytes": 76_800,
    }


def offscreen_count(finding: Verdict) -> int:
    return 0 if isinstance(finding, NotApplicable) else len(rows(finding))


def judge_offscreen(
    *images: RenderedImage, requests: tuple[LoadedRequest, ...] = (image_request(),), **others: Any
) -> Verdict:
    return checks.lazy_offscreen(layout(*images), visit(load(*requests, **others)))


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        (image(top_px=FAR), 1),
        (image(top_px=FAR - 1), 0),  # Browsers also load lazy images near the screen.
        (image(top_px=FAR, is_lazy=True), 0),
        (image(top_px=FAR, is_eager=True), 0),
        (image(top_px=FAR, is_visible=False), 0),
        (image(top_px=FAR, box=(0, 100)), 0),
        (image(top_px=FAR, left_px=501), 0),  # This image belongs to a later slide of a carousel.
        (image(top_px=FAR, left_px=500), 1),
        (image(top_px=FAR, left_px=-201), 0),
        (image(name="data:image/gif;base64,R0lGOD", top_px=FAR), 0),
        (image(name="late.png", top_px=FAR), 0),  # The browser never requested the image.
    ],
)
def test_images_far_below_first_screen_count(element: RenderedImage, expected: int) -> None:
    finding = judge_offscreen(element)
    assert offscreen_count(finding) == expected


def test_image_on_first_screen_is_not_offscreen() -> None:
    assert offscreen_count(judge_offscreen(image(top_px=FAR), image(top_px=10))) == 0


def test_lcp_image_is_never_offscreen() -> None:
    assert offscreen_count(judge_offscreen(image(top_px=FAR), lcp=largest_paint(url=A))) == 0


def test_images_after_the_load_event_do_not_count() -> None:
    late = (image_request(start_s=0.6),)
    counts = [
        offscreen_count(judge_offscreen(image(top_px=FAR), requests=late, load_s=load_s)) for load_s in (0.5, 0.7, None)
    ]
    assert counts == [0, 1, 1]


def test_tiny_offscreen_files_do_not_count() -> None:
    assert [
        offscreen_count(judge_offscreen(image(top_px=FAR), requests=(image_request(size=size),)))
        for size in (2047, 2048)
    ] == [0, 1]


@pytest.mark.parametrize(("count", "expected"), [(0, "pass"), (1, "pass"), (2, "warn"), (12, "warn"), (13, "fail")])
def test_verdict_depends_on_number_of_images(count: int, expected: str) -> None:
    names = [f"{number}.png" for number in range(count)]
    elements = [image(name, top_px=FAR) for name in names] + [image("top.png")]
    finding = judge_offscreen(*elements, requests=tuple(map(image_request, names)))
    assert verdict(finding) == expected
    assert outcome(finding) == ("loaded-at-once" if expected in ("warn", "fail") else expected)


def test_message_states_distance_and_weight() -> None:
    finding = judge_offscreen(
        image(top_px=FAR), image("b.png", top_px=FAR), requests=(image_request(), image_request("b.png"))
    )
    assert message(finding) == "2 images more than 3 screens below the first one, 205 kB in all, are loaded at once."
    assert labels(finding) == [A, f"{HERE}/b.png"]
    assert rows(finding)[0] == {"url": A, "selector": "#a.png", "top_px": FAR, "wire_bytes": 102_400}


@pytest.mark.parametrize("images", [(), (image(is_visible=False, top_px=FAR),)])
def test_page_without_visible_images_is_not_judged(images: tuple[RenderedImage, ...]) -> None:
    assert verdict(judge_oversized(*images)) == "n/a"
    assert verdict(judge_offscreen(*images)) == "n/a"


def judge_resolution(element: RenderedImage, file: Resource) -> Verdict:
    return checks.image_resolution(layout(element), Resources((file,)))


@pytest.mark.parametrize(
    ("element", "file", "expected"),
    [
        (image(), image_file("a.png", 200, 200), "pass"),
        (image(), image_file("a.png", 151, 151), "pass"),  # Three quarters of the width and height are enough.
        (image(), image_file("a.png", 149, 149), "too-few-pixels"),
        (image(), image_file("a.png", 100, 100), "too-few-pixels"),
        # Small images need as many pixels as the screen displays.
        (image(box=(60, 60)), image_file("a.png", 119, 119), "too-few-pixels"),
        (image(box=(60, 60)), image_file("a.png", 120, 120), "pass"),
        # A tiny placeholder is replaced when the image is loaded.
        (image(box=(300, 300)), image_file("a.png", 47, 47), "pass"),
        (image(box=(300, 1)), image_file("a.png", 100, 100), "pass"),  # A stretched line needs few pixels.
        (image(is_visible=False), image_file("a.png", 100, 100), "n/a"),
        (image(is_pixelated_or_blurred=True), image_file("a.png", 100, 100), "pass"),
        (image(), image_file("a.png", 10, 10, ImageFormat.SVG), "pass"),
        (image(), image_file("b.png", 100, 100), "pass"),  # The size of the image file is unknown.
        (image(fit="contain", box=(400, 100), file=(200, 200)), image_file("a.png", 200, 200), "pass"),
        (image(fit="cover", box=(400, 100), file=(200, 200)), image_file("a.png", 200, 200), "too-few-pixels"),
        (image(fit="none", box=(400, 400)), image_file("a.png", 100, 100), "pass"),
        (image(fit="scale-down", box=(400, 400)), image_file("a.png", 100, 100), "pass"),
    ],
)
def test_image_resolution_depends_on_displayed_size(element: RenderedImage, file: Resource, expected: str) -> None:
    assert outcome(judge_resolution(element, file)) == expected


def test_two_pixels_per_css_pixel_are_enough() -> None:
    phone = Layout("", {}, (), (image(),), Viewport(400, 800, 3.0))
    assert verdict(checks.image_resolution(phone, Resources((image_file("a.png", 200, 200),)))) == "pass"


def test_blurry_image_message_states_sizes() -> None:
    finding = judge_resolution(image(), image_file("a.png", 100, 80))
    assert message(finding) == "1 image has fewer pixels than the screen displays."
    assert [(row["file"], row["shown"]) for row in rows(finding)] == [("100 by 80", "200 by 200")]
