"""Tests that faults in an installation are reported with a remedy.

Other faults are in test_doctor.py, test_browser_check.py, test_proxies.py and test_errors.py.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from tests.command_line import ROOT, environment, run
from tests.e2e.service import free_port, get_status
from tests.operations.stack.processes import wait_until
from tests.releases import WEB

MAX_WAIT_S = 60
KEY = "only-for-this-test-which-keeps-nothing"
UNREACHABLE = "postgresql://scan@127.0.0.1:1/scan"
BEAT = ["celery", "--quiet", "--no-color", "-A", "config", "beat", "--pidfile", "", "--loglevel", "WARNING"]
BEAT += ["--schedule"]


class Program:
    """Context manager for a process of the service.

    `output` is what it printed so far.
    """

    def __init__(self, log: Path, command: list[str], **variables: str) -> None:
        self._log = log
        self._env = environment(SECRET_KEY=KEY, DJANGO_SETTINGS_MODULE="config.settings", **variables)
        self._command = [sys.executable, "-m", *command]

    def __enter__(self) -> Program:
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                self._command, cwd=ROOT, env=self._env, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(MAX_WAIT_S)
        finally:
            self.process.kill()
            self.process.wait()

    @property
    def output(self) -> str:
        return self._log.read_text(errors="replace")

    def wait_for(self, sentence: str) -> None:
        try:
            wait_until(lambda: sentence in self.output or self.process.poll() is not None, MAX_WAIT_S)
        except AssertionError:
            pytest.fail(f"no {sentence!r} in:\n{self.output}")
        assert sentence in self.output, self.output


@pytest.fixture
def queue() -> Iterator[str]:
    """URL of the tests' Redis, which is empty before and after the test."""
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
        client.flushdb()
        yield os.environ["REDIS_URL"]
        client.flushdb()


def test_unreachable_database_is_reported(tmp_path: Path, queue: str) -> None:
    for command in ("prepare", "migrate"):
        process = run(command, SECRET_KEY=KEY, DATABASE_URL=UNREACHABLE)
        assert process.returncode == 1
        assert "PostgreSQL does not answer" in process.stderr
        assert "DATABASE_URL names the database." in process.stderr
    refused = run("up", DATABASE_URL=UNREACHABLE, DATA_DIR=str(tmp_path), PORT=str(free_port()))
    assert "DATABASE_URL can't be used: connection failed" in refused.stderr
    port = free_port()
    servers = {"DATABASE_URL": UNREACHABLE, "REDIS_URL": queue}
    with (
        Program(tmp_path / "web.log", [*WEB, f"127.0.0.1:{port}"], **servers) as web,
        Program(tmp_path / "beat.log", [*BEAT, str(tmp_path / "schedule")], **servers) as beat,
    ):
        wait_until(lambda: get_status(port, "/readyz") == 503, MAX_WAIT_S)
        web.wait_for("PostgreSQL does not answer: connection failed")
        beat.wait_for("PostgreSQL does not answer: connection failed")
        assert "Traceback" not in web.output + beat.output


def test_web_and_up_report_port_in_use(tmp_path: Path, queue: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        with Program(tmp_path / "web.log", [*WEB, f"127.0.0.1:{port}"], REDIS_URL=queue) as web:
            web.wait_for(f"Connection in use: ('127.0.0.1', {port})")
        refused = run("up", DATA_DIR=str(tmp_path), PORT=str(port))
    assert refused.returncode == 2
    assert f"Port {port} can't be used" in refused.stderr
    assert "set PORT to another number" in refused.stderr


def test_second_scheduler_is_on_standby(tmp_path: Path, queue: str) -> None:
    def scheduler(name: str) -> Program:
        return Program(
            tmp_path / f"{name}.log", [*BEAT, str(tmp_path / name)], DATABASE_URL=UNREACHABLE, REDIS_URL=queue
        )

    with scheduler("second") as second, scheduler("first") as first:
        wait_until(lambda: "stands by: only one is needed" in first.output + second.output, MAX_WAIT_S)
        standby, active = (first, second) if "stands by" in first.output else (second, first)
        active.process.kill()
        standby.wait_for("this scheduler sends the tasks now")


@pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="only root makes a small file system")
def test_up_reports_full_disk() -> None:
    with tempfile.TemporaryDirectory(prefix="wss-full-") as folder:
        Path(folder).chmod(0o755)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", folder], check=False)
        if mounted.returncode:
            pytest.skip("this root may not mount")
        try:
            refused = run("up", DATA_DIR=f"{folder}/data", PORT=str(free_port()))
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)
    assert refused.returncode == 2
    assert "PostgreSQL could not make its files" in refused.stderr
    assert "No space left on device" in refused.stderr
