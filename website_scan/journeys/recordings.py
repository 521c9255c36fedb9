"""Read journeys from recordings of Chrome DevTools' Recorder, and write them.

The format is that of `@puppeteer/replay`. When the Recorder imports a recording, it keeps custom steps and drops fields
that it does not know. So states and settings are custom steps. The field `websiteScan` only makes a step more exact.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from website_scan.journeys import rules
from website_scan.journeys.expressions import expression_of, is_pause
from website_scan.journeys.fields import StepFields, did_you_mean
from website_scan.journeys.journey import (
    DEFAULT_STEP_TIMEOUT_S,
    MAX_STEP_TIMEOUT_S,
    Change,
    Click,
    ElementTarget,
    ExpectedNavigation,
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
from website_scan.journeys.json_steps import read_json
from website_scan.journeys.passwords import ReadJourney, without_passwords
from website_scan.journeys.recorded_steps import JUDGE, OWN_FIELD, READERS, Common
from website_scan.journeys.selectors import selector_texts
from website_scan.messages import excerpt

MAX_EXPECTED_TITLE_CHARACTERS = 500
MAX_NOTES = 50
SETTINGS = "website-scan"
# Pages on which recordings begin in a new tab.
BLANK_PAGE = re.compile(r"(?:about:blank|(?:chrome|edge|brave)://new-?tab(?:-page)?)/?")
# The Recorder requires a position for clicks. This one is inside small and rounded elements, too.
OFFSET_NEAR_CORNER = 6


def read_recording(data: bytes | str) -> ReadJourney:
    """Read a recording.

    Raises JourneyRefused, whose message names the line, the number and the kind of the step.
    """
    recording = read_json(data)
    fields = recording.fields
    if "steps" not in fields and isinstance(fields.get("log"), dict):
        raise JourneyRefused("This is a HAR file of the Network panel. A recording of the Recorder panel is needed.")
    title, steps = fields.get("title"), fields.get("steps")
    if not isinstance(title, str):
        raise JourneyRefused("The recording has no “title”.")
    if not isinstance(steps, list):
        raise JourneyRefused("The recording has no list “steps”.")
    reader = _Reader(_timeout_of(fields))
    for number, (step, line) in enumerate(zip(steps, recording.lines, strict=True), 1):
        reader.read(StepFields(step, number, line), is_last=number == len(steps))
    journey = rules.checked_journey(
        excerpt(title, rules.MAX_TITLE_CHARACTERS), reader.steps, reader.rule, reader.identity_providers
    )
    result = without_passwords(journey)
    return replace(result, notes=(*reader.notes, *result.notes))


def recording_of(journey: Journey) -> dict[str, object]:
    """Write a journey as the JSON of a recording, which `read_recording` reads as an equal journey."""
    steps = [_recorded(step) for step in journey.steps]
    settings: dict[str, object] = {}
    has_states = any(isinstance(step, Judge) for step in journey.steps)
    if journey.rule is not (StateRule.STEPS if has_states else StateRule.NAVIGATIONS):
        settings["judge"] = str(journey.rule)
    if journey.identity_providers:
        settings["allowLogInAt"] = list(journey.identity_providers)
    if settings:
        steps.insert(0, {"type": "customStep", "name": SETTINGS, "parameters": settings})
    return {"title": journey.title, "steps": steps}


def _timeout_of(fields: Mapping[str, Any]) -> float:
    timeout = fields.get("timeout")
    if timeout is None:
        return DEFAULT_STEP_TIMEOUT_S
    if not isinstance(timeout, float) or not timeout >= 1:
        raise JourneyRefused("The “timeout” of the recording is not a number of milliseconds.")
    return timeout / 1000


class _Reader:
    """Reads the steps of one recording."""

    def __init__(self, timeout_s: float) -> None:
        self.steps: list[Step] = []
        self.notes: list[str] = []
        self.rule: StateRule | None = None
        self.identity_providers: tuple[str, ...] = ()
        self._timeout_s = timeout_s
        self._has_settings = False

    def read(self, fields: StepFields, *, is_last: bool) -> None:
        """Read the next step."""
        if fields.kind == "close":
            if not is_last:
                fields.refuse("Only the last step can close the page.")
        elif fields.kind == "customStep" and fields.value("name") == SETTINGS:
            self._read_settings(fields)
        elif note := self._reason_to_leave_out(fields):
            self._note(fields, note)
        elif fields.kind in READERS:
            try:
                self.steps.append(READERS[fields.kind](fields, self._common(fields)))
            except ValueError as error:
                fields.refuse(error)
            for name in fields.unused():
                self._note(fields, f"The field “{name}” is ignored.")
        else:
            fields.refuse(f"Steps of this kind cannot be executed.{did_you_mean(fields.kind, READERS)}")

    def _reason_to_leave_out(self, fields: StepFields) -> str:
        """Return why the step becomes no step of the journey, or an empty string."""
        if fields.kind == "emulateNetworkConditions":
            return "The speed of the network is not emulated."
        if fields.kind == "waitForExpression" and is_pause(fields.value("expression")):
            return "The pause is left out, because steps wait until they can be executed."
        if fields.kind in ("keyDown", "keyUp") and fields.value("key") is None:
            # Chrome records such steps when it fills a form itself.
            return "The step is left out, because it names no key."
        has_page = any(isinstance(step, Navigate) for step in self.steps)
        if fields.kind == "navigate" and not has_page and _is_blank_page(fields.value("url")):
            return "The empty page on which the recording begins is left out."
        return ""

    def _note(self, fields: StepFields, text: str) -> None:
        if len(self.notes) < MAX_NOTES:
            self.notes.append(f"Line {fields.line}, step {fields.number}: {text}")

    def _common(self, fields: StepFields) -> Common:
        if fields.value("target") not in (None, "main"):
            fields.refuse("The step acts in another window, or in a frame of another site, which is not possible.")
        fields.value("isLandscape")  # It follows from the width and the height.
        timeout_s = fields.number_between("timeout", 1, 1e9, self._timeout_s * 1000) / 1000
        if timeout_s > MAX_STEP_TIMEOUT_S:
            timeout_s = MAX_STEP_TIMEOUT_S
            self._note(fields, f"The step waits for at most {MAX_STEP_TIMEOUT_S:.0f} seconds.")
        return {"line": fields.line, "timeout_s": timeout_s, "expected_navigation": _expected_navigation(fields)}

    def _read_settings(self, fields: StepFields) -> None:
        if self._has_settings:
            fields.refuse("The settings of the journey are repeated.")
        self._has_settings = True
        for name, value in fields.table("parameters", 2).items():
            if name == "judge" and isinstance(value, str) and value in list(StateRule):
                self.rule = StateRule(value)
            elif name == "allowLogInAt" and isinstance(value, list) and all(isinstance(host, str) for host in value):
                self.identity_providers = tuple(value)
            else:
                fields.refuse(
                    "“parameters” are “judge” (navigations, end or steps) and “allowLogInAt” (a list of hosts)."
                )


def _is_blank_page(url: object) -> bool:
    return isinstance(url, str) and BLANK_PAGE.fullmatch(url) is not None


def _expected_navigation(fields: StepFields) -> ExpectedNavigation | None:
    """Return the last of the navigations, because redirects cause several."""
    expected = None
    for event in fields.items("assertedEvents", 20):
        if not isinstance(event, dict) or event.get("type") != "navigation":
            fields.refuse("“assertedEvents” contains something else than navigations.")
        url, title = event.get("url") or "", event.get("title") or ""
        if not isinstance(url, str) or not isinstance(title, str):
            fields.refuse("The address or the title of the expected navigation is not a text.")
        # Longer addresses contain data of one log-in, which will be different in the next.
        url = rules.check_address(url) if 0 < len(url) <= rules.MAX_URL_CHARACTERS else ""
        title = " ".join(title.split())
        if rules.UNPRINTABLE.search(title) or len(title) > MAX_EXPECTED_TITLE_CHARACTERS:
            title = ""
        expected = ExpectedNavigation(url, rules.check_text(title, MAX_EXPECTED_TITLE_CHARACTERS, "The expected title"))
    return expected


def _recorded(step: Step) -> dict[str, object]:
    """Write a step as in a recording."""
    fields = _fields_of(step)
    if step.timeout_s != DEFAULT_STEP_TIMEOUT_S:
        fields["timeout"] = _number(step.timeout_s * 1000)
    if (expected := step.expected_navigation) is not None:
        event = {"type": "navigation", "url": expected.url, "title": expected.title}
        fields["assertedEvents"] = [{name: text for name, text in event.items() if text}]
    return fields


def _fields_of(step: Step) -> dict[str, object]:
    match step:
        case SetViewport():
            return {
                "type": "setViewport",
                "width": step.width,
                "height": step.height,
                "deviceScaleFactor": _number(step.scale),
                "isMobile": step.is_mobile,
                "hasTouch": step.has_touch,
                "isLandscape": step.width > step.height,
            }
        case Navigate():
            return {"type": "navigate", "url": step.url}
        case Click():
            return _fields_of_click(step)
        case Hover():
            return {"type": "hover", **_fields_of_target(step.target)}
        case Change():
            return {"type": "change", **_fields_of_target(step.target), "value": step.value}
        case KeyDown() | KeyUp():
            return {"type": "keyDown" if isinstance(step, KeyDown) else "keyUp", "target": "main", "key": step.key}
        case Scroll():
            target = {"target": "main"} if step.target is None else _fields_of_target(step.target)
            return {"type": "scroll", **target, "x": _number(step.x), "y": _number(step.y)}
        case WaitForElement():
            return _fields_of_wait(step)
        case WaitForAddress() | WaitForTitle():
            return {"type": "waitForExpression", "target": "main", "expression": expression_of(step)}
        case Judge():
            return {"type": "customStep", "name": JUDGE, "parameters": {"name": step.name}}
    raise TypeError(f"Steps of the type {type(step).__name__} have no form in recordings.")


def _fields_of_click(step: Click) -> dict[str, object]:
    x, y = step.offset or (OFFSET_NEAR_CORNER, OFFSET_NEAR_CORNER)
    fields: dict[str, object] = {
        "type": "doubleClick" if step.count == 2 else "click",
        **_fields_of_target(step.target),
        "offsetX": _number(x),
        "offsetY": _number(y),
    }
    if step.offset is None:
        fields[OWN_FIELD] = {"center": True}
    if step.button != "primary":
        fields["button"] = step.button
    if step.held_for_s:
        fields["duration"] = _number(step.held_for_s * 1000)
    return fields


def _fields_of_wait(step: WaitForElement) -> dict[str, object]:
    fields: dict[str, object] = {
        "type": "waitForElement",
        **_fields_of_target(step.target),
        "operator": step.operator,
        "count": step.count,
    }
    if step.is_visible is not True:
        fields[OWN_FIELD] = {"visible": step.is_visible}
    if step.attributes:
        fields["attributes"] = dict(step.attributes)
    if step.properties:
        fields["properties"] = dict(step.properties)
    return fields


def _fields_of_target(target: ElementTarget) -> dict[str, object]:
    fields: dict[str, object] = {"target": "main", "selectors": [selector_texts(each) for each in target.selectors]}
    if target.frame:
        fields["frame"] = list(target.frame)
    return fields


def _number(value: float) -> float:
    """Return a whole number as int, so that JSON shows no decimal point."""
    rounded = round(value, 6)
    return int(rounded) if rounded == int(rounded) else rounded
