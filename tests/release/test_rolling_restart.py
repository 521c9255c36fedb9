"""Rolling restart of web processes behind a load balancer: no request is refused."""

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
from tests.rolling import PATIENCE_S, Asking, Switch
from tests.upgrade import DRAIN_S, REQUEST_S, SETTINGS

pytestmark = [pytest.mark.slow]

PROCESSES = 2
ANSWERS = 10  # of each kind, between one restart and the next
BYTES_APART_S = 0.02


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="wss-restart-") as name:
        Path(name).chmod(0o755)  # if the tests run as root, the database runs as another user
        yield Path(name)


@pytest.fixture
def release(folder: Path) -> Iterator[Release]:
    """The current code, with its own PostgreSQL and Redis."""
    (folder / "with_plain_files.py").write_text(SETTINGS)
    with embedded.stack(folder, durable=False) as stack:
        variables = {
            "SECRET_KEY": "rehearsal-" * 5,
            "DJANGO_SETTINGS_MODULE": "with_plain_files",
            "ALLOWED_HOSTS": "127.0.0.1",
            "DRAIN_S": str(DRAIN_S),
        }
        yield Release(ROOT, folder / "new", stack.env | variables)


@pytest.mark.timeout(600)
def test_nobody_is_refused_while_web_is_restarted_process_by_process(release: Release, folder: Path) -> None:
    """The load balancer (`Switch`) learns only from `/readyz` that a process is stopping."""
    key = {"Authorization": f"Bearer {release.prepare(folder)['api_key']}"}
    with ExitStack() as running, Switch().running() as switch, Asking() as asking:
        base = f"http://127.0.0.1:{switch.port}"

        def some_time() -> None:
            wanted = {name: asking.count(name) + ANSWERS for name in ("page", "api", "slowly")}
            wait_until(lambda: all(asking.count(name) >= count for name, count in wanted.items()), PATIENCE_S)

        processes = [running.enter_context(release.start_web()) for _ in range(PROCESSES)]
        for each in processes:
            switch.add(each.port)
        asking.ask("page", lambda: requests.get(f"{base}/login/", timeout=REQUEST_S).status_code, 0.1)
        asking.ask("api", lambda: requests.get(f"{base}/v1/usage", headers=key, timeout=REQUEST_S).status_code, 0.1)
        asking.ask("slowly", lambda: ask_slowly(switch.port), 0.1)
        some_time()
        for number, each in enumerate(processes):
            asking.state = f"process {number} ends"
            each.tell_to_stop()
            assert each.wait() == 0
            some_time()
            asking.state = f"another one comes in place of {number}"
            switch.add(running.enter_context(release.start_web()).port)
            some_time()
        asking.end()
    assert asking.failures == []
    assert {status for _, status in asking.answers} == {200}


def ask_slowly(port: int) -> int:
    """Send a request byte by byte, and return the status of the response."""
    apart = threading.Event()
    with socket.create_connection(("127.0.0.1", port), REQUEST_S) as connection:
        for byte in b"GET /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n":
            connection.sendall(bytes([byte]))
            apart.wait(BYTES_APART_S)
        with connection.makefile("rb") as answer:
            line = answer.readline()
            answer.read()
    if not line:
        raise ConnectionResetError("no answer")
    return int(line.split()[1])
