"""Runs axe-core on many pages in one real Chromium, with the service's own code."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from playwright.async_api import BrowserContext, async_playwright

from tests.playwright_options import context_options, launch_options
from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY
from website_scan.browser.axe import run_axe
from website_scan.browser.chromium import PIXEL_RATIO, SCREEN
from website_scan.browser.evidence import AxeReport
from website_scan.net.browser import find_browser
from website_scan.net.budget import Limits
from website_scan.net.client import Network
from website_scan.net.proxy import BrowserProxy

# Pages at once: one waits while another works.
TABS = 3
LIMIT_S = 240.0
# For all pages together.
LIMITS = Limits(requests=5_000, requests_per_host=5_000)
# Images, videos and the like: axe-core's results do not depend on their content.
FILES = "*://*/*.*"


def axe_reports(pages: Mapping[str, str], others: Mapping[str, Answer]) -> dict[str, AxeReport]:
    """Return axe-core's report on each page, by name. Paths with a dot are not loaded unless they are in `others`."""
    routes = {f"/{name}": Answer(markup) for name, markup in pages.items()}
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with (
        Site({**others, **routes}) as site,
        Network(POLICY, time_limit_s=LIMIT_S) as network,
        BrowserProxy(network, limits=LIMITS) as proxy,
        tempfile.TemporaryDirectory() as folder,
        # A thread of its own, because Django's ORM refuses to work in one that has an event loop.
        ThreadPoolExecutor(1, "playwright") as thread,
    ):
        run = _run(site.url, proxy, program, Path(folder), list(pages))
        return thread.submit(asyncio.run, asyncio.wait_for(run, LIMIT_S)).result()


async def _run(site: str, proxy: BrowserProxy, program: Path, folder: Path, names: list[str]) -> dict[str, AxeReport]:
    found: dict[str, AxeReport] = {}
    pending = names[::-1]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**launch_options(program, folder))
        context = await browser.new_context(
            **context_options(proxy),
            viewport=SCREEN,  # type: ignore[arg-type]  # a TypedDict of the same shape
            device_scale_factor=PIXEL_RATIO,
            is_mobile=True,
            has_touch=True,
            locale="en-US",
        )
        await asyncio.gather(*(_tab(context, site, pending, found) for _ in range(TABS)))
        await browser.close()
    return found


async def _tab(context: BrowserContext, site: str, pending: list[str], found: dict[str, AxeReport]) -> None:
    page = await context.new_page()
    cdp = await context.new_cdp_session(page)
    await cdp.send("Network.enable")
    await cdp.send("Network.setBlockedURLs", {"urls": [FILES]})
    while pending:
        name = pending.pop()
        await page.goto(f"{site}/{name}")
        found[name] = await run_axe(cdp)
