"""Tests for what steps do in the page."""

from __future__ import annotations

import json
from urllib.parse import parse_qs

import pytest

from tests.targets.server import Answer, Request, Site
from tests.website_scan.browser.journey.walks import css, named, page, require_done, walk, walk_page
from website_scan.browser.warm import WarmBrowser
from website_scan.journeys.journey import (
    Change,
    Click,
    ExpectedNavigation,
    Hover,
    Judge,
    KeyDown,
    KeyUp,
    Navigate,
    Scroll,
    SetViewport,
    StateRule,
    Step,
    WaitForAddress,
    WaitForElement,
    WaitForTitle,
)

# The page writes its events as a list to an element, and knows which of them came from the browser.
LOG = """<output id="log" hidden></output><script>
const log = [];
for (const name of ['pointerdown', 'mousedown', 'mouseup', 'click', 'dblclick', 'contextmenu', 'mouseover', 'keydown',
  'keyup', 'beforeinput', 'input', 'change', 'scroll']) {
  document.addEventListener(name, (event) => {
    if (event.target.id === 'log') return;
    log.push([event.type, event.target.id || '', event.isTrusted, event.key || event.button || ''].join(' '));
    document.getElementById('log').value = JSON.stringify(log);
  }, true);
}
</script>"""


def has(selector: str, **properties: str | bool | float) -> WaitForElement:
    """Wait until an element has these properties."""
    return WaitForElement(target=css(selector), properties=tuple(properties.items()), timeout_s=3.0)


def logged(browser: WarmBrowser, body: str, *steps: Step) -> list[str]:
    """Return the events that the page has received."""
    received: list[bytes] = []

    def record(request: Request) -> Answer:
        received.append(request.body)
        return Answer("")

    sending = "<button id=send onclick=\"fetch('/log', {method: 'POST', body: JSON.stringify(log)})\">Send</button>"
    with Site({"/": page(LOG + body + sending), "/log": record}) as site:
        require_done(walk(browser, f"{site.url}/", *steps, Click(target=css("#send"))))
    events: list[str] = json.loads(received[0])
    return [event for event in events if event.split(" ")[1] not in ("", "send")]


def test_click_sends_the_events_of_a_person(browser: WarmBrowser) -> None:
    events = logged(browser, "<button id=buy>Buy</button>", Click(target=named("Buy")))
    assert [event for event in events if event.startswith(("pointer", "mouse", "click"))] == [
        "mouseover buy true ",
        "pointerdown buy true ",
        "mousedown buy true ",
        "mouseup buy true ",
        "click buy true ",
    ]


def test_double_click_and_other_buttons(browser: WarmBrowser) -> None:
    body = "<button id=buy>Buy</button>"
    assert "dblclick buy true " in logged(browser, body, Click(target=named("Buy"), count=2))
    assert "contextmenu buy true 2" in logged(browser, body, Click(target=named("Buy"), button="secondary"))


def test_click_that_misses_a_moving_element_is_reported(browser: WarmBrowser) -> None:
    body = "<button onmousedown=\"style.marginTop = '200px'\" onclick=\"document.title = 'clicked'\">Buy</button>"
    result = require_done(walk_page(browser, body, Click(target=named("Buy", "button"))))
    (note,) = result.steps[1].notes
    assert note.startswith("During the click, the button “Buy” moved.")


def test_click_hits_its_offset(browser: WarmBrowser) -> None:
    body = (
        "<div id=map style='width: 200px; height: 100px' onclick='title = `${event.offsetX} ${event.offsetY}`'></div>"
    )
    require_done(walk_page(browser, body, Click(target=css("#map"), offset=(150.0, 20.0)), has("#map", title="150 20")))


def test_hover_opens_a_menu(browser: WarmBrowser) -> None:
    style = "<style>ul { display: none } nav:hover ul { display: block }</style>"
    body = "<nav>Menu<ul><li><a href='#'>Tea</a></ul></nav>"
    require_done(walk_page(browser, style + body, Hover(target=css("nav")), Click(target=named("Tea", "link"))))


