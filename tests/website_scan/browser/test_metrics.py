"""Metrics of real loads compared with Chromium's own trace of the same loads, on pages with known figures.

Scripts on the pages run loops of a known duration, so that a busy machine makes no page faster. Compared times may
differ by 10 %, or by 10 ms if that is more, because paints are reported in steps of a frame.
"""

from __future__ import annotations

import asyncio
import struct
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY
from website_scan.browser import main_thread
from website_scan.browser.chromium import SCREEN, Chromium
from website_scan.browser.evidence import BrowserLoad, Load
from website_scan.browser.load import visit_page
from website_scan.browser.processes import Usage, kill_trees
from website_scan.browser.visit import Part, Visit
from website_scan.net.browser import command_line, find_browser
from website_scan.net.client import Network
from website_scan.net.proxy import BrowserProxy
from website_scan.performance.vitals import Markup, cumulative_layout_shift, simulated

# One pytest worker runs all of these tests, so that the pages are loaded only once.
pytestmark = pytest.mark.xdist_group("metrics")

TIME_LIMIT_S = 20.0
CATEGORIES = ("loading", "blink.user_timing", "rail", *main_thread.CATEGORIES)

HEAD = """<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width">
<title>Known figures</title><style>body{margin:0} img{display:block}</style>
<script>
const work = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };
// Behind the first paint: a frame is over when the next one begins.
const painted = (then) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(then)));
</script>
"""
WORDS = "Words that are painted. " * 40


