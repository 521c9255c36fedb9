"""Checks of how fast and calmly the page responds to the steps of a journey."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, NamedTuple

from website_scan.browser.journey.judged import ExecutedStep, JourneyState
from website_scan.browser.stability import was_starved
from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM, NotApplicable
from website_scan.journeys.walk import Interaction
from website_scan.journeys.words import step_in_words
from website_scan.outcomes import Fail, Note, Pass, Verdict, Warn, outcome
from website_scan.places import Column, Identity, Place, as_prose
from website_scan.values import Milliseconds, Number

CATEGORY = Category("Interaction", weight=20, html=True)

# Good and poor values of Interaction to Next Paint and of the layout shift (web.dev, Core Web Vitals).
NEXT_PAINT_MS = (200.0, 500.0)
SHIFT = (0.1, 0.25)
# On a machine whose processors other programs use, the next frame may come several times later.
STARVED_FACTOR = 4
# Layout shifts are expected for half a second after an input (Layout Instability, hadRecentInput).
EXPECTED_SHIFT_MS = 500.0
BUSY_MACHINE = " The scanning machine was busy, so another run may have another result."
NO_INPUT = NotApplicable("No step before this state has an input that was measured.")


class MeasuredStep(Place, frozen=True):
    """Step of a journey with what followed its input."""

    kind: ClassVar[str] = "measured-step"

    step: Annotated[int, Column("Step", "number")]
    words: Annotated[str, Identity(as_prose), Column("What it does")]
    next_paint: Annotated[float | None, Column("Next frame after", "number", "ms")]
    longest_task: Annotated[float | None, Column("Longest task", "number", "ms")]
    shift: Annotated[float, Column("Layout shift", "number")]


class MeasuredInput(NamedTuple):
    """Step with what followed its input."""

    step: ExecutedStep
    interaction: Interaction


@check(
    "next-paint",
    name="Page responds fast to input",
    outcomes={"slow": outcome("Page responds late to input", HIGH, MEDIUM, LOW)},
    why="Visitors do not see whether their click or key has worked, and press again.",
    consequence="The page seems stuck after a click, and visitors press again or leave.",
    judged="The longest time from an input to the next frame: up to 200 ms is good, above 500 ms is poor.",
    severity=HIGH,
    fix="Show a response first and do the work afterwards: split long tasks, and give way with `scheduler.yield()`.",
    references=("web.dev: Interaction to Next Paint",),
    measured=True,
)
def next_paint(state: JourneyState) -> Verdict:
    measured = [(paint, step) for step in _measured(state) if (paint := step.interaction.next_paint_ms) is not None]
    if not measured:
        return NO_INPUT
    longest = max(paint for paint, _ in measured)
    slow = [step for paint, step in measured if paint > NEXT_PAINT_MS[0]]
    if not slow:
        return Pass("The page shows a new frame at most {time} after an input.", time=Milliseconds(longest))
    is_uncertain = _was_starved(state) and longest <= STARVED_FACTOR * NEXT_PAINT_MS[1]
    kind = Note if is_uncertain else Fail if longest > NEXT_PAINT_MS[1] else Warn
    summary = "The page shows a new frame only {time} after an input; up to {limit} is good."
    return kind(
        "slow",
        summary + BUSY_MACHINE if is_uncertain else summary,
        time=Milliseconds(longest),
        limit=Milliseconds(NEXT_PAINT_MS[0]),
        severity=LOW if is_uncertain else HIGH if kind is Fail else MEDIUM,
        places=_places(slow),
    )


@check(
    "interaction-shift",
    name="Steps do not shift the page",
    outcomes={"shifted": outcome("Page shifts after a step", MEDIUM, LOW)},
    why="Visitors lose their place or press the wrong button, because content moves without their doing.",
    judged="Layout shifts more than half a second after the input of a step: up to 0.1 is good, above 0.25 is poor.",
    severity=MEDIUM,
    fix="Reserve space for content that loads later, and insert new content below what visitors use.",
    references=("web.dev: Cumulative Layout Shift",),
    measured=True,
)
def interaction_shift(state: JourneyState) -> Verdict:
    measured = _measured(state)
    if not measured:
        return NO_INPUT
    largest = max(step.interaction.shift for step in measured)
    if largest <= SHIFT[0]:
        return Pass("The page shifts by at most {shift} after a step.", shift=Number(largest, 3))
    shifted = [step for step in measured if step.interaction.shift > SHIFT[0]]
    # A response to the input that comes late because of the machine is counted as an unexpected shift.
    is_uncertain = _was_starved(state) and all(_responds_late(step) for step in shifted)
    kind = Note if is_uncertain else Fail if largest > SHIFT[1] else Warn
    summary = "The page shifts by {shift} after a step; up to {limit} is good."
    return kind(
        "shifted",
        summary + BUSY_MACHINE if is_uncertain else summary,
        shift=Number(largest, 3),
        limit=Number(SHIFT[0], 1),
        severity=LOW if is_uncertain else None,
        places=_places(shifted),
    )


def _was_starved(state: JourneyState) -> bool:
    """Return True if other programs used the processors between the state before and this one."""
    return was_starved(state.state.evidence.loads)


def _responds_late(measured: MeasuredInput) -> bool:
    next_paint_ms = measured.interaction.next_paint_ms
    return next_paint_ms is None or next_paint_ms > EXPECTED_SHIFT_MS


def _measured(state: JourneyState) -> list[MeasuredInput]:
    """Return the steps with an input, which have not opened another page."""
    return [
        MeasuredInput(step, step.result.interaction)
        for step in state.steps
        if step.result.interaction is not None and not step.result.navigated
    ]


def _places(steps: Sequence[MeasuredInput]) -> list[MeasuredStep]:
    return [
        MeasuredStep(
            measured.step.number,
            step_in_words(measured.step.step),
            _rounded(measured.interaction.next_paint_ms),
            _rounded(max(measured.interaction.long_tasks_ms, default=None)),
            round(measured.interaction.shift, 3),
        )
        for measured in steps
    ]


def _rounded(milliseconds: float | None) -> int | None:
    return None if milliseconds is None else round(milliseconds)
