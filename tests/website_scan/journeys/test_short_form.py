"""Tests for journeys that people write as text."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.journeys import targets
from website_scan.journeys.journey import (
    Change,
    Click,
    ElementTarget,
    Hover,
    Journey,
    JourneyRefused,
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
from website_scan.journeys.recordings import read_recording, recording_of
from website_scan.journeys.selectors import css, selector_texts
from website_scan.journeys.short_form import SYNONYMS, VERBS, read_short_form

ADDRESS = "https://shop.example/shop/login"
LOG_IN = """
# Comments and empty lines are ignored.
open https://shop.example/login

fill “E-mail” with {{user}}
fill “Password” with {{password}}
click button “Sign in”
wait for “My account”
judge “Account”
"""


def journey_of(*lines: str) -> Journey:
    """Read a journey that opens a page and has these lines from line 2 on."""
    return read_short_form("\n".join([f"open {ADDRESS}", *lines]), title="Log-in").journey


def steps_of(line: str) -> list[Step]:
    """Return the steps of a line."""
    return list(journey_of(line).steps[1:])


def refusal(line: str) -> str:
    """Return the reason for which a line is refused."""
    with pytest.raises(JourneyRefused) as refused:
        journey_of(line)
    return str(refused.value)


def texts(target: ElementTarget) -> list[str]:
    """Return the alternative selectors as in a recording."""
    return [text for selector in target.selectors for text in selector_texts(selector)]


def test_log_in_is_read() -> None:
    read = read_short_form(LOG_IN, title="Log-in")
    kinds = [type(step) for step in read.journey.steps]
    assert kinds == [Navigate, Change, Change, Click, WaitForElement, Judge]
    assert [step.line for step in read.journey.steps] == [3, 5, 6, 7, 8, 9]
    assert read.journey.secret_names == ("user", "password")
    assert (read.journey.rule, read.notes, read.secrets) == (StateRule.STEPS, (), {})
    assert read_recording(json.dumps(recording_of(read.journey))).journey == read.journey


BUTTON = targets.clickable("Sign in", "button")
CODE = ElementTarget((css("#menu .item"),))


@pytest.mark.parametrize(
    ("line", "steps"),
    [
        ("open https://shop.example/cart", [Navigate(url="https://shop.example/cart")]),
        ("OPEN /cart?x=1#y", [Navigate(url="https://shop.example/cart?x=1#y")]),
        ("open ../cart", [Navigate(url="https://shop.example/cart")]),
        ("open “/cart”", [Navigate(url="https://shop.example/cart")]),
        ("fill “E-mail” with me", [Change(target=targets.field("E-mail", ""), value="me")]),
        ("fill “E-mail” with “me with you”", [Change(target=targets.field("E-mail", ""), value="me with you")]),
        ("fill “Pay with” with x with y", [Change(target=targets.field("Pay with", ""), value="x with y")]),
        ("fill field “E-mail” with {{user}}", [Change(target=targets.field("E-mail", "textbox"), value="{{user}}")]),
        ("fill `#menu .item` with #1", [Change(target=CODE, value="#1")]),
        ("choose “Large” in “Size”", [Change(target=targets.choice("Size", ""), value="Large")]),
        ("choose 'Large' from the list 'Size'", [Change(target=targets.choice("Size", "listbox"), value="Large")]),
        ("check “Terms”", [Change(target=targets.check_box("Terms", ""), value="true")]),
        ("uncheck check box “Terms”", [Change(target=targets.check_box("Terms", "checkbox"), value="false")]),
        ("click “Sign in”", [Click(target=targets.clickable("Sign in", ""))]),
        ("click button “Sign in”", [Click(target=BUTTON)]),
        ("Click the  Button “Sign in”", [Click(target=BUTTON)]),
        ('click button "Sign in"', [Click(target=BUTTON)]),
        ("click button „Sign in“", [Click(target=BUTTON)]),
        ("click button «Sign in»", [Click(target=BUTTON)]),
        ("click button 'Sign in'", [Click(target=BUTTON)]),
        ("click button \u2018Sign in\u2019", [Click(target=BUTTON)]),
        ('click button “Sign in"', [Click(target=BUTTON)]),
        ("click link “Say \"hi\"”", [Click(target=targets.clickable('Say "hi"', "link"))]),
        ("click menu item “Help”", [Click(target=targets.clickable("Help", "menuitem"))]),
        ("click tab “Help”", [Click(target=targets.clickable("Help", "tab"))]),
        ("click `#menu .item`", [Click(target=CODE)]),
        ("3. click `#menu .item`", [Click(target=CODE)]),
        ("  - click `#menu .item`", [Click(target=CODE)]),
        ("double-click “Photo”", [Click(target=targets.clickable("Photo", ""), count=2)]),
        ("hover “Products”", [Hover(target=targets.clickable("Products", ""))]),
        ("hover over link “Products”", [Hover(target=targets.clickable("Products", "link"))]),
        ("press Enter", [KeyDown(key="Enter"), KeyUp(key="Enter")]),
        (
            "press Ctrl+K",
            [KeyDown(key="Control"), KeyDown(key="k"), KeyUp(key="k"), KeyUp(key="Control")],
        ),
        (
            "press ctrl + shift + k",
            [
                KeyDown(key="Control"), KeyDown(key="Shift"), KeyDown(key="K"),
                KeyUp(key="K"), KeyUp(key="Shift"), KeyUp(key="Control"),
            ],
        ),
        ("press Ctrl++", [KeyDown(key="Control"), KeyDown(key="+"), KeyUp(key="+"), KeyUp(key="Control")]),
        ("press page down", [KeyDown(key="PageDown"), KeyUp(key="PageDown")]),
        ("scroll to “Reviews”", [Scroll(x=0, y=0, target=targets.content("Reviews", ""))]),
        ("scroll to the bottom", [Scroll(x=0, y=1_000_000)]),
        ("scroll to top", [Scroll(x=0, y=0)]),
        ("wait for “Hello”", [WaitForElement(target=targets.content("Hello", ""), is_visible=True)]),
        (
            "wait for button “Pay” for up to 20 seconds",
            [WaitForElement(target=targets.content("Pay", "button"), is_visible=True, timeout_s=20)],
        ),
        (
            "wait until “Loading” is gone",
            [WaitForElement(target=targets.content("Loading", ""), operator="==", count=0, is_visible=True)],
        ),
        ("wait for address /account", [WaitForAddress(url="/account")]),
        ("wait for address beginning with /a", [WaitForAddress(url="/a", is_prefix=True)]),
        ("wait for address /a?b=c up to 1 second", [WaitForAddress(url="https://shop.example/a?b=c", timeout_s=1)]),
        ("wait for address https://x.example/", [WaitForAddress(url="https://x.example/")]),
        ("wait for title “My  account”", [WaitForTitle(title="My account")]),
        ("judge “Account”", [Judge(name="Account")]),
        ("judge Account page", [Judge(name="Account page")]),
        ("screen 1280x800", [SetViewport(width=1280, height=800)]),
        ("screen 1280 \u00d7 800", [SetViewport(width=1280, height=800)]),
        ("screen Desktop", [SetViewport(width=1440, height=900)]),
        ("screen phone", [SetViewport(width=412, height=823, scale=2, is_mobile=True, has_touch=True)]),
        ("allow log-in at idp.example", []),
    ],
)  # fmt: skip
def test_line_is_read(line: str, steps: list[Step]) -> None:
    assert steps_of(line) == steps
    assert {step.line for step in steps_of(line)} <= {2}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            "clik “Sign in”",
            "Line 2: “clik “Sign in”” is not a step. Did you mean “click”? Example: click button “Sign in”",
        ),
        ("wiat for “x”", "Did you mean “wait for”?"),
        ("visit /cart", "Did you mean “open”? Example: open https://shop.example/login"),
        ("scroll down", "Did you mean “scroll to”?"),
        ("xyzzy", "“xyzzy” is not a step. Steps begin with open, fill, choose,"),
        (
            "click Sign in",
            "“click Sign in”: The name of the element in quotation marks is missing. Example: click button",
        ),
        ("click “”", "The name of the element in quotation marks is missing."),
        ("click “Sign in” twice", "“twice” is too much. Example: click button"),
        ("click ``", "The name of the element in quotation marks is missing."),
        ("click `a >>> b`", "has syntax that is not CSS"),
        ("click “{{password}}”", "only in the values of fields."),
        ("fill “E-mail” {{user}}", "“fill …”: The word “with” and the value are missing."),
        ("fill “E-mail” with {{User}}", "The name of a secret begins with a letter from a to z"),
        ("choose Large in “Size”", "The name of the choice in quotation marks"),
        ("press Entr", "“Entr” is not the name of a key. Did you mean Enter?"),
        ("press K+Enter", "Only Alt, Control, Meta, Shift can be held while another key is pressed."),
        ("press", "is not the name of a key."),
        ("wait for 5 seconds", "Steps wait for something that appears or disappears, not for a time."),
        ("wait for “x” for up to 31 seconds", "A step can wait for 1 to 30 seconds."),
        ("wait until “x”", "The words “is gone” are missing."),
        ("wait for title", "The title is missing."),
        ("wait for address javascript:x", "is not an address that begins with https:// or http://."),
        ("open javascript:alert(1)", "is not an address that begins with https:// or http://."),
        ("open shop.example", "is not an address that begins with https:// or http://."),
        ("open //me:secret@shop.example", "The address contains a user name or a password."),
        ("judge", "The state has no name."),
        ("judge “{{password}}”", "only in the values of fields."),
        ("screen big", "The size is none of phone, desktop and width x height up to 5,000 pixels."),
        ("screen 9999x1", "The size is none of phone, desktop"),
        ("allow log-in at https://idp.example", "is not a host name, such as login.example.com."),
    ],
)
def test_refusal_names_line_text_and_example(line: str, reason: str) -> None:
    message = refusal(line)
    assert message.startswith("Line 2: ")
    assert reason in message


@pytest.mark.parametrize("line", ["fill “Password” hunter2", "type hunter2 into “Password”", "- enter hunter2"])
def test_refusal_does_not_quote_a_typed_value(line: str) -> None:
    assert "hunter2" not in refusal(line)


def test_typed_password_becomes_a_secret() -> None:
    read = read_short_form(f"open {ADDRESS}\nfill “Password” with hunter2", title="Log-in")
    assert read.secrets == {"password": "hunter2"}
    assert read.journey.secret_names == ("password",)


def test_first_address_may_be_relative_to_the_site() -> None:
    read = read_short_form("open /login\nopen ./cart", title="x", base_url="https://shop.example/de/")
    urls = [step.url for step in read.journey.steps if isinstance(step, Navigate)]
    assert urls == ["https://shop.example/login", "https://shop.example/cart"]
    with pytest.raises(JourneyRefused, match=r"Line 1: .* The first address must be whole\."):
        read_short_form("open /login", title="x")


def test_identity_providers_are_read() -> None:
    journey = journey_of("allow log-in at IDP.example, login.example.com", "allow login at idp.example")
    assert journey.identity_providers == ("idp.example", "login.example.com")


def test_role_that_the_action_needs_precedes_headings_of_the_same_name() -> None:
    (click,) = steps_of("click “Sign in”")
    (fill,) = steps_of("fill “E-mail” with x")
    assert isinstance(click, Click)
    assert isinstance(fill, Change)
    assert texts(click.target)[:2] == ['aria/Sign in[role="button"]', 'aria/Sign in[role="link"]']
    assert texts(click.target)[-2:] == ["aria/Sign in", "text/Sign in"]
    assert texts(fill.target)[0] == 'aria/E-mail[role="textbox"]'
    assert texts(fill.target)[-2:] == [
        'input[placeholder="E-mail" i], textarea[placeholder="E-mail" i]',
        'input[name="E-mail" i], textarea[name="E-mail" i]',
    ]


def test_examples_of_verbs_and_synonyms_are_valid() -> None:
    examples = [part for verb in VERBS.values() for part in verb.example.replace(", or ", ", ").split(", ")]
    assert all(journey_of(example) for example in examples)
    assert set(SYNONYMS.values()) <= set(VERBS)


def test_journey_that_judges_no_step_judges_after_navigations() -> None:
    assert journey_of("click “x”").rule is StateRule.NAVIGATIONS
    read = read_short_form(LOG_IN, title="x", rule=StateRule.END)
    assert read.journey.rule is StateRule.END


@pytest.mark.parametrize("text", ["click “x”\n" * 1001, "x" * 300_000, "#" * 300_000, "click “" + "x" * 6000])
def test_long_text_is_refused_at_once(text: str) -> None:
    started = time.perf_counter()
    with pytest.raises(JourneyRefused, match=r"KiB|longer than"):
        read_short_form(text, title="x")
    assert time.perf_counter() - started < 1


WORDS = st.sampled_from([
    *VERBS, "“Name”", "`#css`", "with", "in", "{{user}}", "“", '"', "the", "button", "is gone", "address", "/x",
    "up to 5 seconds", "\u0000", "title", "+", "Ctrl+", "1280x800", "beginning with", "1.", "\u202e", "over",
])  # fmt: skip


@given(st.lists(st.lists(WORDS | st.text(max_size=5), max_size=6).map(" ".join), max_size=4))
def test_any_text_is_read_or_refused(lines: list[str]) -> None:
    try:
        journey = journey_of(*lines)
    except JourneyRefused:
        return
    assert read_recording(json.dumps(recording_of(journey))).journey == journey
