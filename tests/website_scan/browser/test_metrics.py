"""Test that the metrics of page loads equal those of Chromium's trace.

Scripts on the pages run loops of a known duration, so that a busy machine makes no page faster. Compared times may
differ by 10 %, or by 10 ms if that is more, because paints are reported in steps of a frame.
"""

from __future__ import annotations

import asyncio
import struct
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY
from website_scan.browser import main_thread
from website_scan.browser.chromium import Chromium
from website_scan.browser.devices import PHONE
from website_scan.browser.evidence import BrowserLoad, Load
from website_scan.browser.load import visit_page
from website_scan.browser.processes import Usage, kill_trees
from website_scan.browser.visit import Part, Visit
from website_scan.net.browser import command_line, find_browser
from website_scan.net.client import Network
from website_scan.net.proxy import BrowserProxy
from website_scan.performance.layout_shifts import cumulative_layout_shift
from website_scan.performance.vitals import MarkupFacts, simulate_load

# One pytest worker runs all of these tests, so that pages are loaded only once.
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
    """Return a PNG whose rows differ.

    Chromium ignores low-entropy images for the largest paint.
    """
    rows = b"".join(b"\0" + bytes((row * 7 + column * 13) % 251 for column in range(width)) for row in range(height))

    def png_chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + png_chunk(b"IHDR", header)
        + png_chunk(b"IDAT", zlib.compress(rows))
        + png_chunk(b"IEND", b"")
    )


PAGES = {
    # The first paint comes after a 150 ms script and is also the largest paint.
    "text": HEAD + f"<script>work(150)</script><p id=text>{WORDS}",
    # One line is painted at once. The largest paint is text after a 200 ms task.
    "late-text": HEAD
    + f"<p>A line.<p id=late><script>painted(() => {{ work(200); late.textContent = '{WORDS}' }})</script>",
    # The largest paint is an image that a script inserts after 120 ms of work.
    "late-image": HEAD + "<p>A line.<script>painted(() => { work(120); document.body.insertAdjacentHTML('beforeend', "
    "'<img id=hero src=/hero.png width=400 height=300 alt=Hero>') })</script>",
    # The largest paint is an image in the markup, before a script that blocks the parser.
    "image": HEAD + "<img id=hero src=/hero.png width=400 height=300 alt=Hero><script src=/work.js></script><p>A line.",
    # A box as wide as the screen moves by 100 px, and then by 50 px more.
    "shift": HEAD + "<div id=ad></div><div id=box style='height:200px;background:#fd8'>A line.</div><script>"
    "painted(() => { ad.style.height = '100px'; painted(() => { ad.style.height = '150px' }) })</script>",
    # A coloured box covers all but the lowest part of a background image.
    "backdrop": HEAD + "<style>html{pointer-events:none} body{background:url(/hero.png);height:100vh}"
    "div{height:80vh;background:#fd8}</style><div>A line.</div>",
}


class TracedLoad(Struct, frozen=True):
    load: BrowserLoad
    trace: list[Mapping[str, Any]]

    @property
    def first_load(self) -> Load:
        return self.load.first

    @property
    def load_with_trace(self) -> Load:
        """Return the first load with the main-thread tasks of the trace.

        Only one trace can run at a time.
        """
        navigation = _navigation_event(self)
        tasks = main_thread.parse_trace(self.trace, navigation["args"]["frame"], navigation["ts"] / 1_000_000)
        return replace(self.first_load, main_thread=tasks)


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
                    load = await visit_page(browser, visit, lambda: Usage(0, 0.0, 0.0), lambda _: None)
                    traced_loads[name] = TracedLoad(load, await trace.stop())
        finally:
            await browser.close()
            kill_trees([browser.process])
            browser.connection.close()
    return traced_loads


def traced_event_times_s(traced_load: TracedLoad, name: str) -> list[float]:
    """Return the times of the trace events with this name.

    They are relative to the page's navigation.
    """
    navigation = _navigation_event(traced_load)
    id = navigation["args"]["data"]["navigationId"]
    return [
        (event["ts"] - navigation["ts"]) / 1_000_000
        for event in traced_load.trace
        if event["name"] == name and event["args"].get("data", {}).get("navigationId") == id
    ]


def _navigation_event(traced_load: TracedLoad) -> Mapping[str, Any]:
    url = traced_load.first_load.requests[0].url
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
def test_first_contentful_paint_equals_the_trace(traced_loads: Mapping[str, TracedLoad], name: str) -> None:
    (load_with_trace,) = traced_event_times_s(traced_loads[name], "firstContentfulPaint")
    assert traced_loads[name].first_load.fcp_s == approximately(load_with_trace)


@pytest.mark.parametrize("name", PAGES)
def test_largest_contentful_paint_equals_the_trace(traced_loads: Mapping[str, TracedLoad], name: str) -> None:
    largest = traced_loads[name].first_load.lcp
    assert largest is not None
    assert largest.time_s == approximately(
        traced_event_times_s(traced_loads[name], "largestContentfulPaint::Candidate")[-1]
    )


@pytest.mark.parametrize("name", PAGES)
def test_layout_shift_equals_that_of_the_trace(traced_loads: Mapping[str, TracedLoad], name: str) -> None:
    shift = cumulative_layout_shift(traced_loads[name].first_load.shifts)
    assert shift == pytest.approx(traced_shift(traced_loads[name]), rel=0.01, abs=1e-4)
    assert (shift > 0) == (name == "shift")


def test_layout_shift_is_impact_times_distance(traced_loads: Mapping[str, TracedLoad]) -> None:
    """Layout Instability API: the distance fraction is relative to the longer side of the screen."""
    height = PHONE.height
    first_load, second = (200 + 100) / height * 100 / height, (200 + 50) / height * 50 / height
    shifts = traced_loads["shift"].first_load.shifts
    assert [shift.value for shift in shifts] == pytest.approx([first_load, second], rel=0.01)
    assert shifts[0].source == "#box"