FIELDS: dict[str, tuple[str, str, dict[str, str | bool]]] = {
    "text": ("<input id=f value='old text'>", "Anna Müller", {"value": "Anna Müller"}),
    "email": ("<input id=f type=email value=a@b.c>", "anna@example.com", {"value": "anna@example.com"}),
    "number": ("<input id=f type=number value=5>", "42", {"value": "42"}),
    "emptied": ("<input id=f value=old>", "", {"value": ""}),
    "lines": ("<textarea id=f>old</textarea>", "one\ntwo", {"value": "one\ntwo"}),
    "emoji": ("<input id=f>", "tea 🍵", {"value": "tea 🍵"}),
    "editable": ("<div id=f contenteditable>old</div>", "new", {"textContent": "new"}),
    "date": ("<input id=f type=date>", "2026-12-24", {"value": "2026-12-24"}),
    "time": ("<input id=f type=time>", "08:30", {"value": "08:30"}),
    "colour": ("<input id=f type=color>", "#00ff00", {"value": "#00ff00"}),
    "range": ("<input id=f type=range>", "70", {"value": "70"}),
    "option by value": ("<select id=f><option value=1>Green<option value=2>Black</select>", "2", {"value": "2"}),
    "option by label": (
        "<select id=f><option value=1>Green<option value=2>Black tea</select>",
        "Black tea",
        {"value": "2"},
    ),
    "checked": ("<input id=f type=checkbox>", "true", {"checked": True}),
    "unchecked": ("<input id=f type=checkbox checked>", "false", {"checked": False}),
    "already checked": ("<input id=f type=checkbox checked>", "true", {"checked": True}),
    "box drawn by its label": (
        "<style>#f { position: absolute; clip-path: inset(50%); width: 1px; height: 1px }</style>"
        "<label>Agree <input id=f type=checkbox></label>",
        "true",
        {"checked": True},
    ),
    "switch": (
        "<div id=f role=switch tabindex=0 aria-checked=false"
        " onclick=\"setAttribute('aria-checked', true); title = 'on'\">x</div>",
        "true",
        {"title": "on"},
    ),
    "maximum length": ("<input id=f maxlength=4>", "123456", {"value": "1234"}),
    "framework that formats": (
        '<input id=f oninput="value = value.toUpperCase()">',
        "abc",
        {"value": "ABC"},
    ),
}


@pytest.mark.parametrize("case", FIELDS)
def test_field_gets_its_value(browser: WarmBrowser, case: str) -> None:
    body, value, properties = FIELDS[case]
    require_done(walk_page(browser, body, Change(target=css("#f"), value=value), has("#f", **properties)))


def test_label_stands_for_its_field(browser: WarmBrowser) -> None:
    body = "<label for=f>Name</label><input id=f>"
    require_done(walk_page(browser, body, Change(target=css("label"), value="Anna"), has("#f", value="Anna")))


def test_typing_sends_the_events_of_a_keyboard(browser: WarmBrowser) -> None:
    events = logged(browser, "<input id=f>", Change(target=css("#f"), value="aB"))
    assert events[:8] == [
        "keydown f true a",
        "beforeinput f true ",
        "input f true ",
        "keyup f true a",
        "keydown f true B",
        "beforeinput f true ",
        "input f true ",
        "keyup f true B",
    ]
    assert "change f true " in events


def test_secret_is_typed_as_by_a_phone_keyboard(browser: WarmBrowser) -> None:
    received: list[bytes] = []

    def record(request: Request) -> Answer:
        received.append(request.body)
        return Answer("")

    body = (
        LOG + "<form method=post action=/in><input id=f type=password name=p><input type=hidden name=log id=l></form>"
    )
    script = "<script>document.forms[0].onsubmit = () => { l.value = JSON.stringify(log) }</script>"
    with Site({"/": page(body + script), "/in": record}) as site:
        steps = (Change(target=css("#f"), value="{{p}}"), KeyDown(key="Enter"), KeyUp(key="Enter"))
        require_done(walk(browser, f"{site.url}/", *steps, secrets={"p": "geheim-ß"}))
    form = parse_qs(received[0].decode())
    assert form["p"] == ["geheim-ß"]
    events = json.loads(form["log"][0])
    assert [event for event in events if " f " in event][:3] == [
        "keydown f true Unidentified",
        "input f true ",
        "keyup f true Unidentified",
    ]


def test_keys_move_the_focus_and_hold_modifiers(browser: WarmBrowser) -> None:
    body = "<input id=a><input id=b onkeydown=\"if (event.ctrlKey && event.key === 'k') title = 'searching'\">"
    steps = (
        Click(target=css("#a")),
        KeyDown(key="Tab"),
        KeyUp(key="Tab"),
        KeyDown(key="Control"),
        KeyDown(key="k"),
        KeyUp(key="k"),
        KeyUp(key="Control"),
        KeyDown(key="x"),
        KeyUp(key="x"),
        has("#b", title="searching", value="x"),
    )
    result = require_done(walk_page(browser, body, *steps))
    assert result.steps[2].focus
    assert result.steps[2].focus.selector == "#b"


