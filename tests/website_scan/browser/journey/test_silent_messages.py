"""Tests for messages that a step shows and no live region announces."""

from __future__ import annotations

import pytest

from tests.website_scan.browser.journey.walks import css, require_done, walk_page
from website_scan.browser.warm import WarmBrowser
from website_scan.journeys.journey import Change, Click, Judge
from website_scan.journeys.walk import SilentMessage

STEPS = (Click(target=css("#go")), Judge(name="After"))
SAVED = "s.textContent = 'Your changes are saved'"
ADD = "insertAdjacentHTML('afterend', `{}`)"
MENU = "<a href=/1>Your profile</a>"


def silent_messages(browser: WarmBrowser, body: str, script: str, opener: str = "") -> tuple[SilentMessage, ...]:
    """Return the silent messages after a click on a button that executes a script."""
    button = f'<button id=go {opener} onclick="{script}">Go</button>'
    result = require_done(walk_page(browser, f"{body}{button}", *STEPS))
    assert result.steps[0].silent_messages == ()
    return result.steps[1].silent_messages


@pytest.mark.parametrize(
    ("body", "script", "text"),
    [
        ("<p id=s class=message></p>", SAVED, "Your changes are saved"),
        ("<p id=s class=message>Nothing is saved</p>", SAVED, "Your changes are saved"),
        ("<p id=s class=form-error hidden>Enter a name</p>", "s.hidden = false", "Enter a name"),
        ("<p id=s class=flashSuccess style='display: none'>Saved</p>", "s.style.display = 'block'", "Saved"),
        ("", ADD.format("<div class=toast><p>Added to the cart</p></div>"), "Added to the cart"),
        ("<p id=s class=results-count>12 teas found</p>", "s.textContent = '3 teas found'", "3 teas found"),
        # The region is new, so its text is not announced.
        ("", ADD.format("<p class=message role=status>Saved as a draft</p>"), "Saved as a draft"),
        ("<p id=s class=message aria-live=off></p>", SAVED, "Your changes are saved"),
    ],
)
def test_silent_message_is_recorded(browser: WarmBrowser, body: str, script: str, text: str) -> None:
    assert [message.text for message in silent_messages(browser, body, script)] == [text]


