"""Tests that workers log the start and the end of a Redis outage.

A Celery worker logs one line for each.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis

from operations.stack.management.commands.up import programs
from operations.stack.redis import Redis
from tests.project import ROOT

TIMEOUT_S = 60


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def stop(server: Redis) -> None:
    if not server.has_died():
        assert server.process
        server.send(signal.SIGKILL)
        server.process.wait()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Redis]:
    server = Redis(tmp_path)
    server.start()
    try:
        wait_until(server.is_ready)
        yield server
    finally:
        stop(server)


def waits_for_messages(server: Redis) -> bool:
    """Return True if a worker is connected and reads its queues."""
    with redis.Redis.from_url(server.url) as client:
        return any(connection["cmd"] == "brpop" for connection in client.client_list())


@pytest.mark.parametrize("name", ["worker", "browser", "webhooks"])
def test_worker_logs_start_and_end_of_redis_outage(server: Redis, tmp_path: Path, name: str) -> None:
    """Regression test: Celery's warning had several lines.

    The warning says that Celery does not cancel tasks.
    """
    (program,) = (program for program in programs(tmp_path, 0, {}) if program.name == name)
    log = tmp_path / "worker.log"
    with log.open("wb") as output:
        worker = subprocess.Popen(
            program.command, cwd=ROOT, env=os.environ | {"REDIS_URL": server.url}, stdout=output, stderr=output
        )
    try:
        wait_until(lambda: waits_for_messages(server))
        begin = log.stat().st_size
        stop(server)
        wait_until(lambda: "Redis does not answer" in log.read_text())
        server.start()
        wait_until(server.is_ready)
        wait_until(lambda: "Redis answers again" in log.read_text())
        lines = log.read_text()[begin:].splitlines()
    finally:
        worker.terminate()
        worker.wait(TIMEOUT_S)
    assert len(lines) == 2, lines
    assert "Redis does not answer" in lines[0]
    assert "Redis answers again" in lines[1]
