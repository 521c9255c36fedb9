"""Run the service for benchmarks: servers in a temporary folder, Django here, and `manage.py up` programs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import django
import psutil
from msgspec import Struct

from operations.stack import embedded
from tests.e2e.service import BASE_DIR, free_port, get_status
from tests.operations.stack.processes import wait_until

START_TIMEOUT_S, STOP_TIMEOUT_S = 120.0, 40.0
MAX_LOG_CHARACTERS = 6_000


@contextmanager
def installed_service(variables: Mapping[str, str]) -> Iterator[Service]:
    """Run PostgreSQL and Redis, migrate, and set up Django in this process.

    `variables` extend the environment.
    """
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
                # The access log is disabled, because its lines would appear between the lines of the tables.
                "ACCESS_LOG": "0",
            }
            os.environ.update(stack.env | defaults | dict(variables))
            subprocess.run([sys.executable, "manage.py", "prepare"], cwd=BASE_DIR, check=True)
            django.setup()
            yield Service(folder, free_port())


class Service(Struct, frozen=True):
    """An installed service, with its data folder and its web process's port."""

    folder: Path
    port: int

    def servers(self, redis_info: Mapping[str, Any]) -> dict[str, psutil.Process]:
        """Return the processes of PostgreSQL and Redis by name. `redis_info` is the response of Redis to INFO."""
        postmaster = int((self.folder / "postgres" / "postmaster.pid").read_text().split()[0])
        return {"PostgreSQL": psutil.Process(postmaster), "Redis": psutil.Process(redis_info["process_id"])}

    @contextmanager
    def running(
        self, *names: str, env: Mapping[str, str] | None = None, options: Sequence[str] = ()
    ) -> Iterator[list[psutil.Process]]:
        """Run the `manage.py up` programs with additional environment variables and command line `options`."""
        # The module `up` reads the environment when it is imported.
        from operations.stack.management.commands.up import programs

        environment = {
            **os.environ,
            **(env or {}),
            "PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges",
            "PYTHONFAULTHANDLER": "1",  # With this variable, a crash writes its traceback to the log.
        }
        commands = {program.name: program.command for program in programs(self.folder, self.port, environment)}
        path = self.folder / f"{'-'.join(names)}.log"
        with path.open("ab") as log:
            processes: list[psutil.Process] = [
                psutil.Popen([*commands[name], *options], cwd=BASE_DIR, env=environment, stdout=log, stderr=log)
                for name in names
            ]
        try:
            if "web" in names:
                wait_until(lambda: get_status(self.port, "/healthz") == 200, START_TIMEOUT_S)
            yield processes
        except BaseException:
            print(path.read_text(errors="replace")[-MAX_LOG_CHARACTERS:])
            raise
        finally:
            _stop(processes)

    @contextmanager
    def worker(
        self, processes: int, *, host: str = "host", env: Mapping[str, str] | None = None
    ) -> Iterator[psutil.Process]:
        """Run a worker for scans, and wait until its pool has `processes` processes."""
        options = (f"--autoscale={processes},{processes}", f"--hostname=worker@{host}")
        with self.running("worker", env=env, options=options) as (worker,):
            wait_until(lambda: len(worker.children()) >= processes, START_TIMEOUT_S)
            yield worker


def _stop(processes: list[psutil.Process]) -> None:
    """Stop the processes that run, and kill those that have not ended after STOP_TIMEOUT_S."""
    processes = [process for process in processes if process.is_running()]
    tree = [process for process in processes for process in (process, *process.children(recursive=True))]
    for process in processes:
        process.terminate()
    psutil.wait_procs(processes, STOP_TIMEOUT_S)
    for process in tree:
        if process.is_running():
            process.kill()
    psutil.wait_procs(tree, STOP_TIMEOUT_S)
