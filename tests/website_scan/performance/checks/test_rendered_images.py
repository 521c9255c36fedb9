"""Checks of images as a browser laid them out: on a phone of 400 by 800 CSS pixels, two device pixels for each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.website_scan.browser.loads import HERE, largest, load, request, visit
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
    """Return an image file of this size in pixels, in a box in CSS pixels at the top of the page."""
    url = name if ":" in name else f"{HERE}/{name}"
    given: dict[str, Any] = {"top_px": 0.0, "left_px": 0.0, "fit": "fill", "is_visible": True, "is_lazy": False}
    return RenderedImage(f"#{name}", url, *box, *file, **(given | others))


def layout(*images: RenderedImage) -> Layout:
    return Layout("", {}, (), images, Viewport(400, 800, 2.0))


def wire(name: str = "a.png", size: int = 100 * KIB, **others: Any) -> LoadedRequest:
    return request(name, ResourceKind.IMAGE, wire_bytes=size, **({"media_type": "image/png"} | others))


def read(name: str, width: int, height: int, format: ImageFormat = ImageFormat.PNG) -> Resource:
    return resource(f"{HERE}/{name}", ResourceKind.IMAGE, b"x", picture=ImageHeader(format, width, height))


def oversized(
    *images: RenderedImage, requests: tuple[LoadedRequest, ...] = (wire(),), files: tuple[Resource, ...] = ()
) -> Verdict:
    return checks.image_oversized(layout(*images), visit(load(*requests)), Resources(files))


def wasted(finding: Verdict) -> list[object]:
    return [each["wasted_bytes"] for each in rows(finding)] if not isinstance(finding, NotApplicable) else []


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (image(file=(200, 200)), []),  # one pixel of the file for each device pixel
        (image(file=(50, 50)), []),  # blurred, which this check does not judge
        (image(file=(204, 204)), []),  # 3.9 % of 100 KiB
        (image(file=(205, 205)), [4934]),
        (image(file=(400, 400)), [75 * KIB]),
        (image(file=(400, 200)), [50 * KIB]),
        # The parts that are cropped must exist: the whole file is drawn 800 by 200 pixels large.
        (image(file=(800, 200), fit="cover"), []),
        (image(file=(1600, 400), fit="cover"), [75 * KIB]),
        (image(file=(1600, 400), fit="contain"), [round(100 * KIB * (1 - 1 / 64))]),
        (image(file=(4000, 4000), fit="none"), []),  # a sprite, or a part
        (image(file=(400, 400), fit="scale-down"), [75 * KIB]),
        (image(file=(100, 100), fit="scale-down"), []),
        (image(file=(0, 0)), []),  # not loaded
        (image(file=(400, 400), is_visible=False), []),
        (image(file=(400, 400), box=(1, 1)), []),  # for screen readers
        (image(name="data:image/png;base64,iVBO", file=(4000, 4000)), []),
        (image(name="blob:https://site.example.com/1", file=(4000, 4000)), []),
        (image(name="unknown.png", file=(4000, 4000)), []),
        (image(name="a.png#part", file=(400, 400)), [75 * KIB]),
    ],
)
def test_what_the_screen_cannot_show_is_wasted(shown: RenderedImage, expected: list[int]) -> None:
    assert wasted(oversized(shown)) == expected


def test_vector_images_have_no_size() -> None:
    svg = wire(media_type="image/svg+xml")
    assert verdict(oversized(image(file=(4000, 4000)), requests=(svg,))) == "pass"


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (20 * KIB, "pass"),
        (20 * KIB + 2, "warn"),
        (300 * KIB, "warn"),
        (300 * KIB + 2, "fail"),
    ],
)
def test_the_limits_of_the_waste(size: int, expected: str) -> None:
    shown = image(file=(20_000, 20_000))  # wastes all but a ten-thousandth
    finding = oversized(shown, requests=(wire(size=round(size / 0.9999)),))
    assert verdict(finding) == expected
    assert outcome(finding) == ("pass" if expected == "pass" else "too-many-pixels")
    assert verdict(oversized(shown, requests=(wire(size=9),))) == "pass"


def test_of_a_file_in_several_places_the_largest_counts() -> None:
    small, large = image(file=(400, 400)), image(file=(400, 400), box=(200, 200))
    hidden = replace(small, is_visible=False)
    assert wasted(oversized(small, small)) == [75 * KIB]
    assert wasted(oversized(small, large)) == []
    assert wasted(oversized(small, hidden)) == []  # it may be shown large later


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        # The browser reports 200 by 200 for a file of 400 by 400 at 2x, and for one at 800w in a place of 400 pixels.
        ((read("a.png", 200, 200),), []),
        ((read("a.png", 400, 400),), [75 * KIB]),
        ((read("a.png", 212, 212),), []),  # 11 % waste: the site made an effort
        ((read("a.png", 215, 215),), [13_790]),
        ((read("a.png", 4000, 4000, ImageFormat.SVG),), []),
        ((read("b.png", 4000, 4000),), []),
        ((), []),
    ],
)
def test_of_several_candidates_the_file_itself_tells_its_size(files: tuple[Resource, ...], expected: list[int]) -> None:
    assert wasted(oversized(image(file=(200, 200), has_choices=True), files=files)) == expected


def test_a_file_that_a_server_makes_for_each_client_is_judged_as_the_browser_got_it() -> None:
    assert wasted(oversized(image(file=(200, 200)), files=(read("a.png", 4000, 4000),))) == []


def test_a_turned_photograph_is_measured_as_it_lies() -> None:
    turned = image(file=(100, 200), box=(100, 200), has_choices=True, fit="cover")
    assert wasted(oversized(turned, files=(read("a.png", 400, 200),))) == []


def test_the_worst_is_named_first_with_its_sizes() -> None:
    small, large = image(file=(400, 400)), image("b.png", file=(800, 800))
    finding = oversized(small, large, requests=(wire(), wire("b.png")))
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


def seen(finding: Verdict) -> int:
    return 0 if isinstance(finding, NotApplicable) else len(rows(finding))


def offscreen(*images: RenderedImage, requests: tuple[LoadedRequest, ...] = (wire(),), **others: Any) -> Verdict:
    return checks.lazy_offscreen(layout(*images), visit(load(*requests, **others)))


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (image(top_px=FAR), 1),
        (image(top_px=FAR - 1), 0),  # so near that browsers load lazy images, too
        (image(top_px=FAR, is_lazy=True), 0),
        (image(top_px=FAR, is_eager=True), 0),
        (image(top_px=FAR, is_visible=False), 0),
        (image(top_px=FAR, box=(0, 100)), 0),
        (image(top_px=FAR, left_px=501), 0),  # the next image of a carousel
        (image(top_px=FAR, left_px=500), 1),
        (image(top_px=FAR, left_px=-201), 0),
        (image(name="data:image/gif;base64,R0lGOD", top_px=FAR), 0),
        (image(name="late.png", top_px=FAR), 0),  # was never requested
    ],
)
def test_images_far_below_the_first_screen_wait(shown: RenderedImage, expected: int) -> None:
    finding = offscreen(shown)
    assert seen(finding) == expected


def test_an_image_that_is_shown_above_as_well_is_needed_at_once() -> None:
    assert seen(offscreen(image(top_px=FAR), image(top_px=10))) == 0


def test_the_largest_of_the_first_screen_never_counts() -> None:
    assert seen(offscreen(image(top_px=FAR), lcp=largest(url=A))) == 0


def test_what_a_script_loads_after_the_page_is_complete_does_no_harm() -> None:
    late = (wire(start_s=0.6),)
    assert [seen(offscreen(image(top_px=FAR), requests=late, load_s=each)) for each in (0.5, 0.7, None)] == [0, 1, 1]


def test_tiny_files_are_not_worth_it() -> None:
    assert [seen(offscreen(image(top_px=FAR), requests=(wire(size=each),))) for each in (2047, 2048)] == [0, 1]


@pytest.mark.parametrize(("count", "expected"), [(0, "pass"), (1, "pass"), (2, "warn"), (12, "warn"), (13, "fail")])
def test_the_limits_of_the_number(count: int, expected: str) -> None:
    names = [f"{number}.png" for number in range(count)]
    shown = [image(name, top_px=FAR) for name in names] + [image("top.png")]
    finding = offscreen(*shown, requests=tuple(map(wire, names)))
    assert verdict(finding) == expected
    assert outcome(finding) == ("loaded-at-once" if expected in ("warn", "fail") else expected)


def test_the_message_says_how_far_below_and_how_heavy_the_images_are() -> None:
    finding = offscreen(image(top_px=FAR), image("b.png", top_px=FAR), requests=(wire(), wire("b.png")))
    assert message(finding) == "2 images more than 3 screens below the first one, 205 kB in all, are loaded at once."
    assert labels(finding) == [A, f"{HERE}/b.png"]
    assert rows(finding)[0] == {"url": A, "selector": "#a.png", "top_px": FAR, "wire_bytes": 102_400}


@pytest.mark.parametrize("images", [(), (image(is_visible=False, top_px=FAR),)])
def test_a_page_that_shows_no_image_element_is_not_judged(images: tuple[RenderedImage, ...]) -> None:
    assert verdict(oversized(*images)) == "n/a"
    assert verdict(offscreen(*images)) == "n/a"
