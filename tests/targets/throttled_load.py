"""Figures of a page under throttling: over a slow link, with Chromium's CPU slowed down four times."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, CDPSession, Page, async_playwright

from tests.playwright_options import launch_options
from website_scan.browser.chromium import PIXEL_RATIO, SCREEN

SLOWDOWN = 4
LIMIT_S = 60.0
QUIET_S = 2.5  # without a request or its end, and behind the load event, that ends a load
POLL_S = 0.1
WINDOW_GAP_S, WINDOW_S = 1.0, 5.0  # of layout shifts (web.dev, "Cumulative Layout Shift")
FRAME = {"format": "jpeg", "quality": 80, "maxWidth": SCREEN["width"], "maxHeight": SCREEN["height"]}

# What the browser has noted; asked for at the end, because the question itself keeps a slow processor busy.
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

# Progress of each frame, 0 to 1, from the first to the last one: speedline's comparison of the frames' histograms,
# which Lighthouse's Speed Index uses. Like there, pixels that are almost white do not count.
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


@dataclass(frozen=True)
class ThrottledLoad:
    """Figures of a load in seconds; CLS has no unit."""

    fcp: float
    lcp: float
    tbt: float
    cls: float
    speed_index: float


@dataclass(frozen=True)
class Truth:
    """A figure of several throttled loads: median, minimum and maximum."""

    value: float
    least: float
    largest: float


def throttled_loads(program: Path, url: str, times: int, slow_down: Callable[[], object]) -> Mapping[str, Truth]:
    """Return the figures of several loads by name, each load in a fresh context and after a call of `slow_down`."""
    found = asyncio.run(_loads(program, url, times, slow_down))
    figures = {name: [getattr(each, name) for each in found] for name in ThrottledLoad.__dataclass_fields__}
    return {name: Truth(statistics.median(each), min(each), max(each)) for name, each in figures.items()}


async def _loads(program: Path, url: str, times: int, slow_down: Callable[[], object]) -> Sequence[ThrottledLoad]:
    with tempfile.TemporaryDirectory() as folder:
        # The sites are on loopback, and nothing but the link must be in between: no proxy.
        options = {name: value for name, value in launch_options(program, Path(folder)).items() if name != "proxy"}
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(**options)
            try:
                await _warm_up(browser)
                found = []
                for _ in range(times):
                    slow_down()  # no load may find the names that another one has resolved
                    found.append(await _load(browser, url))
                return found
            finally:
                await browser.close()


async def _warm_up(browser: Browser) -> None:
    """Draw a page, because the first one of a browser takes 0.1 s longer."""
    page = await browser.new_page()
    await page.goto("data:text/html,<h1>Warm")
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    await page.context.close()


async def _load(browser: Browser, url: str) -> ThrottledLoad:
    context = await browser.new_context(
        viewport=SCREEN,  # type: ignore[arg-type]  # a TypedDict of the same shape
        device_scale_factor=PIXEL_RATIO,
        is_mobile=True,
        has_touch=True,
    )
    page = await context.new_page()
    session = await context.new_cdp_session(page)
    await session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
    film = _Film(session)
    await film.start()
    await _until_quiet(page, url)
    await film.stop()
    seen: dict[str, Any] = await asyncio.wait_for(page.evaluate(VITALS), LIMIT_S)
    await page.close()
    speed_index = await film.speed_index(await context.new_page(), seen["began"] / 1000)
    await context.close()
    blocked_s = 0.0
    for began_s, took_s in seen["tasks"]:
        within_s = min(took_s, began_s + took_s - seen["fcp"])
        blocked_s += max(0.0, within_s - 0.05)
    return ThrottledLoad(seen["fcp"], seen["lcp"], blocked_s, _largest_window(seen["shifts"]), speed_index)


async def _until_quiet(page: Page, url: str) -> None:
    clock = asyncio.get_running_loop().time
    last = [clock()]
    for event in ("request", "requestfinished", "requestfailed"):
        page.on(event, lambda _: last.append(clock()))
    await page.goto(url, wait_until="load", timeout=1000 * LIMIT_S)
    last.append(clock())
    while clock() < last[-1] + QUIET_S:
        await asyncio.sleep(POLL_S)


def _largest_window(shifts: Sequence[tuple[float, float]]) -> float:
    windows: list[list[tuple[float, float]]] = []
    for at_s, value in sorted(shifts):
        if windows and at_s - windows[-1][-1][0] < WINDOW_GAP_S and at_s - windows[-1][0][0] < WINDOW_S:
            windows[-1].append((at_s, value))
        else:
            windows.append([(at_s, value)])
    return max((sum(value for _, value in each) for each in windows), default=0.0)


class _Film:
    """Every frame that a load draws, with its time."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session
        self._frames: list[tuple[float, str]] = []  # seconds since 1970, and JPEG in base64
        self._asking: set[asyncio.Future[Any]] = set()

    async def start(self) -> None:
        self._session.on("Page.screencastFrame", self._keep)
        await self._session.send("Page.startScreencast", FRAME)

    async def stop(self) -> None:
        await self._session.send("Page.stopScreencast")
        await asyncio.gather(*self._asking, return_exceptions=True)

    async def speed_index(self, page: Page, began_s: float) -> float:
        """Return the area above the curve of progress, computed in a blank page."""
        before = [data for at_s, data in self._frames if at_s <= began_s][-1:]
        after = [(at_s - began_s, data) for at_s, data in self._frames if at_s > began_s]
        progress = await page.evaluate(PROGRESS, [*before, *(data for _, data in after)])
        index = since_s = shown = 0.0
        for (at_s, _), now in zip(after, progress[len(before) :], strict=True):
            index += (1 - shown) * (at_s - since_s)
            since_s, shown = at_s, now
        return index

    def _keep(self, event: Mapping[str, Any]) -> None:
        self._frames.append((float(event["metadata"]["timestamp"]), str(event["data"])))
        asking = asyncio.ensure_future(self._session.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]}))
        self._asking.add(asking)
        asking.add_done_callback(self._asking.discard)
