"""Reasons why a step fails, as sentences for the person who wrote the step."""

from __future__ import annotations

import asyncio
import difflib
import time
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from website_scan.browser.devtools import CLOSED, ProtocolError
from website_scan.journeys.journey import ElementTarget, Selector, SelectorKind

T = TypeVar("T")

# A call that begins shortly before the deadline may take longer on a busy machine.
CALL_GRACE_S = 1.0
BUSY = "the page kept the browser busy until the time was up."
MAX_NEAR_MATCHES = 5
MIN_SIMILARITY = 0.5
MAX_NAME_CHARS = 80
MAX_COMPARED_NODES = 2_000
POLL_INTERVAL_S = 0.1
# Nodes of Chromium's accessibility tree that are no elements, or have no meaning.
ROLES_OF_TEXT = frozenset({"StaticText", "InlineTextBox", "LineBreak", "ListMarker"})
ROLES_WITHOUT_MEANING = frozenset({"none", "presentation", "generic", "RootWebArea", "Iframe", "Ignored"})


class StepFailed(Exception):
    """Raised when a step cannot be executed. The message begins in lower case and ends with a period."""

    def __init__(self, problem: str, near_matches: Sequence[str] = ()) -> None:
        super().__init__(problem)
        self.problem = problem
        self.near_matches = tuple(near_matches)


class Deadline(Struct, frozen=True):
    """End of a step, as a value of `time.monotonic()`."""

    at: float

    @classmethod
    def after(cls, limit_s: float) -> Deadline:
        """Return the deadline in `limit_s` seconds."""
        return cls(time.monotonic() + limit_s)

    @property
    def remaining_s(self) -> float:
        """Return the seconds until the deadline, at least 0."""
        return max(0.0, self.at - time.monotonic())

    @property
    def is_over(self) -> bool:
        """Return True after the deadline."""
        return time.monotonic() >= self.at

    async def run(self, awaitable: Awaitable[T]) -> T:
        """Await a result. Raises `StepFailed` after the deadline, because the page does not answer."""
        try:
            return await asyncio.wait_for(awaitable, self.remaining_s + CALL_GRACE_S)
        except TimeoutError:
            raise StepFailed(BUSY) from None

    async def pause(self) -> None:
        """Wait a moment before a condition is checked again."""
        await asyncio.sleep(min(POLL_INTERVAL_S, self.remaining_s))


def raise_if_closed(error: ProtocolError) -> None:
    """Raise the error if the page is closed. Other errors mean that a document has been replaced."""
    if str(error) == CLOSED:
        raise error


def describe_missing(target: ElementTarget) -> str:
    """Return what is not on the page, by the first selector of a step."""
    last = _main_selector(target).parts[-1]
    if last.kind is SelectorKind.ARIA:
        if not last.text:
            return f"the page has no {last.role}."
        return f"no {last.role} is named “{last.text}”." if last.role else f"nothing is named “{last.text}”."
    if last.kind is SelectorKind.TEXT:
        return f"the text “{last.text}” is not on the page."
    return f"no element matches `{last.text}`."


def describe_element(target: ElementTarget) -> str:
    """Return how a sentence refers to the element of a step."""
    last = _main_selector(target).parts[-1]
    if last.kind is SelectorKind.ARIA:
        return f"the {last.role or 'element'} “{last.text}”" if last.text else f"the {last.role}"
    return f"the text “{last.text}”" if last.kind is SelectorKind.TEXT else f"the element `{last.text}`"


def describe_state(target: ElementTarget, state: Mapping[str, Any]) -> str:
    """Return why an element cannot be used, by the result of the script `prepare`."""
    element = describe_element(target)
    match state["state"]:
        case "covered":
            return f"{element} is covered by {state['by']}."
        case "disabled":
            return f"{element} is disabled."
        case "hidden":
            return f"{element} is hidden."
        case "moving":
            return f"{element} does not stop moving."
        case "outside":
            return f"{element} is outside of the screen."
        case "read-only":
            return f"{element} is read-only."
        case "unfocused":
            return f"{element} does not get the focus."
        case _:
            return f"the page keeps replacing {element}."


def _main_selector(target: ElementTarget) -> Selector:
    """Return the selector that means most to readers: by name, by text, or else the first one."""
    for kind in (SelectorKind.ARIA, SelectorKind.TEXT):
        for selector in target.selectors:
            if selector.parts[-1].kind is kind:
                return selector
    return target.selectors[0]


def wanted_name(target: ElementTarget) -> str:
    """Return the name or text by which a step finds its element. Empty for other selectors."""
    last = _main_selector(target).parts[-1]
    return last.text if last.kind in (SelectorKind.ARIA, SelectorKind.TEXT) else ""


def nearest(wanted: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that resemble a wanted one, the most similar first."""
    compared = wanted.casefold()

    def similarity(name: str) -> float:
        other = name.casefold()
        bonus = 0.5 if compared and other and (compared in other or other in compared) else 0.0
        return difflib.SequenceMatcher(None, compared, other).ratio() + bonus

    rated = sorted(((similarity(name), name) for name in dict.fromkeys(names)), key=lambda pair: -pair[0])
    return tuple(name for rating, name in rated if rating >= MIN_SIMILARITY)[:MAX_NEAR_MATCHES]


def near_matches(target: ElementTarget, nodes: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return elements of an accessibility tree whose names resemble the wanted one, as `button “Sign in now”`."""
    wanted = wanted_name(target)
    if not wanted:
        return ()
    by_name: dict[str, str] = {}
    for node in nodes[:MAX_COMPARED_NODES]:
        role = str(node.get("role", {}).get("value", ""))
        name = " ".join(str(node.get("name", {}).get("value", "")).split())[:MAX_NAME_CHARS]
        if node.get("ignored") or not name or role in ROLES_WITHOUT_MEANING or role == "InlineTextBox":
            continue
        if role in ROLES_OF_TEXT:
            by_name.setdefault(name, "text")
        else:
            by_name[name] = role if by_name.get(name, "text") == "text" else by_name[name]
    return tuple(f"{by_name[name]} “{name}”" for name in nearest(wanted, by_name))
