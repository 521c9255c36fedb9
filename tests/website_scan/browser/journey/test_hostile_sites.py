"""Tests with sites that attack a journey by changing addresses, slow answers, and endless events.

Forms, frames and secrets are in `test_guard` and `test_secrets`, dialogs and downloads in `test_steps`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from ipaddress import ip_network

import pytest

from tests.targets.server import Answer, Request, Route, Site
from tests.website_scan.browser.journey.walks import css, named, page, require_done, walk, walk_page
from tests.website_scan.net.seams import Names
from website_scan.browser.console import MAX_ERRORS
from website_scan.browser.journey.activity import MAX_NOTES
from website_scan.browser.journey.request import LIMITS
from website_scan.browser.warm import WarmBrowser
from website_scan.journeys.journey import Click, Judge, Navigate, WaitForElement, WaitForTitle
from website_scan.journeys.walk import StepStatus
from website_scan.net.budget import Limits
from website_scan.net.deadline import dial
from website_scan.net.dialer import Dial
from website_scan.net.policy import Policy

REBINDING = "rebind.example.com"
OWN, OTHER, REFUSED = "127.0.0.1", "127.0.0.2", "127.0.0.3"
EXEMPTED = Policy(allowed_networks=(ip_network(f"{OWN}/32"), ip_network(f"{OTHER}/32")))
LINKS = "<a href=/second>Second</a>"
HELLO = "<p>Hello"


def dial_by_address(*sites: Site) -> Dial:
    """Return a dialer that connects to the site of an address, whatever the port."""
    ports = {site.address: site.port for site in sites}
    return lambda address, _port, timeout_s: dial(address, ports[address], timeout_s)


def test_address_that_changes_during_a_journey_is_not_contacted(browser: WarmBrowser) -> None:
    names = Names({REBINDING: [(OWN,), (OTHER,), (REFUSED,)]})
    routes: dict[str, Route] = {"/": page(LINKS, Connection="close"), "/second": page(HELLO, "Second")}
    with Site(routes) as own, Site({"*": page(HELLO)}, address=OTHER) as other:
        network = {"policy": EXEMPTED, "resolver": names, "dialer": dial_by_address(own, other)}
        steps = (Click(target=named("Second")), WaitForTitle(title="Second"), Navigate(url="/"))
        require_done(walk(browser, f"http://{REBINDING}/", *steps, network=network))
        assert own.paths().count("/") == 2
        assert other.connections == 0


def test_address_that_is_refused_after_the_proof_gets_no_step(browser: WarmBrowser) -> None:
    with Site({"*": page(HELLO)}, address=REFUSED) as private:
        network = {
            "policy": EXEMPTED,
            "resolver": Names({REBINDING: (REFUSED,)}),
            "dialer": dial_by_address(private),
        }
        result = walk(browser, f"http://{REBINDING}/", Click(target=css("p")), network=network)
        assert private.connections == 0
    assert [step.status for step in result.steps] == [StepStatus.FAILED, StepStatus.NOT_REACHED]
    assert "net::ERR_" in result.problem


def test_frame_of_a_private_address_is_not_loaded(browser: WarmBrowser) -> None:
    with Site() as own, Site({"*": page(HELLO)}, address=REFUSED) as private:
        own.routes["/"] = page(f"<iframe src={private.url}/admin></iframe><button>Go</button>")
        require_done(walk(browser, f"{own.url}/", Click(target=named("Go")), network={"policy": EXEMPTED}))
        assert private.connections == 0


def drip(site: Site, first: bytes) -> Callable[[Request], None]:
    """Return a route that sends one byte a second."""

    def send(request: Request) -> None:
        request.connection.sendall(first)
        while not site.ended.wait(1.0):
            request.connection.sendall(b" ")

    return send


@pytest.mark.parametrize(
    ("first", "problem"),
    [
        (b"HTTP/1.1 200 OK\r\nX-Slow: ", "Step 2: the page that the step opens did not answer in time."),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n<title>Slow</title>", ""),
    ],
    ids=["header", "body"],
)
def test_page_of_one_byte_a_second_does_not_hold_the_journey(browser: WarmBrowser, first: bytes, problem: str) -> None:
    with Site() as site:
        site.routes |= {"/": page("<a href=/slow>Slow</a>"), "/slow": drip(site, first)}
        began = time.monotonic()
        steps = (Click(target=named("Slow"), timeout_s=3.0), Judge(name="Slow"))
        result = walk(browser, f"{site.url}/", *steps, change=lambda options: options.update(state_time_limit_s=5.0))
        assert time.monotonic() - began < 30
    assert result.problem == problem


RESTLESS = """<p id=text>0</p><button onclick="document.title = 'Clicked'">Go</button><script>
let number = 0;
const change = () => { document.getElementById('text').textContent = ++number; requestAnimationFrame(change) };
change();
setInterval(() => fetch('/poll?' + number), 50);
setInterval(() => history.replaceState(null, '', '#' + number), 200);
</script>"""


def test_page_that_never_rests_is_clicked_and_judged(browser: WarmBrowser) -> None:
    with Site({"/": page(RESTLESS), "/poll": Answer("x")}) as site:
        result = require_done(
            walk(browser, f"{site.url}/", Click(target=named("Go")), WaitForTitle(title="Clicked"), Judge(name="Now"))
        )
    assert [state.name for state in result.states] == ["Now"]
    assert max(step.duration_s for step in result.steps) < 15.0


MANY_REQUESTS = """<button onclick="
  Promise.all(Array.from({length: COUNT}, (_, number) => fetch('/item?' + number).catch(() => 0)))
    .then(() => { document.title = 'Loaded' })">Go</button>"""


