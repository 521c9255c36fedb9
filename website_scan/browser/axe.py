"""Runner of axe-core on the rendered page and its frames.

axe-core runs in an isolated world of every frame, and then merges the partial results.

By default axe-core exchanges results between frames in messages that the page's own scripts can read and forge
(axe-core, "runPartial and finishRun").
"""

from __future__ import annotations

import json
import time
from collections.abc import Container, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from msgspec import Struct

from website_scan.browser.accessibility_tree import read_accessibility_facts
from website_scan.browser.closed_trees import open_closed_trees
from website_scan.browser.devices import PHONE, Device
from website_scan.browser.devtools import ProtocolError, Target
from website_scan.browser.evidence import AxeNode, AxeReport, AxeRule
from website_scan.browser.injected_scripts import read_script
from website_scan.browser.visit import BrowserFailed

MAX_FRAMES = 30
MAX_FRAME_DEPTH = 5
SCRIPT_TIMEOUT_MS = 15_000
WORLD = "scan-axe"
MAX_RULES_S = 10.0
MIN_FRAME_S = 0.5
# Custom elements are judged again even if the rules have used up their time.
REJUDGE_MS = 1_500
# Original and replacement code of axe-core. `isOffscreen` and `getOverflowHiddenAncestors` ask axe_reach.js first.
# `isInTextBlock` ignores scripts, style sheets and hidden elements, which are no text around a link or button.
# `convertSelector` parses a selector once, and not again for every element that it is compared with. `memoize`, the
# private fields of `Color` and `getSelectorData` use axe_memory.js. `traverse` walks through a table in a loop, because
# its recursion fails on thousands of rows.
PATCHES = (
    (",Ts=Ns,", ",Ts=function(e){return globalThis.__clippingAncestors?.(e)??Ns(e)},"),
    (
        ",ec=function(e){",
        ",ec=function(e){if(!(arguments[1]||{}).isAncestor&&globalThis.__reachesScreen?.(e))return!1;",
    ),
    (
        "function gu(e){e=su.parse(e);return hu(e.selectors||[e])}",
        "function gu(t){var n=gu.known??=new Map,r=n.get(t);if(!r){var e=su.parse(t);r=hu(e.selectors||[e]);"
        "n.size<2e3&&n.set(t,r)}return r}",
    ),
    ("e=(0,so.default)(e),axe._memoizedFns", "e=globalThis.__memoize(e,so.default),axe._memoizedFns"),
    (
        "(Se=new WeakMap,_e=new WeakMap,Me=new WeakMap,Pe=new WeakMap,Ie=new WeakMap,Be=new WeakMap,je=new WeakSet,",
        "([Se,_e,Me,Pe,Ie,Be,je]=Array.from({length:7},()=>new globalThis.__PrivateField),",
    ),
    (
        "function Ul(e){for(",
        "function Ul(e){return globalThis.__countLater(()=>countForSelectors(e))}function countForSelectors(e){for(",
    ),
    (
        'return function e(t,n,r,a){var o,i=r[n.y]?r[n.y][n.x]:void 0;return i?"function"==typeof a&&!0===(o=a(i,n,r))?'
        "[i]:((o=e(t,{x:n.x+t.x,y:n.y+t.y},r,a)).unshift(i),o):[]}(e,{x:t.x+e.x,y:t.y+e.y},n,r)}",
        "for(var o=[],a={x:t.x+e.x,y:t.y+e.y},i;i=n[a.y]&&n[a.y][a.x];a={x:a.x+e.x,y:a.y+e.y})"
        'if(o.push(i),"function"==typeof r&&!0===r(i,a,n))break;return o}',
    ),
    ('!(n||"none"===e.style.display', '!(n||!axe.commons.dom.isVisibleOnScreen(e)||"none"===e.style.display'),
)
AXE_FAILED = "axe-core could not judge the page in the browser"

OPTIONS: Mapping[str, Any] = {
    "resultTypes": ["violations", "incomplete"],
    "ancestry": True,
    # axe-core rules that are off by default, but needed by checks.
    "rules": {
        "target-size": {"enabled": True},
        "label-content-name-mismatch": {"enabled": True},
        "css-orientation-lock": {"enabled": True},
        "table-fake-caption": {"enabled": True},
        "td-has-header": {"enabled": True},
        "identical-links-same-purpose": {"enabled": True},
        # The scanner, not the page, causes frames that axe-core cannot enter.
        "frame-tested": {"enabled": False},
    },
    "reporter": "v2",
    "elementRef": False,
    "performanceTimer": False,
}
# These scripts give axe-core facts from the browser and correct its rules, in this order.
CORRECTIONS = (
    "axe_references.js",
    "axe_internals.js",
    "axe_structure.js",
    "axe_controls.js",
    "axe_colours.js",
    "axe_rules.js",
    "axe_contrast.js",
    "axe_repeat.js",
)
# axe-core waits this many milliseconds for style sheets of other origins.
PRELOAD = {"preload": {"assets": ["cssom"], "timeout": 2_000}}


