"""Run of axe-core on the rendered page: in an isolated world of every frame; axe-core merges the partial results.

By default axe-core exchanges results between frames in messages that the page's own scripts can read and forge
(axe-core, "runPartial and finishRun").
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from website_scan.browser.devtools import Target
from website_scan.browser.evidence import AxeNode, AxeReport, AxeRule
from website_scan.browser.injected_scripts import read_script
from website_scan.browser.visit import BrowserFailed

MAX_FRAMES = 30
MAX_DEPTH = 5
SCRIPT_LIMIT_MS = 15_000
WORLD = "scan-axe"
AXE_FAILED = "axe-core could not judge the page in the browser"

OPTIONS: Mapping[str, Any] = {
    "resultTypes": ["violations", "incomplete"],
    "ancestry": True,
    # Rules that are off by default in axe-core, but part of this service's catalogue.
    "rules": {
        "target-size": {"enabled": True},
        "label-content-name-mismatch": {"enabled": True},
        "css-orientation-lock": {"enabled": True},
        "table-fake-caption": {"enabled": True},
        "td-has-header": {"enabled": True},
        "identical-links-same-purpose": {"enabled": True},
        # The rule reports frames that axe-core could not enter, which is the scanner's fault and not the page's.
        "frame-tested": {"enabled": False},
    },
    "elementRef": False,
    "performanceTimer": False,
}
# axe-core fetches style sheets of other origins. The timeout (ms) limits how long a frame's run waits for them.
PRELOAD = {"preload": {"assets": ["cssom"], "timeout": 2_000}}


@cache
def axe_source() -> str:
    """Return the source of axe-core from the installed package."""
    return (resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


async def run_axe(cdp: Target) -> AxeReport:
    """Run every enabled axe-core rule in the page and up to 30 frames. Raises `BrowserFailed`, `ProtocolError`."""
    run = _AxeRun(cdp)
    frame = (await cdp.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    top = await run.run_in_frame(str(frame), {"include": [], "exclude": []}, depth=0)
    if top is None:
        raise BrowserFailed(f"{AXE_FAILED}.")
    result = await run.call(top, read_script("axe_finish.js"), OPTIONS, run.parts)
    return AxeReport(
        version=str(result["version"]),
        violations=_parse_rules(result["violations"]),
        incomplete=_parse_rules(result["incomplete"]),
        passes=frozenset(result["passes"]),
        inapplicable=frozenset(result["inapplicable"]),
        frames_left_out=run.frames_left_out,
    )


class _AxeRun:
    def __init__(self, cdp: Target) -> None:
        self._cdp = cdp
        self._frames = 0
        self.parts: list[str | None] = []  # partial results of frames below the top frame, in axe-core's order
        self.frames_left_out = 0

    async def run_in_frame(self, frame_id: str, context: Any, depth: int) -> int | None:
        """Run axe-core in a frame and its descendants. Returns the isolated world's ID; None at a frame limit."""
        if self._frames >= MAX_FRAMES or depth > MAX_DEPTH:
            return None
        self._frames += 1
        world = await self._cdp.send("Page.createIsolatedWorld", {"frameId": frame_id, "worldName": WORLD})
        id = int(world["executionContextId"])
        await self._evaluate(id, axe_source())
        result = await self.call(id, read_script("axe_run.js"), {**OPTIONS, **PRELOAD}, context, depth == 0)
        if depth:
            self.parts.append(result["partial"])
        for frame in result["frames"]:
            child = await self._find_child_frame(id, frame["selector"])
            child_world = None
            if child is not None:
                child_world = await self.run_in_frame(child, frame["context"], depth + 1)
            if child_world is None:
                self.frames_left_out += 1
                self.parts.append(None)
        return id

    async def call(self, world: int, function: str, *arguments: object) -> Any:
        """Call a JavaScript function in an isolated world and return its result. Raises `BrowserFailed` on errors."""
        response = await self._cdp.send(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": function,
                "executionContextId": world,
                "arguments": [{"value": argument} for argument in arguments],
                "awaitPromise": True,
                "returnByValue": True,
            },
        )
        return _result_value(response)

    async def _evaluate(self, world: int, source: str) -> None:
        _result_value(
            await self._cdp.send(
                "Runtime.evaluate", {"expression": f"{source};0", "contextId": world, "timeout": SCRIPT_LIMIT_MS}
            )
        )

    async def _find_child_frame(self, world: int, selector: Any) -> str | None:
        """Return the ID of the frame that axe-core's selector matches. The frame may be inside shadow trees."""
        response = await self._cdp.send(
            "Runtime.evaluate",
            {"expression": f"axe.utils.shadowSelect({json.dumps(selector)})", "contextId": world},
        )
        object_id = response["result"].get("objectId")
        if object_id is None:
            return None
        node = await self._cdp.send("DOM.describeNode", {"objectId": object_id})
        frame_id = node["node"].get("frameId")
        return str(frame_id) if frame_id else None


def _result_value(response: Mapping[str, Any]) -> Any:
    if "exceptionDetails" in response:
        raise BrowserFailed(f"{AXE_FAILED}.")
    return response["result"].get("value")


def _parse_rules(rules: list[Mapping[str, Any]]) -> dict[str, AxeRule]:
    return {
        str(rule["id"]): AxeRule(
            id=str(rule["id"]),
            impact=str(rule["impact"] or ""),
            tags=tuple(map(str, rule["tags"])),
            help=str(rule["help"]),
            count=int(rule["count"]),
            nodes=tuple(
                AxeNode(node["selector"], node["ancestry"], node["snippet"], node["why"], node["colours"])
                for node in rule["nodes"]
            ),
            pairs=tuple((str(colours), int(count)) for colours, count in rule["pairs"]),
        )
        for rule in rules
    }
