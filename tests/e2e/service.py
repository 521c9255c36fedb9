"""Helpers that start the whole service with `manage.py up`.

It has a data folder of its own.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import environ
import psycopg
import pytest

from operations.stack.running import variables_of
from tests.operations.stack.processes import running_with, wait_until

BASE_DIR = Path(__file__).resolve().parents[2]
STOP_TIMEOUT_S = 10
PORTS = range(12_000, 32_000)
SERVICE_VARIABLES = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "BASE_URL", "PORT", "DATA_DIR")


class Service:
    """Running `manage.py up` with its data folder and its output."""

    def __init__(self, data_dir: Path, port: int, **env: str) -> None:
        self.data_dir = data_dir
        self.port = port
        self.output = ""
        clean = {name: value for name, value in os.environ.items() if name not in SERVICE_VARIABLES}
        self._started_at = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, str(BASE_DIR / "manage.py"), "up"],
            cwd="/",
            env=clean | {"DATA_DIR": str(data_dir), "PORT": str(port)} | env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read_output, daemon=True)
        self._reader.start()

    def _read_output(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self.output += line

    def wait_for(self, condition: Callable[[], bool], timeout_s: float) -> None:
        met = False

        def is_met_or_ended() -> bool:
            nonlocal met
            met = condition()
            return met or self.process.poll() is not None

        try:
            wait_until(is_met_or_ended, timeout_s)
        except AssertionError:
            pytest.fail(f"not within {timeout_s} s:\n{self.output}")
        if not met:
            self._reader.join(STOP_TIMEOUT_S)
            pytest.fail(f"ended with status {self.process.returncode}:\n{self.output}")

    def connect(self) -> psycopg.Connection:
        """Connect to the database of the service."""
        at = environ.Env.db_url_config(variables_of(self.data_dir)["DATABASE_URL"])
        return psycopg.connect(dbname=at["NAME"], user=at["USER"], host=at["HOST"], port=at["PORT"])

    def wait_for_health(self, timeout_s: float) -> float:
        """Wait until /healthz returns 200.

        Returns the seconds since the start.
        """
        self.wait_for(lambda: get_status(self.port, "/healthz") == 200, timeout_s)
        return time.monotonic() - self._started_at

    def wait_for_welcome(self) -> None:
        self.wait_for(lambda: "Ctrl-C stops the service" in self.output, timeout_s=30)

    def wait_for_end(self, timeout_s: float) -> int:
        """Wait for the process to end and return its exit status."""
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            pytest.fail(f"still running after {timeout_s} s:\n{self.output}")

    def printed_value(self, label: str) -> str:
        match = re.search(rf"^  {label} +(.+)$", self.output, re.MULTILINE)
        assert match, self.output
        return match[1]

    def kill(self) -> None:
        """Kill a running process and read the rest of its output."""
        self.process.kill()
        self.process.wait()
        self._reader.join(STOP_TIMEOUT_S)

    def stop(self, number: signal.Signals) -> None:
        """Send a signal and check that the service ends.

        It must exit with status 0 within 10 s and leave no process running.
        """
        self.process.send_signal(number)
        status = self.wait_for_end(STOP_TIMEOUT_S)
        self.kill()
        assert status == 0, self.output
        assert self.output.endswith("Stopped.\n")
        remaining_processes = running_with(str(self.data_dir))
        assert remaining_processes == {}, f"{remaining_processes}\n{self.output}"


def get_status(port: int, path: str) -> int | None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def free_port() -> int:
    """Return a free port on 127.0.0.1 below the ephemeral range.

    No other socket gets the port before the caller uses it. A port that a killed container has published is redirected
    until the next boot, and the server of another test on this port would be refused.
    """
    while True:
        with socket.socket() as probe, contextlib.suppress(OSError):
            number = secrets.choice(PORTS)
            probe.bind(("127.0.0.1", number))
            return number
