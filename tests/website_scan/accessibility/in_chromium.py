"""Run axe-core on many test pages in one Chromium."""

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
from website_scan.browser.devices import PHONE
from website_scan.browser.evidence import AxeReport
from website_scan.net.browser import find_browser
from website_scan.net.budget import Limits
from website_scan.net.client import Network
from website_scan.net.proxy import BrowserProxy

# Number of pages that Chromium loads at the same time.
CONCURRENT_TABS = 3
MAX_DURATION_S = 240.0
# These limits are for all pages together.
LIMITS = Limits(requests=5_000, requests_per_host=5_000)
# Blocked images and other files do not change axe-core's results.
BLOCKED_FILES = "*://*/*.*"


def axe_reports(pages: Mapping[str, str], files: Mapping[str, Answer]) -> dict[str, AxeReport]:
    """Return axe-core's reports by page name.

    `files` are responses by path. Other paths with a dot have status 404.
    """
    routes = {f"/{name}": Answer(markup) for name, markup in pages.items()}
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with (
        Site({**files, **routes}) as site,
        Network(POLICY, time_limit_s=MAX_DURATION_S) as network,
        BrowserProxy(network, limits=LIMITS) as proxy,
        tempfile.TemporaryDirectory() as folder,
        # Django's ORM refuses to work in a thread with Playwright's event loop.
        ThreadPoolExecutor(1, "playwright") as thread,
    ):
        run = _run_axe_on_pages(site.url, proxy, program, Path(folder), list(pages))
        return thread.submit(asyncio.run, asyncio.wait_for(run, MAX_DURATION_S)).result()


async def _run_axe_on_pages(
    site: str, proxy: BrowserProxy, program: Path, folder: Path, names: list[str]
) -> dict[str, AxeReport]:
    reports: dict[str, AxeReport] = {}
    pending = names[::-1]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**launch_options(program, folder))
        context = await browser.new_context(
            **context_options(proxy),
            viewport={"width": PHONE.width, "height": PHONE.height},
            device_scale_factor=PHONE.ratio,
            is_mobile=True,
            has_touch=True,
            locale="en-US",
        )
        await asyncio.gather(*(_run_axe_in_tab(context, site, pending, reports) for _ in range(CONCURRENT_TABS)))
        await browser.close()
    return reports


async def _run_axe_in_tab(
    context: BrowserContext, site: str, pending: list[str], reports: dict[str, AxeReport]
) -> None:
    page = await context.new_page()
    cdp = await context.new_cdp_session(page)
    await cdp.send("Network.enable")
    await cdp.send("Network.setBlockedURLs", {"urls": [BLOCKED_FILES]})
    while pending:
        name = pending.pop()
        await page.goto(f"{site}/{name}")
        reports[name] = await run_axe(cdp, (PHONE,))
