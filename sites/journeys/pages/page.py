"""View models for a journey's page."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from sites.models import Journey
from website_scan.journeys.journey import Journey as Steps
from website_scan.journeys.journey import Judge, StateRule
from website_scan.journeys.words import step_in_words


class StepLine(Struct, frozen=True):
    """Step in words. `states` are the names of the states that are judged after it.

    Steps that only judge have numbers, too, as in the sentences of failed runs.
    """

    number: int
    text: str
    states: Sequence[str]


class SecretState(Struct, frozen=True):
    """Name of a secret in the steps, and whether it has a value."""

    name: str
    is_set: bool


def step_lines(steps: Steps) -> list[StepLine]:
    lines: list[StepLine] = []
    for number, step in enumerate(steps.steps, 1):
        if isinstance(step, Judge) and lines:
            lines[-1] = StepLine(lines[-1].number, lines[-1].text, [*lines[-1].states, step.name])
        else:
            lines.append(StepLine(number, step_in_words(step), []))
    return lines


def judged_in_words(steps: Steps) -> str:
    """Return the sentence that says which pages are judged, for a page that shows states beside the steps."""
    parts = {StateRule.NAVIGATIONS: ["each new page"], StateRule.END: ["the last page"]}.get(steps.rule, [])
    if any(isinstance(step, Judge) for step in steps.steps):
        parts = [*parts, "the states beside the steps"]
    return f"Judged: {' and '.join(parts)}."


def secret_states(journey: Journey, steps: Steps) -> list[SecretState]:
    return [SecretState(name, name in journey.secret_names) for name in steps.secret_names]
