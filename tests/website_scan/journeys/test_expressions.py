"""Tests for expressions of recordings that need no script of their author."""

from __future__ import annotations

import pytest

from website_scan.journeys.expressions import expression_of, is_pause, step_of_expression
from website_scan.journeys.journey import ElementTarget, Step, WaitForAddress, WaitForElement, WaitForTitle
from website_scan.journeys.selectors import css

MENU = ElementTarget((css("#menu"),))
ADDRESS = "https://shop.example/a?b=c"


@pytest.mark.parametrize(
    ("expression", "step"),
    [
        (f'location.href === "{ADDRESS}"', WaitForAddress(url=ADDRESS)),
        (f"window.location.href == '{ADDRESS}';", WaitForAddress(url=ADDRESS)),
        (f"document.location==='{ADDRESS}'", WaitForAddress(url=ADDRESS)),
        (f"location.href.startsWith('{ADDRESS}')", WaitForAddress(url=ADDRESS, is_prefix=True)),
        ("location.pathname === '/account'", WaitForAddress(url="/account")),
        ("location.pathname.startsWith( '/account' )", WaitForAddress(url="/account", is_prefix=True)),
        ("location.search === '?page=2'", WaitForAddress(url="?page=2")),
        (r"document.title === 'It\'s \"me\" \\'", WaitForTitle(title='It\'s "me" \\')),
        ("document.querySelector('#menu')", WaitForElement(target=MENU)),
        ("!!document.querySelector('#menu')", WaitForElement(target=MENU)),
        ("document.querySelector('#menu') !== null", WaitForElement(target=MENU)),
        ("document.querySelector('#menu') != null", WaitForElement(target=MENU)),
        ("!document.querySelector('#menu')", WaitForElement(target=MENU, operator="==", count=0)),
        ("document.querySelector('#menu') === null", WaitForElement(target=MENU, operator="==", count=0)),
        ("document.querySelector('#menu')?.checkVisibility()", WaitForElement(target=MENU, is_visible=True)),
        ("document.querySelector('#menu').offsetParent !== null", WaitForElement(target=MENU, is_visible=True)),
        (
            "!document.querySelector('#menu').checkVisibility()",
            WaitForElement(target=MENU, operator="==", count=0, is_visible=True),
        ),
        (
            "document.getElementById('a\"b')",
            WaitForElement(target=ElementTarget((css('[id="a\\"b"]'),))),
        ),
        ("document.querySelectorAll('#menu').length > 2", WaitForElement(target=MENU, count=3)),
        ("document.querySelectorAll('#menu').length < 2", WaitForElement(target=MENU, operator="<=", count=1)),
        ("document.querySelectorAll('#menu').length === 2", WaitForElement(target=MENU, operator="==", count=2)),
        ("document.querySelectorAll('#menu').length >= 2", WaitForElement(target=MENU, count=2)),
    ],
)
def test_expression_becomes_a_condition(expression: str, step: Step) -> None:
    assert step_of_expression(expression, (), 0, step.timeout_s) == step


@pytest.mark.parametrize(
    "expression",
    [
        "true",
        "new Promise(resolve => setTimeout(() => resolve(true), 2000))",
        "fetch('/x')",
        "location.href = 'https://shop.example/'",
        "location.href.includes('account')",
        "location.startsWith('https://shop.example/')",
        "location.pathname === 'account'",
        "location.search === ''",
        "location.href === '/account'",
        "location.href === 'javascript:alert(1)'",
        "location.href === `https://shop.example/`",
        r"document.title === '\u0041'",
        "document.title === ''",
        "document.title = 'x'",
        "document.title === 'x' || alert(1)",
        "document.title === 'x'\nalert(1)",
        "document.querySelector('')",
        "document.querySelector('#menu').click()",
        "document.querySelector('#menu').textContent === 'x'",
        "!document.querySelector('#menu') === null",
        "document.querySelector('#menu', alert(1))",
        "document.querySelectorAll('#menu').length < 0",
        "document.title === '{{password}}'",
        "document.title === '\u202ex'",
        f"document.title === '{'x' * 2000}'",
    ],
)
def test_other_expression_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        step_of_expression(expression, (), 0, 10)


def test_elements_are_searched_in_a_frame_but_its_address_is_unknown() -> None:
    step = step_of_expression("document.querySelector('#menu')", (1,), 0, 10)
    assert step == WaitForElement(target=ElementTarget((css("#menu"),), (1,)))
    for expression in ("location.pathname === '/x'", "document.title === 'x'"):
        with pytest.raises(ValueError, match="would need a script"):
            step_of_expression(expression, (1,), 0, 10)


@pytest.mark.parametrize(
    ("step", "expression"),
    [
        (WaitForAddress(url="/account"), 'location.pathname === "/account"'),
        (WaitForAddress(url="?a", is_prefix=True), 'location.search.startsWith("?a")'),
        (WaitForAddress(url=ADDRESS), f'location.href === "{ADDRESS}"'),
        (WaitForTitle(title='Ä "x"'), r'document.title === "Ä \"x\""'),
    ],
)
def test_condition_becomes_an_expression(step: WaitForAddress | WaitForTitle, expression: str) -> None:
    assert expression_of(step) == expression


@pytest.mark.parametrize(
    ("expression", "is_only_time"),
    [
        ("new Promise(resolve => setTimeout(() => resolve(true), 2000))", True),
        ("new Promise(resolve => setTimeout(() => resolve(true),\n2000));", True),
        ("new Promise((r) => setTimeout(r, 500))", True),
        ("new Promise(resolve => setTimeout(() => other(true), 2000))", False),
        ("new Promise(resolve => setTimeout(() => resolve(alert(1)), 2000))", False),
        ("new Promise(resolve => fetch('/x').then(resolve))", False),
        ("document.title === 'x'", False),
        (None, False),
    ],
)
def test_pause_is_recognized(expression: object, is_only_time: bool) -> None:
    assert is_pause(expression) is is_only_time