def test_page_and_element_are_scrolled(browser: WarmBrowser) -> None:
    box = "<div id=box style='height: 50px; overflow: auto'><p style='height: 900px'>Tall</div>"
    body = box + "<p style='height: 4000px'>End</p>"
    steps = (
        Scroll(x=0, y=300),
        has("html", scrollTop=300.0),
        Scroll(x=0, y=120, target=css("#box")),
        has("#box", scrollTop=120.0),
    )
    require_done(walk_page(browser, body, *steps))


def test_screen_size_changes(browser: WarmBrowser) -> None:
    phone = SetViewport(width=390, height=844, scale=2.0, is_mobile=True, has_touch=True)
    wide = SetViewport(width=1200, height=700)
    with Site({"/": page("<p>Hello")}) as site:
        open_page = Navigate(url=f"{site.url}/")
        is_narrow, is_wide = has("html", clientWidth=390.0), has("html", clientWidth=1200.0)
        require_done(walk(browser, site.url, phone, open_page, is_narrow, wide, is_wide, opens=False))
        agents = [request.header("User-Agent") or "" for request in site.requests if request.path == "/"]
    assert " Mobile " in agents[0]


def test_waits_end_when_their_condition_is_met(browser: WarmBrowser) -> None:
    body = """<p id=busy>Loading</p><script>
    setTimeout(() => { busy.remove(); document.body.insertAdjacentHTML('beforeend', '<ul><li>a<li>b</ul>') }, 200);
    setTimeout(() => { history.pushState(0, '', '/list?page=2'); document.title = 'List' }, 300);
    </script>"""
    steps = (
        WaitForElement(target=css("#busy"), operator="==", count=0),
        WaitForElement(target=css("li"), operator="==", count=2, is_visible=True),
        WaitForAddress(url="/list"),
        WaitForAddress(url="/li", is_prefix=True),
        WaitForTitle(title="List"),
    )
    require_done(walk_page(browser, body, *steps))


def test_attributes_are_compared(browser: WarmBrowser) -> None:
    body = "<button aria-expanded=false onclick=\"setAttribute('aria-expanded', true)\">Menu</button>"
    is_open = WaitForElement(target=css("button"), attributes=(("aria-expanded", "true"),))
    require_done(walk_page(browser, body, Click(target=css("button")), is_open))


def test_slow_element_is_awaited(browser: WarmBrowser) -> None:
    body = """<script>
    setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<button disabled id=b>Go</button>'), 200);
    setTimeout(() => { b.style.cssText = 'position: absolute; left: 0; transition: left 0.3s' }, 400);
    setTimeout(() => { b.disabled = false }, 410);
    setTimeout(() => { b.style.left = '200px' }, 420);
    addEventListener('click', () => { document.title = String(b.getBoundingClientRect().left) });
    </script>"""
    require_done(walk_page(browser, body, Click(target=named("Go", "button")), WaitForTitle(title="200")))


def test_replaced_element_is_clicked_again(browser: WarmBrowser) -> None:
    body = """<div id=place><button>Go</button></div><script>
    let times = 0;
    place.addEventListener('mouseover', () => { if (times++ < 2) place.innerHTML = '<button>Go</button>' });
    place.addEventListener('click', (event) => { document.title = event.target.localName });
    </script>"""
    require_done(walk_page(browser, body, Click(target=named("Go", "button")), WaitForTitle(title="button")))


def test_expected_navigation_is_awaited(browser: WarmBrowser) -> None:
    routes = {
        "/": page("<a href=/orders/17?session=1>Order</a>"),
        "/orders/17?session=1": Answer(status=302, headers={"Location": "/orders/18"}, delay_s=0.3),
        "/orders/18": page("<p>Paid", "Order 18"),
    }
    with Site(routes) as site:
        expected = ExpectedNavigation(url=f"{site.url}/orders/4711", title="Order 4711")
        result = walk(browser, f"{site.url}/", Click(target=named("Order"), expected_navigation=expected))
    require_done(result)
    assert result.steps[1].navigated
    assert result.steps[1].url.endswith("/orders/18")


def test_navigation_within_the_document_counts(browser: WarmBrowser) -> None:
    body = "<button onclick=\"history.pushState(0, '', '/basket'); document.title = 'Basket'\">Basket</button>"
    click = Click(target=named("Basket"), expected_navigation=ExpectedNavigation())
    result = require_done(walk_page(browser, body, click, rule=StateRule.NAVIGATIONS))
    assert [(state.name, state.is_navigation) for state in result.states] == [("Tea shop", True), ("Basket", False)]
    assert result.states[1].url.endswith("/basket")


