"""Measure page loads over a slow link.

Chromium's CPU is slowed down four times.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from playwright.async_api import Browser, CDPSession, Page, async_playwright

from tests.playwright_options import launch_options
from website_scan.browser.devices import PHONE

SLOWDOWN = 4
TIMEOUT_S = 60.0
MIN_QUIET_S = 2.5  # A load has ended if requests are idle for this time after the load event.
POLL_INTERVAL_S = 0.1
WINDOW_GAP_S, WINDOW_S = 1.0, 5.0  # Session windows of layout shifts (web.dev, "Cumulative Layout Shift").
FRAME = {"format": "jpeg", "quality": 80, "maxWidth": PHONE.width, "maxHeight": PHONE.height}

# This script keeps a slow CPU busy, so it runs last.
VITALS = """
() => new Promise((done) => {
  const seen = {lcp: null, tasks: [], shifts: [], began: performance.timeOrigin};
  const watch = (type, note) => new PerformanceObserver((list) => list.getEntries().forEach(note))
    .observe({type, buffered: true});
  watch('largest-contentful-paint', (each) => { seen.lcp = each.startTime / 1000; });
  watch('longtask', (each) => { seen.tasks.push([each.startTime / 1000, each.duration / 1000]); });
  watch('layout-shift', (each) => { seen.shifts.push([each.startTime / 1000, each.value]); });
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  setTimeout(() => done({...seen, fcp: paint ? paint.startTime / 1000 : null}), 100);
})
"""

# Script that returns the visual progress of every frame, from 0 to 1.
# Like speedline, it compares color histograms and ignores pixels that are almost white.
PROGRESS = """
async (frames) => {
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d', {willReadFrequently: true});
  const histograms = [];
  for (const frame of frames) {
    const image = new Image();
    image.src = `data:image/jpeg;base64,${frame}`;
    await image.decode();
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    context.drawImage(image, 0, 0);
    const {data} = context.getImageData(0, 0, canvas.width, canvas.height);
    const counts = new Int32Array(768);
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] >= 249 && data[at + 1] >= 249 && data[at + 2] >= 249) continue;
      for (let channel = 0; channel < 3; channel += 1) counts[256 * channel + data[at + channel]] += 1;
    }
    histograms.push(counts);
  }
  const first = histograms[0];
  const last = histograms[histograms.length - 1];
  return histograms.map((each) => {
    let [match, total] = [0, 0];
    for (let at = 0; at < 768; at += 1) {
      const wanted = Math.abs(last[at] - first[at]);
      match += Math.min(Math.abs(each[at] - first[at]), wanted);
      total += wanted;
    }
    return total ? match / total : 1;
  });
}
"""


class ThrottledLoad(Struct, frozen=True):
    """Metrics of a page load, in seconds except for CLS, which has no unit."""

    fcp: float
    lcp: float
    tbt: float
    cls: float
    speed_index: float


class MetricSummary(Struct, frozen=True):
    """Median, minimum and maximum of a metric over loads."""

    value: float
    least: float
    largest: float


def throttled_loads(
    program: Path, url: str, times: int, slow_down: Callable[[], object]
) -> Mapping[str, MetricSummary]:
    """Load a page several times and summarize every metric.

    `slow_down` is called before each load, which uses a new browser context.
    """
    loads = asyncio.run(_load_repeatedly(program, url, times, slow_down))
    figures = {name: [getattr(load, name) for load in loads] for name in ThrottledLoad.__struct_fields__}
    return {
        name: MetricSummary(statistics.median(values), min(values), max(values)) for name, values in figures.items()
    }


async def _load_repeatedly(
    program: Path, url: str, times: int, slow_down: Callable[[], object]
) -> Sequence[ThrottledLoad]:
    with tempfile.TemporaryDirectory() as folder:
        # Only the slow link may be between browser and sites, so there is no proxy.
        options = {name: value for name, value in launch_options(program, Path(folder)).items() if name != "proxy"}
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(**options)
            try:
                await _warm_up(browser)
                loads = []
                for _ in range(times):
                    slow_down()  # Each load has to resolve all names again.
                    loads.append(await _load_page(browser, url))
                return loads
            finally:
                await browser.close()


async def _warm_up(browser: Browser) -> None:
    """Render a page before the first measurement.

    A browser's first page takes 0.1 s longer.
    """
    page = await browser.new_page()
    await page.goto("data:text/html,<h1>Warm")
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    await page.context.close()


async def _load_page(browser: Browser, url: str) -> ThrottledLoad:
    context = await browser.new_context(
        viewport={"width": PHONE.width, "height": PHONE.height},
        device_scale_factor=PHONE.ratio,
        is_mobile=True,
        has_touch=True,
    )
    page = await context.new_page()
    session = await context.new_cdp_session(page)
    await session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
    recorder = _FrameRecorder(session)
    await recorder.start()
    await _wait_until_quiet(page, url)
    await recorder.stop()
    vitals: dict[str, Any] = await asyncio.wait_for(page.evaluate(VITALS), TIMEOUT_S)
    await page.close()
    speed_index = await recorder.speed_index(await context.new_page(), vitals["began"] / 1000)
    await context.close()
    blocked_s = 0.0
    for start_s, duration_s in vitals["tasks"]:
        blocking_s = min(duration_s, start_s + duration_s - vitals["fcp"])
        blocked_s += max(0.0, blocking_s - 0.05)
    return ThrottledLoad(vitals["fcp"], vitals["lcp"], blocked_s, _largest_shift_window(vitals["shifts"]), speed_index)


async def _wait_until_quiet(page: Page, url: str) -> None:
    clock = asyncio.get_running_loop().time
    last = [clock()]
    for event in ("request", "requestfinished", "requestfailed"):
        page.on(event, lambda _: last.append(clock()))
    await page.goto(url, wait_until="load", timeout=1000 * TIMEOUT_S)
    last.append(clock())
    while clock() < last[-1] + MIN_QUIET_S:
        await asyncio.sleep(POLL_INTERVAL_S)


def _largest_shift_window(shifts: Sequence[tuple[float, float]]) -> float:
    windows: list[list[tuple[float, float]]] = []
    for shift_s, value in sorted(shifts):
        if windows and shift_s - windows[-1][-1][0] < WINDOW_GAP_S and shift_s - windows[-1][0][0] < WINDOW_S:
            windows[-1].append((shift_s, value))
        else:
            windows.append([(shift_s, value)])
    return max((sum(value for _, value in window) for window in windows), default=0.0)


class _FrameRecorder:
    """Records all frames of a page load with their times."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session
        self._frames: list[tuple[float, str]] = []  # Unix time in seconds and base64 JPEG of each frame.
        self._asking: set[asyncio.Future[Any]] = set()

    async def start(self) -> None:
        self._session.on("Page.screencastFrame", self._record_frame)
        await self._session.send("Page.startScreencast", FRAME)

    async def stop(self) -> None:
        await self._session.send("Page.stopScreencast")
        await asyncio.gather(*self._asking, return_exceptions=True)

    async def speed_index(self, page: Page, start_s: float) -> float:
        """Return the Speed Index.

        It is the area above the visual progress curve, computed in a blank page.
        """
        before = [data for frame_s, data in self._frames if frame_s <= start_s][-1:]
        after = [(frame_s - start_s, data) for frame_s, data in self._frames if frame_s > start_s]
        progress = await page.evaluate(PROGRESS, [*before, *(data for _, data in after)])
        index = previous_s = previous_progress = 0.0
        for (frame_s, _), now in zip(after, progress[len(before) :], strict=True):
            index += (1 - previous_progress) * (frame_s - previous_s)
            previous_s, previous_progress = frame_s, now
        return index

    def _record_frame(self, event: Mapping[str, Any]) -> None:
        self._frames.append((float(event["metadata"]["timestamp"]), str(event["data"])))
        asking = asyncio.ensure_future(self._session.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]}))
        self._asking.add(asking)
        asking.add_done_callback(self._asking.discard)
