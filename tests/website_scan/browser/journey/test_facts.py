"""Tests for what is recorded about each step: focus, dialogs, messages, responsiveness and the keyboard."""

from __future__ import annotations

from typing import Any

import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.browser.journey.walks import css, named, page, require_done, walk, walk_page
from website_scan.browser.devices import PHONE
from website_scan.browser.visit import Part
from website_scan.browser.warm import WarmBrowser
from website_scan.journeys.journey import Change, Click, Hover, Judge, SetViewport, StateRule, WaitForElement
from website_scan.journeys.walk import Focus, LiveMessage, OpenDialog

CLICK = Click(target=css("#go"))


def test_focus_is_recorded_after_each_step(browser: WarmBrowser) -> None:
    result = require_done(walk_page(browser, "<button id=go aria-label='Open the menu'>x</button>", CLICK))
    assert result.steps[0].focus == Focus("", "", "", is_in_dialog=False, is_lost=False)
    assert result.steps[1].focus == Focus("#go", "button", "Open the menu", is_in_dialog=False, is_lost=False)


@pytest.mark.parametrize(
    "script", ["this.remove()", "this.style.display = 'none'", "this.parentNode.innerHTML = 'Gone'"]
)
def test_focus_is_lost_with_its_element(browser: WarmBrowser, script: str) -> None:
    steps = (Click(target=css("#field")), CLICK)
    # The button does not get the focus, so that the field has it until the click hides the button and the field.
    body = f"<p><input id=field></p><div onclick=\"document.querySelector('#field').{script.removeprefix('this.')}\">"
    result = require_done(walk_page(browser, body + "<b id=go onmousedown='return false'>Close</b></div>", *steps))
    assert result.steps[1].focus
    assert not result.steps[1].focus.is_lost
    assert result.steps[2].focus == Focus("", "", "", is_in_dialog=False, is_lost=True)


def test_focus_stays_lost_until_the_next_input(browser: WarmBrowser) -> None:
    body = "<button id=go onclick='this.remove()'>Close</button><input id=field>"
    wait = WaitForElement(target=css("#go"), operator="==", count=0)
    steps = (CLICK, wait, Judge(name="Closed"), Click(target=css("#field")), Judge(name="Field"))
    closed, field = require_done(walk_page(browser, body, *steps)).states
    assert closed.focus
    assert closed.focus.is_lost
    assert field.focus
    assert (field.focus.selector, field.focus.is_lost) == ("#field", False)


def test_focus_moved_by_the_page_is_not_lost(browser: WarmBrowser) -> None:
    body = '<button id=go onclick="next.focus(); this.remove()">Next</button><h2 id=next tabindex=-1>Step 2</h2>'
    result = require_done(walk_page(browser, body, CLICK))
    assert result.steps[1].focus == Focus("#next", "heading", "Step 2", is_in_dialog=False, is_lost=False)


@pytest.mark.parametrize(
    ("dialog", "script", "expected"),
    [
        (
            "<dialog id=d aria-label=Basket><button>Pay</button></dialog>",
            "d.showModal()",
            OpenDialog("#d", "Basket", is_modal=True, has_focus_inside=True),
        ),
        (
            "<dialog id=d aria-label=Basket><p>Tea</dialog>",
            "d.show()",
            OpenDialog("#d", "Basket", is_modal=False, has_focus_inside=True),
        ),
        (
            "<div id=d role=dialog hidden><h2>Basket</h2></div>",
            "d.hidden = false",
            OpenDialog("#d", "", is_modal=False, has_focus_inside=False),
        ),
        (
            "<div id=d role=alertdialog aria-modal=true aria-labelledby=h hidden><h2 id=h>Basket</h2></div>",
            "d.hidden = false",
            OpenDialog("#d", "Basket", is_modal=True, has_focus_inside=False),
        ),
    ],
)
def test_open_dialog_is_recorded(browser: WarmBrowser, dialog: str, script: str, expected: OpenDialog) -> None:
    result = require_done(walk_page(browser, f"{dialog}<button id=go onclick='{script}'>Open</button>", CLICK))
    assert result.steps[0].dialogs == ()
    assert result.steps[1].dialogs == (expected,)


