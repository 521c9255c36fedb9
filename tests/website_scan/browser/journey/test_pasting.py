"""Tests for asking password fields whether they block pasting."""

from __future__ import annotations

import pytest

from tests.website_scan.browser.journey.walks import css, require_done, walk_page
from website_scan.browser.warm import WarmBrowser
from website_scan.journeys.journey import Change, Judge
from website_scan.journeys.walk import PasswordField

FIELD = "<form><label>Password <input id=p type=password {attributes}></label></form>{more}"
SCRIPT = "<script>const p = document.getElementById('p');p.addEventListener('paste', (event) => {{ {body} }});</script>"


def field(attributes: str = "", script: str = "") -> str:
    return FIELD.format(attributes=attributes, more=SCRIPT.format(body=script) if script else "")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (field(), False),
        (field("onpaste='return false'"), True),
        (field(script="event.preventDefault()"), True),
        (field(script="event.preventDefault(); alert('Please type your password.')"), True),
        (field() + "<script>addEventListener('paste', (event) => event.preventDefault(), true)</script>", True),
        # The page inserts the text itself, for example without spaces.
        (field(script="event.preventDefault(); p.value += event.clipboardData.getData('text').trim()"), False),
        (field(script="const text = event.clipboardData.getData('text'); if (text) event.preventDefault()"), False),
        (field(script="throw new Error('failed')"), False),
        # Pasting is only blocked in another field.
        (field() + "<input aria-label='Repeat the e-mail' onpaste='return false'>", False),
    ],
)
def test_blocked_pasting_is_recorded(browser: WarmBrowser, body: str, expected: bool) -> None:
    (state,) = require_done(walk_page(browser, body, Judge(name="Log-in"))).states
    assert state.security.password_fields == (PasswordField("#p", "Password", blocks_paste=expected),)


@pytest.mark.parametrize(
    "body",
    [
        field("disabled"),
        field("readonly"),
        field("hidden"),
        field("style='display: none'"),
        field().replace("type=password", "type=text"),
        field("value=known onpaste='return false'"),
    ],
)
def test_other_and_filled_fields_are_not_asked(browser: WarmBrowser, body: str) -> None:
    (state,) = require_done(walk_page(browser, body, Judge(name="Log-in"))).states
    assert state.security.password_fields == ()


def test_page_that_does_not_answer_is_judged_without_its_password_fields(browser: WarmBrowser) -> None:
    hanging = "const ends = performance.now() + 4_000; while (performance.now() < ends); event.preventDefault()"
    (state,) = require_done(walk_page(browser, field(script=hanging), Judge(name="Log-in"))).states
    assert state.security.password_fields == ()


def test_pasting_inserts_nothing(browser: WarmBrowser) -> None:
    insert = (
        "event.preventDefault(); p.value = `${event.clipboardData.getData('text')}`; document.title = `[${p.value}]`"
    )
    steps = (Judge(name="Before"), Change(target=css("#p"), value="{{password}}"), Judge(name="After"))
    result = walk_page(browser, field(script=insert), *steps, secrets={"password": "correct horse"})
    before, after = require_done(result).states
    assert before.security.password_fields == (PasswordField("#p", "Password", blocks_paste=False),)
    assert after.security.password_fields == ()
    assert after.title == "[]"
