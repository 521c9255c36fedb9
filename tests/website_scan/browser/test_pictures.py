"""Tests for screenshots and the filmstrip."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.browser.test_warm import MAX_WAIT_S, POLICY
from website_scan.browser import load as loading
from website_scan.browser import pictures
from website_scan.browser.devtools import ProtocolError
from website_scan.browser.evidence import Box, BrowserLoad
from website_scan.browser.pictureless import PicturelessBrowser
from website_scan.browser.pictures import MAX_FRAMES, MAX_PAGE_PICTURE_BYTES, choose_frames
from website_scan.browser.visit import Browser, Part, Visit
from website_scan.browser.warm import WarmBrowser
from website_scan.net.browser import find_browser, sandbox_problem
from website_scan.net.client import Network
from website_scan.net.proxy import BrowserProxy

BAD = '<img src="/dot.png" width="80" height="60">'
LINES = "<p>Some text to look at.</p>" * 40


def page(body: str, viewport: str = "width=device-width") -> Answer:
    head = f'<title>A page</title><meta name="viewport" content="{viewport}"><style>body {{ margin: 0 }}</style>'
    return Answer(
        f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>',
        headers={"Content-Type": "text/html"},
    )


def at(top: int, left: int, inner: str = BAD) -> str:
    return f'<div style="position: absolute; top: {top}px; left: {left}px">{inner}</div>'


# Pages with an image without alternative text, usually 100 px from the left edge.
ROUTES = {
    "/below": page(LINES + at(1500, 100)),
    "/frame": page('<iframe src="/framed" title="Frame" width="300" height="200"></iframe>'),
    "/framed": page(at(20, 30)),
    "/bordered": page(
        '<iframe src="/framed" title="Frame" width="300" height="200" style="border: 10px solid; padding: 7px; '
        'position: absolute; top: 100px; left: 53px"></iframe>'
    ),
    "/turned-frame": page(
        '<iframe src="/framed" title="Frame" width="300" height="200" style="transform: scale(.5)"></iframe>'
    ),
    "/shadow": page(
        f'<div id="host"></div><script>host.attachShadow({{mode: "open"}}).innerHTML = \'{at(200, 100)}\'</script>'
    ),
    "/transformed": page(f'<div style="transform: translate(100px, 300px)">{BAD}</div>'),
    "/contents": page(at(120, 100) + '<button style="display: contents"></button>'),
    "/tall": page(at(50, 100) + '<div style="height: 1000000px" role="nonsense">Tall</div>'),
    "/too-low": page('<div style="height: 20000px">Tall</div>' + BAD),
    "/hidden": page(f'<div style="opacity: 0">{BAD}</div>'),
    "/cut-off": page(
        f'<div style="overflow: hidden; width: 50px; height: 90px"><p style="margin-left: 400px">{BAD}</p></div>'
    ),
    "/off-screen": page(at(100, -500)),
    "/behind-a-banner": page(at(100, 100) + '<div style="position: fixed; inset: 0; background: #fff">Cookies</div>'),
    "/moving": page(
        f"<div id=gap></div>{BAD}"
        "<script>let px = 0; setInterval(() => { gap.style.height = `${px += 7}px` }, 3)</script>"
    ),
    "/wider-than-the-screen": page(at(1000, 500), viewport=""),
    "/blank": page('<p style="color: #fff">Hello'),
    "/pale": page('<p style="color: #fff">Hello</p><div style="background: #f2f2f2; height: 60px; width: 90px"></div>'),
    "/dot.png": Answer(b"", status=404),
}  # fmt: skip
VISIBLE_BOXES = {
    "below": Box(100, 1500, 80, 60),
    "bordered": Box(53 + 10 + 7 + 30, 100 + 10 + 7 + 20, 80, 60),
    "shadow": Box(100, 200, 80, 60),
    "transformed": Box(100, 300, 80, 60),
    "contents": Box(100, 120, 80, 60),
    "tall": Box(100, 50, 80, 60),
    "wider-than-the-screen": Box(500, 1000, 80, 60),
}
INVISIBLE = ("turned-frame", "too-low", "hidden", "cut-off", "off-screen", "behind-a-banner", "moving")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site(ROUTES) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[WarmBrowser]:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with WarmBrowser(program, sandbox=not sandbox_problem(program)) as running:
        yield running


def visit(browser: Browser, url: str, *parts: Part) -> BrowserLoad:
    with Network(POLICY, time_limit_s=MAX_WAIT_S) as network, BrowserProxy(network) as proxy:
        return browser.load(Visit(url, proxy, POLICY.user_agent, MAX_WAIT_S, parts=frozenset(parts)))


def image_box(load: BrowserLoad) -> Box | None:
    """Return where the page picture shows the image without alt text."""
    assert load.axe
    selector = load.axe.violations["image-alt"].nodes[0].selector
    return load.page_picture.boxes.get(selector) if load.page_picture else None


@pytest.mark.parametrize("name", VISIBLE_BOXES)
def test_picture_has_the_box_of_a_faulty_element(browser: WarmBrowser, site: Site, name: str) -> None:
    load = visit(browser, f"{site.url}/{name}", Part.AXE)
    assert image_box(load) == VISIBLE_BOXES[name]
    assert not load.problems
    assert load.page_picture
    assert len(load.page_picture.data) <= MAX_PAGE_PICTURE_BYTES
    width, height = webp_size(load.page_picture.data)
    assert height / width == pytest.approx(load.page_picture.height / load.page_picture.width, rel=0.01)
    assert width * height <= 412 * 5000


@pytest.mark.parametrize("name", INVISIBLE)
def test_invisible_element_gets_no_box(browser: WarmBrowser, site: Site, name: str) -> None:
    load = visit(browser, f"{site.url}/{name}", Part.AXE)
    rules = (
        {*load.axe.violations, *load.axe.incomplete, *load.axe.passes, *load.axe.inapplicable} if load.axe else set()
    )
    assert "image-alt" in rules
    assert not load.problems
    assert load.axe
    if "image-alt" in load.axe.violations:
        assert image_box(load) is None


def test_pictureless_browser_has_the_same_results(browser: WarmBrowser, site: Site) -> None:
    usual = visit(browser, f"{site.url}/below", Part.AXE, Part.LAYOUT)
    pictureless = visit(PicturelessBrowser(browser), f"{site.url}/below", Part.AXE, Part.LAYOUT)
    assert usual.first_screen
    assert usual.page_picture
    assert (pictureless.first_screen, pictureless.page_picture) == (None, None)
    assert (pictureless.axe, pictureless.problems) == (usual.axe, {})
    assert pictureless.layout == usual.layout


@pytest.mark.parametrize(("name", "is_plain"), [("blank", True), ("pale", False), ("below", False)])
def test_pictureless_browser_notices_a_blank_page(
    browser: WarmBrowser, site: Site, name: str, *, is_plain: bool
) -> None:
    for each_browser in (browser, PicturelessBrowser(browser)):
        screen = visit(each_browser, f"{site.url}/{name}").screen
        assert screen
        assert screen.is_plain == is_plain


@pytest.mark.parametrize("fault", ["refused", "dies"])
def test_failed_picture_keeps_other_evidence(
    browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    async def refused(*_: Any) -> None:
        raise ProtocolError("Target closed")

    async def dies(*_: Any) -> None:
        for process in browser._running.processes:  # type: ignore[union-attr]
            process.kill()
        raise RuntimeError("The connection is closed.")

    monkeypatch.setattr(loading, "take_page_picture", {"refused": refused, "dies": dies}[fault])
    load = visit(browser, f"{site.url}/below", Part.AXE, Part.LAYOUT)
    assert "page_picture" in load.problems
    assert load.page_picture is None
    assert load.axe
    assert load.axe.violations["image-alt"]
    assert load.layout
    monkeypatch.undo()
    assert visit(browser, f"{site.url}/below", Part.AXE).page_picture


def test_oversized_screenshot_is_omitted(browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    small = [encoding._replace(max_bytes=10) for encoding in pictures.SCREENSHOT_ENCODINGS]
    monkeypatch.setattr(loading, "SCREENSHOT_ENCODINGS", small)
    load = visit(browser, f"{site.url}/below", Part.LAYOUT)
    assert load.first_screen is None
    assert not load.problems


def test_first_screen_marks_the_largest_paint(browser: WarmBrowser, site: Site) -> None:
    load = visit(browser, f"{site.url}/below", Part.LAYOUT, Part.FILMSTRIP)
    assert load.first.lcp
    assert load.first_screen
    assert load.first.lcp.selector in load.first_screen.boxes
    assert 1 <= len(load.frames) <= MAX_FRAMES
    assert {mark for frame in load.frames for mark in frame.marks} == {"First paint", "Largest paint"}
    assert all(frame.data.startswith(b"\xff\xd8") for frame in load.frames)
    assert not visit(browser, f"{site.url}/below", Part.LAYOUT).frames


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ({"First paint": 100, "Largest paint": 900}, {0: (), 100: ("First paint",), 905: ("Largest paint",)}),
        # A frame may be drawn up to one screen refresh before its paint is reported.
        ({"First paint": 110, "Largest paint": 110}, {0: (), 100: ("First paint", "Largest paint")}),
        # No frame was drawn later, so the last frame is still visible.
        ({"First paint": 100, "Largest paint": 2000}, {0: (), 100: ("First paint",), 905: ("Largest paint",)}),
    ],
)
def test_filmstrip_has_one_frame_per_paint(marks: Mapping[str, int], expected: Mapping[int, tuple[str, ...]]) -> None:
    frames = [(-20, b"blank"), (100, b"text"), (905, b"image")]
    assert {frame.at_ms: frame.marks for frame in choose_frames(frames, marks, 120)} == expected


def test_filmstrip_is_limited_and_ends_with_the_load() -> None:
    frames = [(ms, b"%d" % ms) for ms in range(0, 5000, 20)]
    chosen = choose_frames(frames, {"First paint": 300, "Largest paint": 1500}, 1000)
    assert len(chosen) == MAX_FRAMES
    assert chosen[0].at_ms == 0
    assert chosen[-1].at_ms <= 1750
    assert [frame.at_ms for frame in chosen] == sorted({frame.at_ms for frame in chosen})


def test_page_without_paint_has_no_filmstrip() -> None:
    assert choose_frames([(0, b"blank")], {}, 100) == ()
    assert choose_frames([], {"First paint": 100}, 100) == ()


def webp_size(webp: bytes) -> tuple[int, int]:
    """Return width and height of lossy WebP (RFC 9649, section 2.5)."""
    start = webp.index(b"\x9d\x01\x2a") + 3
    width, height = struct.unpack("<HH", webp[start : start + 4])
    return width & 0x3FFF, height & 0x3FFF
