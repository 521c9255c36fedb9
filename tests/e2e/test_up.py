"""Tests for `manage.py up`."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from accounts.keys.minting import is_well_formed
from tests.command_line import run
from tests.e2e.service import STOP_TIMEOUT_S, Service, free_port, get_status
from tests.operations.stack.processes import programs_with, running_with, wait_until

MAX_COLD_START_S = 90
# A busy machine needs the longer limit.
MAX_WARM_START_S, MAX_BUSY_START_S = 10, 60
# Killed services finish their work before they end, which may take long.
MAX_ORPHAN_LIFETIME_S = 60


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """Path of a folder to be created.

    The path contains a space, and the folder is deleted after the test.
    """
    parent = Path(tempfile.mkdtemp(prefix="wss tests "))
    parent.chmod(0o755)
    yield parent / "var"
    wait_until(lambda: running_with(str(parent)) == {}, timeout_s=STOP_TIMEOUT_S)
    shutil.rmtree(parent)


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def start_service(data_dir: Path, port: int) -> Iterator[Callable[..., Service]]:
    """Return a function that starts a service on `data_dir` and `port`.

    It accepts additional environment variables.
    """
    services = []

    def create_service(**env: str) -> Service:
        services.append(Service(data_dir, port, **env))
        return services[-1]

    yield create_service
    for service in services:
        service.kill()


def refused_output(service: Service) -> str:
    """Return the output of a service that refuses to start.

    It must exit with status 2 and without a traceback.
    """
    assert service.wait_for_end(20) == 2, service.output
    service.kill()
    assert "Traceback" not in service.output
    return service.output


@pytest.mark.slow
def test_service_restarts_its_processes(start_service: Callable[..., Service], data_dir: Path, port: int) -> None:
    first = start_service()
    first.wait_for_health(MAX_COLD_START_S)
    first.wait_for_welcome()
    key, login = first.printed_value("API key"), first.printed_value("Login")
    assert first.printed_value("Address") == f"http://localhost:{port}"
    assert re.fullmatch(r"\S+@\S+  password: \S{12,}", login)

    # The printed request can be pasted into a shell.
    command = shlex.split(first.printed_value("curl"))
    assert f"http://localhost:{port}/v1/scan" in command
    assert f"Authorization: Bearer {key}" in command
    assert json.loads(command[-1])["type"] == "security"

    # Files with secrets are private to their owner.
    for name in ("secret_key", "demo.json", "running.json", "postgres.log", "redis.log"):
        assert stat.S_IMODE((data_dir / name).stat().st_mode) == 0o600
    assert get_status(port, "/readyz") == 200

    # A killed worker is restarted, and so is the database.
    def worker_ids() -> list[int]:
        return programs_with(str(data_dir), "worker")

    first.wait_for(lambda: len(worker_ids()) > 0, 10)  # Workers start after the web server responds.
    os.kill(min(worker_ids()), signal.SIGKILL)
    first.wait_for(lambda: "worker was ended by SIGKILL; it starts again in 1 s" in first.output, 10)
    database = int((data_dir / "postgres" / "postmaster.pid").read_text().split()[0])
    os.kill(database, signal.SIGKILL)
    first.wait_for(lambda: "PostgreSQL had died; it starts again" in first.output, 10)
    first.wait_for(lambda: get_status(port, "/readyz") == 200, 20)
    first.stop(signal.SIGTERM)

    second = start_service()
    started_s = second.wait_for_health(MAX_BUSY_START_S)
    assert started_s <= MAX_WARM_START_S or os.getloadavg()[0] > (os.cpu_count() or 1), second.output
    second.wait_for_welcome()
    # Without a terminal, only the first start prints the secrets.
    assert key not in second.output
    assert login.rpartition(" ")[2] not in second.output
    created_key = run("create_api_key", "Second shell", DATA_DIR=str(data_dir))
    assert (created_key.returncode, created_key.stderr) == (0, "")
    assert is_well_formed(created_key.stdout.strip())

    # A second service cannot use the same folder.
    message = refused_output(start_service())
    assert str(second.process.pid) in message
    assert str(data_dir) in message

    # Only Linux signals child processes when their parent dies.
    if sys.platform == "linux":
        orphans = set(running_with(str(data_dir))) - {second.process.pid}
        second.kill()
        third = start_service()
        third.wait_for_health(MAX_COLD_START_S)
        third.wait_for_welcome()
        assert third.printed_value("Login").startswith("demo@example.com")
        third.wait_for(lambda: orphans.isdisjoint(running_with(str(data_dir))), MAX_ORPHAN_LIFETIME_S)
    else:
        third = second
    third.stop(signal.SIGINT)  # Ctrl-C sends SIGINT.


@pytest.mark.slow
def test_signal_during_first_start_stops_the_service(start_service: Callable[..., Service]) -> None:
    service = start_service()
    service.wait_for(lambda: "First start" in service.output, 20)
    service.stop(signal.SIGTERM)


def test_start_on_a_busy_port_is_refused(start_service: Callable[..., Service], port: int) -> None:
    with socket.create_server(("127.0.0.1", port)):
        message = refused_output(start_service())
    assert message.count("\n") == 1
    assert f"Port {port}" in message
    assert "set PORT" in message


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"PORT": "99999"}, "PORT can't be used"),
        ({"DATABASE_URL": "nonsense"}, "DATABASE_URL can't be used"),
        ({"DATABASE_URL": "postgresql://u:p@127.0.0.1:1/x"}, "DATABASE_URL can't be used"),
        ({"REDIS_URL": "nonsense"}, "REDIS_URL can't be used"),
        ({"REDIS_URL": "redis://127.0.0.1:1/0"}, "REDIS_URL can't be used"),
        ({"DATA_DIR": "/dev/null/var"}, "DATA_DIR /dev/null/var is not writable"),
    ],
)
def test_invalid_setting_is_refused_in_one_line(
    env: dict[str, str], expected: str, start_service: Callable[..., Service]
) -> None:
    message = refused_output(start_service(**env))
    assert message.count("\n") == 1, message
    assert expected in message


def test_failing_system_check_is_shown(start_service: Callable[..., Service], data_dir: Path) -> None:
    message = refused_output(start_service(SECRET_KEY="short"))
    assert "environment.SECRET_KEY" in message
    assert "`manage.py up` creates one" in message
    assert running_with(str(data_dir)) == {}
