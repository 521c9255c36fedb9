"""Compare results of axe-core's colour contrast with those of axe-core alone.

axe-core judges one text of each kind (axe_contrast.js). Alone, it judges every text.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from playwright.async_api import BrowserContext, CDPSession, async_playwright

from tests.playwright_options import context_options, launch_options
from tests.website_scan.cast import POLICY
from website_scan.browser import axe as axe_runner
from website_scan.browser.devices import DESKTOP, PHONE
from website_scan.browser.injected_scripts import read_script
from website_scan.net.browser import find_browser
from website_scan.net.budget import Limits
from website_scan.net.client import Network
from website_scan.net.proxy import BrowserProxy

CONCURRENT_TABS = 3
TIME_LIMIT_S = 280.0
MAX_RULES_S = 60.0
# These limits are for all pages together.
LIMITS = Limits(requests=20_000, requests_per_host=20_000)
# Every run of axe-core in a frame records its texts by their place in the document.
UNRECORDED = "globalThis.__partial = partial;"
RECORDED = (
    UNRECORDED
    + """
    const texts = partial.results.find(({id}) => id === 'color-contrast')?.nodes ?? [];
    (globalThis.__contrasts ??= []).push(Object.fromEntries(texts.map(({node, any: [{result, data}]}) =>
      [String(node.ancestry), [String(result), data]])));
    """
)
# Other rules do not affect the contrasts of texts.
ALL_RULES = "axe.runPartial(context, {...options, ...runOnly})"
ONLY_CONTRAST = "axe.runPartial(context, {...options, runOnly: {type: 'rule', values: ['color-contrast']}})"
ALONE = ("const isPass = !isOver() && resultOf(virtual, context) === true;", "const isPass = false;")

Texts = Mapping[str, Sequence[Any]]
"""Result and data of axe-core by the place of a text."""


def differences(urls: Sequence[str], fault: tuple[str, str] = ("", "")) -> dict[str, list[str]]:
    """Return the texts of each page whose contrast differs from that of axe-core alone.

    A text that passes may be left out, as long as one is in the results. `fault` replaces code of axe_contrast.js.
    """
    usual, alone = contrasts(urls, fault), contrasts(urls, ALONE)
    assert usual.keys() == alone.keys()
    found = {url: list(_differences(usual[url], alone[url])) for url in urls}
    return {url: texts for url, texts in found.items() if texts}


def _differences(usual: Sequence[Texts], alone: Sequence[Texts]) -> Iterator[str]:
    if len(usual) != len(alone):
        yield f"{len(usual)} and {len(alone)} runs"
    for run, (texts, all_texts) in enumerate(zip(usual, alone, strict=False)):
        for place, result in all_texts.items():
            if texts.get(place, ["true"])[0] != result[0] or (place in texts and texts[place] != result):
                yield f"{run}: {place}: {texts.get(place)} and not {result}"
        for place in texts.keys() - all_texts.keys():
            yield f"{run}: {place}: {texts[place]} and not judged"
        if any(result[0] == "true" for result in all_texts.values()) and not any(
            result[0] == "true" for result in texts.values()
        ):
            yield f"{run}: no text passes"


def contrasts(urls: Sequence[str], change: tuple[str, str] = ("", "")) -> dict[str, list[Texts]]:
    """Return the contrasts of texts by page, in each frame on a phone and on a desktop.

    `change` replaces code of axe_contrast.js. With `ALONE`, axe-core judges every text.
    """
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with (
        Network(POLICY, time_limit_s=TIME_LIMIT_S) as network,
        BrowserProxy(network, limits=LIMITS) as proxy,
        tempfile.TemporaryDirectory() as folder,
        _recording(change),
        # Django's ORM refuses to work in a thread with Playwright's event loop.
        ThreadPoolExecutor(1, "playwright") as thread,
    ):
        run = _judge_pages(proxy, program, Path(folder), list(urls))
        return thread.submit(asyncio.run, asyncio.wait_for(run, TIME_LIMIT_S)).result()


@contextmanager
def _recording(change: tuple[str, str]) -> Iterator[None]:
    changes = {"axe_run.js": [(UNRECORDED, RECORDED), (ALL_RULES, ONLY_CONTRAST)], "axe_contrast.js": [change]}

    def read_changed(name: str) -> str:
        text = read_script(name)
        for old, new in changes.get(name, []):
            assert old in text
            text = text.replace(old, new) if old else text
        return text

    with mock.patch.object(axe_runner, "read_script", read_changed):
        yield


async def _judge_pages(proxy: BrowserProxy, program: Path, folder: Path, urls: list[str]) -> dict[str, list[Texts]]:
    results: dict[str, list[Texts]] = {}
    pending = urls[::-1]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**launch_options(program, folder))
        context = await browser.new_context(
            **context_options(proxy),
            viewport={"width": PHONE.width, "height": PHONE.height},
            device_scale_factor=PHONE.ratio,
            is_mobile=True,
            has_touch=True,
            locale="en-US",
            ignore_https_errors=True,
        )
        await asyncio.gather(*(_judge_in_tab(context, pending, results) for _ in range(CONCURRENT_TABS)))
        await browser.close()
    return results


async def _judge_in_tab(context: BrowserContext, pending: list[str], results: dict[str, list[Texts]]) -> None:
    while pending:
        url = pending.pop()
        page = await context.new_page()
        cdp = await context.new_cdp_session(page)
        worlds: list[int] = []
        cdp.on("Runtime.executionContextCreated", lambda event, worlds=worlds: worlds.extend(_axe_world(event)))
        await page.goto(url)
        await cdp.send("Runtime.enable")
        await axe_runner.run_axe(cdp, (PHONE, DESKTOP), MAX_RULES_S)
        results[url] = [texts for world in dict.fromkeys(worlds) for texts in await _texts_in(cdp, world)]
        await page.close()


def _axe_world(event: Mapping[str, Any]) -> list[int]:
    context = event["context"]
    return [context["id"]] if context["name"] == axe_runner.WORLD else []


async def _texts_in(cdp: CDPSession, world: int) -> list[Texts]:
    expression = "JSON.stringify(globalThis.__contrasts ?? [])"
    response = await cdp.send("Runtime.evaluate", {"expression": expression, "contextId": world})
    texts: list[Texts] = json.loads(response["result"]["value"])
    return texts
