"""Test with a recording that is captured from the input of a person, as DevTools' Recorder captures it."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.playwright_options import context_options, launch_options
from tests.targets.server import Answer, Request, Route, Site
from tests.website_scan.browser.journey.walks import css, page, require_done, walk
from tests.website_scan.cast import POLICY
from website_scan.browser.warm import WarmBrowser
from website_scan.journeys.journey import Change, Click, Step, WaitForElement
from website_scan.net.browser import find_browser
from website_scan.net.client import Network
from website_scan.net.proxy import BrowserProxy

SHOP = """<form method=post action=/basket>
<label>Tea <select id=tea name=tea><option>Green<option>Black</select></label>
<label><input id=gift type=checkbox name=gift> Gift</label><label>For <input id=who name=who></label>
<label>On <input id=day type=date name=day></label><button id=buy>Buy</button></form>"""
# Like the Recorder, the script notes clicks, and the values of fields that have changed.
RECORDER = """
const steps = [];
addEventListener('click', (event) => {
  if (event.isTrusted && event.target.id) steps.push(['click', event.target.id, event.offsetX, event.offsetY]);
}, true);
addEventListener('change', (event) => {
  if (event.target.type !== 'checkbox') steps.push(['change', event.target.id, event.target.value]);
}, true);
addEventListener('submit', () => {
  const request = new XMLHttpRequest(); request.open('POST', '/recorded', false); request.send(JSON.stringify(steps));
}, true);
"""


def step_of(recorded: list[Any]) -> Step:
    """Convert a recorded event into a step."""
    kind, id, *values = recorded
    if kind == "change":
        return Change(target=css(f"#{id}"), value=values[0])
    return Click(target=css(f"#{id}"), offset=(float(values[0]), float(values[1])))


def record_person(url: str, folder: Path, proxy: BrowserProxy) -> None:
    """Use the page as a person would, with Playwright."""
    program = find_browser("auto")
    assert program is not None
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(**launch_options(program, folder))
        tab = chromium.new_context(**context_options(proxy)).new_page()
        tab.goto(url)
        tab.select_option("#tea", "Black")
        tab.check("#gift")
        tab.click("#who")
        tab.keyboard.type("Anna")
        tab.fill("#day", "2026-12-24")
        tab.click("#buy")
        tab.wait_for_selector("#thanks")
        chromium.close()


def test_recorded_input_has_the_same_effect(browser: WarmBrowser, tmp_path: Path) -> None:
    received: dict[str, list[bytes]] = {"/basket": [], "/recorded": []}

    def receive(request: Request) -> Answer:
        received[request.path].append(request.body)
        return page("<p id=thanks>Thanks")

    routes: dict[str, Route] = {
        "/": page(f"{SHOP}<script>{RECORDER}</script>"),
        "/basket": receive,
        "/recorded": receive,
    }
    with Site(routes) as site:
        with Network(POLICY, time_limit_s=60) as network, BrowserProxy(network) as proxy:
            # The synchronous interface of Playwright must not run in a thread with an event loop.
            person = threading.Thread(target=record_person, args=(f"{site.url}/", tmp_path, proxy))
            person.start()
            person.join()
        steps = [step_of(recorded) for recorded in json.loads(received["/recorded"][0])]
        assert len(steps) >= 6
        require_done(walk(browser, f"{site.url}/", *steps, WaitForElement(target=css("#thanks"))))
    assert received["/basket"] == [b"tea=Black&gift=on&who=Anna&day=2026-12-24"] * 2