@pytest.mark.parametrize(
    ("region", "script", "expected"),
    [
        ("<p id=s role=status></p>", "s.textContent = 'Saved'", LiveMessage("Saved", "polite", "#s")),
        ("<p id=s aria-live=assertive></p>", "s.innerHTML = '<b>Saved</b>'", LiveMessage("Saved", "assertive", "#s")),
        ("<p id=s role=alert>Old</p>", "s.firstChild.data = 'New'", LiveMessage("New", "assertive", "#s")),
        ("<output id=s></output>", "s.value = '3 pieces'", LiveMessage("3 pieces", "polite", "#s")),
        (
            "",
            "insertAdjacentHTML('afterend', '<p id=s role=alert>Failed</p>')",
            LiveMessage("Failed", "assertive", "#s"),
        ),
        ("<p id=s role=alert hidden>Wrong</p>", "s.hidden = false", LiveMessage("Wrong", "assertive", "#s")),
        ("<p id=s aria-live=off></p>", "s.textContent = 'Saved'", None),
        ("<p id=s role=status hidden></p>", "s.textContent = 'Saved'", None),
        ("<p id=s role=status>Old</p>", "s.textContent = ''", None),
        ("<p id=s>Text</p>", "s.textContent = 'Saved'", None),
    ],
)
def test_messages_of_live_regions_are_recorded(
    browser: WarmBrowser, region: str, script: str, expected: LiveMessage | None
) -> None:
    steps = (CLICK, Judge(name="After"))
    result = require_done(walk_page(browser, f'{region}<button id=go onclick="{script}">Go</button>', *steps))
    messages = (expected,) if expected else ()
    assert result.steps[0].messages == ()
    assert result.steps[1].messages == messages
    assert result.states[0].messages == messages


KEYBOARD = {
    "button": ("<button id=go>Go</button>", ""),
    "text in a button": ("<button><span id=go>Go</span></button>", ""),
    "link": ("<a href=#x id=go>Go</a>", ""),
    "checkbox of a label": ("<label id=go>Go <input type=checkbox></label>", ""),
    "summary": ("<details><summary id=go>Go</summary>More</details>", ""),
    "custom button with keys": ("<div id=go role=button tabindex=0 onclick=x onkeydown='x'>Go</div>", ""),
    "custom button with keys of its parent": ("<p onkeyup=x><b id=go tabindex=0 onclick=x>Go</b></p>", ""),
    "tab": ("<div role=tablist><b role=tab tabindex=0>1</b><b id=go role=tab tabindex=-1 onkeydown=x>Go</b></div>", ""),
    "custom button without keys": ("<div id=go role=button tabindex=0 onclick=x>Go</div>", "no action"),
    "text with a click": ("<div id=go onclick=x>Go</div>", "not focusable"),
    "link without an address": ("<a id=go onclick=x>Go</a>", "not focusable"),
    "button out of the order": ("<button id=go tabindex=-1>Go</button>", "not focusable"),
    "tab among unreachable tabs": ("<div role=tablist><b id=go role=tab tabindex=-1>Go</b></div>", "not focusable"),
}  # fmt: skip


@pytest.mark.parametrize("case", KEYBOARD)
def test_keyboard_reach_of_clicked_elements(browser: WarmBrowser, case: str) -> None:
    body, reason = KEYBOARD[case]
    (reach,) = require_done(walk_page(browser, body, CLICK)).keyboard
    assert (reach.step, reach.selector, reach.is_reached, reach.reason) == (1, reach.selector, not reason, reason)
    assert reach.name in ("Go", "")


def test_responsiveness_of_a_step_is_measured(browser: WarmBrowser) -> None:
    body = """<button id=go>Go</button><p>Text</p><script>
    go.onclick = () => { const end = performance.now() + 150; while (performance.now() < end); fetch('/data') }
    </script>"""
    with Site({"/": page(body), "/data": Answer(b"x" * 5_000)}) as site:
        interaction = require_done(walk(browser, f"{site.url}/", CLICK)).steps[1].interaction
    assert interaction
    assert interaction.next_paint_ms
    assert 150 <= interaction.next_paint_ms < 2_000
    assert interaction.long_tasks_ms
    assert max(interaction.long_tasks_ms) >= 150
    assert interaction.requests == 1
    assert interaction.transferred_bytes > 5_000


def test_layout_shift_without_input_is_measured(browser: WarmBrowser) -> None:
    body = """<div id=top></div><button id=go>Go</button><p style='height: 400px; background: #eee'>Text</p><script>
    go.onmouseenter = () => { top_.style.height = '200px' };
    const top_ = document.getElementById('top');
    go.onmouseleave = () => 0;
    </script>"""
    result = require_done(walk_page(browser, body, Hover(target=css("#go"))))
    interaction = result.steps[1].interaction
    assert interaction
    assert interaction.shift > 0.05
    assert interaction.next_paint_ms is None  # A movement of the mouse is no interaction.


