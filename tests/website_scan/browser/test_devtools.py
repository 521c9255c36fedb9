"""The client of the DevTools protocol, against a browser that is a pair of pipes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from typing import Any

import pytest

from website_scan.browser.devtools import Connection, ProtocolError


class Far:
    """The browser's end of the pipes."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands = commands
        self._answers: int | None = answers
        self._received = b""

    async def command(self) -> dict[str, Any]:
        """Return the next command, of any length."""
        while b"\0" not in self._received:
            self._received += await asyncio.to_thread(os.read, self._commands, 65536)
        message, _, self._received = self._received.partition(b"\0")
        command: dict[str, Any] = json.loads(message)
        return command

    def say(self, *messages: dict[str, Any]) -> None:
        self.write(b"".join(json.dumps(each).encode() + b"\0" for each in messages))

    def write(self, data: bytes) -> None:
        assert self._answers is not None
        os.write(self._answers, data)

    def leave(self) -> None:
        """Close the pipe of answers, once: its number may belong to another file afterwards."""
        if self._answers is not None:
            os.close(self._answers)
            self._answers = None


@contextlib.asynccontextmanager
async def connected() -> AsyncIterator[tuple[Connection, Far]]:
    (commands, writing), (reading, answers) = os.pipe(), os.pipe()
    connection = await Connection.connect(reading, writing)
    far = Far(commands, answers)
    try:
        yield connection, far
    finally:
        connection.close()
        os.close(commands)
        far.leave()


def test_an_answer_goes_to_its_command_whatever_comes_first_and_in_whatever_pieces() -> None:
    async def talk() -> None:
        async with connected() as (connection, far):
            page = connection.session("page")
            first = asyncio.ensure_future(connection.root.send("Browser.getVersion"))
            second = asyncio.ensure_future(page.send("Runtime.evaluate", {"expression": "1" * 200_000}))
            asked = [await far.command(), await far.command()]
            assert [each["method"] for each in asked] == ["Browser.getVersion", "Runtime.evaluate"]
            assert "sessionId" not in asked[0]
            assert (asked[1]["sessionId"], len(asked[1]["params"]["expression"])) == ("page", 200_000)
            far.say({"id": asked[1]["id"], "sessionId": "page", "result": {"value": "é"}})
            assert await second == {"value": "é"}
            answer = json.dumps({"id": asked[0]["id"], "result": {"product": "Chromium"}}).encode() + b"\0"
            for at in range(len(answer)):
                far.write(answer[at : at + 1])
            assert await first == {"product": "Chromium"}

    asyncio.run(talk())


def test_a_refused_command_says_why() -> None:
    async def talk() -> None:
        async with connected() as (connection, far):
            sent = asyncio.ensure_future(connection.root.send("No.such"))
            far.say({"id": (await far.command())["id"], "error": {"code": -32601, "message": "'No.such' wasn't found"}})
            with pytest.raises(ProtocolError, match="wasn't found"):
                await sent

    asyncio.run(talk())


@pytest.mark.parametrize("end", ["session", "browser"])
def test_no_command_waits_for_a_page_or_a_browser_that_is_gone(end: str) -> None:
    async def talk() -> None:
        async with connected() as (connection, far):
            page = connection.session("page")
            sent = asyncio.ensure_future(page.send("Page.enable"))
            await far.command()
            if end == "session":
                far.say({"method": "Target.detachedFromTarget", "params": {"sessionId": "page"}})
            else:
                far.leave()
            with pytest.raises(ProtocolError):
                await sent
            assert connection.is_open is (end == "session")
            with pytest.raises(ProtocolError):
                await page.send("Page.enable")

    asyncio.run(talk())


def test_events_go_to_their_session_and_one_that_cannot_be_handled_harms_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def talk() -> list[Any]:
        async with connected() as (connection, far):
            seen: list[Any] = []
            over = asyncio.Event()
            page, worker = connection.session("page"), connection.session("worker")
            page.on("Page.loadEventFired", lambda event: seen.append(("page", event)))
            page.on("Page.frameNavigated", lambda event: event["missing"])
            worker.on("Page.loadEventFired", lambda event: seen.append(("worker", event)))
            connection.root.on("Target.targetCreated", lambda _: over.set())
            far.say(
                {"method": "Page.frameNavigated", "sessionId": "page", "params": {}},
                {"method": "Page.loadEventFired", "sessionId": "page", "params": {"timestamp": 1}},
                {"method": "Page.loadEventFired", "sessionId": "nobody", "params": {}},
                {"method": "Target.targetCreated", "params": {}},
            )
            await asyncio.wait_for(over.wait(), 20)
            return seen

    assert asyncio.run(talk()) == [("page", {"timestamp": 1})]
    assert "Page.frameNavigated could not be handled" in caplog.text
