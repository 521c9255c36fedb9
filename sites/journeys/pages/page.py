"""View models for a journey's page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sites.models import Journey
from website_scan.journeys.journey import Journey as Steps
from website_scan.journeys.journey import Judge
from website_scan.journeys.words import step_in_words


@dataclass(frozen=True, slots=True)
class StepLine:
    """Step in words. `states` are the names of the states that are judged after it."""

    text: str
    states: Sequence[str]


@dataclass(frozen=True, slots=True)
class SecretState:
    """Name of a secret in the steps, and whether it has a value."""

    name: str
    is_set: bool


def step_lines(steps: Steps) -> list[StepLine]:
    lines: list[StepLine] = []
    for step in steps.steps:
        if isinstance(step, Judge) and lines:
            lines[-1] = StepLine(lines[-1].text, [*lines[-1].states, step.name])
        else:
            lines.append(StepLine(step_in_words(step), []))
    return lines


def secret_states(journey: Journey, steps: Steps) -> list[SecretState]:
    return [SecretState(name, name in journey.secret_names) for name in steps.secret_names]
