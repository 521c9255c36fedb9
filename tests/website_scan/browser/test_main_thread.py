"""A trace whose end comes too late."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from website_scan.browser.main_thread import Trace, parse_trace


class Session:
    """A session of DevTools that never says by itself that the trace has ended."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    def on(self, _: str, handler: Callable[[Any], None]) -> None:
        self.tell = handler

    async def send(self, _: str) -> None:
        self.asked.set()


def test_the_end_of_a_trace_that_nobody_waits_for_any_more_is_no_error() -> None:
    async def give_up() -> None:
        session = Session()
        stopping = asyncio.create_task(Trace(session).stop())  # type: ignore[arg-type]
        await session.asked.wait()
        await asyncio.sleep(0)
        stopping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stopping
        session.tell({"stream": "1"})

    asyncio.run(give_up())


OWN = {"pid": 1, "tid": 2}


def task(at_ms: int, lasts_ms: int) -> dict[str, Any]:
    return {"name": "RunTask", "ph": "X", "ts": at_ms * 1000, "dur": lasts_ms * 1000, "tdur": lasts_ms * 1000} | OWN


def test_work_that_had_not_ended_when_we_looked_is_not_the_pages() -> None:
    shows = {"name": "SetLayerTreeId", "ph": "I", "ts": 0, "args": {"data": {"frame": "main"}}} | OWN
    found = parse_trace([shows, task(100, 50), task(190, 50), task(400, 9)], "main", began_s=0.0, end_s=0.2)
    assert [each.time_s for each in found.tasks] == [0.1]
