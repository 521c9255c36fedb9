"""Tests that the library of Chrome's Recorder and this project agree about recordings.

The library is `@puppeteer/replay`. It contains the parser with which the Recorder imports a recording.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
from typing import Any

import pytest
from msgspec.structs import replace

from tests import npm
from tests.website_scan.journeys.recorded import CLICK, NAVIGATE, SELECTORS, VIEWPORT
from website_scan.journeys.journey import Click, Journey, JourneyRefused, WaitForElement
from website_scan.journeys.keys import KEY_NAMES
from website_scan.journeys.recordings import read_recording, recording_of
from website_scan.journeys.short_form import read_short_form

# Reads a JSON list of recordings, and writes what the library makes of them: text, or null where it refuses one.
SCRIPT = """
const {parse, stringify, JSONStringifyExtension} = await import(process.argv[1]);
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const results = [];
for (const recording of JSON.parse(Buffer.concat(chunks))) {
  try {
    results.push(await stringify(parse(recording), {extension: new JSONStringifyExtension()}));
  } catch {
    results.push(null);
  }
}
console.log(JSON.stringify(results));
"""
FIELD = {"target": "main", "selectors": ["#field"]}
CONDITION = {"type": "waitForElement", **FIELD, "attributes": {"lang": "en"}, "properties": {"disabled": False}}
STEPS: list[dict[str, Any]] = [
    {**CLICK, "type": "doubleClick", "button": "secondary", "duration": 50},
    {**CLICK, "frame": [0, 1], "timeout": 5000, "deviceType": "mouse"},
    {"type": "hover", **FIELD},
    {"type": "change", **FIELD, "value": "me"},
    {"type": "keyDown", "target": "main", "key": "Enter"},
    {"type": "keyUp", "target": "main", "key": "Enter"},
    {"type": "scroll", "target": "main", "x": 0, "y": 500},
    {"type": "scroll", **FIELD, "x": 0, "y": 5},
    {**CONDITION, "operator": "==", "count": 2},
    {**CONDITION, "visible": False},
    {"type": "waitForExpression", "target": "main", "expression": "location.pathname === '/account'"},
    {"type": "customStep", "name": "judge", "parameters": {"name": "Account"}},
    {"type": "customStep", "name": "website-scan", "parameters": {"judge": "end", "allowLogInAt": ["idp.example"]}},
    {"type": "emulateNetworkConditions", "target": "main", "download": 1, "upload": 1, "latency": 1},
    {"type": "close", "target": "main"},
]
SHORT_FORM = """
screen phone
open https://shop.example/login
fill “E-mail” with {{user}}
choose “Large” in “Size”
check “Terms”
click button “Sign in”
double-click `#photo`
hover over “Products”
press Ctrl+K
scroll to “Reviews”
scroll to the bottom
wait for “Hello” for up to 30 seconds
wait until “Loading” is gone
wait for address beginning with /account
wait for title “My "account"”
judge “Account”
allow log-in at idp.example
"""


def written_by_library(*recordings: Any) -> list[str | None]:
    """Return the recordings as the library imports and exports them, None for those that it refuses."""
    library = npm.installed() / "@puppeteer/replay/lib/main.js"
    process = subprocess.run(
        ["node", "--input-type=module", "--eval", SCRIPT, library],
        input=json.dumps(recordings),
        capture_output=True,
        text=True,
        check=True,
    )
    results: list[str | None] = json.loads(process.stdout)
    return results


def imported(journey: Journey) -> Journey:
    """Return the journey after its import into the Recorder and its export."""
    (text,) = written_by_library(recording_of(journey))
    assert text is not None
    return read_recording(text).journey


def test_recorder_keeps_a_journey() -> None:
    journey = read_recording(json.dumps({"title": "Log-in", "steps": [VIEWPORT, NAVIGATE, *STEPS]})).journey
    assert imported(journey) == journey


def test_recorder_keeps_a_journey_of_the_short_form_except_for_what_it_does_not_know() -> None:
    journey = read_short_form(SHORT_FORM, title="Log-in").journey
    steps = [replace(step, offset=(6, 6)) if isinstance(step, Click) else step for step in journey.steps]
    assert imported(journey) == replace(journey, steps=tuple(steps))


def test_export_of_the_library_is_read_despite_its_source_map() -> None:
    (text,) = written_by_library({"title": "Log-in", "steps": [NAVIGATE, CLICK]})
    assert text is not None
    assert "//# recorderSourceMap=" in text
    first, second = read_recording(text).journey.steps
    assert (first.line, second.line) == (4, 15)


@pytest.mark.parametrize(
    "step",
    [
        {"type": "klick"},
        {"type": "navigate"},
        {**CLICK, "selectors": []},
        {**CLICK, "selectors": [5]},
        {**CLICK, "button": "left"},
        {**CLICK, "deviceType": "finger"},
        {**CLICK, "frame": ["0"]},
        {**CLICK, "timeout": 0},
        {**CLICK, "offsetX": "5"},
        {**CLICK, "assertedEvents": [{"type": "download"}]},
        {"type": "change", **FIELD},
        {"type": "keyDown", "key": 5},
        {"type": "waitForElement", **FIELD, "operator": ">"},
        {"type": "waitForElement", **FIELD, "attributes": {"a": 1}},
        {"type": "waitForExpression"},
        {"type": "customStep"},
    ],
)
def test_what_the_library_refuses_is_refused(step: dict[str, Any]) -> None:
    recording = {"title": "Log-in", "steps": [NAVIGATE, step]}
    assert written_by_library(recording) == [None]
    with pytest.raises(JourneyRefused, match="step 2"):
        read_recording(json.dumps(recording))


@pytest.mark.parametrize(
    "step",
    [
        {"type": "waitForExpression", "expression": "window.dataLayer.length > 0"},
        {"type": "navigate", "url": "javascript:alert(1)"},
        {**CLICK, "target": "https://ads.example/"},
        {"type": "keyDown", "key": "AnyKey"},
        {"type": "customStep", "name": "login", "parameters": {}},
        {"type": "waitForElement", **FIELD, "properties": {"dataset": {"a": "b"}}},
    ],
)
def test_some_steps_are_refused_that_the_library_accepts(step: dict[str, Any]) -> None:
    recording = {"title": "Log-in", "steps": [NAVIGATE, step]}
    assert None not in written_by_library(recording)
    with pytest.raises(JourneyRefused, match="step 2"):
        read_recording(json.dumps(recording))


def test_some_steps_are_read_that_the_library_refuses() -> None:
    click = {"type": "click", "selectors": SELECTORS}
    long_wait = {"type": "waitForElement", **FIELD, "timeout": 90_000}
    recordings = [{"title": "Log-in", "steps": [NAVIGATE, step]} for step in (click, long_wait)]
    assert written_by_library(*recordings) == [None, None]
    steps = [read_recording(json.dumps(recording)).journey.steps[1] for recording in recordings]
    assert isinstance(steps[0], Click)
    assert isinstance(steps[1], WaitForElement)
    assert steps[1].timeout_s == 30


def test_key_without_name_is_left_out_although_the_library_refuses_it() -> None:
    recording = {"title": "Log-in", "steps": [NAVIGATE, {"type": "keyDown", "target": "main"}]}
    assert written_by_library(recording) == [None]
    assert len(read_recording(json.dumps(recording)).journey.steps) == 1


def test_keys_are_those_of_the_library() -> None:
    declarations = (npm.installed() / "@puppeteer/replay/lib/main.d.ts").read_text(encoding="utf-8")
    declaration = re.search(r"^type Key = (.*);$", declarations, re.MULTILINE)
    assert declaration is not None
    names = {ast.literal_eval(name) for name in re.findall(r"""'(?:[^'\\]|\\.)+'|"[^"]+\"""", declaration[1])}
    assert names - {"\0", "\r", "\n"} == KEY_NAMES
