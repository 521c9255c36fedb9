from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.website_scan.cast import outcome, rows
from tests.website_scan.journey_cast import DONE, QUIET, clicked, journey_state
from website_scan.findings import HIGH, MEDIUM
from website_scan.outcomes import Fail, Fault, Note, Pass
from website_scan.performance.checks import interaction as checks


@pytest.mark.parametrize(
    ("times", "expected", "severity"),
    [
        ([24.0], "pass", None),
        ([200.0], "pass", None),
        ([24.0, 208.0], "slow", MEDIUM),
        ([500.0], "slow", MEDIUM),
        ([24.0, 512.0], "slow", HIGH),
        ([None], "n/a", None),
        ([None, 600.0], "slow", HIGH),
    ],
)
def test_next_paint(times: list[float | None], expected: str, severity: object) -> None:
    steps = [clicked(interaction=replace(QUIET, next_paint_ms=time)) for time in times]
    finding = checks.next_paint(journey_state(*steps))
    assert outcome(finding) == expected
    assert (finding.severity if isinstance(finding, Fault) else None) == severity


@pytest.mark.parametrize(
    ("shifts", "expected"), [([0.0], "pass"), ([0.1], "pass"), ([0.0, 0.12], "shifted"), ([0.3], "shifted")]
)
def test_interaction_shift(shifts: list[float], expected: str) -> None:
    steps = [clicked(interaction=replace(QUIET, shift=shift)) for shift in shifts]
    assert outcome(checks.interaction_shift(journey_state(*steps))) == expected


@pytest.mark.parametrize(
    ("next_paint_ms", "starvation", "kind"),
    [(180.0, 3.0, Pass), (600.0, 0.2, Fail), (600.0, 0.3, Note), (2000.0, 3.0, Note), (2100.0, 3.0, Fail)],
)
def test_late_response_on_a_busy_machine_is_only_noted(next_paint_ms: float, starvation: float, kind: type) -> None:
    step = clicked(interaction=replace(QUIET, next_paint_ms=next_paint_ms))
    finding = checks.next_paint(journey_state(step, starvation=starvation))
    assert type(finding) is kind
    assert isinstance(finding, Pass | Fault)
    assert ("busy" in finding.message) is (kind is Note)


@pytest.mark.parametrize(
    ("next_paint_ms", "starvation", "kind"),
    [(24.0, 3.0, Fail), (600.0, 0.2, Fail), (600.0, 0.3, Note), (None, 0.3, Note)],
)
def test_shift_by_a_late_response_on_a_busy_machine_is_only_noted(
    next_paint_ms: float | None, starvation: float, kind: type
) -> None:
    step = clicked(interaction=replace(QUIET, shift=0.4, next_paint_ms=next_paint_ms))
    assert type(checks.interaction_shift(journey_state(step, starvation=starvation))) is kind


def test_steps_that_open_a_page_are_not_measured() -> None:
    slow = replace(QUIET, next_paint_ms=900.0, shift=0.9)
    state = journey_state(DONE, clicked(interaction=slow, navigated=True))
    assert outcome(checks.next_paint(state)) == "n/a"
    assert outcome(checks.interaction_shift(state)) == "n/a"


def test_places_name_the_slow_steps() -> None:
    slow = replace(QUIET, next_paint_ms=712.4, long_tasks_ms=(60.0, 690.2))
    finding = checks.next_paint(journey_state(clicked(), clicked(interaction=slow)))
    (row,) = rows(finding)
    assert row == {
        "step": 3, "words": "Click the button “Menu”.", "next_paint": 712, "longest_task": 690, "shift": 0.0,
    }  # fmt: skip
