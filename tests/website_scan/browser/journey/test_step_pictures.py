"""Tests for the pictures of steps, of which several steps may share one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.website_scan.browser.journey.walks import css, named, require_done, walk_page
from website_scan.browser.journey.camera import MAX_STEP_PICTURE_BYTES
from website_scan.browser.journey.load_recorder import is_load_judged
from website_scan.browser.journey.result import Walk
from website_scan.browser.visit import Part
from website_scan.browser.warm import WarmBrowser
from website_scan.journeys.journey import (
    Change,
    Click,
    Journey,
    Judge,
    KeyDown,
    Navigate,
    StateRule,
    Step,
    WaitForElement,
)
from website_scan.picture_types import picture_extension, picture_type

CLICK = Click(target=css("#go"))
OPEN = Navigate(url="https://example.com/")
STATE = Judge(name="State")
TEXT = """<style>body { margin: 0 } p { margin: 0; font: 11px/11px serif }</style><script>
for (let i = 0; i < 14; i += 1) {
  const p = document.createElement('p');
  p.style.color = `hsl(${i * 37}, 90%, 45%)`;
  p.textContent = 'The quick brown fox jumps over the lazy dog. '.repeat(8);
  document.body.append(p);
}</script>"""
# Random pixels, which no encoding makes small.
NOISE = """<canvas id=c width=1440 height=900 style="position: absolute; left: 0; top: 0"></canvas><script>
const context = c.getContext('2d'), image = context.createImageData(1440, 900);
let seed = 1;
for (let index = 0; index < image.data.length; index += 1) {
  seed = (seed * 16807) % 2147483647;
  image.data[index] = index % 4 === 3 ? 255 : seed % 256;
}
context.putImageData(image, 0, 0);</script>"""


def film(browser: WarmBrowser, body: str, *steps: Step, **options: Any) -> Walk:
    """Execute steps on a page with pictures."""
    change = {"has_pictures": True, **options}
    return require_done(walk_page(browser, body, *steps, change=lambda chosen: chosen.update(change)))


def pictures_of(result: Walk) -> list[bytes | None]:
    return [step.picture.data if step.picture else None for step in result.steps]


def test_steps_before_a_state_have_the_picture_of_the_state(browser: WarmBrowser) -> None:
    body = '<button id=go onclick="text.hidden = false">Go</button><h2 id=text hidden>Your basket</h2>'
    result = film(browser, body, CLICK, WaitForElement(target=named("Your basket")), STATE, CLICK)
    start, clicked, waited, judged, last = pictures_of(result)
    first_screen = result.states[0].evidence.first_screen
    assert first_screen
    assert clicked == waited == first_screen.data
    assert start != clicked
    assert judged is None
    assert last
    assert {picture_type(picture) for picture in (start, clicked, last) if picture} == {"image/jpeg"}


def test_step_has_its_own_picture_if_the_next_step_waits_for_a_change(browser: WarmBrowser) -> None:
    body = (
        '<button id=go onclick="setTimeout(() => { text.hidden = false }, 1500)">Go</button>'
        "<h2 id=text hidden>Your basket</h2>"
    )
    result = film(browser, body, CLICK, WaitForElement(target=css("#text"), is_visible=True), STATE)
    _, clicked, waited, _ = pictures_of(result)
    assert clicked
    assert waited
    assert clicked != waited


@pytest.mark.parametrize("rule", [StateRule.NAVIGATIONS, StateRule.END])
def test_step_that_is_judged_by_a_rule_has_the_picture_of_its_state(browser: WarmBrowser, rule: StateRule) -> None:
    result = require_done(
        walk_page(browser, "<p>Tea", rule=rule, change=lambda options: options.update(has_pictures=True))
    )
    first_screen = result.states[0].evidence.first_screen
    assert first_screen
    assert pictures_of(result) == [first_screen.data]


def test_step_before_a_state_that_is_not_judged_has_a_picture(browser: WarmBrowser) -> None:
    result = film(browser, "<button id=go>Go</button>", CLICK, STATE, max_states=0)
    assert [picture is not None for picture in pictures_of(result)] == [True, True, False]
    assert result.states == ()


def test_picture_that_would_be_a_large_jpeg_is_a_webp(browser: WarmBrowser) -> None:
    result = film(browser, TEXT, STATE)
    picture = pictures_of(result)[0]
    assert picture
    assert len(picture) <= MAX_STEP_PICTURE_BYTES
    assert (picture_type(picture), picture_extension(picture)) == ("image/webp", ".webp")
    # The picture of the state is too large for a step.
    first_screen = result.states[0].evidence.first_screen
    assert first_screen
    assert picture_type(first_screen.data) == "image/webp"
    assert len(first_screen.data) > MAX_STEP_PICTURE_BYTES


def test_picture_that_is_too_large_in_every_encoding_is_left_out(browser: WarmBrowser) -> None:
    assert pictures_of(film(browser, NOISE)) == [None]


def test_speed_of_the_machine_is_measured_once(browser: WarmBrowser) -> None:
    parts = frozenset({Part.MACHINE_SPEED})
    result = film(browser, "<button id=go>Go</button>", STATE, CLICK, STATE, parts=parts)
    one, other = (state.evidence.host_ms for state in result.states)
    assert one
    assert one == other


@pytest.mark.parametrize(
    ("steps", "rule", "expected"),
    [
        ((OPEN, STATE), StateRule.STEPS, [True, False]),
        ((OPEN, CLICK, STATE), StateRule.STEPS, [False, True, False]),
        ((OPEN, Change(target=css("#f"), value="Tea"), STATE), StateRule.STEPS, [True, True, False]),
        ((OPEN, KeyDown(key="Enter"), STATE, CLICK), StateRule.STEPS, [False, True, False, False]),
        ((OPEN, CLICK), StateRule.END, [False, True]),
        ((OPEN, CLICK), StateRule.NAVIGATIONS, [True, True]),
    ],
)
def test_only_loads_of_pages_that_are_judged_are_recorded(
    steps: Sequence[Step], rule: StateRule, expected: list[bool]
) -> None:
    journey = Journey("Test", tuple(steps), rule)
    assert [is_load_judged(journey, number) for number in range(len(steps))] == expected
