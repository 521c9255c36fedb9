"""Result of executing a journey, with the browser's evidence of each state."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from website_scan.browser.evidence import BrowserLoad
from website_scan.journeys.journey import Journey, Judge, StateRule
from website_scan.journeys.walk import (
    Cookie,
    Focus,
    KeyboardReach,
    LiveMessage,
    OpenDialog,
    StateSecurity,
    StepResult,
    StepStatus,
)


class State(Struct, frozen=True):
    """State of the site that is judged.

    `step` is the position of the step after which it was reached, from 0. `evidence` is of the page as it stood then.
    `evidence.first` has the metrics of the page's load if `is_navigation`, and else only the requests since the state
    before. `document` is the DOM as HTML, or None if it is too large. `messages` are those of all steps since the state
    before.
    """

    name: str
    step: int
    url: str
    title: str
    is_navigation: bool
    status: int | None
    evidence: BrowserLoad
    document: str | None
    security: StateSecurity
    focus: Focus | None = None
    dialogs: tuple[OpenDialog, ...] = ()
    messages: tuple[LiveMessage, ...] = ()


class Walk(Struct, frozen=True):
    """Result of executing a journey once. It contains no secrets.

    `problem` says why the journey ended early. It is empty if all steps are done. `cookies_before_secrets` are those
    of the browser before the first secret was typed, or None if none was.
    """

    steps: tuple[StepResult, ...]
    states: tuple[State, ...]
    product: str
    problem: str = ""
    notes: tuple[str, ...] = ()
    cookies_before_secrets: tuple[Cookie, ...] | None = None

    @property
    def is_complete(self) -> bool:
        """Return True if all steps are done."""
        return all(step.status is StepStatus.DONE for step in self.steps)

    @property
    def is_unreachable(self) -> bool:
        """Return True if the journey ended early because a server did not respond."""
        return any(step.is_unreachable for step in self.steps)

    @property
    def keyboard(self) -> tuple[KeyboardReach, ...]:
        """Return whether the keyboard reaches the elements of the pointer steps."""
        return tuple(step.keyboard for step in self.steps if step.keyboard is not None)


def state_name(journey: Journey, number: int, result: StepResult) -> str | None:
    """Return the name of the state after a step, counted from 0. Empty for its title, None if it is not judged."""
    rule, steps = journey.rule, journey.steps
    step = steps[number]
    if isinstance(step, Judge):
        return step.name
    if number + 1 < len(steps) and isinstance(steps[number + 1], Judge):
        return None  # The next step judges the same page.
    is_last = number + 1 == len(steps)
    is_judged = (rule is StateRule.NAVIGATIONS and (result.navigated or is_last)) or (rule is StateRule.END and is_last)
    return "" if is_judged else None


def unique_name(name: str, states: Sequence[State]) -> str:
    """Return the name, with a number if one of the states has it already."""
    names = {state.name for state in states}
    number, unique = 2, name
    while unique in names:
        unique, number = f"{name} ({number})", number + 1
    return unique
