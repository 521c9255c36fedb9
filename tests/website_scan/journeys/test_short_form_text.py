"""Tests that journeys are written in the short form as they are read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.project import ROOT
from website_scan.journeys.recordings import read_recording, recording_of
from website_scan.journeys.short_form import read_short_form
from website_scan.journeys.short_form_text import short_form_of

EXAMPLES = sorted((ROOT / "examples/journeys").glob("*.txt"))
BASE = "https://shop.example.com/"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_is_written_as_the_same_journey(path: Path) -> None:
    journey = read_short_form(path.read_text("utf-8"), title="Example", base_url=BASE).journey
    stored = read_recording(json.dumps(recording_of(journey))).journey
    text = short_form_of(stored)
    assert text is not None
    assert read_short_form(text, title="Example").journey == journey


@pytest.mark.parametrize(
    "line",
    [
        *("fill “Notes” with “one two”", "choose “Tea” in “Kind”", "check “I agree”", "uncheck “News”"),
        *("click link “Cart”", "double click “Photo”", "hover over “Products”", "press Enter", "press Ctrl+K"),
        *("scroll to the bottom", "scroll to “Reviews”", "wait for “Done” up to 30 seconds"),
        *("wait until “Loading” is gone", "wait for address /account", "wait for address beginning with /a"),
        *("wait for title “Home”", "screen phone", "screen 800x600", "click `#menu .item`", "press Space"),
        "allow log-in at login.example.org",
    ],
)
def test_line_is_written_as_the_same_step(line: str) -> None:
    journey = read_short_form(f"open {BASE}\n{line}", title="A").journey
    text = short_form_of(journey)
    assert text is not None
    assert read_short_form(text, title="A").journey == journey


def test_details_of_recordings_have_no_short_form() -> None:
    click = {"type": "click", "target": "main", "selectors": [["aria/Buy"], ["#buy"]], "offsetX": 3, "offsetY": 4}
    recording = {"title": "A", "steps": [{"type": "navigate", "url": BASE}, click]}
    assert short_form_of(read_recording(json.dumps(recording)).journey) is None


def test_name_with_quotation_marks_has_a_short_form_or_none() -> None:
    journey = read_short_form(f'open {BASE}\nclick "a “b” c"', title="A").journey
    text = short_form_of(journey)
    assert text is None or read_short_form(text, title="A").journey == journey
