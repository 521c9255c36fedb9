"""Tests for the DevTools protocol client with a fake browser."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from typing import Any

import pytest

from website_scan.browser.devtools import Connection, ProtocolError


class FakeBrowserEnd:
    """Fake browser at the other end of the two pipes."""

    def __init__(self, commands: int, responses: int) -> None:
        self._commands = commands
        self._responses: int | None = responses
        self._received = b""

    async def command(self) -> dict[str, Any]:
        """Return the next command that the client has sent."""
        while b"\0" not in self._received:
            self._received += await asyncio.to_thread(os.read, self._commands, 65536)
        message, _, self._received = self._received.partition(b"\0")
        command: dict[str, Any] = json.loads(message)
        return command

    def send(self, *messages: dict[str, Any]) -> None:
        self.write(b"".join(json.dumps(message).encode() + b"\0" for message in messages))

    def write(self, data: bytes) -> None:
        assert self._responses is not None
        os.write(self._responses, data)

    def close(self) -> None:
        """Close the pipe only once, because another file may have its descriptor afterwards."""
        if self._responses is not None:
            os.close(self._responses)
            self._responses = None


@contextlib.asynccontextmanager
async def connect() -> AsyncIterator[tuple[Connection, FakeBrowserEnd]]:
    (commands, writing), (reading, responses) = os.pipe(), os.pipe()
    connection = await Connection.connect(reading, writing)
    browser_end = FakeBrowserEnd(commands, responses)
    try:
        yield connection, browser_end
    finally:
        connection.close()
        os.close(commands)
        browser_end.close()


def test_responses_may_arrive_in_pieces() -> None:
    async def communicate() -> None:
        async with connect() as (connection, browser_end):
            page = connection.session("page")
            first = asyncio.ensure_future(connection.root.send("Browser.getVersion"))
            second = asyncio.ensure_future(page.send("Runtime.evaluate", {"expression": "1" * 200_000}))
            commands = [await browser_end.command(), await browser_end.command()]
            assert [command["method"] for command in commands] == ["Browser.getVersion", "Runtime.evaluate"]
            assert "sessionId" not in commands[0]
            assert (commands[1]["sessionId"], len(commands[1]["params"]["expression"])) == ("page", 200_000)
            browser_end.send({"id": commands[1]["id"], "sessionId": "page", "result": {"value": "é"}})
            assert await second == {"value": "é"}
            response = json.dumps({"id": commands[0]["id"], "result": {"product": "Chromium"}}).encode() + b"\0"
            for index in range(len(response)):
                browser_end.write(response[index : index + 1])
            assert await first == {"product": "Chromium"}

    asyncio.run(communicate())


def test_error_response_raises_protocol_error() -> None:
    async def communicate() -> None:
        async with connect() as (connection, browser_end):
            sending = asyncio.ensure_future(connection.root.send("No.such"))
            browser_end.send(
                {
                    "id": (await browser_end.command())["id"],
                    "error": {"code": -32601, "message": "'No.such' wasn't found"},
                }
            )
            with pytest.raises(ProtocolError, match="wasn't found"):
                await sending

    asyncio.run(communicate())


@pytest.mark.parametrize("end", ["session", "browser"])
def test_commands_fail_when_the_session_ends(end: str) -> None:
    async def communicate() -> None:
        async with connect() as (connection, browser_end):
            page = connection.session("page")
            sending = asyncio.ensure_future(page.send("Page.enable"))
            await browser_end.command()
            if end == "session":
                browser_end.send({"method": "Target.detachedFromTarget", "params": {"sessionId": "page"}})
            else:
                browser_end.close()
            with pytest.raises(ProtocolError):
                await sending
            assert connection.is_open is (end == "session")
            with pytest.raises(ProtocolError):
                await page.send("Page.enable")

    asyncio.run(communicate())


def test_failing_handler_does_not_stop_events(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def communicate() -> list[Any]:
        async with connect() as (connection, browser_end):
            events: list[Any] = []
            all_events_handled = asyncio.Event()
            page, worker = connection.session("page"), connection.session("worker")
            page.on("Page.loadEventFired", lambda event: events.append(("page", event)))
            page.on("Page.frameNavigated", lambda event: event["missing"])
            worker.on("Page.loadEventFired", lambda event: events.append(("worker", event)))
            connection.root.on("Target.targetCreated", lambda _: all_events_handled.set())
            browser_end.send(
                {"method": "Page.frameNavigated", "sessionId": "page", "params": {}},
                {"method": "Page.loadEventFired", "sessionId": "page", "params": {"timestamp": 1}},
                {"method": "Page.loadEventFired", "sessionId": "nobody", "params": {}},
                {"method": "Target.targetCreated", "params": {}},
            )
            await asyncio.wait_for(all_events_handled.wait(), 20)
            return events

    assert asyncio.run(communicate()) == [("page", {"timestamp": 1})]
    assert "Page.frameNavigated could not be handled" in caplog.text
