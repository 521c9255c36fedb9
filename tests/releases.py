"""Run the service from any source tree, such as the last release's."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.e2e.service import free_port
from tests.operations.stack.processes import wait_until

ROOT = Path(__file__).resolve().parents[1]
STOP_TIMEOUT_S = 120
WEB = ["gunicorn", "config.wsgi:application", "--worker-class", "config.gunicorn.Worker", "--workers", "2"]
WEB += ["--threads", "4", "--reuse-port", "--preload", "--no-control-socket", "--log-level", "warning"]
WEB += ["--graceful-timeout", "60", "--bind"]
WORKER = ["celery", "--quiet", "-A", "config", "worker", "--queues", "scans,browser,webhooks,maintenance"]
WORKER += ["--concurrency", "2", "--without-gossip", "--without-mingle", "--loglevel", "WARNING", "--hostname"]


def _previous() -> str:
    """Return the last release before this commit.

    It is a commit or a tag, or an empty string if the clone has none.

    `PREVIOUS_RELEASE` overrides the tag, to rehearse an upgrade from another release.
    """
    if override := os.environ.get("PREVIOUS_RELEASE"):
        return override
    command = ["git", "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD^"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


PREVIOUS = _previous()
needs_previous = pytest.mark.skipif(not PREVIOUS, reason="no release lies behind this commit, or the clone has none")


def files_of(commit: str, folder: Path) -> Path:
    """Extract a commit's files to a new folder."""
    folder.mkdir()
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "--extract", "--directory", str(folder)], input=archive, check=True)
    return folder


class Release:
    """Source tree with the environment and data folder of its processes."""

    def __init__(self, code: Path, data_dir: Path, variables: Mapping[str, str]) -> None:
        data_dir.mkdir()
        self.name = data_dir.name
        self._code = code
        self._log = data_dir / "log"
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("SCAN_", "PYTEST_"))}
        self.variables = (
            inherited | {"DATA_DIR": str(data_dir), "PYTHONPATH": f"{code}:{data_dir.parent}"} | dict(variables)
        )

    def manage(self, *arguments: str) -> str:
        """Run a `manage.py` command that must succeed."""
        execution = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=self._code,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert execution.returncode == 0, f"{self.name}: {execution.stdout}{execution.stderr}"
        return execution.stdout

    def prepare(self, folder: Path) -> dict[str, str]:
        """Prepare the database and return the demo organization's login.

        Its owner is a superuser.
        """
        self.manage("prepare", "--demo", str(folder / "demo.json"))
        login: dict[str, str] = json.loads((folder / "demo.json").read_text())
        return login

    def start_web(self) -> Process:
        """Start a web process with two workers.

        Returns the process before it is ready.
        """
        port = free_port()
        return Process(self._start([*WEB, f"127.0.0.1:{port}"]), port)

    def start_worker(self) -> Process:
        return Process(self._start([*WORKER, f"{self.name}@%h"]), 0)

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def _start(self, command: list[str]) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", *command],
                cwd=self._code,
                env=self.variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )


class Process:
    """Process of a release.

    `port` is the port on which it listens, or 0.
    """

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self._process = process
        self.port = port

    def request_stop(self) -> None:
        self._process.terminate()

    def wait(self) -> int:
        """Wait for a stopping process to end and return its exit status."""
        wait_until(lambda: self._process.poll() is not None, STOP_TIMEOUT_S)
        return self._process.returncode

    def stop(self) -> None:
        self.request_stop()
        self.wait()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(10)
            self._process.kill()
            self._process.wait()
