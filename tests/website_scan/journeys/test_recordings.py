"""Tests that recordings of Chrome's Recorder become journeys."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.website_scan.journeys.recorded import ADDRESS, CLICK, NAVIGATE, SELECTORS, VIEWPORT, recording
from website_scan.journeys.journey import (
    MAX_STEPS,
    Change,
    Click,
    ElementTarget,
    ExpectedNavigation,
    Hover,
    JourneyRefused,
    Judge,
    KeyDown,
    KeyUp,
    Navigate,
    Scroll,
    Selector,
    SelectorKind,
    SelectorPart,
    SetViewport,
    StateRule,
    Step,
    WaitForAddress,
    WaitForElement,
    WaitForTitle,
)
from website_scan.journeys.recordings import read_recording, recording_of
from website_scan.journeys.selectors import css

FIELD = {"target": "main", "selectors": [["#e-mail"]]}
FIELD_TARGET = ElementTarget((css("#e-mail"),))
BUTTON_TARGET = ElementTarget(
    tuple(
        Selector((part,))
        for part in (
            SelectorPart(SelectorKind.ARIA, "Sign in"),
            SelectorPart(SelectorKind.CSS, "#button"),
            SelectorPart(SelectorKind.XPATH, '//*[@id="button"]'),
            SelectorPart(SelectorKind.PIERCE, "#button"),
            SelectorPart(SelectorKind.TEXT, "Sign in"),
        )
    )
)


def step_of(recorded: dict[str, Any]) -> Step:
    """Return the step of a recording that follows the navigation."""
    _, step = read_recording(recording(recorded)).journey.steps
    return step


def refusal(*recorded: dict[str, Any], **fields: Any) -> str:
    """Return the reason for which a recording is refused."""
    with pytest.raises(JourneyRefused) as refused:
        read_recording(recording(*recorded, **fields))
    return str(refused.value)


@pytest.mark.parametrize(
    ("recorded", "step"),
    [
        (VIEWPORT, SetViewport(width=900, height=700)),
        (
            {**VIEWPORT, "height": 62.5, "deviceScaleFactor": 2, "isMobile": True, "hasTouch": True},
            SetViewport(width=900, height=62, scale=2, is_mobile=True, has_touch=True),
        ),
        (
            {"type": "setViewport", "width": 900, "height": 700, "deviceScaleFactor": 0},
            SetViewport(width=900, height=700),
        ),
        (NAVIGATE, Navigate(url=ADDRESS, expected_navigation=ExpectedNavigation(ADDRESS, "Shop"))),
        (CLICK, Click(target=BUTTON_TARGET, offset=(36, 18))),
        (
            {**CLICK, "type": "doubleClick", "button": "secondary", "duration": 1500, "deviceType": "pen"},
            Click(target=BUTTON_TARGET, offset=(36, 18), count=2, button="secondary", held_for_s=1.5),
        ),
        ({"type": "hover", **FIELD}, Hover(target=FIELD_TARGET)),
        ({"type": "change", **FIELD, "value": "me"}, Change(target=FIELD_TARGET, value="me")),
        ({"type": "change", **FIELD, "value": "a\nb"}, Change(target=FIELD_TARGET, value="a\nb")),
        ({"type": "change", **FIELD, "value": "{{user}}@x"}, Change(target=FIELD_TARGET, value="{{user}}@x")),
        ({"type": "keyDown", "target": "main", "key": "Enter"}, KeyDown(key="Enter")),
        ({"type": "keyUp", "target": "main", "key": "\r"}, KeyUp(key="Enter")),
        ({"type": "scroll", "target": "main", "y": 500}, Scroll(x=0, y=500)),
        ({"type": "scroll", **FIELD, "x": 5}, Scroll(x=5, y=0, target=FIELD_TARGET)),
        ({"type": "scroll", "frame": [1], "y": 5}, Scroll(x=0, y=5, target=ElementTarget((css("html"),), (1,)))),
        ({"type": "waitForElement", "selectors": ["#e-mail"]}, WaitForElement(target=FIELD_TARGET, is_visible=True)),
        (
            {
                "type": "waitForElement",
                **FIELD,
                "operator": "==",
                "count": 2,
                "attributes": {"lang": "en"},
                "properties": {"disabled": False, "tabIndex": 1, "title": None},
            },
            WaitForElement(
                target=FIELD_TARGET,
                operator="==",
                count=2,
                is_visible=True,
                attributes=(("lang", "en"),),
                properties=(("disabled", False), ("tabIndex", 1), ("title", None)),
            ),
        ),
        (
            {"type": "waitForExpression", "expression": "location.pathname === '/account'"},
            WaitForAddress(url="/account"),
        ),
        ({"type": "waitForExpression", "expression": 'document.title == "Shop"'}, WaitForTitle(title="Shop")),
        ({"type": "customStep", "name": "judge", "parameters": {"name": " My  account"}}, Judge(name="My account")),
        ({"type": "hover", **FIELD, "frame": [0, 2]}, Hover(target=ElementTarget((css("#e-mail"),), (0, 2)))),
        ({"type": "hover", **FIELD, "timeout": 2500}, Hover(target=FIELD_TARGET, timeout_s=2.5)),
    ],
)
def test_recorded_step_is_read(recorded: dict[str, Any], step: Step) -> None:
    assert step_of(recorded) == step


@pytest.mark.parametrize(
    ("condition", "operator", "count"),
    [
        ({}, "<=", 0),
        ({"count": 3}, "<=", 2),
        ({"operator": "<=", "count": 2}, ">=", 3),
        ({"operator": "==", "count": 0}, ">=", 1),
    ],
)
def test_invisible_means_that_the_condition_is_not_true(condition: dict[str, Any], operator: str, count: int) -> None:
    step = step_of({"type": "waitForElement", **FIELD, "visible": False, **condition})
    assert step == WaitForElement(target=FIELD_TARGET, operator=operator, count=count, is_visible=True)


@pytest.mark.parametrize(
    ("recorded", "reason"),
    [
        ({"type": "klick"}, "(klick): Steps of this kind cannot be executed. Did you mean “click”?"),
        ({"type": "executeScript"}, "(executeScript): Steps of this kind cannot be executed."),
        ({"type": 5}, "The step has no “type”."),
        ({"type": "navigate"}, "(navigate): “url” is missing or not a text."),
        ({"type": "navigate", "url": "javascript:alert(1)"}, "is not an address that begins with https:// or http://."),
        ({"type": "navigate", "url": " JavaScript:alert(1)"}, "is not an address that begins with https://"),
        ({"type": "navigate", "url": "data:text/html,x"}, "is not an address that begins with https:// or http://."),
        ({"type": "navigate", "url": "file:///etc/passwd"}, "is not an address that begins with https:// or http://."),
        ({"type": "navigate", "url": "/login"}, "is not an address that begins with https:// or http://."),
        ({"type": "navigate", "url": "https://me:pass@shop.example/"}, "contains a user name or a password"),
        ({"type": "navigate", "url": "https://shop.example/?t={{token}}"}, "only in the values of fields."),
        ({**NAVIGATE, "target": "https://ads.example/frame"}, "acts in another window, or in a frame of another site"),
        (
            {**CLICK, "assertedEvents": [{"type": "navigation", "url": "javascript:x"}]},
            "is not an address that begins with",
        ),
        ({**CLICK, "assertedEvents": [{"type": "download"}]}, "“assertedEvents” contains something else"),
        ({**CLICK, "selectors": []}, "(click): “selectors” is missing."),
        ({**CLICK, "selectors": [5]}, "“selectors” contains something else than texts"),
        ({**CLICK, "selectors": [[]]}, "A selector has 1 to 8 parts."),
        ({**CLICK, "selectors": ["aria/"]}, "A selector is empty."),
        ({**CLICK, "selectors": ["a >>> b"]}, "has syntax that is not CSS"),
        ({**CLICK, "selectors": ["x" * 2001]}, "A selector is longer than 2,000 characters."),
        ({**CLICK, "selectors": ["#a"] * 21}, "“selectors” is not a list of at most 20 items."),
        ({**CLICK, "selectors": ["text/{{password}}"]}, "only in the values of fields."),
        ({**CLICK, "button": "left"}, "“button” is none of primary, auxiliary, secondary, back, forward."),
        ({**CLICK, "duration": 1e9}, "“duration” is not a number from 0 to 10,000."),
        ({**CLICK, "frame": [-1]}, "“frame” is not a list of numbers from 0 to 99."),
        ({**CLICK, "frame": [0.5]}, "“frame” is not a list of numbers from 0 to 99."),
        ({**CLICK, "frame": [0] * 6}, "“frame” is not a list of at most 5 items."),
        ({**CLICK, "timeout": 0}, "“timeout” is not a number from 1"),
        ({"type": "change", **FIELD}, "“value” is missing or not a text."),
        ({"type": "change", **FIELD, "value": "{{Pass word}}"}, "The name of a secret begins with a letter"),
        ({"type": "change", **FIELD, "value": "\x00"}, "contains characters that nobody can type"),
        ({"type": "change", **FIELD, "value": "x" * 5001}, "longer than 5,000 characters"),
        ({"type": "keyDown", "key": "Entr"}, "not the name of a key in Chrome's Recorder. Did you mean “Enter”?"),
        ({"type": "scroll", "x": "5"}, "“x” is not a number from -1,000,000 to 1,000,000."),
        ({"type": "waitForElement", **FIELD, "operator": ">"}, "“operator” is none of >=, ==, <=."),
        ({"type": "waitForElement", **FIELD, "visible": False, "operator": "=="}, "“operator” must be “>=” or “<=”"),
        ({"type": "waitForElement", **FIELD, "properties": {"a": {"b": 1}}}, "The value of a property is not a text"),
        ({"type": "waitForElement", **FIELD, "attributes": {"a": 1}}, "The value of an attribute is not a text."),
        (
            {"type": "waitForElement", **FIELD, "attributes": {"": "x"}},
            "The name of an attribute or a property is empty.",
        ),
        ({"type": "waitForElement", **FIELD, "attributes": {"a\n": "x"}}, "contains characters that cannot be shown."),
        ({"type": "waitForElement", **FIELD, "attributes": {"a" * 101: "x"}}, "is longer than 100 characters."),
        ({"type": "waitForElement", **FIELD, "properties": {"a": "{{user}}"}}, "only in the values of fields."),
        ({"type": "waitForElement", **FIELD, "properties": []}, "“properties” is not an object of at most 10 fields."),
        ({"type": "waitForElement", **FIELD, "visible": "yes"}, "“visible” is not true or false."),
        ({"type": "waitForElement", **FIELD, "websiteScan": {"visible": 5}}, "“websiteScan” is not valid."),
        ({**CLICK, "assertedEvents": [{"type": "navigation", "url": 5}]}, "expected navigation is not a text."),
        ({"type": "waitForExpression", "expression": "fetch('/x')"}, "would need a script, which is not executed."),
        ({"type": "customStep", "name": "login", "parameters": {}}, "The step “login” is unknown."),
        ({"type": "customStep", "name": "judge"}, "“parameters” must be the name of the state"),
        ({"type": "customStep", "name": "judge", "parameters": {"name": ""}}, "The state has no name."),
        ({"type": "customStep", "name": "website-scan", "parameters": {"judge": "all"}}, "“parameters” are “judge”"),
        ({"type": "close"}, "Only the last step can close the page."),
    ],
)
def test_refusal_names_line_and_number_of_the_step(recorded: dict[str, Any], reason: str) -> None:
    message = refusal(CLICK, recorded, CLICK)
    assert message.startswith("Line 3, step 3")
    assert reason in message


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([VIEWPORT], "A journey begins with the address of a page."),
        ([CLICK, NAVIGATE], "Line 1: A journey begins with the address of a page."),
        ([], "A journey begins with the address of a page."),
        ("x", "The recording has no list “steps”."),
        ([NAVIGATE, 5], "Line 1, step 2: The step is not an object."),
    ],
)
def test_recording_without_a_first_page_is_refused(steps: Any, reason: str) -> None:
    with pytest.raises(JourneyRefused, match=reason):
        read_recording(json.dumps({"title": "Log-in", "steps": steps}))


def test_journey_has_limited_steps_and_states() -> None:
    assert len(read_recording(recording(*[CLICK] * (MAX_STEPS - 1))).journey.steps) == MAX_STEPS
    assert refusal(*[CLICK] * MAX_STEPS) == "The journey has 51 steps. No more than 50 are possible."
    assert (
        refusal(*[CLICK] * 2 * MAX_STEPS) == "Line 101: The recording has too many steps. No more than 50 are possible."
    )
    assert refusal(*[NAVIGATE] * 20) == "21 states would be judged. No more than 20 are possible."
    states = [{"type": "customStep", "name": "judge", "parameters": {"name": f"State {n}"}} for n in range(21)]
    assert read_recording(recording(*states[:20])).journey.rule is StateRule.STEPS
    assert refusal(*states) == "21 states would be judged. No more than 20 are possible."
    assert refusal(states[0], states[0]) == "Line 3: Two states have the name “State 0”."


def test_settings_are_read_from_a_custom_step() -> None:
    settings = {"judge": "end", "allowLogInAt": ["IDP.example", "login.example.com"]}
    step = {"type": "customStep", "name": "website-scan", "parameters": settings}
    journey = read_recording(recording(step)).journey
    assert (journey.rule, journey.identity_providers) == (StateRule.END, ("idp.example", "login.example.com"))
    assert len(journey.steps) == 1
    assert refusal(step, step).endswith("The settings of the journey are repeated.")
    assert "no step “judge”" in refusal({**step, "parameters": {"judge": "steps"}})
    for host in ("https://idp.example", "idp.example/path", "*.example", "me@idp.example", "idp.example:80", ""):
        assert "is not a host name" in refusal({**step, "parameters": {"allowLogInAt": [host]}})
    hosts = {"allowLogInAt": [f"idp{number}.example" for number in range(6)]}
    assert "no more than 5 hosts" in refusal({**step, "parameters": hosts})


def test_last_of_several_expected_navigations_is_used() -> None:
    events = [
        {"type": "navigation", "url": "https://idp.example/", "title": "Redirect"},
        {"type": "navigation", "url": "https://shop.example/account", "title": "  My \n account"},
    ]
    step = step_of({**CLICK, "assertedEvents": events})
    assert step.expected_navigation == ExpectedNavigation("https://shop.example/account", "My account")


def test_expected_navigation_without_usable_address_and_title_matches_any() -> None:
    event = {"type": "navigation", "url": f"{ADDRESS}?{'x' * 2000}", "title": "\u202egnikcah"}
    step = step_of({**CLICK, "assertedEvents": [event]})
    assert step.expected_navigation == ExpectedNavigation()


def test_ignored_parts_of_a_recording_are_noted() -> None:
    read = read_recording(
        recording(
            {"type": "emulateNetworkConditions", "download": 1, "upload": 1, "latency": 1},
            {**CLICK, "x-tool": {"a": 1}},
            {**CLICK, "timeout": 90_000},
            {"type": "waitForExpression", "expression": "new Promise(resolve => setTimeout(() => resolve(true), 500))"},
            {"type": "keyDown", "target": "main"},
            {"type": "close", "target": "main"},
        )
    )
    assert read.notes == (
        "Line 2, step 2: The speed of the network is not emulated.",
        "Line 3, step 3: The field “x-tool” is ignored.",
        "Line 4, step 4: The step waits for at most 30 seconds.",
        "Line 5, step 5: The pause is left out, because steps wait until they can be executed.",
        "Line 6, step 6: The step is left out, because it names no key.",
    )
    assert [step.timeout_s for step in read.journey.steps] == [10, 10, 30]


@pytest.mark.parametrize("url", ["about:blank", "chrome://new-tab-page/", "chrome://newtab/", "edge://newtab/"])
def test_empty_page_before_the_first_address_is_left_out(url: str) -> None:
    blank = {"type": "navigate", "url": url, "assertedEvents": [{"type": "navigation", "url": url}]}
    steps = [VIEWPORT, blank, NAVIGATE]
    read = read_recording(json.dumps({"title": "Log-in", "steps": steps}))
    assert read.journey.start_url == ADDRESS
    assert read.notes == ("Line 1, step 2: The empty page on which the recording begins is left out.",)
    assert "is not an address" in refusal(blank)


def test_timeout_of_the_recording_applies_to_steps_without_one() -> None:
    steps = read_recording(recording({**CLICK, "timeout": 500}, timeout=2000)).journey.steps
    assert [step.timeout_s for step in steps] == [2, 0.5]
    assert refusal(timeout="x") == "The “timeout” of the recording is not a number of milliseconds."


def test_pretty_printed_recording_has_lines_of_steps() -> None:
    text = json.dumps({"title": "Log-in", "steps": [NAVIGATE, CLICK]}, indent=2)
    first, second = read_recording(text).journey.steps
    lines = text.splitlines()
    assert '"navigate"' in lines[first.line]
    assert '"click"' in lines[second.line]


def test_recorder_imports_what_is_written_for_a_click_in_the_centre() -> None:
    journey = read_recording(recording({"type": "click", "selectors": SELECTORS})).journey
    assert isinstance(journey.steps[1], Click)
    assert journey.steps[1].offset is None
    written: Any = recording_of(journey)
    assert written["steps"][1]["offsetX"] == written["steps"][1]["offsetY"] == 6
    assert read_recording(json.dumps(written)).journey == journey


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff\xfe{", "The file is not text in UTF-8."),
        (
            "const puppeteer = require('puppeteer');",
            "Line 1: A recording begins with “{”. In Chrome's Recorder, choose",
        ),
        ('{"log": {"version": "1.2"}}', "This is a HAR file of the Network panel."),
        ('{"title": "x",\n"steps": [\n{"type": close}]}', "Line 3: Expecting value."),
        ('{"title": "x",\n"title": "y", "steps": []}', 'The field "title" is repeated in one object.'),
        ('{"title": "x", "steps": [{"type": "a",\n"type": "b"}]}', 'The field "type" is repeated in one object.'),
        ('{"title": "x", "steps": [\nNaN]}', "Line 2: NaN is not a number of JSON."),
        ('{"title": "x", "steps": [1 2]}', "Line 1: “,” or “]” is missing here."),
        ('{"title": "x", "steps": []} {}', "Line 1: The recording continues after its last “}”."),
        ('{"title": "x", "steps": []', "“,” or “}” is missing here."),
        ('{"title" "x"}', 'A colon is missing here, after "title".'),
        ('{"title": "x",}', "The name of a field in double quotes is missing here."),
        ('{"steps": []}', "The recording has no “title”."),
        ("[]", "A recording begins with “{”."),
        ("", "A recording begins with “{”."),
    ],
)
def test_file_that_is_no_recording_is_refused_with_the_line(data: bytes | str, reason: str) -> None:
    with pytest.raises(JourneyRefused) as refused:
        read_recording(data)
    assert reason in str(refused.value)


def test_number_that_is_too_large_is_refused() -> None:
    text = recording({"type": "waitForElement", **FIELD, "properties": {"a": 1}}).replace('"a": 1', '"a": 1e999')
    with pytest.raises(JourneyRefused, match="The value of a property is not a text, a number"):
        read_recording(text)


def test_recording_with_byte_order_mark_and_source_map_is_read() -> None:
    text = f"\ufeff{recording()}\n//# recorderSourceMap=BBCBB\n"
    assert read_recording(text.encode()).journey == read_recording(text).journey == read_recording(recording()).journey


@pytest.mark.parametrize(("title", "name"), [(" Log-in\nof “me” ", "Log-in of “me”"), ("x" * 200, "x" * 119 + "…")])
def test_title_becomes_a_single_short_line(title: str, name: str) -> None:
    assert read_recording(recording(title=title)).journey.title == name


def test_title_is_required() -> None:
    assert refusal(title=" ") == "The journey has no name."