HEALTHY = {
    "live region": ("<p id=s class=message role=status></p>", SAVED),
    "live region around it": ("<div aria-live=polite><p id=s class=message></p></div>", SAVED),
    "output": ("<output id=s class=message></output>", SAVED),
    "hidden live region": ("<p id=s class=message role=status hidden>Saved as a draft</p>", "s.hidden = false"),
    "new alert": ("", ADD.format("<p class=message role=alert>Not saved</p>")),
    "message with the focus": ("<p id=s class=message tabindex=-1></p>", f"{SAVED}; s.focus()"),
    "focus in new content": (
        "", ADD.format("<div><h2 id=h tabindex=-1>Thank you</h2><p class=message>Saved</p></div>") + "; h.focus()",
    ),
    "dialog": ("<dialog id=s class=message>Really delete it?</dialog>", "s.showModal()"),
    "custom dialog": ("<div id=s class=message role=dialog hidden>Really?</div>", "s.hidden = false"),
    "description of a field": (
        "<input aria-label=Name aria-describedby=s><p id=s class=error></p>", "s.textContent = 'Enter a name'",
    ),
    "menu": (f"<ul id=s class=messages role=menu hidden><li class=message>{MENU}</ul>", "s.hidden = false"),
    "plain menu": (f"<nav id=s class=message hidden>{MENU}</nav>", "s.hidden = false"),
    "accordion": ("<div class=accordion><p id=s class=notice hidden>Closed on Sunday</p></div>", "s.hidden = false"),
    "details": ("<details id=s><summary>More</summary><p class=notice>Closed on Sunday</details>", "s.open = true"),
    "tab": ("<div id=s role=tabpanel hidden><p class=alert>No orders yet</div>", "s.hidden = false"),
    "plain tab": ("<div id=s class=tab-pane hidden><p class=alert>No orders yet</div>", "s.hidden = false"),
    "list of suggestions": (
        "<input role=combobox aria-label=Tea aria-controls=s><div id=s hidden><p class=message>No such tea</p></div>",
        "s.hidden = false",
    ),
    "options": ("<ul id=s role=listbox class=message hidden><li role=option>Assam</ul>", "s.hidden = false"),
    "tooltip": ("<p id=s class=message role=tooltip hidden>Two to five days</p>", "s.hidden = false"),
    "popover": ("<p id=s class=message popover>Two to five days</p>", "s.showPopover()"),
    "loaded content": ("", ADD.format(f"<div><h2>Teas</h2><p class=notice>New teas</p><p>{'Tea. ' * 60}</p></div>")),
    "loaded entries": ("", ADD.format("<p class=message>From Ann</p>" * 5)),
    "new entry of a list": ("<p class=message>From Ann</p>", ADD.format("<p class=message>From Bea</p>")),
    "form": ("<form id=s class=feedback hidden><label>Text <input></label></form>", "s.hidden = false"),
    "cookie banner": ("", ADD.format("<div class=cookie-notice>We use cookies. <button>OK</button></div>")),
    "badge": ("<b id=s class=notification></b>", "s.textContent = '3'"),
    "label of the clicked button": ("", "this.className = 'success'; this.textContent = 'Saved now'"),
    "decoration": ("<p id=s class=toast aria-hidden=true></p>", SAVED),
    "price": ("<p id=s class=total>Total: 12 euros</p>", "s.textContent = 'Total: 24 euros'"),
    "number of the slide": ("<p id=s class=slide-count>Slide 1 of 5</p>", "s.textContent = 'Slide 2 of 5'"),
    "message that goes away": ("<p id=s class=message>Unsaved changes</p>", "s.remove()"),
    "message from before": ("<p class=message>Unsaved changes</p>", "document.title = 'Go'"),
    "longer text": ("<div id=s class=message></div>", "s.textContent = 'Tea is a plant. '.repeat(30)"),
}  # fmt: skip


@pytest.mark.parametrize("case", HEALTHY)
def test_healthy_changes_are_no_silent_messages(browser: WarmBrowser, case: str) -> None:
    assert silent_messages(browser, *HEALTHY[case]) == ()


@pytest.mark.parametrize(
    "opener", ["aria-expanded=true", "aria-controls=s", "aria-haspopup=menu", "role=tab aria-selected=true"]
)
def test_content_that_a_control_opens_is_no_silent_message(browser: WarmBrowser, opener: str) -> None:
    body = "<p id=s class=notice hidden>Closed on Sunday</p>"
    assert silent_messages(browser, body, "s.hidden = false", opener) == ()


def test_messages_during_the_load_of_a_page_are_not_silent_messages(browser: WarmBrowser) -> None:
    body = "<p id=s class=message></p><script>setTimeout(() => { s.textContent = 'Welcome back' }, 50)</script>"
    (opened, _) = require_done(walk_page(browser, body, Judge(name="Page"))).steps
    assert opened.silent_messages == ()


def test_announcement_after_a_pause_belongs_to_the_state(browser: WarmBrowser) -> None:
    announce = "setTimeout(() => { live.textContent = 'Saved' }, 150)"
    body = "<p id=s class=toast></p><p id=live role=status></p>"
    button = f'<button id=go onclick="{SAVED}; {announce}">Go</button>'
    (state,) = require_done(walk_page(browser, body + button, *STEPS)).states
    assert [message.text for message in state.messages] == ["Saved"]


def test_silent_messages_contain_no_secrets(browser: WarmBrowser) -> None:
    body = "<input id=f><p id=s class=message></p><script>f.oninput = () => { s.textContent = `Sent to ${f.value}` }"
    step = Change(target=css("#f"), value="{{mail}}")
    result = walk_page(browser, f"{body}</script>", step, secrets={"mail": "ada@example.com"})
    assert [message.text for message in require_done(result).steps[1].silent_messages] == ["Sent to {{mail}}"]