def test_state_after_a_navigation_has_the_metrics_of_the_load(browser: WarmBrowser) -> None:
    script = "function unused() { return 1 } const end = performance.now() + 80; while (performance.now() < end);"
    more = "<button id=more onclick=\"fetch('/more')\">More</button>"
    routes = {
        "/": page("<a id=go href=/two>Two</a>"),
        "/two": page(f"<script src=/s.js></script><p>Page two</p><img src=/i alt=''>{more}", "Two"),
        "/s.js": Answer(script, headers={"Content-Type": "text/javascript"}),
        "/i": Answer(b"", status=404),
        "/more": Answer("{}"),
    }
    with Site(routes) as site:
        result = require_done(
            walk(
                browser,
                f"{site.url}/",
                CLICK,
                Click(target=named("More")),
                rule=StateRule.NAVIGATIONS,
                change=lambda options: options.update(parts=frozenset(Part)),
            )
        )
    start, two, more_state = result.states
    assert [state.is_navigation for state in result.states] == [True, True, False]
    assert [state.status for state in result.states] == [200, 200, 200]
    for state in (start, two):
        assert state.evidence.first.fcp_s
        assert state.evidence.first.lcp
        assert state.evidence.first.load_s
    assert [request.url.removeprefix(site.url) for request in two.evidence.first.requests] == ["/two", "/s.js", "/i"]
    assert [request.url.removeprefix(site.url) for request in more_state.evidence.first.requests] == ["/more"]
    assert more_state.evidence.first.fcp_s is None
    assert two.evidence.first.progress
    assert two.evidence.first.main_thread.evaluations[0].url == f"{site.url}/s.js"
    assert max(task.duration_s for task in two.evidence.first.main_thread.tasks) > 0.07
    assert two.evidence.files
    assert [file.url for file in two.evidence.files] == [f"{site.url}/s.js"]
    assert two.evidence.files[0].unused > 10
    assert two.evidence.frames == ()
    assert more_state.evidence.files is None
    assert all("404" in error for error in two.evidence.console_errors)
    assert len(two.evidence.console_errors) == 1
    assert more_state.evidence.console_errors == ()
    assert two.title == "Two"
    assert two.evidence.screen
    assert "Page two" in two.evidence.screen.text
    assert two.evidence.layout
    assert two.document
    assert "<p>Page two</p>" in two.document


def test_menu_behind_a_click_is_judged(browser: WarmBrowser) -> None:
    body = '<button id=go onclick="menu.hidden = false">Menu</button><div id=menu hidden><img src=/tea.png></div>'
    steps = (Judge(name="Closed"), CLICK, Judge(name="Open"))
    result = walk_page(browser, body, *steps, change=lambda options: options.update(parts=frozenset(Part)))
    closed, opened = (state.evidence for state in require_done(result).states)
    assert closed.axe
    assert opened.axe
    assert "image-alt" not in closed.axe.violations
    assert "image-alt" in opened.axe.violations
    assert opened.axe.widths == (1440,)
    assert opened.page_picture
    assert opened.page_picture.boxes


def test_fault_that_a_step_removes_is_not_in_the_next_state(browser: WarmBrowser) -> None:
    body = '<img id=tea src=/tea.png><button id=go onclick="tea.remove()">Remove</button>'
    steps = (Judge(name="Before"), CLICK, Judge(name="After"))
    result = walk_page(browser, body, *steps, change=lambda options: options.update(parts=frozenset({Part.AXE})))
    before, after = (state.evidence.axe for state in require_done(result).states)
    assert before
    assert after
    assert "image-alt" in before.violations
    assert "image-alt" not in after.violations


def test_state_is_judged_on_the_screen_of_the_journey(browser: WarmBrowser) -> None:
    phone = SetViewport(width=PHONE.width, height=PHONE.height, scale=2.0, is_mobile=True, has_touch=True)
    result = walk_page(
        browser, "<p>Tea", phone, Judge(name="Phone"), change=lambda options: options.update(parts=frozenset(Part))
    )
    evidence = require_done(result).states[0].evidence
    assert evidence.axe
    assert evidence.axe.widths == (412,)
    assert evidence.layout
    assert evidence.layout.viewport.width_px == 412


def test_pictures_of_all_steps_make_a_film(browser: WarmBrowser) -> None:
    steps = (Change(target=css("#f"), value="Tea"), Judge(name="End"))
    result = walk_page(browser, "<input id=f>", *steps, change=lambda options: options.update(has_pictures=True))
    pictures = [step.picture for step in require_done(result).steps]
    assert pictures[0]
    assert pictures[1]
    assert pictures[0].data != pictures[1].data
    assert (pictures[1].width, pictures[1].height) == (1440, 900)
    assert pictures[2] is None


def test_recording_of_a_failed_step_does_not_disturb_the_next_journey(browser: WarmBrowser) -> None:
    def judge(options: dict[str, Any]) -> None:
        options.update(parts=frozenset(Part))

    assert not walk_page(browser, "<p>Tea", Click(target=css("#none"), timeout_s=1.0), change=judge).is_complete
    result = require_done(walk_page(browser, "<p>Tea", Judge(name="Page"), change=judge))
    assert result.states[0].evidence.first.progress
    assert result.states[0].evidence.first.main_thread.tasks
