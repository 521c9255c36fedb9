"""Executed journeys: what happened in their steps, for the outputs."""

from __future__ import annotations

from typing import TypedDict

from msgspec import Struct

from website_scan.messages import counted


class StepJson(TypedDict):
    """Executed step in JSON. `problem` says why it failed, and is otherwise empty."""

    step: int
    text: str
    status: str
    url: str
    duration_s: float
    problem: str
    near_matches: list[str]
    notes: list[str]


class ExecutedJourney(Struct, frozen=True):
    """Journey with its executed steps, and the number of its judged states. `notes` are sentences."""

    title: str
    steps: tuple[StepJson, ...]
    states: int
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Sentence with the numbers of steps and states."""
        done = sum(step["status"] == "done" for step in self.steps)
        of_steps = counted(done, "step") if done == len(self.steps) else f"{done} of {counted(len(self.steps), 'step')}"
        return f"{self.title}: {of_steps} done, {counted(self.states, 'state')} judged."


class ExecutedJourneys(Struct, frozen=True):
    """Journeys of the command whose states are the pages of its reports."""

    journeys: tuple[ExecutedJourney, ...]

    @property
    def start(self) -> str:
        """Names of the journeys, as the heading of their states."""
        return ", ".join(journey.title for journey in self.journeys)

    @property
    def sentence(self) -> str:
        """Sentences with the numbers of steps and states."""
        return " ".join(journey.sentence for journey in self.journeys)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what was changed, prevented or left out."""
        return tuple(note for journey in self.journeys for note in journey.notes)
