"""Tasks of the page's main thread and the scripts that ran in them, from Chrome's trace.

A task's length is counted in processor time, so that other work of the machine makes no page slower. The browser's Long
Tasks API reports tasks from 50 ms only; on a phone tasks of 12 ms take as long.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from website_scan.browser.devtools import Target
from website_scan.browser.evidence import Evaluation, MainThread, Task

CATEGORIES = ("devtools.timeline", "disabled-by-default-devtools.timeline")
BUFFER_KB = 32 * 1024  # when it is full, the rest of the load is not traced
PART_BYTES = 1024 * 1024
EVALUATIONS = frozenset({"EvaluateScript", "v8.evaluateModule"})
PARSING = "ParseHTML"
RENDERING = frozenset({PARSING, "UpdateLayoutTree", "Layout", "PrePaint", "Paint", "Layerize"})
LEAST_S = 0.0001  # shorter tasks are many, and add nothing


@dataclass(slots=True)
class Trace:
    """A trace of a session's page. Only one may run in a browser at a time."""

    session: Target
    categories: tuple[str, ...] = CATEGORIES

    async def start(self) -> None:
        """Start the trace. Raises `ProtocolError`."""
        await self.session.send(
            "Tracing.start",
            {
                "transferMode": "ReturnAsStream",
                "streamCompression": "gzip",
                "traceConfig": {
                    "recordMode": "recordUntilFull",
                    "traceBufferSizeInKb": BUFFER_KB,
                    "includedCategories": list(self.categories),
                    "excludedCategories": ["*"],
                },
            },
        )

    async def stop(self) -> list[Mapping[str, Any]]:
        """Stop the trace and return its events. Raises `ProtocolError`."""
        ended: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()

        def end(event: Mapping[str, Any]) -> None:
            if not ended.done():  # else the scan has given up
                ended.set_result(event)

        self.session.on("Tracing.tracingComplete", end)
        await self.session.send("Tracing.end")
        stream = (await ended)["stream"]
        data, is_over = b"", False
        while not is_over:
            part = await self.session.send("IO.read", {"handle": stream, "size": PART_BYTES})
            data += base64.b64decode(part["data"])
            is_over = part["eof"]
        await self.session.send("IO.close", {"handle": stream})
        events: list[Mapping[str, Any]] = json.loads(gzip.decompress(data))["traceEvents"]
        return events


def main_thread(events: list[Mapping[str, Any]], frame: str, began_s: float, end_s: float = math.inf) -> MainThread:
    """Return tasks and scripts of the process that shows `frame`. Times count from `began_s` of the browser's clock.

    What had not ended at `end_s` is left out: our own scripts look at the page then.
    """
    thread = next(
        (
            _thread(each)
            for each in reversed(events)
            if each["name"] == "SetLayerTreeId" and each["args"]["data"].get("frame") == frame
        ),
        None,
    )
    own = [
        each
        for each in events
        if each.get("ph") == "X" and _thread(each) == thread and _task(each, began_s).ends_s <= end_s
    ]
    tasks = [_task(each, began_s) for each in own if each["name"] == "RunTask"]
    evaluations = [
        Evaluation(url, each["ts"] / 1e6 - began_s, each.get("dur", 0) / 1e6, each.get("tdur", 0) / 1e6)
        for each in own
        if each["name"] in EVALUATIONS and (url := _url(each["args"]))
    ]
    return MainThread(
        tuple(sorted((each for each in tasks if each.processor_s >= LEAST_S), key=lambda each: each.time_s)),
        tuple(sorted(evaluations, key=lambda each: each.time_s)),
        tuple(sorted((each["ts"] + each.get("dur", 0)) / 1e6 - began_s for each in own if each["name"] == "Commit")),
        _rendering([_task(each, began_s) for each in own if each["name"] in RENDERING], evaluations),
        tuple(sorted(each["ts"] / 1e6 - began_s for each in own if each["name"] == PARSING)),
    )


def _rendering(found: list[Task], evaluations: list[Evaluation]) -> tuple[Task, ...]:
    """Return what was found without what is inside of another, and without the time of the scripts in it."""
    kept: list[Task] = []
    for each in sorted(found, key=lambda each: (each.time_s, -each.duration_s)):
        if kept and each.time_s < kept[-1].time_s + kept[-1].duration_s:
            continue
        kept.append(each)
    scripts = sorted(evaluations, key=lambda each: each.time_s)
    starts = [each.time_s for each in scripts]
    return tuple(
        replace(each, processor_s=max(0.0, each.processor_s - sum(inner.processor_s for inner in scripts[first:last])))
        for each in kept
        for first, last in [(bisect_left(starts, each.time_s), bisect_left(starts, each.time_s + each.duration_s))]
    )


def _task(event: Mapping[str, Any], began_s: float) -> Task:
    return Task(event["ts"] / 1e6 - began_s, event.get("dur", 0) / 1e6, event.get("tdur", 0) / 1e6)


def _thread(event: Mapping[str, Any]) -> tuple[int, int]:
    return event["pid"], event["tid"]


def _url(args: Mapping[str, Any]) -> str:
    return str(args.get("data", args).get("url") or args.get("fileName") or "").partition("#")[0]
