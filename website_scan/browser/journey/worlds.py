"""Isolated worlds of the page's frames, in which the scripts of this folder run.

A page can neither read nor change the scripts' objects. The scripts are installed before the page's own scripts run, so
that they observe every document from its beginning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from website_scan.browser.devtools import ProtocolError, Target
from website_scan.browser.injected_scripts import read_script

WORLD = "scan-journey"
SCRIPTS = ("base", "elements", "fields", "observers", "appeared", "keyboard")
# An element with this ID would be a property of the global object too, but not its own one.
IS_INSTALLED = "Object.hasOwn(globalThis, '__journey')"
MAX_HANDLES = 100
GROUP = "journey"  # Handles of this group are released after each step.


class ScriptFailed(Exception):
    """Raised when a script of the scanner fails in the page. The message is the browser's."""


class Handle(Struct, frozen=True):
    """JavaScript object in a world."""

    id: str


class FrameNode(Struct, frozen=True):
    """Frame of the page. `url` is the address of its document."""

    id: str
    url: str
    children: tuple[FrameNode, ...] = ()

    @classmethod
    def parse(cls, tree: Mapping[str, Any]) -> FrameNode:
        """Convert a `FrameTree` of the DevTools Protocol."""
        frame = tree["frame"]
        url = str(frame["url"]) + str(frame.get("urlFragment", ""))
        return cls(str(frame["id"]), url, tuple(map(cls.parse, tree.get("childFrames", ()))))


@cache
def library() -> str:
    """Return the script that defines `__journey` in a world, if it is not defined yet."""
    files = "\n".join([read_script("selector.js"), *(read_script(f"journey/{name}.js") for name in SCRIPTS)])
    return f"(() => {{\nif ({IS_INSTALLED}) return;\nconst journey = globalThis.__journey = {{}};\n{files}\n}})();0"


class World:
    """Isolated world of one document.

    Commands fail with `ProtocolError` after the frame has got another document.
    """

    def __init__(self, cdp: Target, id: int, frame: str) -> None:
        self._cdp = cdp
        self.id = id
        self.frame = frame

    async def call(self, function: str, *arguments: object) -> Any:
        """Call a function of `__journey` and return its JSON result.

        Raises `ProtocolError`, `ScriptFailed`.
        """
        return (await self._call(function, arguments, by_value=True)).get("value")

    async def handle(self, function: str, *arguments: object) -> Handle | None:
        """Call a function of `__journey` and return a handle of its result. None if the result is null."""
        result = await self._call(function, arguments, by_value=False)
        return Handle(str(result["objectId"])) if "objectId" in result and result.get("subtype") != "null" else None

    async def handles(self, function: str, *arguments: object) -> list[Handle]:
        """Call a function of `__journey` and return handles of the items of the array that it returns."""
        array = await self.handle(function, *arguments)
        if array is None:
            return []
        items = await self._cdp.send("Runtime.getProperties", {"objectId": array.id, "ownProperties": True})
        ids = [item["value"].get("objectId") for item in items["result"] if item["name"].isdecimal()]
        return [Handle(str(id)) for id in ids[:MAX_HANDLES] if id]

    async def document(self) -> Handle:
        """Return a handle of the document. Raises `ProtocolError`."""
        response = await self._cdp.send(
            "Runtime.evaluate", {"expression": "document", "contextId": self.id, "objectGroup": GROUP}
        )
        return Handle(str(response["result"]["objectId"]))

    async def resolve(self, backend_node_id: int) -> Handle:
        """Return a handle of a node of the DOM domain. Raises `ProtocolError`."""
        parameters = {"backendNodeId": backend_node_id, "executionContextId": self.id, "objectGroup": GROUP}
        return Handle(str((await self._cdp.send("DOM.resolveNode", parameters))["object"]["objectId"]))

    async def _call(self, function: str, arguments: Sequence[object], *, by_value: bool) -> Mapping[str, Any]:
        response = await self._cdp.send(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": f"(...values) => globalThis.__journey.{function}(...values)",
                "executionContextId": self.id,
                "arguments": [
                    {"objectId": value.id} if isinstance(value, Handle) else {"value": value} for value in arguments
                ],
                "awaitPromise": True,
                "returnByValue": by_value,
                "objectGroup": GROUP,
            },
        )
        if "exceptionDetails" in response:
            details = response["exceptionDetails"]
            message = str(details.get("exception", {}).get("description") or details.get("text", ""))
            raise ScriptFailed(message.partition("\n")[0][:300])
        result: Mapping[str, Any] = response["result"]
        return result


class Frames:
    """Frames of the page with their worlds."""

    def __init__(self, cdp: Target) -> None:
        self._cdp = cdp
        self._main = ""  # ID of the main frame, which stays the same when it gets another document.

    async def install(self) -> None:
        """Install the scripts in all documents from now on. Raises `ProtocolError`."""
        await self._cdp.send("Page.addScriptToEvaluateOnNewDocument", {"source": library(), "worldName": WORLD})

    async def release_handles(self) -> None:
        """Release all handles, so that the page's objects do not use more and more memory. Raises `ProtocolError`."""
        await self._cdp.send("Runtime.releaseObjectGroup", {"objectGroup": GROUP})

    async def tree(self) -> FrameNode:
        """Return the main frame. Raises `ProtocolError`."""
        return FrameNode.parse((await self._cdp.send("Page.getFrameTree"))["frameTree"])

    async def world(self, frame: str) -> World:
        """Return the world of the frame's current document. Raises `ProtocolError`."""
        created = await self._cdp.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": WORLD})
        id = int(created["executionContextId"])
        # Most documents have the scripts from their beginning, and sending them costs more than to ask.
        response = await self._cdp.send("Runtime.evaluate", {"expression": IS_INSTALLED, "contextId": id})
        if response["result"].get("value") is not True:
            response = await self._cdp.send("Runtime.evaluate", {"expression": library(), "contextId": id})
            if "exceptionDetails" in response:
                raise ProtocolError("The scanner's scripts could not be installed.")
        return World(self._cdp, id, frame)

    async def main(self) -> World:
        """Return the world of the page itself. Raises `ProtocolError`."""
        self._main = self._main or (await self.tree()).id
        return await self.world(self._main)

    async def owner(self, frame: FrameNode, parent: World) -> Handle:
        """Return the element that shows a frame, in the world of the parent's document. Raises `ProtocolError`."""
        node = await self._cdp.send("DOM.getFrameOwner", {"frameId": frame.id})
        return await parent.resolve(int(node["backendNodeId"]))
