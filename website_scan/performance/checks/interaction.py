"""Checks of how fast and calmly the page responds to the steps of a journey."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from website_scan.browser.journey.judged import ExecutedStep, JourneyState
from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, MEDIUM, NotApplicable
from website_scan.journeys.words import step_in_words
from website_scan.outcomes import Fail, Pass, Verdict, Warn, outcome
from website_scan.places import Column, Identity, Place, as_prose
from website_scan.values import Milliseconds, Number

CATEGORY = Category("Interaction", weight=20, html=True)

# Good and poor values of Interaction to Next Paint and of the layout shift (web.dev, Core Web Vitals).
NEXT_PAINT_MS = (200.0, 500.0)
SHIFT = (0.1, 0.25)
NO_INPUT = NotApplicable("No step before this state has an input that was measured.")


@dataclass(frozen=True, slots=True)
class MeasuredStep(Place):
    """Step of a journey with what followed its input."""

    kind: ClassVar[str] = "measured-step"

    step: Annotated[int, Column("Step", "number")]
    words: Annotated[str, Identity(as_prose), Column("What it does")]
    next_paint: Annotated[float | None, Column("Next frame after", "number", "ms")]
    longest_task: Annotated[float | None, Column("Longest task", "number", "ms")]
    shift: Annotated[float, Column("Layout shift", "number")]


@check(
    "next-paint",
    name="Page responds fast to input",
    outcomes={"slow": outcome("Page responds late to input", HIGH, MEDIUM)},
    why="Visitors do not see whether their click or key has worked, and press again.",
    consequence="The page seems stuck after a click, and visitors press again or leave.",
    judged="The longest time from an input to the next frame: up to 200 ms is good, above 500 ms is poor.",
    severity=HIGH,
    fix="Show a response first and do the work afterwards: split long tasks, and give way with `scheduler.yield()`.",
    references=("web.dev: Interaction to Next Paint",),
    measured=True,
)
def next_paint(state: JourneyState) -> Verdict:
    measured = [(paint, step) for step in _measured(state) if (paint := _next_paint_ms(step)) is not None]
    if not measured:
        return NO_INPUT
    longest = max(paint for paint, _ in measured)
    slow = [step for paint, step in measured if paint > NEXT_PAINT_MS[0]]
    if not slow:
        return Pass("The page shows a new frame at most {time} after an input.", time=Milliseconds(longest))
    kind = Fail if longest > NEXT_PAINT_MS[1] else Warn
    return kind(
        "slow",
        "The page shows a new frame only {time} after an input; up to {limit} is good.",
        time=Milliseconds(longest),
        limit=Milliseconds(NEXT_PAINT_MS[0]),
        severity=HIGH if kind is Fail else MEDIUM,
        places=_places(slow),
    )


@check(
    "interaction-shift",
    name="Steps do not shift the page",
    outcomes={"shifted": "Page shifts after a step"},
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
    largest = max(_shift(step) for step in measured)
    if largest <= SHIFT[0]:
        return Pass("The page shifts by at most {shift} after a step.", shift=Number(largest, 3))
    kind = Fail if largest > SHIFT[1] else Warn
    return kind(
        "shifted",
        "The page shifts by {shift} after a step; up to {limit} is good.",
        shift=Number(largest, 3),
        limit=Number(SHIFT[0], 1),
        places=_places([step for step in measured if _shift(step) > SHIFT[0]]),
    )


def _measured(state: JourneyState) -> list[ExecutedStep]:
    """Return the steps with an input, which have not opened another page."""
    return [step for step in state.steps if step.result.interaction is not None and not step.result.navigated]


def _next_paint_ms(step: ExecutedStep) -> float | None:
    return step.result.interaction.next_paint_ms if step.result.interaction else None


def _shift(step: ExecutedStep) -> float:
    return step.result.interaction.shift if step.result.interaction else 0.0


def _places(steps: Sequence[ExecutedStep]) -> list[MeasuredStep]:
    places = []
    for step in steps:
        assert step.result.interaction is not None
        interaction = step.result.interaction
        longest = max(interaction.long_tasks_ms, default=None)
        paint = interaction.next_paint_ms
        places.append(
            MeasuredStep(
                step.number,
                step_in_words(step.step),
                None if paint is None else round(paint),
                None if longest is None else round(longest),
                round(interaction.shift, 3),
            )
        )
    return places
