"""Parse Chrome's trace for the main thread's tasks and scripts.

Task lengths are in processor time, so that other work of the machine does not make a page slower. The browser's Long
Tasks API reports only tasks of 50 ms or more, but tasks that take 12 ms here take 50 ms on a phone.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import math
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from website_scan.browser.devtools import Target
from website_scan.browser.evidence import Evaluation, MainThread, Task

CATEGORIES = ("devtools.timeline", "disabled-by-default-devtools.timeline")
TRACE_BUFFER_KB = 32 * 1024  # When the buffer is full, the rest of the load is not traced.
TRACE_CHUNK_BYTES = 1024 * 1024
EVALUATIONS = frozenset({"EvaluateScript", "v8.evaluateModule"})
PARSING = "ParseHTML"
RENDERING = frozenset({PARSING, "UpdateLayoutTree", "Layout", "PrePaint", "Paint", "Layerize"})
MIN_TASK_CPU_S = 0.0001  # Shorter tasks are left out, because they are numerous and negligible.


class Trace(Struct):
    """Recorder of a Chrome trace for a session's page.

    A browser can record only one trace at a time.
    """

    session: Target
    categories: tuple[str, ...] = CATEGORIES

    async def start(self) -> None:
        """Start recording the trace.

        Raises `ProtocolError`.
        """
        await self.session.send(
            "Tracing.start",
            {
                "transferMode": "ReturnAsStream",
                "streamCompression": "gzip",
                "traceConfig": {
                    "recordMode": "recordUntilFull",
                    "traceBufferSizeInKb": TRACE_BUFFER_KB,
                    "includedCategories": list(self.categories),
                    "excludedCategories": ["*"],
                },
            },
        )

    async def stop(self) -> list[Mapping[str, Any]]:
        """Stop recording the trace and return its events.

        Raises `ProtocolError`.
        """
        ended: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()

        def on_tracing_complete(event: Mapping[str, Any]) -> None:
            if not ended.done():  # The future is already done if the scan was cancelled.
                ended.set_result(event)

        self.session.on("Tracing.tracingComplete", on_tracing_complete)
        await self.session.send("Tracing.end")
        stream = (await ended)["stream"]
        data, is_last_chunk = b"", False
        while not is_last_chunk:
            chunk = await self.session.send("IO.read", {"handle": stream, "size": TRACE_CHUNK_BYTES})
            data += base64.b64decode(chunk["data"])
            is_last_chunk = chunk["eof"]
        await self.session.send("IO.close", {"handle": stream})
        events: list[Mapping[str, Any]] = json.loads(gzip.decompress(data))["traceEvents"]
        return events


def parse_trace(events: list[Mapping[str, Any]], frame: str, began_s: float, end_s: float = math.inf) -> MainThread:
    """Parse trace events of the main thread that renders `frame`.

    Times count from `began_s` on the browser's clock. Events that had not ended at `end_s` are left out, because the
    scanner's own scripts run after that time.
    """
    thread = next(
        (
            _thread_id(event)
            for event in reversed(events)
            if event["name"] == "SetLayerTreeId" and event["args"]["data"].get("frame") == frame
        ),
        None,
    )
    main_thread_events = [
        event
        for event in events
        if event.get("ph") == "X" and _thread_id(event) == thread and _parse_task(event, began_s).ends_s <= end_s
    ]
    tasks = [_parse_task(event, began_s) for event in main_thread_events if event["name"] == "RunTask"]
    evaluations = [
        Evaluation(url, event["ts"] / 1e6 - began_s, event.get("dur", 0) / 1e6, event.get("tdur", 0) / 1e6)
        for event in main_thread_events
        if event["name"] in EVALUATIONS and (url := _script_url(event["args"]))
    ]
    return MainThread(
        tuple(sorted((task for task in tasks if task.processor_s >= MIN_TASK_CPU_S), key=lambda task: task.time_s)),
        tuple(sorted(evaluations, key=lambda evaluation: evaluation.time_s)),
        tuple(
            sorted(
                (event["ts"] + event.get("dur", 0)) / 1e6 - began_s
                for event in main_thread_events
                if event["name"] == "Commit"
            )
        ),
        _select_rendering_tasks(
            [_parse_task(event, began_s) for event in main_thread_events if event["name"] in RENDERING], evaluations
        ),
        tuple(sorted(event["ts"] / 1e6 - began_s for event in main_thread_events if event["name"] == PARSING)),
    )


def _select_rendering_tasks(tasks: list[Task], evaluations: list[Evaluation]) -> tuple[Task, ...]:
    """Return the outermost rendering tasks.

    Their processor time excludes the scripts that ran inside them.
    """
    outermost: list[Task] = []
    for task in sorted(tasks, key=lambda task: (task.time_s, -task.duration_s)):
        if outermost and task.time_s < outermost[-1].time_s + outermost[-1].duration_s:
            continue
        outermost.append(task)
    scripts = sorted(evaluations, key=lambda evaluation: evaluation.time_s)
    starts = [script.time_s for script in scripts]
    return tuple(
        replace(
            task,
            processor_s=max(0.0, task.processor_s - sum(evaluation.processor_s for evaluation in scripts[first:last])),
        )
        for task in outermost
        for first, last in [(bisect_left(starts, task.time_s), bisect_left(starts, task.time_s + task.duration_s))]
    )


def _parse_task(event: Mapping[str, Any], began_s: float) -> Task:
    return Task(event["ts"] / 1e6 - began_s, event.get("dur", 0) / 1e6, event.get("tdur", 0) / 1e6)


def _thread_id(event: Mapping[str, Any]) -> tuple[int, int]:
    return event["pid"], event["tid"]


def _script_url(args: Mapping[str, Any]) -> str:
    return str(args.get("data", args).get("url") or args.get("fileName") or "").partition("#")[0]
