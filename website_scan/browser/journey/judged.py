"""Evidence of a journey's state: what the checks of journeys judge."""

from __future__ import annotations

import re

from msgspec import Struct

from website_scan.browser.journey.result import State, Walk
from website_scan.journeys.journey import PLACEHOLDER, Change, Journey, Step
from website_scan.journeys.walk import Cookie, StepResult

# Fields in a document that the browser has written, which also writes the quotation marks of attributes.
INPUT = re.compile(r"<input\b[^>]{0,2000}", re.IGNORECASE)
PASSWORD_TYPE = ' type="password"'  # noqa: S105  # markup


class ExecutedStep(Struct, frozen=True):
    """Step with its result. `number` counts from 1, as people do."""

    number: int
    step: Step
    result: StepResult


class JourneyState(Struct, frozen=True):
    """State of a journey, the state before, and the steps between them.

    `cookies_before_log_in` are the browser's cookies before the journey typed its first secret. They are None if it
    has typed none before this state.
    """

    state: State
    before: State | None
    steps: tuple[ExecutedStep, ...]
    cookies_before_log_in: tuple[Cookie, ...] | None

    @property
    def has_typed_secret(self) -> bool:
        """Return True if the journey has typed a secret before this state."""
        return self.cookies_before_log_in is not None

    @property
    def is_after_log_in(self) -> bool:
        """Return True if a secret has been typed, and the page does not ask for a password."""
        fields = INPUT.finditer(self.state.document or "")
        return self.has_typed_secret and not any(PASSWORD_TYPE in field[0].lower() for field in fields)

    @property
    def shows_secret(self) -> bool:
        """Return True if the page contains a secret of the journey, such as the user's name.

        The name of the secret replaces it in the document.
        """
        return PLACEHOLDER.search(self.state.document or "") is not None

    @property
    def new_cookies(self) -> list[Cookie]:
        """Return the cookies that the site has set or replaced since the journey typed its first secret."""
        return self._cookies(are_changed=True)

    @property
    def unchanged_cookies(self) -> list[Cookie]:
        """Return the cookies that have the value from before the journey typed its first secret."""
        return self._cookies(are_changed=False)

    def _cookies(self, *, are_changed: bool) -> list[Cookie]:
        if self.cookies_before_log_in is None:
            return []
        before = {_identity(cookie): cookie.value_digest for cookie in self.cookies_before_log_in}
        cookies = self.state.security.cookies
        return [one for one in cookies if (before.get(_identity(one)) != one.value_digest) is are_changed]


def journey_states(journey: Journey, walk: Walk) -> list[JourneyState]:
    """Return the states of a walk in order, with what happened between them."""
    states = []
    before: State | None = None
    for state in walk.states:
        first = before.step + 1 if before else 0
        numbers = range(first, state.step + 1)
        steps = tuple(ExecutedStep(number + 1, journey.steps[number], walk.steps[number]) for number in numbers)
        has_typed = any(map(_types_secret, journey.steps[: state.step + 1]))
        states.append(JourneyState(state, before, steps, walk.cookies_before_secrets if has_typed else None))
        before = state
    return states


def _types_secret(step: Step) -> bool:
    return isinstance(step, Change) and PLACEHOLDER.search(step.value) is not None


def _identity(cookie: Cookie) -> tuple[str, str, str]:
    return cookie.name, cookie.domain, cookie.path