def png(width: int, height: int) -> bytes:
    """Return a PNG with different rows, because pictures that are too plain cannot be the largest paint."""
    rows = b"".join(b"\0" + bytes((row * 7 + column * 13) % 251 for column in range(width)) for row in range(height))

    def part(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")


PAGES = {
    # The first paint comes after a script of 150 ms, and is also the largest paint.
    "text": HEAD + f"<script>work(150)</script><p id=text>{WORDS}",
    # A line is painted at once. The largest paint is a text after a task of 200 ms.
    "late-text": HEAD
    + f"<p>A line.<p id=late><script>painted(() => {{ work(200); late.textContent = '{WORDS}' }})</script>",
    # The largest paint is an image that a script inserts after 120 ms of work.
    "late-image": HEAD + "<p>A line.<script>painted(() => { work(120); document.body.insertAdjacentHTML('beforeend', "
    "'<img id=hero src=/hero.png width=400 height=300 alt=Hero>') })</script>",
    # The largest paint is an image in the markup, before a script that blocks the parser.
    "image": HEAD + "<img id=hero src=/hero.png width=400 height=300 alt=Hero><script src=/work.js></script><p>A line.",
    # A box as wide as the screen and 200 px high moves by 100 px, and then by 50 px more.
    "shift": HEAD + "<div id=ad></div><div id=box style='height:200px;background:#fd8'>A line.</div><script>"
    "painted(() => { ad.style.height = '100px'; painted(() => { ad.style.height = '150px' }) })</script>",
    # A coloured box covers all but the lowest part of a background image. The page has no pointer events.
    "backdrop": HEAD + "<style>html{pointer-events:none} body{background:url(/hero.png);height:100vh}"
    "div{height:80vh;background:#fd8}</style><div>A line.</div>",
}


@dataclass(frozen=True)
class TracedLoad:
    load: BrowserLoad
    trace: list[Mapping[str, Any]]

    @property
    def first(self) -> Load:
        return self.load.first

    @property
    def traced(self) -> Load:
        """Return the first load with the main thread's work from the test's trace, the only one that can run."""
        navigation = _navigation_event(self)
        tasks = main_thread.parse_trace(self.trace, navigation["args"]["frame"], navigation["ts"] / 1_000_000)
        return replace(self.first, main_thread=tasks)


@pytest.fixture(scope="module")
def traced_loads() -> Iterator[Mapping[str, TracedLoad]]:
    routes = {f"/{name}": Answer(html) for name, html in PAGES.items()}
    routes |= {
        "/hero.png": Answer(png(400, 300), headers={"Content-Type": "image/png"}),
        "/work.js": Answer("work(100)", headers={"Content-Type": "text/javascript"}),
    }
    with Site(routes) as site:
        yield asyncio.run(_load_all_pages(site))


async def _load_all_pages(site: Site) -> dict[str, TracedLoad]:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    traced_loads = {}
    with tempfile.TemporaryDirectory() as folder, Network(POLICY, time_limit_s=120) as network:
        browser = await Chromium.start(command_line(program, Path(folder), sandbox=False), lambda _: None)
        try:
            for name in PAGES:
                with BrowserProxy(network) as proxy:
                    trace = main_thread.Trace(browser.connection.root, CATEGORIES)
                    await trace.start()
                    # The screenshot for axe would cause layout work in the trace.
                    parts = frozenset(Part) - {Part.AXE}
                    visit = Visit(f"{site.url}/{name}", proxy, POLICY.user_agent, TIME_LIMIT_S, parts=parts)
                    load = await visit_page(browser, visit, lambda: Usage(0, 0.0, 0.0))
                    traced_loads[name] = TracedLoad(load, await trace.stop())
        finally:
            await browser.close()
            kill_trees([browser.process])
            browser.connection.close()
    return traced_loads


def traced_s(traced_load: TracedLoad, name: str) -> list[float]:
    """Return the times of the trace's events with a name since the page's navigation."""
    navigation = _navigation_event(traced_load)
    id = navigation["args"]["data"]["navigationId"]
    return [
        (event["ts"] - navigation["ts"]) / 1_000_000
        for event in traced_load.trace
        if event["name"] == name and event["args"].get("data", {}).get("navigationId") == id
    ]


def _navigation_event(traced_load: TracedLoad) -> Mapping[str, Any]:
    url = traced_load.first.requests[0].url
    (navigation,) = [
        event
        for event in traced_load.trace
        if event["name"] == "navigationStart" and event["args"]["data"].get("documentLoaderURL") == url
    ]
    return navigation


def traced_shift(traced_load: TracedLoad) -> float:
    shifts = (event["args"]["data"] for event in traced_load.trace if event["name"] == "LayoutShift")
    return sum(float(shift["weighted_score_delta"]) for shift in shifts)


def approximately(seconds: float) -> Any:
    return pytest.approx(seconds, rel=0.1, abs=0.01)


@pytest.mark.parametrize("name", PAGES)
def test_first_contentful_paint_equals_that_of_the_trace(traced_loads: Mapping[str, TracedLoad], name: str) -> None:
    (traced,) = traced_s(traced_loads[name], "firstContentfulPaint")
    assert traced_loads[name].first.fcp_s == approximately(traced)


@pytest.mark.parametrize("name", PAGES)
def test_largest_contentful_paint_equals_that_of_the_trace(traced_loads: Mapping[str, TracedLoad], name: str) -> None:
    largest = traced_loads[name].first.lcp
    assert largest is not None
    assert largest.time_s == approximately(traced_s(traced_loads[name], "largestContentfulPaint::Candidate")[-1])


@pytest.mark.parametrize("name", PAGES)
def test_layout_shift_equals_that_of_the_trace(traced_loads: Mapping[str, TracedLoad], name: str) -> None:
    shift = cumulative_layout_shift(traced_loads[name].first.shifts)
    assert shift == pytest.approx(traced_shift(traced_loads[name]), rel=0.01, abs=1e-4)
    assert (shift > 0) == (name == "shift")


def test_layout_shift_is_impact_fraction_times_distance_fraction(traced_loads: Mapping[str, TracedLoad]) -> None:
    """The Layout Instability formula: impact fraction times distance fraction of the longer side."""
    height = SCREEN["height"]
    first, second = (200 + 100) / height * 100 / height, (200 + 50) / height * 50 / height
    shifts = traced_loads["shift"].first.shifts
    assert [shift.value for shift in shifts] == pytest.approx([first, second], rel=0.01)
    assert shifts[0].source == "#box"


def test_script_before_the_first_paint_delays_the_paint(traced_loads: Mapping[str, TracedLoad]) -> None:
    fcp_s = traced_loads["text"].first.fcp_s
    assert fcp_s is not None
    assert fcp_s >= 0.15
    largest = traced_loads["text"].first.lcp
    assert largest is not None
    assert (largest.selector, largest.url) == ("#text", "")
    assert largest.time_s == pytest.approx(fcp_s, abs=0.01)


@pytest.mark.parametrize(("name", "work_s"), [("late-text", 0.2), ("late-image", 0.12)])
def test_late_element_is_the_largest_contentful_paint(
    traced_loads: Mapping[str, TracedLoad], name: str, work_s: float
) -> None:
    first = traced_loads[name].first
    assert first.fcp_s is not None
    assert first.lcp is not None
    # On a busy machine the script may begin before the first paint, so only a lower limit is certain.
    assert first.lcp.time_s > max(first.fcp_s, work_s)
    assert first.lcp.selector == {"late-text": "#late", "late-image": "#hero"}[name]


@pytest.mark.parametrize("name", ["image", "late-image"])
def test_largest_paint_has_the_url_of_its_image_request(traced_loads: Mapping[str, TracedLoad], name: str) -> None:
    first = traced_loads[name].first
    assert first.lcp is not None
    (request,) = [request for request in first.requests if request.url == first.lcp.url]
    assert request.url.endswith("/hero.png")
    assert request.end_s is not None
    assert request.end_s <= first.lcp.time_s


def test_loop_is_one_task_that_blocks_four_times_as_long_on_a_phone(traced_loads: Mapping[str, TracedLoad]) -> None:
    load = traced_loads["late-text"].traced
    longest = max(load.main_thread.tasks, key=lambda task: task.duration_s)
    # The loop runs by the clock: on a busy machine it may run longer, and gets only a part of the time as CPU time.
    assert longest.duration_s >= 0.199
    assert longest.processor_s <= longest.duration_s * 1.05
    blocked_s = simulated(load, Markup()).blocked_s
    assert blocked_s is not None
    assert blocked_s >= 0.9 * (4 * longest.processor_s - 0.05)
    assert blocked_s <= 4 * sum(traced_task.processor_s for traced_task in load.main_thread.tasks)


def test_script_evaluation_is_inside_a_task(traced_loads: Mapping[str, TracedLoad]) -> None:
    main_thread_work = traced_loads["image"].traced.main_thread
    (evaluation_of_script,) = [
        evaluation for evaluation in main_thread_work.evaluations if evaluation.url.endswith("/work.js")
    ]
    assert evaluation_of_script.duration_s >= 0.099
    ends_s = evaluation_of_script.time_s + evaluation_of_script.duration_s
    assert any(
        task.time_s <= evaluation_of_script.time_s and ends_s <= task.time_s + task.duration_s + 0.001
        for task in main_thread_work.tasks
    )
    assert any(frame_s > ends_s for frame_s in main_thread_work.frames_s)


def test_rendering_work_excludes_scripts(traced_loads: Mapping[str, TracedLoad]) -> None:
    load = traced_loads["text"].traced
    # The parser runs the inline script of 150 ms.
    assert 0 < sum(task.processor_s for task in load.main_thread.rendering) < 0.1
    response_s = load.requests[0].response_s
    assert response_s is not None
    assert any(response_s <= parse_s <= (load.fcp_s or 0) for parse_s in load.main_thread.parses_s)


def test_visual_progress_ends_at_one_and_has_the_share_of_images(traced_loads: Mapping[str, TracedLoad]) -> None:
    progress = traced_loads["late-image"].first.progress
    assert progress is not None
    assert progress.steps[-1][1] == 1.0
    assert all(0 <= part <= 1 for _, part in progress.steps)
    ((url, part),) = progress.images
    assert url.endswith("/hero.png")
    assert part > 0.9  # beside a line of text
    text = traced_loads["late-text"].first.progress
    assert text is not None
    assert text.images == ()
    first, last = text.steps[0][1], text.steps[-1][1]
    assert first < 0.2 < last == 1.0  # a line, then forty


def test_background_image_counts_only_with_its_visible_part(traced_loads: Mapping[str, TracedLoad]) -> None:
    """Regression: the image counted as the whole screen, so that the Speed Index was three times too high."""
    progress = traced_loads["backdrop"].first.progress
    assert progress is not None
    ((url, part),) = progress.images
    assert url.endswith("/hero.png")
    assert 0.1 < part < 0.3


def test_script_time_is_processor_time(traced_loads: Mapping[str, TracedLoad]) -> None:
    idle, busy = traced_loads["shift"].first, traced_loads["late-text"].first
    # The loop runs by the clock: on a busy machine it gets only a part of the 0.2 s as CPU time.
    assert idle.script_s < busy.script_s / 2
    assert 0.02 < busy.script_s <= busy.main_thread_s <= 1.0


def test_layout_has_images_and_coverage_has_scripts(traced_loads: Mapping[str, TracedLoad]) -> None:
    load = traced_loads["image"].load
    assert load.problems == {}
    assert load.layout is not None
    assert load.files is not None
    (image,) = load.layout.images
    assert (image.natural_width, image.width_px, image.is_visible, image.has_choices) == (400, 400.0, True, False)
    (script,) = [file for file in load.files if file.url.endswith("/work.js")]
    assert (script.length, script.unused) == (len("work(100)"), 0)
