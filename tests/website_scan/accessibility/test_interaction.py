"""Tests for checks of what happens between the states of a journey."""

from __future__ import annotations

from typing import Any

import pytest

from tests.website_scan.cast import document, outcome, page, rows
from tests.website_scan.journey_cast import CLICK, DONE, clicked, journey_state
from website_scan.accessibility.checks import interaction as checks
from website_scan.accessibility.document import AccessibleDocument
from website_scan.journeys.journey import Hover
from website_scan.journeys.walk import Focus, KeyboardReach, LiveMessage, OpenDialog, SilentMessage

REACHED = KeyboardReach(1, "#menu", "Menu", is_reached=True)
LOST = Focus("", "", "", is_in_dialog=False, is_lost=True)
KEPT = Focus("#menu", "button", "Menu", is_in_dialog=False, is_lost=False)
DIALOG = OpenDialog("#book", "Book", is_modal=True, has_focus_inside=False)
SILENT = SilentMessage("Saved.", "#note")
MESSAGE = LiveMessage("Enter an address.", "assertive", "#error")


def parsed(markup: str) -> AccessibleDocument:
    return AccessibleDocument(document(page(f"<!doctype html><body>{markup}")))


@pytest.mark.parametrize(
    ("reached", "expected"),
    [
        ([REACHED], "pass"),
        ([REACHED, KeyboardReach(2, "div", "Loans", is_reached=False, reason="not focusable")], "unreachable"),
        ([KeyboardReach(2, "div", "Loans", is_reached=False, reason="no action")], "unreachable"),
        ([], "n/a"),
    ],
)
def test_keyboard_reach(reached: list[KeyboardReach], expected: str) -> None:
    steps = [clicked(keyboard=keyboard) for keyboard in reached] or [clicked()]
    assert outcome(checks.keyboard_reach(journey_state(*steps))) == expected


def test_keyboard_reach_names_the_step_and_the_reason() -> None:
    unreached = KeyboardReach(4, "#menu > span", "Loans", is_reached=False, reason="not focusable")
    finding = checks.keyboard_reach(journey_state(clicked(keyboard=unreached)))
    assert rows(finding) == [
        {"step": 5, "name": "Loans", "selector": "#menu > span", "fault": "The Tab key does not reach it."}
    ]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([clicked(focus=KEPT)], "pass"),
        ([clicked(focus=KEPT), clicked(focus=LOST)], "lost"),
        ([clicked(focus=LOST, navigated=True)], "n/a"),  # A new page begins at its top.
        ([], "n/a"),
    ],
)
def test_focus_lost(steps: list[Any], expected: str) -> None:
    assert outcome(checks.focus_lost(journey_state(*steps))) == expected


@pytest.mark.parametrize(
    ("dialogs", "expected"),
    [
        ((DIALOG,), "outside"),
        ((OpenDialog("#book", "Book", is_modal=True, has_focus_inside=True),), "pass"),
        # The second dialog has been opened by the first one.
        ((DIALOG, OpenDialog("#sure", "Sure?", is_modal=True, has_focus_inside=True)), "pass"),
        ((OpenDialog("#cookies", "Cookies", is_modal=False, has_focus_inside=False),), "n/a"),
        ((), "n/a"),
    ],
)
def test_dialog_focus(dialogs: tuple[OpenDialog, ...], expected: str) -> None:
    assert outcome(checks.dialog_focus(journey_state(DONE, dialogs=dialogs))) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<input aria-label=Email aria-invalid=true>", "missing"),
        ("<input aria-label=Email aria-invalid=true aria-describedby=e><p id=e>Enter an address.</p>", "pass"),
        ("<input aria-label=Email aria-invalid=true aria-errormessage=e><p id=e>Enter an address.</p>", "pass"),
        ("<input aria-label=Email aria-invalid=true aria-describedby=e><p id=e></p>", "missing"),
        ("<input aria-label=Email aria-invalid=true aria-describedby=gone>", "missing"),
        ("<input aria-label=Email aria-invalid=false>", "n/a"),
        ("<input aria-label=Email>", "n/a"),
        ("<div hidden><input aria-label=Email aria-invalid=true></div>", "n/a"),
    ],
)
def test_error_message(markup: str, expected: str) -> None:
    assert outcome(checks.error_message(journey_state(clicked()), parsed(markup))) == expected


def test_announced_error_needs_no_description() -> None:
    state = journey_state(clicked(), messages=(MESSAGE,))
    assert outcome(checks.error_message(state, parsed("<input aria-label=Email aria-invalid=true>"))) == "pass"


@pytest.mark.parametrize(
    ("steps", "messages", "expected"),
    [
        ([clicked(silent_messages=(SILENT,))], (), "silent"),
        ([clicked(), clicked(silent_messages=(SILENT,))], (), "silent"),
        ([clicked(silent_messages=(SILENT,))], (MESSAGE,), "pass"),  # A hidden live region has announced it.
        ([clicked()], (MESSAGE,), "pass"),
        ([clicked()], (), "n/a"),
        ([clicked(silent_messages=(SILENT,), navigated=True)], (), "n/a"),  # The message is part of a new page.
        ([], (), "n/a"),
    ],
)
def test_status_message(steps: list[Any], messages: tuple[LiveMessage, ...], expected: str) -> None:
    assert outcome(checks.status_message(journey_state(*steps, messages=messages))) == expected


def test_text_under_the_mouse_is_no_status_message() -> None:
    hovered = clicked(silent_messages=(SILENT,))
    state = journey_state(hovered, step=Hover(target=CLICK.target))
    assert outcome(checks.status_message(state)) == "n/a"


def test_status_message_names_the_step_and_the_text() -> None:
    finding = checks.status_message(journey_state(clicked(silent_messages=(SILENT,))))
    assert rows(finding) == [{"step": 2, "name": "Saved.", "selector": "#note"}]


def test_fields_that_no_step_has_made_invalid_are_not_judged() -> None:
    state = journey_state(clicked(navigated=True))
    assert outcome(checks.error_message(state, parsed("<input aria-label=Email aria-invalid=true>"))) == "n/a"
