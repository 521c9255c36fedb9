"""`manage.py up`: a newcomer's first minute, and every reason for a refusal to start."""

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
from tests.e2e.service import STOP_S, Service, free_port, get_status
from tests.operations.stack.processes import programs_with, running_with, wait_until

COLD_START_S = 90
# Alone it takes half of that. On a busy machine only the longer limit applies.
WARM_START_S, BUSY_START_S = 10, 60
# What a killed service has begun is finished first, however busy the machine.
ORPHANS_END_S = 60


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """Path of a folder that does not exist yet, with a blank in it; deleted afterwards."""
    parent = Path(tempfile.mkdtemp(prefix="wss tests "))
    parent.chmod(0o755)
    yield parent / "var"
    wait_until(lambda: running_with(str(parent)) == {}, timeout_s=STOP_S)
    shutil.rmtree(parent)


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def start(data_dir: Path, port: int) -> Iterator[Callable[..., Service]]:
    """Return a function that starts a service on `data_dir` and `port`, with further variables if given."""
    services = []

    def start_service(**env: str) -> Service:
        services.append(Service(data_dir, port, **env))
        return services[-1]

    yield start_service
    for service in services:
        service.kill()


def refusal(service: Service) -> str:
    """Return the output of a service that refuses to start; it must end with status 2 and no traceback."""
    assert service.wait_for_end(20) == 2, service.output
    service.kill()
    assert "Traceback" not in service.output
    return service.output


@pytest.mark.slow
def test_first_second_and_third_start(start: Callable[..., Service], data_dir: Path, port: int) -> None:
    first = start()
    first.wait_for_health(COLD_START_S)
    first.wait_for_welcome()
    key, login = first.shown("API key"), first.shown("Login")
    assert first.shown("Address") == f"http://localhost:{port}"
    assert re.fullmatch(r"\S+@\S+  password: \S{12,}", login)

    # The printed request can be pasted into a shell.
    command = shlex.split(first.shown("curl"))
    assert f"http://localhost:{port}/v1/scan" in command
    assert f"Authorization: Bearer {key}" in command
    assert json.loads(command[-1])["type"] == "security"

    # Files with secrets are private to their owner.
    for name in ("secret_key", "demo.json", "running.json", "postgres.log", "redis.log"):
        assert stat.S_IMODE((data_dir / name).stat().st_mode) == 0o600
    assert get_status(port, "/readyz") == 200

    # A killed worker restarts, and so does the database.
    def workers() -> list[int]:
        return programs_with(str(data_dir), "worker")

    first.wait_for(lambda: len(workers()) > 0, 10)  # they start once the web answers
    os.kill(min(workers()), signal.SIGKILL)
    first.wait_for(lambda: "worker was ended by SIGKILL; it starts again in 1 s" in first.output, 10)
    database = int((data_dir / "postgres" / "postmaster.pid").read_text().split()[0])
    os.kill(database, signal.SIGKILL)
    first.wait_for(lambda: "PostgreSQL had died; it starts again" in first.output, 10)
    first.wait_for(lambda: get_status(port, "/readyz") == 200, 20)
    first.stop(signal.SIGTERM)

    second = start()
    started_s = second.wait_for_health(BUSY_START_S)
    assert started_s <= WARM_START_S or os.getloadavg()[0] > (os.cpu_count() or 1), second.output
    second.wait_for_welcome()
    # The output is not a terminal: secrets go into a log only once.
    assert key not in second.output
    assert login.rpartition(" ")[2] not in second.output
    made = run("create_api_key", "Second shell", DATA_DIR=str(data_dir))
    assert (made.returncode, made.stderr) == (0, "")
    assert is_well_formed(made.stdout.strip())

    # Meanwhile no other service may use the folder.
    message = refusal(start())
    assert str(second.process.pid) in message
    assert str(data_dir) in message

    # Only Linux signals children on their parent's death: there a killed service leaves no process, and can restart.
    if sys.platform == "linux":
        orphans = set(running_with(str(data_dir))) - {second.process.pid}
        second.kill()
        third = start()
        third.wait_for_health(COLD_START_S)
        third.wait_for_welcome()
        assert third.shown("Login").startswith("demo@example.com")
        third.wait_for(lambda: orphans.isdisjoint(running_with(str(data_dir))), ORPHANS_END_S)
    else:
        third = second
    third.stop(signal.SIGINT)  # Ctrl-C stops it as well


@pytest.mark.slow
def test_signal_during_the_first_start_stops_the_service(start: Callable[..., Service]) -> None:
    service = start()
    service.wait_for(lambda: "First start" in service.output, 20)
    service.stop(signal.SIGTERM)


def test_start_on_a_busy_port_is_refused(start: Callable[..., Service], port: int) -> None:
    with socket.create_server(("127.0.0.1", port)):
        message = refusal(start())
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
    env: dict[str, str], expected: str, start: Callable[..., Service]
) -> None:
    message = refusal(start(**env))
    assert message.count("\n") == 1, message
    assert expected in message


def test_failing_system_check_is_shown_with_id_and_hint(start: Callable[..., Service], data_dir: Path) -> None:
    message = refusal(start(SECRET_KEY="short"))
    assert "environment.SECRET_KEY" in message
    assert "`manage.py up` makes one" in message
    assert running_with(str(data_dir)) == {}
