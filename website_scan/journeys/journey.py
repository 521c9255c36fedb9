"""Journey: a named list of steps in a browser, and the states of the site that are judged.

A journey is stored and exchanged as a recording of Chrome DevTools' Recorder (`recordings`). People also write it as
text, one step a line (`short_form`). Both become the steps of this module, which the browser executes.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import ClassVar

from msgspec import Struct

from website_scan.errors import Refusal
from website_scan.records import values_without

MAX_STEPS = 50
MAX_STATES = 20
MAX_DURATION_S = 300.0
DEFAULT_STEP_TIMEOUT_S = 10.0
# The longest that Chrome's Recorder accepts.
MAX_STEP_TIMEOUT_S = 30.0
# A value contains secrets by name, as in `{{password}}`.
PLACEHOLDER = re.compile(r"\{\{([a-z][a-z0-9_-]{0,39})\}\}")


class JourneyRefused(Refusal):
    """Raised for a journey that the scanner cannot execute.

    The message names the line and the step.
    """

    code = "INVALID_JOURNEY"
    status: ClassVar[int] = 400


class SelectorKind(StrEnum):
    """How a selector finds an element."""

    ARIA = "aria"  # Accessible name, and optionally the role.
    TEXT = "text"  # Smallest element that contains the text.
    CSS = "css"
    PIERCE = "pierce"  # CSS selector that also searches open shadow trees.
    XPATH = "xpath"


class SelectorPart(Struct, frozen=True):
    """Selector within one document or shadow tree.

    `text` is the accessible name, text, CSS selector or XPath. `role` is empty if any role matches.
    """

    kind: SelectorKind
    text: str
    role: str = ""


class Selector(Struct, frozen=True):
    """Selector of an element.

    Each further part is searched in the shadow tree of the element of the part before, or inside that element if it has
    no shadow tree.
    """

    parts: tuple[SelectorPart, ...]


class ElementTarget(Struct, frozen=True):
    """Element on which a step acts.

    `selectors` are alternatives: the first that matches an element is used. `frame` is the position of a frame in its
    parent's list of frames, from the outermost frame inwards. It is empty for the page itself.
    """

    selectors: tuple[Selector, ...]
    frame: tuple[int, ...] = ()


class ExpectedNavigation(Struct, frozen=True):
    """Navigation that a step has to cause. An empty `url` or `title` matches any."""

    url: str = ""
    title: str = ""


class Step(Struct, frozen=True, kw_only=True):
    """Step of a journey.

    `line` is its line in the text that the person wrote or uploaded. Steps are equal if they differ only in it.
    """

    line: int = 0
    timeout_s: float = DEFAULT_STEP_TIMEOUT_S
    expected_navigation: ExpectedNavigation | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and values_without(self, "line") == values_without(other, "line")

    def __hash__(self) -> int:
        return hash(values_without(self, "line"))


class SetViewport(Step, frozen=True, kw_only=True):
    """Change the size of the screen, in CSS pixels."""

    width: int
    height: int
    scale: float = 1.0
    is_mobile: bool = False
    has_touch: bool = False


class Navigate(Step, frozen=True, kw_only=True):
    """Open an address. The short form allows addresses relative to the journey's first one."""

    url: str


class Click(Step, frozen=True, kw_only=True):
    """Click an element with the mouse.

    `offset` is the position in the element in CSS pixels, or None for its centre.
    """

    target: ElementTarget
    button: str = "primary"  # primary, auxiliary, secondary, back, forward
    count: int = 1  # 2 for a double click
    offset: tuple[float, float] | None = None
    held_for_s: float = 0.0


class Hover(Step, frozen=True, kw_only=True):
    """Move the mouse over an element."""

    target: ElementTarget


class Change(Step, frozen=True, kw_only=True):
    """Set the value of a form field.

    Text fields receive the text by typing. A list selects the option with this value or label. A checkbox, a switch or
    a radio button is checked by "true" and unchecked by "false". `value` may contain `{{name}}`, which is replaced by a
    secret of the journey.
    """

    target: ElementTarget
    value: str


class KeyDown(Step, frozen=True, kw_only=True):
    """Press a key, for example "Enter" or "a", and hold it."""

    key: str


class KeyUp(Step, frozen=True, kw_only=True):
    """Release a key."""

    key: str


class Scroll(Step, frozen=True, kw_only=True):
    """Scroll the page, or an element if there is a target, to a position in CSS pixels.

    An element is first scrolled into view, as Puppeteer does. Positions beyond the end mean the end.
    """

    x: float
    y: float
    target: ElementTarget | None = None


class WaitForElement(Step, frozen=True, kw_only=True):
    """Wait until the number of matching elements satisfies the condition.

    `operator` is ">=", "==" or "<=". `is_visible` is None if both visible and hidden elements count. Attributes and
    properties must have these values.
    """

    target: ElementTarget
    operator: str = ">="
    count: int = 1
    is_visible: bool | None = None
    attributes: tuple[tuple[str, str], ...] = ()
    properties: tuple[tuple[str, str | float | bool | None], ...] = ()


class WaitForAddress(Step, frozen=True, kw_only=True):
    """Wait until the address of the page is `url`, or begins with it if `is_prefix`.

    It replaces the expressions `location.href === "…"`, `location.pathname === "…"` and `location.search === "…"` of
    recordings. A `url` that begins with "/" is compared with the path only, and one that begins with "?" with the
    query only.
    """

    url: str
    is_prefix: bool = False


class WaitForTitle(Step, frozen=True, kw_only=True):
    """Wait until the title of the page is this text.

    It replaces the expression `document.title === "…"` of recordings.
    """

    title: str


class Judge(Step, frozen=True, kw_only=True):
    """Judge the page as it is now, as a state with this name."""

    name: str


class StateRule(StrEnum):
    """Which states are judged in addition to the steps `Judge`."""

    STEPS = "steps"  # None. Used if the journey has a step `Judge`.
    NAVIGATIONS = "navigations"  # The page after each navigation, and at the end.
    END = "end"  # The page after the last step.


class Journey(Struct, frozen=True):
    """Named list of steps, which begins with `Navigate` after optional `SetViewport`.

    `identity_providers` are the hosts to which a log-in may redirect and where secrets may be typed, besides the site.
    """

    title: str
    steps: tuple[Step, ...]
    rule: StateRule = StateRule.NAVIGATIONS
    identity_providers: tuple[str, ...] = ()

    @property
    def start_url(self) -> str:
        """Address of the first navigation."""
        return next(step.url for step in self.steps if isinstance(step, Navigate))

    @property
    def secret_names(self) -> tuple[str, ...]:
        """Names of the secrets that steps use, in the order of their first use."""
        values = [step.value for step in self.steps if isinstance(step, Change)]
        return tuple(dict.fromkeys(name for value in values for name in PLACEHOLDER.findall(value)))
