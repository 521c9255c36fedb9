"""Tests for steps that fail, and the sentences about them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from tests.targets.server import Answer, Request, Site
from tests.website_scan.browser.journey.walks import by, css, named, page, require_done, walk, walk_page
from website_scan.browser.journey.steps import is_same_page
from website_scan.browser.processes import kill_trees
from website_scan.browser.visit import BrowserFailed, Part
from website_scan.browser.warm import WarmBrowser
from website_scan.journeys.journey import (
    Change,
    Click,
    ElementTarget,
    ExpectedNavigation,
    Hover,
    JourneyRefused,
    Judge,
    KeyDown,
    Navigate,
    Scroll,
    SelectorKind,
    StateRule,
    Step,
    WaitForAddress,
    WaitForElement,
    WaitForTitle,
)
from website_scan.journeys.walk import StepStatus

S = 1.0  # Time limit of a step that fails, in seconds.
BODY = """<button>Sign in now</button><button disabled>Send</button><button style="display: none">Pay</button>
<button style="position: absolute; top: 300px; left: 50px">Buy</button>
<div class="banner" style="position: absolute; top: 250px; left: 0; width: 400px; height: 90px; background: #fff"></div>
<button id="moving">Run</button><style>#moving { animation: move 0.2s linear infinite alternate } @keyframes move {
to { transform: translateX(200px) } }</style>
<input id="file" type="file"><input id="fixed" readonly><input id="day" type="date"><input id="number" type="number">
<select id="list"><option>Green tea</option><option>Black tea</option></select><p id="text">Green tea</p><p>Two</p>
<iframe style="position: absolute; top: 400px; left: 0" srcdoc="<p>Frame</p>"></iframe><a href="#x">Stay</a>"""
FAILURES: dict[str, tuple[Step, str]] = {
    "unknown name": (Click(target=named("Signing in", "button"), timeout_s=S), "no button is named “Signing in”."),
    "unknown name of any role": (Click(target=named("Log out"), timeout_s=S), "nothing is named “Log out”."),
    "unknown role": (Click(target=named("", "menu"), timeout_s=S), "the page has no menu."),
    "unknown text": (
        Click(target=by(SelectorKind.TEXT, "Coffee"), timeout_s=S),
        "the text “Coffee” is not on the page.",
    ),
    "unknown css": (Click(target=css("#none"), timeout_s=S), "no element matches `#none`."),
    "unknown xpath": (Hover(target=by(SelectorKind.XPATH, "//b"), timeout_s=S), "no element matches `//b`."),
    "unknown frame": (Click(target=css("p", 3), timeout_s=S), "the page has no frame 4."),
    "frame itself": (
        Click(target=css("iframe"), timeout_s=S),
        "the element `iframe` is a frame. Name an element in the frame.",
    ),
    "disabled": (Click(target=named("Send", "button"), timeout_s=S), "the button “Send” is disabled."),
    "hidden": (
        Click(target=by(SelectorKind.CSS, "button[style*=none]"), timeout_s=S),
        "the element `button[style*=none]` is hidden.",
    ),
    "covered": (
        Click(target=named("Buy", "button"), timeout_s=S),
        'the button “Buy” is covered by <div class="banner"',
    ),
    "moving": (Click(target=css("#moving"), timeout_s=S), "the element `#moving` does not stop moving."),
    "file": (
        Change(target=css("#file"), value="x", timeout_s=S),
        "the element `#file` is a field for files, which a journey does not upload.",
    ),
    "no field": (Change(target=css("#text"), value="x", timeout_s=S), "the element `#text` is not a field."),
    "read-only": (Change(target=css("#fixed"), value="x", timeout_s=S), "the element `#fixed` is read-only."),
    "date": (
        Change(target=css("#day"), value="24.12.2026", timeout_s=S),
        "the element `#day` of the type date does not accept “24.12.2026”.",
    ),
    "option": (
        Change(target=css("#list"), value="Red tea", timeout_s=S),
        "the element `#list` has no option “Red tea”.",
    ),
    "no navigation": (
        Click(target=named("Sign in now"), expected_navigation=ExpectedNavigation(), timeout_s=S),
        "the step did not open another page, as it should.",
    ),
    "title": (WaitForTitle(title="Basket", timeout_s=S), "the title of the page is “Tea shop” instead of “Basket”."),
    "address": (WaitForAddress(url="/basket", timeout_s=S), "/ instead of /basket."),
    "key": (KeyDown(key="Hyper"), "a keyboard has no key “Hyper”."),
    "scrolled element": (Scroll(x=0, y=1, target=css("#none"), timeout_s=S), "no element matches `#none`."),
    "awaited element": (WaitForElement(target=named("Bye"), timeout_s=S), "nothing is named “Bye”."),
    "element that stays": (
        WaitForElement(target=css("#text"), operator="==", count=0, timeout_s=S),
        "the element `#text` does not go away.",
    ),
    "number of elements": (
        WaitForElement(target=css("p"), operator=">=", count=5, timeout_s=S),
        "the element `p` is on the page 2 times instead of at least 5 times.",
    ),
    "address of no page": (
        Navigate(url="javascript:alert(1)"),
        "javascript:alert(1) is not the address of a web page.",
    ),
    "file address": (Navigate(url="file:///etc/passwd"), "file:///etc/passwd is not the address of a web page."),
}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site({"/": page(BODY)}) as running:
        yield running


@pytest.mark.parametrize("case", FAILURES)
def test_failure_has_its_sentence_and_a_picture(browser: WarmBrowser, site: Site, case: str) -> None:
    step, sentence = FAILURES[case]
    result = walk(browser, f"{site.url}/", step, Click(target=css("p")))
    failed, later = result.steps[1:]
    assert failed.status is StepStatus.FAILED
    assert failed.problem.startswith("Step 2: ")
    assert sentence in failed.problem
    assert failed.picture
    assert failed.picture.data.startswith(b"\xff\xd8")
    assert later.status is StepStatus.NOT_REACHED
    assert result.problem == failed.problem


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (named("Signing in", "button"), "button “Sign in now”"),
        (named("send"), "button “Send”"),
        (by(SelectorKind.TEXT, "Twos"), "text “Two”"),
    ],
)
def test_failure_names_near_matches(browser: WarmBrowser, site: Site, target: ElementTarget, expected: str) -> None:
    (matches,) = [
        step.near_matches for step in walk(browser, f"{site.url}/", Click(target=target, timeout_s=S)).steps[1:]
    ]
    assert expected in matches
    assert len(matches) <= 5


def test_missing_option_names_near_options(browser: WarmBrowser, site: Site) -> None:
    result = walk(browser, f"{site.url}/", Change(target=css("#list"), value="Green teas"))
    assert result.steps[1].near_matches[0] == "option “Green tea”"


def test_states_before_a_failure_are_judged(browser: WarmBrowser, site: Site) -> None:
    steps = (Judge(name="Start"), Click(target=css("#none"), timeout_s=S), Judge(name="End"))
    result = walk(browser, f"{site.url}/", *steps, change=lambda options: options.update(parts=frozenset({Part.AXE})))
    assert [state.name for state in result.states] == ["Start"]
    assert result.states[0].evidence.axe
    assert not result.is_complete


def test_wrong_page_after_a_step_is_a_failure(browser: WarmBrowser) -> None:
    with Site({"/": page("<a href=/login>Account</a>"), "/login": page("Sign in")}) as site:
        expected = ExpectedNavigation(url=f"{site.url}/account")
        result = walk(
            browser, f"{site.url}/", Click(target=named("Account"), expected_navigation=expected, timeout_s=S)
        )
    assert result.steps[1].problem == f"Step 2: the step opened {site.url}/login instead of {site.url}/account."


@pytest.mark.parametrize(
    ("actual", "expected", "is_same"),
    [
        ("https://a.example/x?s=1#top", "https://a.example/x/", True),
        ("https://a.example/orders/12", "https://a.example/orders/7", True),
        ("https://a.example/orders/new", "https://a.example/orders/7", False),
        ("https://b.example/x", "https://a.example/x", False),
    ],
)
def test_pages_are_compared_by_host_and_path(actual: str, expected: str, is_same: bool) -> None:
    assert is_same_page(actual, expected) is is_same


def test_unreachable_page_is_a_failure(browser: WarmBrowser) -> None:
    with Site({}) as closed:
        url = closed.url
    result = walk(browser, f"{url}/")
    assert f"the browser could not load {url}/: net::ERR_" in result.steps[0].problem
    assert result.is_unreachable


def test_link_to_an_unreachable_page_is_a_failure(browser: WarmBrowser) -> None:
    with Site({}) as closed:
        url = closed.url
    result = walk_page(browser, f"<a href={url}/gone>Gone</a>", Click(target=named("Gone")))
    assert f"the browser could not load {url}/gone: net::ERR_" in result.steps[1].problem
    assert result.is_unreachable


def test_server_that_does_not_respond_is_unreachable(browser: WarmBrowser) -> None:
    has_ended = threading.Event()

    def wait(_: Request) -> Answer:
        has_ended.wait(60)
        return Answer("")

    with Site({"/": wait}) as site:
        result = walk(browser, "", Navigate(url=f"{site.url}/", timeout_s=2.0), opens=False)
        has_ended.set()
    assert result.problem == "Step 1: the page that the step opens did not answer in time."
    assert result.is_unreachable


def test_endless_script_fails_the_step_and_spares_the_next_journey(browser: WarmBrowser) -> None:
    began = time.monotonic()
    result = walk_page(
        browser, "<button onclick='while (true);'>Loop</button>", Click(target=named("Loop"), timeout_s=2.0)
    )
    assert result.steps[1].problem == "Step 2: the page kept the browser busy until the time was up."
    assert not result.is_unreachable
    assert time.monotonic() - began < 30
    assert walk_page(browser, "<p>Hello").is_complete


def test_time_limit_ends_the_journey(browser: WarmBrowser) -> None:
    waits = [WaitForElement(target=css("#none"), timeout_s=10.0)] * 3
    result = walk_page(browser, "<p>Hello", *waits, change=lambda options: options.update(time_limit_s=2.0))
    assert result.steps[1].status is StepStatus.FAILED
    assert result.steps[1].duration_s < 4.0
    assert result.steps[2].status is StepStatus.NOT_REACHED


def test_crash_of_the_page_spares_the_results_before(browser: WarmBrowser) -> None:
    body = "<a href=/hang>Crash</a>"

    def crash(_: Request) -> Answer:
        assert browser._running is not None
        for process in browser._running.chromium.process.children(recursive=True):
            if "--type=renderer" in process.cmdline():
                process.kill()
        return Answer("")

    with Site({"/": page(body), "/hang": crash}) as site:
        result = walk(browser, f"{site.url}/", Judge(name="Start"), Click(target=named("Crash")))
    assert [step.status for step in result.steps[:2]] == [StepStatus.DONE] * 2
    assert result.problem == "The page made the browser crash."
    assert [state.name for state in result.states] == ["Start"]
    assert walk_page(browser, "<p>Hello").is_complete


def test_crash_before_the_first_step_is_an_error(browser: WarmBrowser) -> None:
    def crash(_: Request) -> Answer:
        assert browser._running is not None
        kill_trees([browser._running.chromium.process])
        return Answer("")

    with Site({"/": crash}) as site, pytest.raises(BrowserFailed, match="died"):
        walk(browser, f"{site.url}/")


def test_missing_secret_is_refused(browser: WarmBrowser) -> None:
    with pytest.raises(JourneyRefused, match="needs the secret “password”"):
        walk_page(browser, "<input id=f>", Change(target=css("#f"), value="{{password}}"))


def test_journey_outside_its_site_is_refused(browser: WarmBrowser) -> None:
    with pytest.raises(JourneyRefused, match="may not act on http://"):
        walk_page(browser, "<p>Hello", change=lambda options: options.update(allowed=lambda _: False))


def test_states_are_limited(browser: WarmBrowser) -> None:
    steps = [Judge(name="Again")] * 4
    result = walk_page(browser, "<p>Hello", *steps, change=lambda options: options.update(max_states=2))
    assert [state.name for state in result.states] == ["Again", "Again (2)"]
    assert result.notes == ("2 states were not judged, because this run judges at most 2 states.",)


def test_steps_can_be_executed_without_judging_states(browser: WarmBrowser) -> None:
    steps = [Judge(name="Again")] * 2
    result = require_done(walk_page(browser, "<p>Hello", *steps, change=lambda options: options.update(max_states=0)))
    assert (result.states, result.notes) == ((), ())


def test_rules_choose_the_states(browser: WarmBrowser) -> None:
    routes = {"/": page("<a href=/two>Two</a>"), "/two": page("<button>Go</button>", "Two")}
    steps = (Click(target=named("Two")), Click(target=named("Go")))
    with Site(routes) as site:
        names = {
            rule: [state.name for state in walk(browser, f"{site.url}/", *steps, rule=rule).states]
            for rule in StateRule
        }
    assert names == {StateRule.STEPS: [], StateRule.NAVIGATIONS: ["Tea shop", "Two", "Two (2)"], StateRule.END: ["Two"]}


def test_page_without_an_answer_is_a_failure(browser: WarmBrowser) -> None:
    routes = {"/": page("<a href=/never>Never</a>"), "/never": Answer("", delay_s=60.0)}
    with Site(routes) as site:
        result = walk(browser, f"{site.url}/", Click(target=named("Never"), timeout_s=2.0))
    assert result.steps[1].problem == "Step 2: the page that the step opens did not answer in time."


def test_state_that_cannot_be_judged_does_not_end_the_journey(
    browser: WarmBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise BrowserFailed("The page is too large.")

    monkeypatch.setattr("website_scan.browser.journey.walker.StateEvidence.collect", fail)
    result = walk_page(browser, "<button>Go</button>", Judge(name="Start"), Click(target=named("Go", "button")))
    assert result.is_complete
    assert result.states == ()
    assert result.notes == ("The state “Start” could not be judged: The page is too large.",)
