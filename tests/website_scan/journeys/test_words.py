"""Tests for the description of steps in words."""

from __future__ import annotations

import pytest

from tests.website_scan.journeys.recorded import CLICK, recording
from website_scan.journeys.journey import Change, Click, ElementTarget, KeyDown, Scroll, StateRule, Step, WaitForElement
from website_scan.journeys.recordings import read_recording
from website_scan.journeys.selectors import aria, css, selector_of, target_of
from website_scan.journeys.short_form import read_short_form
from website_scan.journeys.words import element_in_words, states_in_words, step_in_words

MENU = ElementTarget((css("#menu"),))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("open /cart", "Open https://shop.example/cart."),
        ("fill “E-mail” with me@shop.example", "Enter “me@shop.example” in “E-mail”."),
        ("fill “Password” with {{password}}", "Enter the secret “password” in “Password”."),
        ("fill “Password” with hunter2", "Enter the secret “password” in “Password”."),
        ("fill “Note” with Bearer {{token}}", "Enter “Bearer {{token}}” in “Note”."),
        ("fill field “E-mail” with true", "Enter “true” in the field “E-mail”."),
        ("fill “E-mail” with", "Clear “E-mail”."),
        ("choose “Large” in “Size”", "Choose “Large” in “Size”."),
        ("check “Terms”", "Check “Terms”."),
        ("uncheck check box “Terms”", "Uncheck the check box “Terms”."),
        ("click “Sign in”", "Click “Sign in”."),
        ("click button “Sign in”", "Click the button “Sign in”."),
        ("double-click menu item “Help”", "Double-click the menu item “Help”."),
        ("click `#menu`", "Click the element #menu."),
        ("hover over “Products”", "Move the mouse over “Products”."),
        ("scroll to “Reviews”", "Scroll to “Reviews”."),
        ("scroll to the top", "Scroll to the top."),
        ("scroll to the bottom", "Scroll to the bottom."),
        ("wait for “Hello”", "Wait until “Hello” is shown."),
        ("wait until button “Pay” is gone", "Wait until the button “Pay” is gone."),
        ("wait for address /account", "Wait until the path of the address is /account."),
        (
            "wait for address beginning with https://shop.example/a",
            "Wait until the address begins with https://shop.example/a.",
        ),
        ("wait for title “Shop”", "Wait until the title of the page is “Shop”."),
        ("judge “Account”", "Judge the page as “Account”."),
        ("screen phone", "Use a phone of 412 by 823 pixels."),
        ("screen 1280x800", "Use a screen of 1280 by 800 pixels."),
    ],
)
def test_line_has_words(line: str, words: str) -> None:
    _, step = read_short_form(f"open https://shop.example/\n{line}", title="x").journey.steps
    assert step_in_words(step) == words


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (Click(target=MENU, button="secondary"), "Click the element #menu with the right mouse button."),
        (KeyDown(key=" "), "Press the key Space."),
        (Scroll(x=0, y=1500), "Scroll the page to 0, 1,500 pixels."),
        (Scroll(x=0, y=1500, target=MENU), "Scroll the element #menu to 0, 1,500 pixels."),
        (WaitForElement(target=MENU), "Wait until the element #menu is there."),
        (WaitForElement(target=MENU, is_visible=False), "Wait until the element #menu is hidden."),
        (
            WaitForElement(target=MENU, operator="<=", count=3, is_visible=True, attributes=(("lang", "en"),)),
            "Wait until the element #menu is shown at most 3 times with lang = “en”.",
        ),
        (Change(target=MENU, value="x" * 100), f"Enter “{'x' * 79}…” in the element #menu."),
    ],
)
def test_step_has_words(step: Step, words: str) -> None:
    assert step_in_words(step) == words


def test_element_is_described_by_the_selector_that_people_understand() -> None:
    recorded = read_recording(recording(CLICK)).journey.steps[1]
    assert step_in_words(recorded) == "Click “Sign in”."
    assert element_in_words(target_of(css("#a"), aria("Help", "link"))) == "the link “Help”"
    assert element_in_words(target_of(selector_of("xpath///a"), selector_of("text/Help"))) == "“Help”"
    assert element_in_words(target_of(aria("", "main"))) == "the element with the role main"
    assert element_in_words(ElementTarget((css("#a"),), (0,))) == "the element #a in a frame"


def test_words_contain_no_secret_of_an_address() -> None:
    read = read_short_form("open https://shop.example/?token=0a1b2c3d4e5f", title="x")
    assert step_in_words(read.journey.steps[0]) == "Open https://shop.example/?token=•••."


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", "The page is judged after each navigation."),
        ("judge “x”", "Only the steps “judge” are judged."),
    ],
)
def test_rule_of_states_has_words(lines: str, words: str) -> None:
    read = read_short_form(f"open https://shop.example/\n{lines}", title="x")
    assert states_in_words(read.journey) == words


def test_rule_and_steps_of_states_have_words() -> None:
    read = read_short_form("open https://shop.example/\njudge “x”", title="x", rule=StateRule.END)
    assert states_in_words(read.journey) == "The page is judged after the last step, and in the steps “judge”."
