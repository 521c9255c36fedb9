"""Tests that a rolling restart of web processes fails no request."""

from __future__ import annotations

import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests

from operations.stack import embedded
from tests.operations.stack.processes import wait_until
from tests.releases import ROOT, Release
from tests.rolling import TIMEOUT_S, RepeatingClients, Switch
from tests.upgrade import DRAIN_DURATION_S, REQUEST_TIMEOUT_S, SETTINGS

pytestmark = [pytest.mark.slow]

PROCESSES = 2
RESPONSES = 10  # Number of responses to every kind of request between two restarts.
PAUSE_BETWEEN_BYTES_S = 0.02


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="wss-restart-") as name:
        Path(name).chmod(0o755)  # PostgreSQL refuses to run as root.
        yield Path(name)


@pytest.fixture
def release(folder: Path) -> Iterator[Release]:
    """Current code with its own PostgreSQL and Redis."""
    (folder / "with_plain_files.py").write_text(SETTINGS)
    with embedded.stack(folder, durable=False) as stack:
        variables = {
            "SECRET_KEY": "rehearsal-" * 5,
            "DJANGO_SETTINGS_MODULE": "with_plain_files",
            "ALLOWED_HOSTS": "127.0.0.1",
            "DRAIN_S": str(DRAIN_DURATION_S),
        }
        yield Release(ROOT, folder / "new", stack.env | variables)


@pytest.mark.timeout(600)
def test_rolling_restart_fails_no_request(release: Release, folder: Path) -> None:
    """The load balancer learns from `/readyz` that a process is stopping.

    It is `Switch`, and it has no other source.
    """
    key = {"Authorization": f"Bearer {release.prepare(folder)['api_key']}"}
    with ExitStack() as running, Switch().running() as switch, RepeatingClients() as clients:
        base = f"http://127.0.0.1:{switch.port}"

        def wait_for_responses() -> None:
            expected = {name: clients.count(name) + RESPONSES for name in ("page", "api", "slowly")}
            wait_until(lambda: all(clients.count(name) >= count for name, count in expected.items()), TIMEOUT_S)

        processes = [running.enter_context(release.start_web()) for _ in range(PROCESSES)]
        for process in processes:
            switch.add(process.port)
        clients.add("page", lambda: requests.get(f"{base}/login/", timeout=REQUEST_TIMEOUT_S).status_code, 0.1)
        clients.add(
            "api", lambda: requests.get(f"{base}/v1/usage", headers=key, timeout=REQUEST_TIMEOUT_S).status_code, 0.1
        )
        clients.add("slowly", lambda: send_slowly(switch.port), 0.1)
        wait_for_responses()
        for number, process in enumerate(processes):
            clients.state = f"process {number} ends"
            process.request_stop()
            assert process.wait() == 0
            wait_for_responses()
            clients.state = f"another one replaces {number}"
            switch.add(running.enter_context(release.start_web()).port)
            wait_for_responses()
        clients.end()
    assert clients.failures == []
    assert {status for _, status in clients.responses} == {200}


def send_slowly(port: int) -> int:
    """Send a request byte by byte and return the response's status."""
    never_set_event = threading.Event()
    with socket.create_connection(("127.0.0.1", port), REQUEST_TIMEOUT_S) as connection:
        for byte in b"GET /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n":
            connection.sendall(bytes([byte]))
            never_set_event.wait(PAUSE_BETWEEN_BYTES_S)
        with connection.makefile("rb") as response:
            status_line = response.readline()
            response.read()
    if not status_line:
        raise ConnectionResetError("no answer")
    return int(status_line.split()[1])
