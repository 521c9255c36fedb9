"""A trace whose end comes too late."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from scanner.browser.main_thread import Trace


class Session:
    """A session of DevTools that never says by itself that the trace has ended."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    def once(self, _: str, handler: Callable[[Any], None]) -> None:
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
