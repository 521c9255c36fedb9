"""Tests for late traces and late main-thread tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from website_scan.browser.main_thread import Trace, parse_trace


class Session:
    """Fake DevTools session that delays the end of the trace.

    It reports the end when the test calls `complete`.
    """

    def __init__(self) -> None:
        self.end_requested = asyncio.Event()

    def on(self, _: str, handler: Callable[[Any], None]) -> None:
        self.complete = handler

    async def send(self, _: str) -> None:
        self.end_requested.set()


def test_late_trace_after_cancellation_is_no_error() -> None:
    async def cancel_stop() -> None:
        session = Session()
        stopping = asyncio.create_task(Trace(session).stop())  # type: ignore[arg-type]
        await session.end_requested.wait()
        await asyncio.sleep(0)
        stopping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stopping
        session.complete({"stream": "1"})

    asyncio.run(cancel_stop())


OWN = {"pid": 1, "tid": 2}


def task(at_ms: int, lasts_ms: int) -> dict[str, Any]:
    return {"name": "RunTask", "ph": "X", "ts": at_ms * 1000, "dur": lasts_ms * 1000, "tdur": lasts_ms * 1000} | OWN


def test_tasks_that_end_after_the_load_are_omitted() -> None:
    frame_event = {"name": "SetLayerTreeId", "ph": "I", "ts": 0, "args": {"data": {"frame": "main"}}} | OWN
    main_thread = parse_trace([frame_event, task(100, 50), task(190, 50), task(400, 9)], "main", began_s=0.0, end_s=0.2)
    assert [traced_task.time_s for traced_task in main_thread.tasks] == [0.1]
