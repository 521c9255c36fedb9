"""Cost of the service that has nothing to do: `manage.py up` with all its processes and servers, on Linux.

Memory is the proportional set size (PSS): a page that several processes share counts once. Processor time is that of
the whole tree of processes, with those of it that have ended.
"""

from __future__ import annotations

import contextlib
import json
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import redis
import requests

from benchmarks import usage
from benchmarks.table import Table
from operations.stack.running import variables_of
from tests.e2e.service import Service, free_port
from tests.operations.stack.processes import wait_until
from tests.targets.sample import sample_site

START_S, SCAN_S = 120.0, 60.0
# The start is over when the processes have used little for a while.
CALM_S, CALM_CPU_S = 3.0, 0.06
IDLE_S, REST_S = 120.0, 70.0
SCANS, AT_ONCE = 500, 8
FINAL = ("completed", "partial", "failed")

MOST_PROCESSES, MOST_MIB, MOST_MIB_AFTER_SCANS = 16, 450, 700
MOST_FIRST_CPU_S, MOST_SECOND_CPU_S = 10, 4
MOST_CPU_S_A_MINUTE, MOST_COMMANDS_A_MINUTE = 0.3, 60


def measure(table: Table, share: float) -> None:
    with tempfile.TemporaryDirectory(prefix="wss-idle-") as name, sample_site() as site:
        folder = Path(name, "var")
        Path(name).chmod(0o755)
        table.head("start until it is calm", "CPU-s", "s to the page")
        with _running(folder, str(site.ca_file)) as service:
            table.row("first", *_started(service), most=(MOST_FIRST_CPU_S,))
        with _running(folder, str(site.ca_file)) as service:
            table.row("second", *_started(service), most=(MOST_SECOND_CPU_S,))
            table.head("idle", "processes", "MiB")
            table.row("after the start", *_size(service), most=(MOST_PROCESSES, MOST_MIB))
            table.head("a minute of it", "CPU-s", "Redis commands")
            commands = _commands(folder)
            cpu_s, began = _cpu_s(service), time.monotonic()
            time.sleep(max(60.0, IDLE_S * min(1.0, share)))
            minutes = (time.monotonic() - began) / 60
            table.row(
                "all processes",
                (_cpu_s(service) - cpu_s) / minutes,
                (_commands(folder) - commands) / minutes,
                most=(MOST_CPU_S_A_MINUTE, MOST_COMMANDS_A_MINUTE),
            )
            scans = max(AT_ONCE, round(SCANS * share))
            _scan(service, folder, site.url_as("localhost") + "/", scans)
            time.sleep(REST_S)
            table.head(f"after {scans} scans", "MiB", "processes")
            table.row("a minute later", *reversed(_size(service)), most=(MOST_MIB_AFTER_SCANS,))


@contextlib.contextmanager
def _running(folder: Path, ca_file: str) -> Iterator[Service]:
    service = Service(
        folder,
        free_port(),
        ACCESS_LOG="0",
        SCAN_ALLOWED_NETWORKS="127.0.0.0/8",
        SCAN_CA_BUNDLE=ca_file,
        SCAN_VISITS_PER_DOMAIN="64",
    )
    try:
        yield service
        service.stop(signal.SIGTERM)
    except BaseException:
        print(service.output)
        raise
    finally:
        service.kill()


def _started(service: Service) -> tuple[float, float]:
    """Wait until everything has started. Returns the processor seconds, and the seconds until it was ready."""
    ready_s = service.wait_for_health(START_S)
    return _await_calm(service), ready_s


def _await_calm(service: Service) -> float:
    """Wait until nothing more happens; return the processor seconds so far."""
    deadline = time.monotonic() + START_S
    before = _cpu_s(service)
    while time.monotonic() < deadline:
        time.sleep(CALM_S)
        now = _cpu_s(service)
        if now - before <= CALM_CPU_S:
            return now
        before = now
    raise TimeoutError("the service does not calm down")


def _cpu_s(service: Service) -> float:
    return usage.cpu_s(_root(service))


def _size(service: Service) -> tuple[int, float]:
    """Return the number of processes, and the MiB of memory of all together."""
    return len(list(usage.tree(_root(service)))), usage.memory_mib(_root(service))


def _root(service: Service) -> psutil.Process:
    return psutil.Process(service.process.pid)


def _commands(folder: Path) -> int:
    """Return the number of commands that Redis has executed."""
    with redis.Redis.from_url(variables_of(folder)["REDIS_URL"]) as client:
        return int(client.info("stats")["total_commands_processed"])


def _scan(service: Service, folder: Path, url: str, number: int) -> None:
    """Have the demo organization scan a page `number` times, a few at once."""
    base = f"http://127.0.0.1:{service.port}"
    key = json.loads((folder / "demo.json").read_text())["api_key"]
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {key}"
        running: list[str] = []

        def has_place() -> bool:
            for each in list(running):
                answer = session.get(f"{base}/v1/scan/{each}", timeout=SCAN_S)
                if answer.ok and answer.json()["status"] in FINAL:
                    running.remove(each)
            return len(running) < places

        places = AT_ONCE
        for _ in range(number):
            wait_until(has_place, SCAN_S, poll_s=0.2)
            answer = session.post(f"{base}/v1/scan", json={"url": url, "type": "security"}, timeout=SCAN_S)
            while answer.status_code == requests.codes.too_many:
                time.sleep(float(answer.headers["Retry-After"]))
                answer = session.post(f"{base}/v1/scan", json={"url": url, "type": "security"}, timeout=SCAN_S)
            answer.raise_for_status()
            running.append(answer.json()["id"])
        places = 1
        wait_until(has_place, SCAN_S, poll_s=0.2)
