"""Load times of a page under throttling: over a slow link, with Chromium's CPU slowed down four times."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, async_playwright

from scanner.browser.load import PIXEL_RATIO, SCREEN
from scanner.net.browser import launch_options

SLOWDOWN = 4
LIMIT_S = 60.0
QUIET_S = 1.5  # quiet period without a long task or a new largest paint that ends a load

VITALS = """
(quiet) => new Promise((done) => {
  const seen = {lcp: null, tasks: [], last: performance.now()};
  const watch = (type, note) => new PerformanceObserver((list) => {
    list.getEntries().forEach(note);
    seen.last = performance.now();
  }).observe({type, buffered: true});
  watch('largest-contentful-paint', (each) => { seen.lcp = each.startTime / 1000; });
  watch('longtask', (each) => { seen.tasks.push([each.startTime / 1000, each.duration / 1000]); });
  const poll = () => {
    if (document.readyState !== 'complete') seen.last = performance.now();
    if (performance.now() - seen.last < quiet) return setTimeout(poll, 100);
    const paint = performance.getEntriesByName('first-contentful-paint')[0];
    done({...seen, fcp: paint ? paint.startTime / 1000 : null});
  };
  poll();
})
"""


@dataclass(frozen=True)
class ThrottledLoad:
    """Metrics of a load, in seconds."""

    fcp_s: float
    lcp_s: float
    tbt_s: float


def throttled_loads(program: Path, url: str, times: int) -> ThrottledLoad:
    """Return the minima of several loads, each in a fresh context: other programs can only make a load slower."""
    found = asyncio.run(_loads(program, url, times))
    names = ("fcp_s", "lcp_s", "tbt_s")
    return ThrottledLoad(*(min(getattr(each, name) for each in found) for name in names))


async def _loads(program: Path, url: str, times: int) -> Sequence[ThrottledLoad]:
    with tempfile.TemporaryDirectory() as folder:
        # The sites are on loopback, and nothing but the link must be in between: no proxy.
        options = {
            name: value
            for name, value in launch_options(program, Path(folder), sandbox=False).items()
            if name != "proxy"
        }
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(**options)
            try:
                return [await _load(browser, url) for _ in range(times)]
            finally:
                await browser.close()


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
    await page.goto(url, wait_until="commit", timeout=1000 * LIMIT_S)
    seen: dict[str, Any] = await asyncio.wait_for(page.evaluate(VITALS, 1000 * QUIET_S), LIMIT_S)
    await context.close()
    blocked_s = 0.0
    for began_s, took_s in seen["tasks"]:
        within_s = min(took_s, began_s + took_s - seen["fcp"])
        blocked_s += max(0.0, within_s - 0.05)
    return ThrottledLoad(seen["fcp"], seen["lcp"], blocked_s)
