"""Tests for the number of states that a journey can have."""

from __future__ import annotations

import pytest

from website_scan.journeys.journey import MAX_STATES, StateRule
from website_scan.journeys.planned import planned_states
from website_scan.journeys.short_form import read_short_form

LOG_IN = "open /\nfill “Name” with ada\nclick “Sign in”\nwait for “Welcome”"


@pytest.mark.parametrize(
    ("steps", "rule", "states"),
    [
        (LOG_IN, None, 3),  # the first page, the page after the click, and the last one
        (LOG_IN, StateRule.END, 1),
        (f"{LOG_IN}\njudge “Account”", None, 1),
        (f"{LOG_IN}\njudge “Account”", StateRule.NAVIGATIONS, 3),
        (f"{LOG_IN}\njudge “Account”\nclick “Orders”", StateRule.END, 2),
        ("open /\njudge “Start”\nclick “Menu”\njudge “Menu”", StateRule.NAVIGATIONS, 2),
        ("open /\npress Enter\nhover over “Menu”", None, 3),
        ("open /", None, 1),
        ("open /\n" + "click “Next”\n" * 49, None, MAX_STATES),
    ],
)
def test_planned_states(steps: str, rule: StateRule | None, states: int) -> None:
    journey = read_short_form(steps, title="A", base_url="https://shop.example.com/", rule=rule).journey
    assert planned_states(journey) == states
