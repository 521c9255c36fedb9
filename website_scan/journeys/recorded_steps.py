"""Read the steps of a recording, by their kinds in `@puppeteer/replay`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypedDict

from website_scan.journeys import rules
from website_scan.journeys.expressions import step_of_expression
from website_scan.journeys.fields import StepFields
from website_scan.journeys.journey import (
    Change,
    Click,
    ElementTarget,
    ExpectedNavigation,
    Hover,
    Judge,
    KeyDown,
    KeyUp,
    Navigate,
    Scroll,
    SetViewport,
    Step,
    WaitForElement,
)
from website_scan.journeys.keys import key_name, similar_key_name
from website_scan.journeys.selectors import MAX_SELECTORS, css, selector_of, selector_texts
from website_scan.messages import excerpt

MAX_FRAME_DEPTH, MAX_FRAMES = 5, 100
MAX_CONDITIONS = 10
MAX_ELEMENTS = 1000
MAX_HELD_MS = 10_000
BUTTONS = ("primary", "auxiliary", "secondary", "back", "forward")
POINTERS = ("mouse", "pen", "touch")
JUDGE = "judge"
# Field for what the Recorder does not know.
OWN_FIELD = "websiteScan"
# Conditions that are true when those with the key are not: the operator, and what is added to the number.
OPPOSITES: Mapping[str, tuple[str, int]] = {">=": ("<=", -1), "<=": (">=", 1)}


class Common(TypedDict):
    """Fields of all steps."""

    line: int
    timeout_s: float
    expected_navigation: ExpectedNavigation | None


def _viewport(fields: StepFields, common: Common) -> Step:
    return SetViewport(
        width=round(fields.number_between("width", 1, rules.MAX_PIXELS)),
        height=round(fields.number_between("height", 1, rules.MAX_PIXELS)),
        # DevTools sends 0 for the scale of the real screen.
        scale=fields.number_between("deviceScaleFactor", 0, 5, 1) or 1.0,
        is_mobile=fields.flag("isMobile", default=False),
        has_touch=fields.flag("hasTouch", default=False),
        **common,
    )


def _navigate(fields: StepFields, common: Common) -> Step:
    return Navigate(url=rules.check_address(fields.text("url", rules.MAX_URL_CHARACTERS)), **common)


def _click(fields: StepFields, common: Common) -> Step:
    fields.choice("deviceType", POINTERS, "mouse")
    x, y = (
        fields.number_between(name, -rules.MAX_PIXELS, rules.MAX_SCROLL_PIXELS, 0) for name in ("offsetX", "offsetY")
    )
    is_at_center = _own(fields, "center") is True or None in (fields.value("offsetX"), fields.value("offsetY"))
    return Click(
        target=_target(fields),
        button=fields.choice("button", BUTTONS, "primary"),
        count=2 if fields.kind == "doubleClick" else 1,
        offset=None if is_at_center else (x, y),
        held_for_s=fields.number_between("duration", 0, MAX_HELD_MS, 0) / 1000,
        **common,
    )


def _hover(fields: StepFields, common: Common) -> Step:
    return Hover(target=_target(fields), **common)


def _change(fields: StepFields, common: Common) -> Step:
    value = fields.value("value")
    if not isinstance(value, str):
        fields.refuse("“value” is missing or not a text.")
    return Change(target=_target(fields), value=rules.check_value(value), **common)


def _key_down(fields: StepFields, common: Common) -> Step:
    return KeyDown(key=_key(fields), **common)


def _key_up(fields: StepFields, common: Common) -> Step:
    return KeyUp(key=_key(fields), **common)


def _key(fields: StepFields) -> str:
    text = fields.value("key")
    name = key_name(text) if isinstance(text, str) else None
    if name is None:
        similar = similar_key_name(text) if isinstance(text, str) else ""
        fields.refuse(
            f"“key” is not the name of a key in Chrome's Recorder.{f' Did you mean “{similar}”?' if similar else ''}"
        )
    return name


def _scroll(fields: StepFields, common: Common) -> Step:
    limit = rules.MAX_SCROLL_PIXELS
    x, y = (fields.number_between(name, -limit, limit, 0) for name in ("x", "y"))
    target = _target(fields) if fields.value("selectors") is not None else None
    if target is None and (frame := _frame(fields)):
        # The document of a frame scrolls by its outermost element.
        target = ElementTarget((css("html"),), frame)
    return Scroll(x=x, y=y, target=target, **common)


def _wait_for_element(fields: StepFields, common: Common) -> Step:
    operator = fields.choice("operator", (">=", "==", "<="), ">=")
    count = round(fields.number_between("count", 0, MAX_ELEMENTS, 1))
    is_visible: bool | None = True
    if not fields.flag("visible", default=True):
        # In the Recorder, false means that the whole condition must not be true.
        if operator == "==" and count == 0:
            operator, count = ">=", 1
        elif operator == "==" or (operator, count) == (">=", 0):
            fields.refuse("“visible” is false, so “operator” must be “>=” or “<=”, and “count” more than 0.")
        else:
            operator, change = OPPOSITES[operator]
            count += change
    if (own := _own(fields, "visible")) != "":
        is_visible = own if own is None or isinstance(own, bool) else fields.refuse(f"“{OWN_FIELD}” is not valid.")
    return WaitForElement(
        target=_target(fields),
        operator=operator,
        count=count,
        is_visible=is_visible,
        attributes=tuple(
            (_condition_name(name), rules.check_text(value, rules.MAX_URL_CHARACTERS, "The value of an attribute"))
            if isinstance(value, str)
            else fields.refuse("The value of an attribute is not a text.")
            for name, value in fields.table("attributes", MAX_CONDITIONS).items()
        ),
        properties=tuple(
            (_condition_name(name), _property(fields, value))
            for name, value in fields.table("properties", MAX_CONDITIONS).items()
        ),
        **common,
    )


def _condition_name(name: str) -> str:
    if not name:
        raise ValueError("The name of an attribute or a property is empty.")
    return rules.check_text(name, 100, "The name of an attribute or a property")


def _property(fields: StepFields, value: object) -> str | float | bool | None:
    if isinstance(value, str):
        return rules.check_text(value, rules.MAX_URL_CHARACTERS, "The value of a property")
    if value is not None and not isinstance(value, bool) and not (isinstance(value, float) and math.isfinite(value)):
        fields.refuse("The value of a property is not a text, a number, true, false or null.")
    return value


def _wait_for_expression(fields: StepFields, common: Common) -> Step:
    if common["expected_navigation"] is not None:
        fields.refuse("A step that waits for an expression cannot expect a navigation as well.")
    expression = fields.value("expression")
    if not isinstance(expression, str):
        fields.refuse("“expression” is missing or not a text.")
    return step_of_expression(expression, _frame(fields), common["line"], common["timeout_s"])


def _custom(fields: StepFields, common: Common) -> Step:
    name = fields.text("name", 100)
    if name != JUDGE:
        fields.refuse(f"The step “{excerpt(name, 40)}” is unknown. Only “{JUDGE}” is possible.")
    parameters = fields.table("parameters", 1)
    state = parameters.get("name")
    if not isinstance(state, str):
        fields.refuse("“parameters” must be the name of the state, such as {“name”: “Account”}.")
    return Judge(name=rules.check_state_name(state), **common)


def _target(fields: StepFields) -> ElementTarget:
    selectors = fields.items("selectors", MAX_SELECTORS)
    if not selectors:
        fields.refuse("“selectors” is missing.")
    for selector in selectors:
        parts = [selector] if isinstance(selector, str) else selector
        if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
            fields.refuse("“selectors” contains something else than texts and lists of texts.")
    read = tuple(selector_of(selector) for selector in selectors)
    for selector in read:
        for text in selector_texts(selector):
            rules.check_text(text, rules.MAX_URL_CHARACTERS + 100, "A selector")
    return ElementTarget(tuple(dict.fromkeys(read)), _frame(fields))


def _frame(fields: StepFields) -> tuple[int, ...]:
    numbers = fields.items("frame", MAX_FRAME_DEPTH)
    if not all(isinstance(number, float) and number in range(MAX_FRAMES) for number in numbers):
        fields.refuse(f"“frame” is not a list of numbers from 0 to {MAX_FRAMES - 1}.")
    return tuple(int(number) for number in numbers)


def _own(fields: StepFields, name: str) -> object:
    return fields.table(OWN_FIELD, 1).get(name, "")


READERS: Mapping[str, Callable[[StepFields, Common], Step]] = {
    "setViewport": _viewport,
    "navigate": _navigate,
    "click": _click,
    "doubleClick": _click,
    "hover": _hover,
    "change": _change,
    "keyDown": _key_down,
    "keyUp": _key_up,
    "scroll": _scroll,
    "waitForElement": _wait_for_element,
    "waitForExpression": _wait_for_expression,
    "customStep": _custom,
}