def test_early_script_delays_the_first_paint(traced_loads: Mapping[str, TracedLoad]) -> None:
    fcp_s = traced_loads["text"].first_load.fcp_s
    assert fcp_s is not None
    assert fcp_s >= 0.15
    largest = traced_loads["text"].first_load.lcp
    assert largest is not None
    assert (largest.selector, largest.url) == ("#text", "")
    assert largest.time_s == pytest.approx(fcp_s, abs=0.01)


@pytest.mark.parametrize(("name", "work_s"), [("late-text", 0.2), ("late-image", 0.12)])
def test_late_element_is_the_largest_contentful_paint(
    traced_loads: Mapping[str, TracedLoad], name: str, work_s: float
) -> None:
    first_load = traced_loads[name].first_load
    assert first_load.fcp_s is not None
    assert first_load.lcp is not None
    # On a busy machine, the script may begin before the first paint.
    assert first_load.lcp.time_s > max(first_load.fcp_s, work_s)
    assert first_load.lcp.selector == {"late-text": "#late", "late-image": "#hero"}[name]


@pytest.mark.parametrize("name", ["image", "late-image"])
def test_largest_paint_has_the_url_of_its_image(traced_loads: Mapping[str, TracedLoad], name: str) -> None:
    first_load = traced_loads[name].first_load
    assert first_load.lcp is not None
    (request,) = [request for request in first_load.requests if request.url == first_load.lcp.url]
    assert request.url.endswith("/hero.png")
    assert request.end_s is not None
    assert request.end_s <= first_load.lcp.time_s


def test_loop_takes_four_times_as_long_on_a_phone(traced_loads: Mapping[str, TracedLoad]) -> None:
    load = traced_loads["late-text"].load_with_trace
    longest = max(load.main_thread.tasks, key=lambda task: task.duration_s)
    # On a busy machine, the loop gets only part of its time as CPU time.
    assert longest.duration_s >= 0.199
    assert longest.processor_s <= longest.duration_s * 1.05
    simulated_tbt_s = simulate_load(load, MarkupFacts()).simulated_tbt_s
    assert simulated_tbt_s is not None
    assert simulated_tbt_s >= 0.9 * (4 * longest.processor_s - 0.05)
    assert simulated_tbt_s <= 4 * sum(traced_task.processor_s for traced_task in load.main_thread.tasks)


def test_script_evaluation_is_inside_a_task(traced_loads: Mapping[str, TracedLoad]) -> None:
    main_thread_work = traced_loads["image"].load_with_trace.main_thread
    (evaluation_of_script,) = [
        evaluation for evaluation in main_thread_work.evaluations if evaluation.url.endswith("/work.js")
    ]
    assert evaluation_of_script.duration_s >= 0.099
    task_ends_s = evaluation_of_script.time_s + evaluation_of_script.duration_s
    assert any(
        task.time_s <= evaluation_of_script.time_s and task_ends_s <= task.time_s + task.duration_s + 0.001
        for task in main_thread_work.tasks
    )
    assert any(frame_s > task_ends_s for frame_s in main_thread_work.frame_commits_s)


def test_rendering_work_excludes_scripts(traced_loads: Mapping[str, TracedLoad]) -> None:
    load = traced_loads["text"].load_with_trace
    # The parser runs the inline script of 150 ms.
    assert 0 < sum(task.processor_s for task in load.main_thread.rendering) < 0.1
    response_s = load.requests[0].response_s
    assert response_s is not None
    assert any(response_s <= parse_s <= (load.fcp_s or 0) for parse_s in load.main_thread.parse_starts_s)


def test_visual_progress_ends_at_one(traced_loads: Mapping[str, TracedLoad]) -> None:
    progress = traced_loads["late-image"].first_load.progress
    assert progress is not None
    assert progress.steps[-1][1] == 1.0
    assert all(0 <= part <= 1 for _, part in progress.steps)
    ((url, part),) = progress.images
    assert url.endswith("/hero.png")
    assert part > 0.9  # Except for a line of text, the image fills the screen.
    text = traced_loads["late-text"].first_load.progress
    assert text is not None
    assert text.images == ()
    first_load, last = text.steps[0][1], text.steps[-1][1]
    assert first_load < 0.2 < last == 1.0  # The page shows one line first and forty more lines later.


def test_background_image_counts_only_where_visible(traced_loads: Mapping[str, TracedLoad]) -> None:
    """Regression test: the image counted as the whole screen."""
    progress = traced_loads["backdrop"].first_load.progress
    assert progress is not None
    ((url, part),) = progress.images
    assert url.endswith("/hero.png")
    assert 0.1 < part < 0.3


def test_script_time_is_cpu_time(traced_loads: Mapping[str, TracedLoad]) -> None:
    idle, busy = traced_loads["shift"].first_load, traced_loads["late-text"].first_load
    # On a busy machine, the loop gets only part of the 0.2 s as CPU time.
    assert idle.script_s < busy.script_s / 2
    assert 0.02 < busy.script_s <= busy.main_thread_s <= 1.0


def test_layout_lists_images(traced_loads: Mapping[str, TracedLoad]) -> None:
    load = traced_loads["image"].load
    assert load.problems == {}
    assert load.layout is not None
    assert load.files is not None
    (image,) = load.layout.images
    assert (image.natural_width, image.width_px, image.is_visible, image.has_several_files) == (400, 400.0, True, False)
    (script,) = [file for file in load.files if file.url.endswith("/work.js")]
    assert (script.length, script.unused) == (len("work(100)"), 0)
