"""axe-core on the rendered page: runs in an isolated world of every frame; axe-core itself merges the partial results.

Otherwise frames would exchange results in messages that the page's own scripts can read and forge (axe-core,
"runPartial and finishRun").
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from website_scan.browser.devtools import Target
from website_scan.browser.evidence import AxeNode, AxeReport, AxeRule
from website_scan.browser.injected_scripts import script
from website_scan.browser.visit import BrowserFailed

MAX_FRAMES = 30
MAX_DEPTH = 5
SCRIPT_LIMIT_MS = 15_000
WORLD = "scan-axe"
SKIPPED = "axe-core could not judge the page in the browser"

OPTIONS: Mapping[str, Any] = {
    "resultTypes": ["violations", "incomplete"],
    "ancestry": True,
    # Off by default in axe-core, but part of this catalogue.
    "rules": {
        "target-size": {"enabled": True},
        "label-content-name-mismatch": {"enabled": True},
        "css-orientation-lock": {"enabled": True},
        "table-fake-caption": {"enabled": True},
        "td-has-header": {"enabled": True},
        "identical-links-same-purpose": {"enabled": True},
        # About frames that axe-core could not enter, which is a fault of the scanner and not of the page.
        "frame-tested": {"enabled": False},
    },
    "elementRef": False,
    "performanceTimer": False,
}
# axe-core itself fetches style sheets of other origins; each frame's part must not wait long for them.
PRELOAD = {"preload": {"assets": ["cssom"], "timeout": 2_000}}


@cache
def axe_source() -> str:
    """Return the source of axe-core from the installed package."""
    return (resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


async def run_axe(cdp: Target) -> AxeReport:
    """Run every enabled rule in the page and up to 30 frames. Raises `BrowserFailed`, `ProtocolError`."""
    run = _Run(cdp)
    frame = (await cdp.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    top = await run.frame(str(frame), {"include": [], "exclude": []}, depth=0)
    if top is None:
        raise BrowserFailed(f"{SKIPPED}.")
    result = await run.call(top, script("axe_finish.js"), OPTIONS, run.parts)
    return AxeReport(
        version=str(result["version"]),
        violations=_rules(result["violations"]),
        incomplete=_rules(result["incomplete"]),
        passes=frozenset(result["passes"]),
        inapplicable=frozenset(result["inapplicable"]),
        frames_left_out=run.left_out,
    )


class _Run:
    def __init__(self, cdp: Target) -> None:
        self._cdp = cdp
        self._frames = 0
        self.parts: list[str | None] = []  # of the frames below the top frame, in the order of axe-core's own walk
        self.left_out = 0

    async def frame(self, frame_id: str, context: Any, depth: int) -> int | None:
        """Run in a frame and its descendants. Returns the world's ID; None if it could not run."""
        if self._frames >= MAX_FRAMES or depth > MAX_DEPTH:
            return None
        self._frames += 1
        world = await self._cdp.send("Page.createIsolatedWorld", {"frameId": frame_id, "worldName": WORLD})
        id = int(world["executionContextId"])
        await self._evaluate(id, axe_source())
        found = await self.call(id, script("axe_run.js"), {**OPTIONS, **PRELOAD}, context, depth == 0)
        if depth:
            self.parts.append(found["partial"])
        for each in found["frames"]:
            child = await self._child(id, each["selector"])
            ran = None
            if child is not None:
                ran = await self.frame(child, each["context"], depth + 1)
            if ran is None:
                self.left_out += 1
                self.parts.append(None)
        return id

    async def call(self, world: int, function: str, *arguments: object) -> Any:
        """Call a function with these values in one of our isolated worlds and return its result."""
        answer = await self._cdp.send(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": function,
                "executionContextId": world,
                "arguments": [{"value": each} for each in arguments],
                "awaitPromise": True,
                "returnByValue": True,
            },
        )
        return _value(answer)

    async def _evaluate(self, world: int, source: str) -> None:
        _value(
            await self._cdp.send(
                "Runtime.evaluate", {"expression": f"{source};0", "contextId": world, "timeout": SCRIPT_LIMIT_MS}
            )
        )

    async def _child(self, world: int, selector: Any) -> str | None:
        """Return the ID of the frame that axe-core's selector names; it may be inside shadow trees."""
        answer = await self._cdp.send(
            "Runtime.evaluate",
            {"expression": f"axe.utils.shadowSelect({json.dumps(selector)})", "contextId": world},
        )
        object_id = answer["result"].get("objectId")
        if object_id is None:
            return None
        node = await self._cdp.send("DOM.describeNode", {"objectId": object_id})
        frame_id = node["node"].get("frameId")
        return str(frame_id) if frame_id else None


def _value(answer: Mapping[str, Any]) -> Any:
    if "exceptionDetails" in answer:
        raise BrowserFailed(f"{SKIPPED}.")
    return answer["result"].get("value")


def _rules(found: list[Mapping[str, Any]]) -> dict[str, AxeRule]:
    return {
        str(each["id"]): AxeRule(
            id=str(each["id"]),
            impact=str(each["impact"] or ""),
            tags=tuple(map(str, each["tags"])),
            help=str(each["help"]),
            count=int(each["count"]),
            nodes=tuple(
                AxeNode(node["selector"], node["ancestry"], node["snippet"], node["why"], node["colours"])
                for node in each["nodes"]
            ),
            pairs=tuple((str(colours), int(count)) for colours, count in each["pairs"]),
        )
        for each in found
    }