@cache
def axe_source() -> str:
    """Return the source of the installed axe-core with `PATCHES`, after that of axe_memory.js."""
    source = (resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
    for original, patched in PATCHES:
        assert source.count(original) == 1, f"axe-core has changed: {original}"
        source = source.replace(original, patched)
    return f"{read_script('axe_memory.js')};\n{source}"


def _corrected_axe_source() -> str:
    # A single evaluation costs less than one for each script.
    return ";\n".join((axe_source(), *map(read_script, CORRECTIONS)))


async def run_axe(
    cdp: Target,
    devices: Sequence[Device],
    max_rules_s: float = MAX_RULES_S,
    main_device: Device = PHONE,
    *,
    restores_screen: bool = True,
) -> AxeReport:
    """Run every enabled axe-core rule in the page and up to 30 frames, on each device.

    Raises `BrowserFailed`, `ProtocolError`. Rules that have not ended after `max_rules_s` seconds in all are
    unfinished. The page is on `main_device` before, and afterwards if `restores_screen`. If a later device fails, the
    report has the results of the earlier ones.
    """
    run = _AxeRun(cdp, max_rules_s)
    result: Mapping[str, Any] = {}
    widths: list[int] = []
    try:
        for device in devices:
            if device != main_device or widths:
                await run.show_on(device)
            try:
                result = await run.judge(device.width)
            except (BrowserFailed, ProtocolError):
                if not widths:
                    raise
                break
            widths.append(device.width)
    finally:
        if restores_screen and tuple(devices) != (main_device,):
            await run.show_on(main_device)
    unfinished = run.unfinished
    violations = _parse_rules(result["violations"], unfinished)
    return AxeReport(
        version=str(result["version"]),
        violations={id: rule for id, rule in violations.items() if unfinished.get(id, True)},
        incomplete={
            id: rule for id, rule in _parse_rules(result["incomplete"], unfinished).items() if id not in unfinished
        },
        passes=frozenset(result["passes"]) - unfinished.keys(),
        inapplicable=frozenset(result["inapplicable"]) - unfinished.keys(),
        untested_frames=run.untested_frames,
        unfinished=frozenset(unfinished),
        widths=tuple(widths),
    )


class _ShortenedRun(Struct, frozen=True):
    """Run of axe-core in a frame that has left out rules whose results seem to be those of the width before.

    `number` is the position of its partial result; None for the top frame.
    """

    world: int
    context: Any
    number: int | None


class _AxeRun:
    def __init__(self, cdp: Target, max_rules_s: float) -> None:
        self._cdp = cdp
        self._ends = time.monotonic() + max_rules_s
        # The value is True if the faults of an unfinished rule are still reported.
        self.unfinished: dict[str, bool] = {}
        # Isolated worlds with axe-core by frame ID.
        self._worlds: dict[str, int] = {}
        # Frames on the current width: their IDs, or None if axe-core does not run there.
        self._frame_ids: list[str | None] = []
        self._frames_before: list[str | None] = []
        self._shortened: list[_ShortenedRun] = []
        # axe-core merges the frames' results in this order.
        self._partial_results: list[str | None] = []

    async def show_on(self, device: Device) -> None:
        """Show the page on another screen, and wait until its layout and scripts have followed."""
        for method, parameters in device.commands().items():
            await self._cdp.send(method, parameters)
        world = await self._cdp.send(
            "Page.createIsolatedWorld", {"frameId": await self._top_frame(), "worldName": WORLD}
        )
        await self.call(int(world["executionContextId"]), read_script("settle.js"))

    async def _top_frame(self) -> str:
        return str((await self._cdp.send("Page.getFrameTree"))["frameTree"]["frame"]["id"])

    async def judge(self, width: int) -> Mapping[str, Any]:
        """Judge the page on its current width, and return the merged results of all widths so far."""
        self._frames_before, self._frame_ids = self._frame_ids, []
        self._partial_results, self._shortened = [], []
        top = await self.run_in_frame(await self._top_frame(), {"include": [], "exclude": []}, depth=0)
        if top is None:
            raise BrowserFailed(f"{AXE_FAILED}.")
        # Rules that compare elements of all frames have the same results only if all frames are the same.
        is_shortened = len(self._shortened) == self._judged_frames and self._frame_ids == self._frames_before
        if not is_shortened:
            for run in self._shortened:
                await self._run_other_rules(run)
        result: Mapping[str, Any] = await self.call(
            top, read_script("axe_finish.js"), OPTIONS, self._partial_results, width, is_shortened
        )
        return result

    @property
    def _judged_frames(self) -> int:
        return len(self._frame_ids) - self.untested_frames

    @property
    def untested_frames(self) -> int:
        """Return the number of frames in which axe-core has not run on the current width."""
        return self._frame_ids.count(None)

    async def run_in_frame(self, frame_id: str, context: Any, depth: int) -> int | None:
        """Run axe-core in a frame and its child frames.

        Returns the isolated world's ID; None beyond a frame limit.
        """
        if self._judged_frames >= MAX_FRAMES or depth > MAX_FRAME_DEPTH:
            return None
        self._frame_ids.append(frame_id)
        milliseconds = 1000 * self._frame_time_s(depth)
        id = self._worlds.get(frame_id)
        if id is None:
            id = self._worlds[frame_id] = await self._create_world(frame_id)
            await self.call(id, read_script("axe_limits.js"), milliseconds)
            preload = PRELOAD
        else:
            await self.call(id, "(milliseconds) => globalThis.__beginWidth(milliseconds)", milliseconds)
            preload = {}
        # What a reader reaches depends on the width.
        await self._evaluate(id, f"{read_script('axe_reach.js')}()")
        is_top = depth == 0
        result = await self.call(id, read_script("axe_run.js"), {**OPTIONS, **preload}, context, is_top)
        if result["customElements"]:
            result["partial"] = await self._judge_custom_elements(id, context, is_top=is_top)
        self.unfinished |= await self.call(id, "() => globalThis.__unfinished()")
        if result["isShortened"]:
            self._shortened.append(_ShortenedRun(id, context, len(self._partial_results) if depth else None))
        if depth:
            self._partial_results.append(result["partial"])
        for frame in result["frames"]:
            child = await self._find_child_frame(id, frame["selector"])
            child_isolated_world = None
            if child is not None:
                child_isolated_world = await self.run_in_frame(child, frame["context"], depth + 1)
            if child_isolated_world is None:
                self._frame_ids.append(None)
                self._partial_results.append(None)
        return id

    async def _run_other_rules(self, run: _ShortenedRun) -> None:
        """Run the rules that a shortened run has left out."""
        is_top = run.number is None
        milliseconds = 1000 * self._frame_time_s(depth=0 if is_top else 1)
        await self.call(run.world, "(milliseconds) => globalThis.__allowTime(milliseconds)", milliseconds)
        partial = await self.call(run.world, read_script("axe_rest.js"), OPTIONS, run.context, is_top)
        self.unfinished |= await self.call(run.world, "() => globalThis.__unfinished()")
        if run.number is not None:
            self._partial_results[run.number] = partial

    async def _create_world(self, frame_id: str) -> int:
        """Create an isolated world of the frame with axe-core, and return its ID."""
        world = await self._cdp.send("Page.createIsolatedWorld", {"frameId": frame_id, "worldName": WORLD})
        id = int(world["executionContextId"])
        await open_closed_trees(self._cdp, id)
        await self._evaluate(id, _corrected_axe_source())
        return id

    async def _judge_custom_elements(self, world: int, context: Any, *, is_top: bool) -> Any:
        """Judge reported custom elements again.

        Uses their roles, names and states from the browser.
        """
        response = await self._cdp.send("Runtime.evaluate", {"expression": "__scan.customElements", "contextId": world})
        facts = await read_accessibility_facts(self._cdp, response["result"]["objectId"])
        await self.call(world, "(milliseconds) => globalThis.__allowTime(milliseconds)", REJUDGE_MS)
        return await self.call(world, read_script("axe_rejudge.js"), OPTIONS, context, facts, is_top)

    def _frame_time_s(self, depth: int) -> float:
        """Return the seconds that the rules may take in a frame.

        A child frame gets a minimum, even if other frames have used up the time.
        """
        return max(MIN_FRAME_S if depth else 0.0, self._ends - time.monotonic())

    async def call(self, world: int, function: str, *arguments: object) -> Any:
        """Call a JavaScript function in an isolated world and return its result.

        Raises `BrowserFailed` on errors.
        """
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
                "Runtime.evaluate", {"expression": f"{source};0", "contextId": world, "timeout": SCRIPT_TIMEOUT_MS}
            )
        )

    async def _find_child_frame(self, world: int, selector: Any) -> str | None:
        """Return the ID of the frame that axe-core's selector matches.

        The frame may be inside shadow trees.
        """
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


def _parse_rules(rules: list[Mapping[str, Any]], unfinished: Container[str]) -> dict[str, AxeRule]:
    # An unfinished rule may have missed an element on one of the widths.
    return {
        str(rule["id"]): AxeRule(
            id=str(rule["id"]),
            impact=str(rule["impact"] or ""),
            tags=tuple(map(str, rule["tags"])),
            help=str(rule["help"]),
            count=int(rule["count"]),
            nodes=tuple(
                AxeNode(
                    node["selector"],
                    node["ancestry"],
                    node["snippet"],
                    node["why"],
                    node["colours"],
                    None if rule["id"] in unfinished else node["width"],
                )
                for node in rule["nodes"]
            ),
            pairs=tuple((str(colours), int(count)) for colours, count in rule["pairs"]),
        )
        for rule in rules
    }
