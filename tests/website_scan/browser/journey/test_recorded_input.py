"""Test with a recording that is captured from trusted input in Chromium, as DevTools' Recorder captures it."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from playwright.sync_api import Frame, Page, sync_playwright

from tests.playwright_options import context_options, launch_options
from tests.targets.server import Answer, Request, Route, Site
from tests.website_scan.browser.journey.walks import css, page, require_done, walk
from tests.website_scan.cast import POLICY
from website_scan.browser.warm import WarmBrowser
from website_scan.journeys.journey import WaitForElement
from website_scan.journeys.recordings import read_recording
from website_scan.net.browser import find_browser
from website_scan.net.client import Network
from website_scan.net.proxy import BrowserProxy

PASSWORD = "correct horse 7"
LOG_IN = """<form method=post action=/session><label>Name <input name=who autofocus></label>
<label>Password <input type=password name=password></label><button>Sign in</button></form>"""
SHOP = """<shop-menu></shop-menu><form method=post action=/basket>
<p><label>Tea <select name=tea><option>Green<option>Black</select></label></p>
<p><label>Gift <input type=checkbox name=gift></label></p><p><label>Note <textarea name=note></textarea></label></p>
<p><label>On <input type=date name=day></label></p><input type=hidden name=menu id=menu>
<p id=zoom>Picture</p><input type=hidden name=zoomed id=zoomed><button>Buy</button></form><script>
customElements.define('shop-menu', class extends HTMLElement {
  connectedCallback() {
    this.attachShadow({mode: 'open'}).innerHTML = '<div><button>More</button></div>';
    this.shadowRoot.querySelector('button').onclick = () => { document.getElementById('menu').value = 'open' };
  }
});
document.getElementById('zoom').ondblclick = () => { document.getElementById('zoomed').value = 'yes' };
</script>"""
VIEWPORT = {"width": 900, "height": 700, "deviceScaleFactor": 1, "isMobile": False, "hasTouch": False}


class Recorder:
    """Session of the Recorder: joins the input that its script reports to steps."""

    def __init__(self, tab: Page) -> None:
        self.steps: list[dict[str, Any]] = [{"type": "setViewport", **VIEWPORT, "isLandscape": False}]
        tab.set_viewport_size({"width": VIEWPORT["width"], "height": VIEWPORT["height"]})
        tab.expose_function("addStep", self._add)
        tab.add_init_script(path=Path(__file__).with_name("recorder.js"))
        self._main_frame = tab.main_frame
        tab.on("framenavigated", self._navigated)

    def open(self, url: str) -> None:
        """Record an address that a person has entered."""
        self.steps.append({"type": "navigate", "url": url})

    def _add(self, text: str) -> None:
        step, last = json.loads(text), self.steps[-1]
        if step["type"] == "change":
            if last["type"] == "keyDown":
                self.steps.pop()  # The key has typed the value.
                last = self.steps[-1]
            if last["type"] == "change" and last["selectors"] == step["selectors"]:
                self.steps.pop()
        elif step["type"] == "keyUp" and not any(
            before["type"] == "keyDown" and before["key"] == step["key"] for before in self.steps[-3:]
        ):
            return  # The key has typed a value.
        self.steps.append(step)

    def _navigated(self, frame: Frame) -> None:
        if frame == self._main_frame and frame.url != "about:blank":
            event = {"type": "navigation", "url": frame.url, "title": ""}
            self.steps[-1].setdefault("assertedEvents", []).append(event)


def record_person(url: str, folder: Path, proxy: BrowserProxy, recorded: list[dict[str, Any]]) -> None:
    """Use the site with the mouse and the keyboard, and record the input.

    Playwright sends the input as `Input.dispatchMouseEvent` and `Input.dispatchKeyEvent` of the DevTools Protocol.
    """
    program = find_browser("auto")
    assert program is not None
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(**launch_options(program, folder))
        tab = chromium.new_context(**context_options(proxy)).new_page()
        recorder = Recorder(tab)
        recorder.open(url)
        tab.goto(url)
        tab.wait_for_selector("[name=who]:focus")  # Chromium applies `autofocus` after the page has loaded.
        tab.keyboard.type("Anna")
        tab.keyboard.press("Tab")
        tab.keyboard.type(PASSWORD)
        tab.keyboard.press("Enter")
        tab.wait_for_url("**/shop")
        tab.click("shop-menu button")
        tab.focus("[name=tea]")
        tab.keyboard.type("B")
        tab.click("[name=gift]")
        tab.click("[name=note]", position={"x": 5, "y": 5})
        tab.keyboard.type("For Ben")
        tab.keyboard.press("Tab")
        tab.keyboard.type("12242026")
        tab.dblclick("#zoom")
        tab.click("form button")
        tab.wait_for_selector("#thanks")
        recorded += recorder.steps
        chromium.close()


def test_recorded_input_has_the_same_effect(browser: WarmBrowser, tmp_path: Path) -> None:
    received: list[tuple[str, bytes]] = []

    def receiver(answer: Answer) -> Route:
        def receive(request: Request) -> Answer:
            received.append((request.path, request.body))
            return answer

        return receive

    routes: dict[str, Route] = {
        "/": page(LOG_IN, "Sign in"),
        "/session": receiver(Answer.redirect("/shop", 303)),
        "/shop": page(SHOP, "Teas"),
        "/basket": receiver(page("<p id=thanks>Thanks", "Thanks")),
    }
    recorded: list[dict[str, Any]] = []
    with Site(routes) as site:
        with Network(POLICY, time_limit_s=60) as network, BrowserProxy(network) as proxy:
            # The synchronous interface of Playwright must not run in a thread with an event loop.
            person = threading.Thread(target=record_person, args=(f"{site.url}/", tmp_path, proxy, recorded))
            person.start()
            person.join()
        by_person = list(received)
        received.clear()
        read = read_recording(json.dumps({"title": "Shop", "steps": recorded}, indent=2))
        steps = (*read.journey.steps, WaitForElement(target=css("#thanks")))
        require_done(walk(browser, site.url, *steps, secrets={"password": PASSWORD}, opens=False))
    assert read.journey.secret_names == ("password",)
    assert PASSWORD not in repr(read.journey)
    assert by_person == [
        ("/session", b"who=Anna&password=correct+horse+7"),
        ("/basket", b"tea=Black&gift=on&note=For+Ben&day=2026-12-24&menu=open&zoomed=yes"),
    ]
    assert received == by_person
    kinds = {step["type"] for step in recorded}
    assert kinds == {"setViewport", "navigate", "change", "keyDown", "keyUp", "click", "doubleClick"}
    selectors = {text.partition("/")[0] for step in recorded for texts in step.get("selectors", ()) for text in texts}
    assert {"aria", "xpath", "pierce", "text"} <= selectors
