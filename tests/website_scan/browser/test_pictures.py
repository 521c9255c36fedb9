"""Pictures show the elements of findings where they are, or not at all. No page loses its verdicts to its pictures."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.browser.test_warm import PATIENCE_S, POLICY
from website_scan.browser import load as loading
from website_scan.browser import pictures
from website_scan.browser.devtools import ProtocolError
from website_scan.browser.evidence import Box, BrowserLoad
from website_scan.browser.pictures import MAX_FRAMES, PAGE_BYTES, choose_frames
from website_scan.browser.visit import Part, Visit
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


# The image without alternative text is 100 px from the left. For its distance from the top, see each page.
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
    "/dot.png": Answer(b"", status=404),
}  # fmt: skip
SHOWN = {
    "below": Box(100, 1500, 80, 60),
    "bordered": Box(53 + 10 + 7 + 30, 100 + 10 + 7 + 20, 80, 60),
    "shadow": Box(100, 200, 80, 60),
    "transformed": Box(100, 300, 80, 60),
    "contents": Box(100, 120, 80, 60),
    "tall": Box(100, 50, 80, 60),
    "wider-than-the-screen": Box(500, 1000, 80, 60),
}
NOT_SHOWN = ("turned-frame", "too-low", "hidden", "cut-off", "off-screen", "behind-a-banner", "moving")


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


def visit(browser: WarmBrowser, url: str, *parts: Part) -> BrowserLoad:
    with Network(POLICY, time_limit_s=PATIENCE_S) as network, BrowserProxy(network) as proxy:
        return browser.load(Visit(url, proxy, POLICY.user_agent, PATIENCE_S, parts=frozenset(parts)))


def image_box(seen: BrowserLoad) -> Box | None:
    """Return the box of the image without alternative text in the picture."""
    assert seen.axe
    selector = seen.axe.violations["image-alt"].nodes[0].selector
    return seen.page_picture.boxes.get(selector) if seen.page_picture else None


@pytest.mark.parametrize("name", SHOWN)
def test_an_element_is_shown_where_it_is(browser: WarmBrowser, site: Site, name: str) -> None:
    seen = visit(browser, f"{site.url}/{name}", Part.AXE)
    assert image_box(seen) == SHOWN[name]
    assert not seen.problems
    assert seen.page_picture
    assert len(seen.page_picture.data) <= PAGE_BYTES
    wide, high = _size(seen.page_picture.data)
    assert high / wide == pytest.approx(seen.page_picture.height / seen.page_picture.width, rel=0.01)
    assert wide * high <= 412 * 5000


@pytest.mark.parametrize("name", NOT_SHOWN)
def test_what_nobody_sees_or_what_moves_has_no_picture_and_still_its_verdict(
    browser: WarmBrowser, site: Site, name: str
) -> None:
    seen = visit(browser, f"{site.url}/{name}", Part.AXE)
    rules = (
        {*seen.axe.violations, *seen.axe.incomplete, *seen.axe.passes, *seen.axe.inapplicable} if seen.axe else set()
    )
    assert "image-alt" in rules
    assert not seen.problems
    assert seen.axe
    if "image-alt" in seen.axe.violations:
        assert image_box(seen) is None


@pytest.mark.parametrize("fault", ["refused", "dies"])
def test_a_picture_that_cannot_be_taken_costs_nothing_else(
    browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    async def refused(*_: Any) -> None:
        raise ProtocolError("Target closed")

    async def dies(*_: Any) -> None:
        for each in browser._running.processes:  # type: ignore[union-attr]
            each.kill()
        raise RuntimeError("The connection is closed.")

    monkeypatch.setattr(loading, "page_picture", {"refused": refused, "dies": dies}[fault])
    seen = visit(browser, f"{site.url}/below", Part.AXE, Part.LAYOUT)
    assert "page_picture" in seen.problems
    assert seen.page_picture is None
    assert seen.axe
    assert seen.axe.violations["image-alt"]
    assert seen.layout
    monkeypatch.undo()
    assert visit(browser, f"{site.url}/below", Part.AXE).page_picture


def test_a_screen_too_large_to_be_kept_is_no_problem_of_the_page(
    browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "SCREEN_BYTES", 10)
    seen = visit(browser, f"{site.url}/below", Part.LAYOUT)
    assert seen.first_screen is None
    assert not seen.problems


def test_the_largest_paint_stands_on_the_first_screen_and_the_film_shows_it_last(
    browser: WarmBrowser, site: Site
) -> None:
    seen = visit(browser, f"{site.url}/below", Part.LAYOUT, Part.FILMSTRIP)
    assert seen.first.lcp
    assert seen.first_screen
    assert seen.first.lcp.selector in seen.first_screen.boxes
    assert 1 <= len(seen.frames) <= MAX_FRAMES
    assert {mark for each in seen.frames for mark in each.marks} == {"First paint", "Largest paint"}
    assert all(each.data.startswith(b"\xff\xd8") for each in seen.frames)
    assert not visit(browser, f"{site.url}/below", Part.LAYOUT).frames


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ({"First paint": 100, "Largest paint": 900}, {0: (), 100: ("First paint",), 905: ("Largest paint",)}),
        # A frame is drawn up to one refresh before the mark that is set for it.
        ({"First paint": 110, "Largest paint": 110}, {0: (), 100: ("First paint", "Largest paint")}),
        # Nothing was drawn later, so the last frame is still visible.
        ({"First paint": 100, "Largest paint": 2000}, {0: (), 100: ("First paint",), 905: ("Largest paint",)}),
    ],
)
def test_frames_are_chosen_for_what_they_show(
    marks: Mapping[str, int], expected: Mapping[int, tuple[str, ...]]
) -> None:
    frames = [(-20, b"blank"), (100, b"text"), (905, b"image")]
    assert {each.at_ms: each.marks for each in choose_frames(frames, marks, 120)} == expected


def test_of_many_frames_some_are_chosen_and_none_after_the_load() -> None:
    frames = [(ms, b"%d" % ms) for ms in range(0, 5000, 20)]
    found = choose_frames(frames, {"First paint": 300, "Largest paint": 1500}, 1000)
    assert len(found) == MAX_FRAMES
    assert found[0].at_ms == 0
    assert found[-1].at_ms <= 1750
    assert [each.at_ms for each in found] == sorted({each.at_ms for each in found})


def test_a_page_that_never_paints_has_no_film() -> None:
    assert choose_frames([(0, b"blank")], {}, 100) == ()
    assert choose_frames([], {"First paint": 100}, 100) == ()


def _size(webp: bytes) -> tuple[int, int]:
    """Return width and height of lossy WebP (RFC 9649, section 2.5)."""
    start = webp.index(b"\x9d\x01\x2a") + 3
    wide, high = struct.unpack("<HH", webp[start : start + 4])
    return wide & 0x3FFF, high & 0x3FFF