def test_dialogs_windows_and_files_are_prevented_and_reported(browser: WarmBrowser) -> None:
    routes = {
        "/": page(
            "<button onclick=\"title = `${confirm('Really?')} ${prompt('Name?')}`; alert('Done')\">Ask</button>"
            "<button onclick=\"window.open('/other')\">Window</button><a href=/file download>File</a>"
        ),
        "/file": Answer("data", headers={"Content-Disposition": "attachment", "Content-Type": "application/x-tea"}),
    }
    with Site(routes) as site:
        steps = (
            Click(target=named("Ask")),
            has("button", title="false null"),
            Click(target=named("Window")),
            Click(target=named("File")),
        )
        result = require_done(walk(browser, f"{site.url}/", *steps))
        assert "/other" not in site.paths()
    assert result.steps[1].notes == (
        "The browser's question “Really?” was dismissed.",
        "The browser's question with a field “Name?” was dismissed.",
        "The browser's message “Done” was dismissed.",
    )
    assert result.steps[3].notes == ("The page tried to open a new window, which was prevented.",)
    assert result.steps[4].notes == ("The page tried to save a file, which was prevented.",)


def test_question_before_leaving_a_page_is_answered_with_yes(browser: WarmBrowser) -> None:
    body = "<script>onbeforeunload = (event) => { event.preventDefault() }</script><input id=f><a href=/next>Next</a>"
    with Site({"/": page(body), "/next": page("Next page")}) as site:
        steps = (Change(target=css("#f"), value="x"), Click(target=named("Next")), WaitForAddress(url="/next"))
        result = require_done(walk(browser, f"{site.url}/", *steps))
    assert result.steps[2].notes == ("The page asked whether to leave it, which was answered with yes.",)


def test_page_that_never_stops_loading_does_not_stop_the_journey(browser: WarmBrowser) -> None:
    body = "<img src=/never alt=''><button onclick=\"document.title = 'Clicked'\">Go</button>"
    with Site({"/": page(body), "/never": Answer("", delay_s=60.0)}) as site:
        result = walk(browser, f"{site.url}/", Click(target=named("Go")), WaitForTitle(title="Clicked"))
    require_done(result)
    assert result.steps[1].duration_s < 4.0


def test_open_list_does_not_swallow_the_next_click(browser: WarmBrowser) -> None:
    body = """<select id=tea><option>Green<option>Black</select><input id=day type=date>
    <button onclick="document.title = tea.value + day.value">Go</button>"""
    steps = (
        Click(target=css("#tea")),
        Change(target=css("#tea"), value="Black"),
        Click(target=css("#day")),
        Change(target=css("#day"), value="2026-12-24"),
        Click(target=named("Go", "button")),
        WaitForTitle(title="Black2026-12-24"),
    )
    require_done(walk_page(browser, body, *steps))


def test_page_that_is_wider_than_a_phone_is_clicked(browser: WarmBrowser) -> None:
    body = """<!doctype html><title>Wide</title><body style="width: 1200px; height: 3000px"><button style="position:
    absolute; left: 900px; top: 1500px" onclick="document.title = 'clicked'">Go</button>"""
    phone = SetViewport(width=390, height=844, scale=2.0, is_mobile=True, has_touch=True)
    with Site({"/": Answer(body, headers={"Content-Type": "text/html"})}) as site:
        steps = (
            phone,
            Navigate(url=f"{site.url}/"),
            Click(target=named("Go", "button")),
            WaitForTitle(title="clicked"),
        )
        require_done(walk(browser, site.url, *steps, opens=False))


def test_slow_answer_is_awaited_without_an_expected_navigation(browser: WarmBrowser) -> None:
    routes = {"/": page("<a href=/slow>Slow</a>"), "/slow": Answer("<title>Slow</title>", delay_s=6.0)}
    with Site(routes) as site:
        result = require_done(walk(browser, f"{site.url}/", Click(target=named("Slow"))))
    assert result.steps[1].navigated
    assert result.steps[1].url.endswith("/slow")


def test_journey_continues_in_another_process(browser: WarmBrowser) -> None:
    """A page with this header gets a new process in Chromium."""
    isolated = {"Cross_Origin_Opener_Policy": "same-origin", "Cross_Origin_Embedder_Policy": "require-corp"}
    with Site(
        {"/": page("<a href=/own>Own</a>"), "/own": page("<input id=f><a href=/>Back</a>", "Own", **isolated)}
    ) as site:
        steps = (
            Click(target=named("Own")),
            Change(target=css("#f"), value="{{secret}}"),
            Judge(name="Own"),
            Click(target=named("Back")),
            Judge(name="Back"),
        )
        result = require_done(walk(browser, f"{site.url}/", *steps, secrets={"secret": "geheim123"}))
    assert [state.is_navigation for state in result.states] == [True, True]
    assert result.states[0].security.document_headers["cross-origin-opener-policy"] == "same-origin"
