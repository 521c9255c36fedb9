"""Find the elements of steps."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from website_scan.browser.devtools import ProtocolError, Target
from website_scan.browser.journey.failures import (
    MAX_NEAR_MATCHES,
    ROLES_OF_TEXT,
    Deadline,
    StepFailed,
    describe_missing,
    describe_state,
    near_matches,
    raise_if_closed,
)
from website_scan.browser.journey.names import find_written, named_nodes, with_roles
from website_scan.browser.journey.worlds import FrameNode, Frames, Handle, ScriptFailed, World
from website_scan.journeys.journey import ElementTarget, Selector, SelectorKind, SelectorPart
from website_scan.journeys.targets import written_name

MAX_ROOTS = 20
MAX_MATCHES = 50
# Names are compared less often than the page is searched for exact ones, because that reads the whole tree.
SEARCH_INTERVAL_S = 0.3
# An element whose name contains the written one is used only if none has the written name after this time.
CONTAINING_AFTER_S = 1.0
TREE_TIMEOUT_S = 2.0  # Time limit for a search in the accessibility tree.


class Element(Struct, frozen=True):
    """Element of the page. `owners` are the frames around it from the inside, each with the world of its parent."""

    handle: Handle
    world: World
    owners: tuple[tuple[FrameNode, World], ...] = ()


class Finder:
    """Finder of elements in the page and its frames."""

    def __init__(
        self, cdp: Target, frames: Frames, allowed: Callable[[str], bool], note: Callable[[str], None]
    ) -> None:
        self._cdp = cdp
        self._frames = frames
        self._allowed = allowed
        self._note = note

    async def find_all(self, target: ElementTarget) -> list[Element]:
        """Return the elements of the first selector that matches any now, visible ones first.

        Raises `ProtocolError`, and `StepFailed` for a selector that the browser cannot read.
        """
        located = await self._locate_frame(target)
        if located is None:
            return []
        world, owners = located
        for selector in target.selectors:
            handles = await self._query(world, selector)
            if handles:
                shown = await world.call("areVisible", *handles)
                pairs = sorted(zip(shown, handles, strict=True), key=lambda pair: not pair[0])
                return [Element(handle, world, owners) for _, handle in pairs]
        return []

    async def wait_for_element(self, target: ElementTarget, deadline: Deadline) -> Element:
        """Return the element of a step as soon as it is there. Raises `StepFailed`, `ProtocolError`."""
        name = written_name(target)
        began, searched = time.monotonic(), 0.0
        alternatives: list[str] = []
        while True:
            try:
                if elements := await deadline.run(self.find_all(with_roles(target) if name else target)):
                    return elements[0]
                if name and (deadline.is_over or time.monotonic() - searched >= SEARCH_INTERVAL_S):
                    searched = time.monotonic()
                    may_contain = deadline.is_over or searched - began >= CONTAINING_AFTER_S
                    element, alternatives = await deadline.run(self._find_written(target, may_contain=may_contain))
                    if element is not None:
                        return element
            except ProtocolError as error:
                raise_if_closed(error)
            if deadline.is_over:
                if alternatives:
                    number = len(alternatives)
                    problem = f"nothing is named exactly “{name}”, and {number} elements have names that contain it."
                    raise StepFailed(problem, alternatives[:MAX_NEAR_MATCHES])
                raise StepFailed(await self._describe_missing(target), await self.near_matches(target))
            await deadline.pause()

    async def _find_written(self, target: ElementTarget, *, may_contain: bool) -> tuple[Element | None, list[str]]:
        """Return the element whose name somebody has written, or the elements that the name does not tell apart."""
        located = await self._locate_frame(target)
        if located is None:
            return None, []
        world, owners = located
        root = await world.document()
        nodes = named_nodes(await self._query_tree(world, {"objectId": root.id}))
        found = await find_written(world, root, nodes, target, may_contain=may_contain)
        return (None if found.handle is None else Element(found.handle, world, owners)), found.alternatives

    async def prepare(
        self, element: Element, offset: tuple[float, float] | None, *, may_be_covered: bool = False
    ) -> Mapping[str, Any]:
        """Scroll to an element and return its state (see elements.js). The point is on the screen of the page."""
        state: Mapping[str, Any] = await element.world.call(
            "prepare", element.handle, list(offset) if offset else None, may_be_covered
        )
        if state["state"] != "ok":
            return state
        x, y = float(state["x"]), float(state["y"])
        for frame, parent in element.owners:
            owner = await self._frames.owner(frame, parent)
            left, top = await parent.call("frameOffset", owner)
            x, y = x + left, y + top
            if not may_be_covered and (cover := await parent.call("coverAt", owner, x, y)):
                return {"state": "covered", "by": cover}
        return {"state": "ok", "x": x, "y": y}

    async def wait_until_ready(
        self, target: ElementTarget, deadline: Deadline, offset: tuple[float, float] | None = None
    ) -> tuple[Element, float, float]:
        """Return the element of a step and a point of it, as soon as a person could click there."""
        while True:
            element = await self.wait_for_element(target, deadline)
            await self.require_allowed(element)
            try:
                state = await deadline.run(self.prepare(element, offset))
            except (ProtocolError, ScriptFailed) as error:
                if isinstance(error, ProtocolError):
                    raise_if_closed(error)
                state = {"state": "gone"}
            if state["state"] == "ok":
                return element, state["x"], state["y"]
            if deadline.is_over:
                raise StepFailed(describe_state(target, state))
            await deadline.pause()

    async def require_allowed(self, element: Element) -> None:
        """Raise `StepFailed` if the journey may not act on the document of an element."""
        try:
            context = await element.world.call("context")
        except ProtocolError as error:
            raise_if_closed(error)
            return  # The document is gone, and so is the element.
        self.require_allowed_context(context)

    def require_allowed_context(self, context: Mapping[str, Any]) -> None:
        """Raise `StepFailed` if the journey may not act on a document with this origin and URL."""
        address = str(context["origin"])
        if address == "null":  # The document is sandboxed.
            address = str(context["url"])
        if not self._allowed(address):
            raise StepFailed(f"the element is in a document of {address[:200]}, which is not part of the site.")

    async def require_allowed_focus(self) -> None:
        """Raise `StepFailed` if keys would reach a document on which the journey may not act."""
        frame = await self._frames.tree()
        while True:
            world = await self._frames.world(frame.id)
            self.require_allowed_context(await world.call("context"))
            owner = await world.handle("focusedFrame")
            if owner is None:
                return
            node = await self._cdp.send("DOM.describeNode", {"objectId": owner.id})
            id = node["node"].get("frameId")
            inner = next((child for child in frame.children if child.id == id), None)
            if inner is None:
                raise StepFailed("the focus is in a frame that the scanner cannot see.")
            frame = inner

    async def near_matches(self, target: ElementTarget) -> tuple[str, ...]:
        """Return elements whose names resemble the one that is not there. Empty if the page does not answer."""
        try:
            located = await self._locate_frame(target)
            frame = located[0].frame if located else (await self._frames.tree()).id
            tree = await Deadline.after(3.0).run(self._cdp.send("Accessibility.getFullAXTree", {"frameId": frame}))
        except (ProtocolError, StepFailed):
            return ()
        return near_matches(target, tree["nodes"])

    async def _describe_missing(self, target: ElementTarget) -> str:
        if target.frame:
            try:
                if await self._locate_frame(target) is None:
                    return f"the page has no frame {'.'.join(str(position + 1) for position in target.frame)}."
            except ProtocolError as error:
                raise_if_closed(error)
        return describe_missing(target)

    async def _locate_frame(self, target: ElementTarget) -> tuple[World, tuple[tuple[FrameNode, World], ...]] | None:
        frame = await self._frames.tree()
        world = await self._frames.world(frame.id)
        owners: list[tuple[FrameNode, World]] = []
        for position in target.frame:
            if position >= len(frame.children):
                return None
            frame = frame.children[position]
            # Chromium does not draw frames outside of the screen, and they have no accessibility tree.
            await world.call("reveal", await self._frames.owner(frame, world))
            owners.insert(0, (frame, world))
            world = await self._frames.world(frame.id)
        return world, tuple(owners)

    async def _query(self, world: World, selector: Selector) -> list[Handle]:
        roots = [await world.document()]
        for part in selector.parts:
            found: list[Handle] = []
            for root in roots[:MAX_ROOTS]:
                if part.kind is SelectorKind.ARIA:
                    found += await self._query_names(world, root, part)
                else:
                    found += await self._query_script(world, root, part)
            roots = found[:MAX_MATCHES]
        return roots

    async def _query_script(self, world: World, root: Handle, part: SelectorPart) -> list[Handle]:
        try:
            return await world.handles("query", root, part.kind.value, part.text)
        except ScriptFailed as error:
            raise StepFailed(f"the browser cannot read the selector `{part.text}`: {error}.") from None

    async def _query_names(self, world: World, root: Handle, part: SelectorPart) -> list[Handle]:
        """Find elements by their names in the accessibility tree, which includes closed shadow trees."""
        params: dict[str, Any] = {"objectId": root.id}
        if part.text:
            params["accessibleName"] = part.text
        if part.role:
            params["role"] = part.role
        nodes = await self._query_tree(world, params)
        ids = [
            int(node["backendDOMNodeId"])
            for node in nodes
            if not node.get("ignored")
            and "backendDOMNodeId" in node
            and node.get("role", {}).get("value") not in ROLES_OF_TEXT | {"RootWebArea"}
        ]
        return [await world.resolve(id) for id in dict.fromkeys(ids[:MAX_MATCHES])]

    async def _query_tree(self, world: World, params: Mapping[str, Any]) -> list[dict[str, Any]]:
        try:
            query = self._cdp.send("Accessibility.queryAXTree", dict(params))
            nodes: list[dict[str, Any]] = (await asyncio.wait_for(query, TREE_TIMEOUT_S))["nodes"]
        except TimeoutError:
            await self._stop_loading(world)
            return []
        return nodes

    async def _stop_loading(self, world: World) -> None:
        """Stop a page that never finishes loading, because its accessibility tree is complete only then."""
        if not await world.call("isLoaded"):
            self._note("The page did not finish loading, so that the scanner stopped it.")
            await self._cdp.send("Page.stopLoading")