def test_step_with_a_thousand_requests_is_done(browser: WarmBrowser) -> None:
    routes: dict[str, Route] = {"/": page(MANY_REQUESTS.replace("COUNT", "1000")), "/item": Answer("x")}
    with Site(routes) as site:
        steps = (Click(target=named("Go")), WaitForTitle(title="Loaded", timeout_s=30.0), Judge(name="Loaded"))
        result = require_done(walk(browser, f"{site.url}/", *steps, network={"limits": LIMITS}))
        assert sum(path.startswith("/item") for path in site.paths()) == 1_000
    assert [state.name for state in result.states] == ["Loaded"]


def test_journey_with_too_many_requests_is_stopped(browser: WarmBrowser) -> None:
    routes: dict[str, Route] = {"/": page(MANY_REQUESTS.replace("COUNT", "1000")), "/item": Answer("x")}
    with Site(routes) as site:
        steps = (Judge(name="Start"), Click(target=named("Go")), WaitForTitle(title="Loaded", timeout_s=20.0))
        limits = Limits(requests=300, requests_per_host=200)
        result = walk(browser, f"{site.url}/", *steps, limits=limits)
        assert len(site.requests) <= 200
    assert result.problem.startswith("The browser stopped the journey.")
    assert [state.name for state in result.states] == ["Start"]
    assert walk_page(browser, HELLO).is_complete


@pytest.mark.parametrize(
    "script",
    [
        "for (let n = 0; n < 300; n++) alert('Message ' + n)",
        "for (let n = 0; n < 300; n++) window.open('/other?' + n)",
        "for (let n = 0; n < 300; n++) { const a = document.createElement('a'); a.href = 'data:x/x,' + n;"
        " a.download = n; a.click() }",
        "for (let n = 0; n < 150; n++) history.pushState(null, '', '/page/' + n)",
        "for (let n = 0; n < 300; n++) { const p = document.createElement('p'); p.role = 'alert';"
        " p.textContent = 'x'.repeat(5000) + n; document.body.append(p) }",
        "for (let n = 0; n < 300; n++) localStorage.setItem('key' + n, 'x'.repeat(5000))",
        "for (let n = 0; n < 300; n++) document.cookie = `c${n}=${'x'.repeat(2000)}`",
        "for (let n = 0; n < 3000; n++) console.error('x'.repeat(1000) + n)",
    ],
    ids=["dialogs", "windows", "downloads", "addresses", "messages", "storage", "cookies", "console"],
)
def test_flood_of_events_is_bounded(browser: WarmBrowser, script: str) -> None:
    body = f'<button id=go>Go</button><p id=end hidden>End</p><script>document.getElementById("go").onclick = () => {{\
{script}; document.getElementById("end").hidden = false }}</script>'
    steps = (Click(target=named("Go")), WaitForElement(target=css("#end")), Judge(name="End"))
    result = require_done(walk_page(browser, body, *steps))
    assert [state.name for state in result.states] == ["End"]
    assert max(len(step.notes) for step in result.steps) <= MAX_NOTES
    state = result.states[0]
    assert len(repr((result.steps, state.security, state.messages))) < 1_000_000
    assert len(state.evidence.console_errors) <= MAX_ERRORS
