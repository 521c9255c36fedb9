"""Execute the steps that act on elements, as a person would with mouse and keyboard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from website_scan.browser.devtools import ProtocolError
from website_scan.browser.journey.activity import PageActivity
from website_scan.browser.journey.failures import (
    Deadline,
    StepFailed,
    describe_element,
    describe_missing,
    describe_state,
    nearest,
    raise_if_closed,
)
from website_scan.browser.journey.finder import Element, Finder
from website_scan.browser.journey.inputs import Inputs
from website_scan.browser.journey.keys import UNIDENTIFIED, key_named
from website_scan.browser.journey.worlds import ScriptFailed
from website_scan.journeys.journey import PLACEHOLDER, Change, Click, ElementTarget, WaitForElement

COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    ">=": lambda actual, wanted: actual >= wanted,
    "==": lambda actual, wanted: actual == wanted,
    "<=": lambda actual, wanted: actual <= wanted,
}
FRAME_TAGS = ("<iframe", "<frame", "<object", "<embed", "<fencedframe")
MAX_HELD_S = 5.0
MISSED = "The click missed the element, as it would for a person."


class Actions:
    """Actions on elements of the page. All methods raise `StepFailed`, `ProtocolError`."""

    def __init__(self, finder: Finder, inputs: Inputs, activity: PageActivity) -> None:
        self._finder = finder
        self._inputs = inputs
        self._activity = activity

    async def hover(self, target: ElementTarget, deadline: Deadline) -> None:
        """Move the mouse over an element."""
        _, x, y = await self._finder.wait_until_ready(target, deadline)
        await deadline.run(self._inputs.move(x, y))

    async def click(self, step: Click, deadline: Deadline) -> None:
        """Click an element. A click that would reach another element is stopped and tried again."""
        while True:
            element, x, y = await self._finder.wait_until_ready(step.target, deadline, step.offset)
            await deadline.run(self._inputs.move(x, y))
            by = await self._try_click(step, element, deadline)
            if by is None:
                return
            if deadline.is_over:
                raise StepFailed(describe_state(step.target, {"state": "covered" if by else "gone", "by": by}))
            await deadline.pause()

    async def _try_click(self, step: Click, element: Element, deadline: Deadline) -> str | None:
        """Click an element over which the mouse is.

        Returns None if the click has reached it, or else what was hit instead; empty if nothing was hit.
        """
        moves = self._activity.moves
        try:
            # The page may have moved or replaced the element when the mouse reached it.
            state = await deadline.run(self._finder.prepare(element, step.offset))
            if state["state"] != "ok":
                return str(state.get("by", ""))
            tag = str(await deadline.run(element.world.call("startTagOf", element.handle)))
            if tag.startswith(FRAME_TAGS):
                raise StepFailed(f"{describe_element(step.target)} is a frame. Name an element in the frame.")
            if not await deadline.run(element.world.call("armClick", element.handle)):
                return ""
        except (ProtocolError, ScriptFailed) as error:
            if isinstance(error, ProtocolError):
                raise_if_closed(error)
            return ""
        held_for_s = min(step.held_for_s, MAX_HELD_S)
        activity = self._activity
        pressing = self._inputs.press_button(state["x"], state["y"], step.button, step.count, held_for_s)
        await activity.run_unless_leaving(pressing, deadline)
        try:
            result = await activity.run_unless_leaving(element.world.call("disarmClick"), deadline)
        except (ProtocolError, ScriptFailed) as error:
            if isinstance(error, ProtocolError):
                raise_if_closed(error)
            return None  # The click has opened another document.
        if result is None:
            return None  # The click opens another document.
        if result == "missed":
            self._activity.note(f"During the click, {describe_element(step.target)} moved. {MISSED}")
            return None
        return None if result == "reached" or (not result and self._activity.moves != moves) else str(result)

    async def change(self, step: Change, value: str, deadline: Deadline) -> None:
        """Set the value of a form field. `value` is the step's value with its secrets."""
        is_secret = PLACEHOLDER.search(step.value) is not None
        state: dict[str, Any] = {"state": "gone"}
        while True:
            element = await self._finder.wait_for_element(step.target, deadline)
            await self._finder.require_allowed(element)
            try:
                state = await self._try_change(step.target, element, value, deadline, is_secret=is_secret)
            except (ProtocolError, ScriptFailed) as error:
                if isinstance(error, ProtocolError):
                    raise_if_closed(error)
                state = {"state": "gone"}
            if state["state"] == "ok":
                return
            if deadline.is_over or state["state"] == "no option":
                if state["state"] == "no option":
                    shown = "this value" if is_secret else f"“{value}”"
                    raise StepFailed(
                        f"{describe_element(step.target)} has no option {shown}.",
                        [f"option “{name}”" for name in nearest(value, state["options"])] if not is_secret else (),
                    )
                raise StepFailed(describe_state(step.target, state))
            await deadline.pause()

    async def _try_change(
        self, target: ElementTarget, element: Element, value: str, deadline: Deadline, *, is_secret: bool
    ) -> dict[str, Any]:
        world, node = element.world, element.handle
        field = await deadline.run(world.call("fieldOf", node))
        if field["kind"] == "label":
            node = await world.handle("controlOf", node) or node
            element = Element(node, world, element.owners)
            field = await deadline.run(world.call("fieldOf", node))
        match field["kind"]:
            case "file":
                raise StepFailed(f"{describe_element(target)} is a field for files, which a journey does not upload.")
            case "none" | "label":
                raise StepFailed(f"{describe_element(target)} is not a field.")
            case "check":
                return await self._check(target, element, field, value, deadline)
        state = dict(await deadline.run(self._finder.prepare(element, None, may_be_covered=True)))
        if state["state"] != "ok":
            return state
        if field["kind"] == "select":
            options = await deadline.run(world.call("choose", node, value))
            return {"state": "ok"} if options is None else {"state": "no option", "options": options}
        if field["kind"] == "set":
            actual = await deadline.run(world.call("setValue", node, value, is_secret))
            if value and not actual:
                shown = "its value" if is_secret else f"“{value}”"
                raise StepFailed(f"{describe_element(target)} of the type {field['type']} does not accept {shown}.")
            return {"state": "ok"}
        if field["isReadOnly"]:
            return {"state": "read-only"}
        return await self._type(element, value, deadline, is_secret=is_secret)

    async def _check(
        self, target: ElementTarget, element: Element, field: dict[str, Any], value: str, deadline: Deadline
    ) -> dict[str, Any]:
        """Check or uncheck a box by a click on it, or on its label if the page draws its own box."""
        wanted = value.strip().lower() not in ("false", "off", "0", "")
        if field["isChecked"] == wanted:
            return {"state": "ok"}
        shown = element
        state = dict(await deadline.run(self._finder.prepare(element, None)))
        if state["state"] in ("hidden", "covered", "outside"):
            label = await element.world.handle("shownLabelOf", element.handle)
            if label is not None:
                shown = Element(label, element.world, element.owners)
                state = dict(await deadline.run(self._finder.prepare(shown, None)))
        if state["state"] != "ok":
            return state
        await deadline.run(self._inputs.move(state["x"], state["y"]))
        by = await self._try_click(Click(target=target), shown, deadline)
        return {"state": "ok"} if by is None else {"state": "covered" if by else "gone", "by": by}

    async def _type(self, element: Element, value: str, deadline: Deadline, *, is_secret: bool) -> dict[str, Any]:
        """Replace the text of a field by typing.

        A secret is typed by a script of the field's own document, so that no other document can receive it, even if the
        page is replaced at this moment.
        """
        world, node = element.world, element.handle
        had_text = await deadline.run(world.call("beginTyping", node, is_secret))
        if had_text is None:
            return {"state": "unfocused"}
        delete = key_named("Delete")
        assert delete is not None
        if had_text:
            await deadline.run(self._inputs.press_key(delete))
        if not is_secret:
            await self._finder.require_allowed_focus()
            await deadline.run(self._inputs.write(value))
            return {"state": "ok"}
        for character in value:
            await deadline.run(self._inputs.hold_key(UNIDENTIFIED))
            try:
                if not await deadline.run(world.call("type", node, character)):
                    raise StepFailed("the page moved the focus while a secret was typed.")
            except (ProtocolError, ScriptFailed) as error:
                if isinstance(error, ProtocolError):
                    raise_if_closed(error)
                raise StepFailed("the page was replaced while a secret was typed.") from None
            await deadline.run(self._inputs.release_key(UNIDENTIFIED))
        return {"state": "ok"}

    async def wait_for(self, step: WaitForElement, deadline: Deadline) -> None:
        """Wait until the number of matching elements satisfies the condition.

        Several elements may match, because a wait acts on none of them. Names match exactly, as in Chrome's Recorder.
        """
        count = 0
        while True:
            try:
                count = await deadline.run(self._count(step))
                if COMPARISONS[step.operator](count, step.count):
                    return
            except ProtocolError as error:
                raise_if_closed(error)
            if deadline.is_over:
                raise StepFailed(_describe_count(step, count), await self._finder.near_matches(step.target))
            await deadline.pause()

    async def is_there(self, step: WaitForElement) -> bool:
        """Return True if the number of matching elements satisfies the condition of a step now."""
        return COMPARISONS[step.operator](await self._count(step), step.count)

    async def _count(self, step: WaitForElement) -> int:
        elements = await self._finder.find_all(step.target)
        if not elements:
            return 0
        handles = [element.handle for element in elements]
        attributes, properties = [list(map(list, pairs)) for pairs in (step.attributes, step.properties)]
        return int(await elements[0].world.call("countMatching", step.is_visible, attributes, properties, *handles))


def _describe_count(step: WaitForElement, count: int) -> str:
    if not count:
        return describe_missing(step.target)
    element = describe_element(step.target)
    if step.operator in ("==", "<=") and step.count == 0:
        return f"{element} does not go away."
    wanted = {">=": "at least ", "<=": "at most ", "==": ""}[step.operator]
    return f"{element} is on the page {count} times instead of {wanted}{step.count} times."
