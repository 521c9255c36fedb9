"""Service for benchmarks: its servers in a temporary folder, Django in this process, and programs of `manage.py up`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import django
import psutil

from operations.stack import embedded
from tests.e2e.service import BASE_DIR, free_port, get_status
from tests.operations.stack.processes import wait_until

START_S, STOP_S = 60.0, 40.0
LOG_CHARACTERS = 6_000


@contextmanager
def installed(**variables: str) -> Iterator[Service]:
    """Run PostgreSQL and Redis, and set the service up in this process, migrated."""
    with tempfile.TemporaryDirectory(prefix="wss-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with embedded.stack(folder) as stack:
            defaults = {
                "DATA_DIR": name,
                "SECRET_KEY": "benchmark-" * 5,
                "DJANGO_SETTINGS_MODULE": "config.settings",
                "SCAN_ALLOWED_NETWORKS": "127.0.0.0/8",
                "ALLOWED_HOSTS": "127.0.0.1 testserver",
                # Off, because its lines would appear between those of the tables.
                "ACCESS_LOG": "0",
            }
            os.environ |= stack.env | defaults | variables
            subprocess.run([sys.executable, "manage.py", "prepare"], cwd=BASE_DIR, check=True)
            django.setup()
            yield Service(folder, free_port())


@dataclass(frozen=True)
class Service:
    """Installation of the service: its folder, and the port of its web process."""

    folder: Path
    port: int

    @contextmanager
    def running(self, *names: str, **options: str) -> Iterator[list[psutil.Popen]]:
        """Run these programs of `manage.py up`; `options` replace theirs, such as autoscale="4,4"."""
        from operations.stack.management.commands.up import programs

        env = dict(os.environ) | {
            "PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges",
            "PYTHONFAULTHANDLER": "1",  # a crash writes its traceback to the log
        }
        commands = {each.name: each.command for each in programs(self.folder, self.port, env)}
        replaced = [f"--{name}={value}" for name, value in options.items()]
        path = self.folder / f"{'-'.join(names)}.log"
        with path.open("ab") as log:
            started = [
                psutil.Popen([*commands[name], *replaced], cwd=BASE_DIR, env=env, stdout=log, stderr=log)
                for name in names
            ]
        try:
            if "web" in names:
                wait_until(lambda: get_status(self.port, "/healthz") == 200, START_S)
            yield started
        except BaseException:
            print(path.read_text(errors="replace")[-LOG_CHARACTERS:])
            raise
        finally:
            _stop(started)


def _stop(started: list[psutil.Popen]) -> None:
    """Let the processes finish what they have begun, for a while."""
    everything = [each for process in started for each in (process, *process.children(recursive=True))]
    for process in started:
        process.terminate()
    psutil.wait_procs(started, STOP_S)
    for each in everything:
        if each.is_running():
            each.kill()
    psutil.wait_procs(everything, STOP_S)
