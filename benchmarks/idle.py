"""Cost of the service that has nothing to do: `manage.py up` with all its processes and servers, on Linux.

Memory is the proportional set size (PSS): a page that several processes share counts once. Processor time is that of
the whole tree of processes, with those of it that have ended.
"""

from __future__ import annotations

import json
import signal
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil
import redis
import requests

from benchmarks.table import Table
from benchmarks.usage import cpu_s, memory_mib, tree
from operations.stack.running import variables_of
from tests.e2e.service import Service, free_port
from tests.operations.stack.processes import wait_until
from tests.targets.sample import sample_site

START_S, SCAN_S, POLL_S = 120.0, 60.0, 1.0
# The start is over when the processes have used little for a while.
CALM_S, CALM_CPU_S = 3.0, 0.06
IDLE_S, LEAST_IDLE_S, REST_S = 120.0, 60.0, 70.0
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
            table.row("first", *_start(service), most=(MOST_FIRST_CPU_S,))
        with _running(folder, str(site.ca_file)) as service:
            root = psutil.Process(service.process.pid)
            table.row("second", *_start(service), most=(MOST_SECOND_CPU_S,))
            table.head("idle", "processes", "MiB")
            table.row("after the start", _processes(root), memory_mib(root), most=(MOST_PROCESSES, MOST_MIB))
            table.head("a minute of it", "CPU-s", "Redis commands")
            commands, cpu_before_s, began = _commands(folder), cpu_s(root), time.monotonic()
            time.sleep(max(LEAST_IDLE_S, IDLE_S * share))
            minutes = (time.monotonic() - began) / 60
            figures = (cpu_s(root) - cpu_before_s) / minutes, (_commands(folder) - commands) / minutes
            table.row("all processes", *figures, most=(MOST_CPU_S_A_MINUTE, MOST_COMMANDS_A_MINUTE))
            scans = max(AT_ONCE, round(SCANS * share))
            _scan(service, site.url_as("localhost") + "/", scans)
            time.sleep(REST_S)
            table.head(f"after {scans} scans", "MiB", "processes")
            table.row("a minute later", memory_mib(root), _processes(root), most=(MOST_MIB_AFTER_SCANS,))


@contextmanager
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


def _start(service: Service) -> tuple[float, float]:
    """Wait until all programs have started. Return their processor seconds, and the seconds until the page was there.

    Raises TimeoutError if they still work after START_S.
    """
    ready_s = service.wait_for_health(START_S)
    root = psutil.Process(service.process.pid)
    deadline = time.monotonic() + START_S
    before = cpu_s(root)
    while time.monotonic() < deadline:
        time.sleep(CALM_S)
        now = cpu_s(root)
        if now - before <= CALM_CPU_S:
            return now, ready_s
        before = now
    raise TimeoutError("the service does not calm down")


def _processes(root: psutil.Process) -> int:
    return len(list(tree(root)))


def _commands(folder: Path) -> int:
    """Return the number of commands that Redis has executed."""
    with redis.Redis.from_url(variables_of(folder)["REDIS_URL"]) as client:
        return int(client.info("stats")["total_commands_processed"])


def _scan(service: Service, url: str, number: int) -> None:
    """Let the demo organization scan a page `number` times, AT_ONCE at once."""
    key = json.loads((service.data_dir / "demo.json").read_text())["api_key"]

    def call(method: str, path: str, body: object = None) -> requests.Response:
        headers = {"Authorization": f"Bearer {key}"}
        return requests.request(
            method, f"http://127.0.0.1:{service.port}{path}", json=body, headers=headers, timeout=SCAN_S
        )

    def scan(_: int) -> None:
        body = {"url": url, "type": "security"}
        while (created := call("POST", "/v1/scan", body)).status_code == requests.codes.too_many:
            time.sleep(float(created.headers["Retry-After"]))
        created.raise_for_status()
        path = f"/v1/scan/{created.json()['id']}"

        def is_final() -> bool:
            response = call("GET", path)
            return response.ok and response.json()["status"] in FINAL  # not ok beyond the limit of requests

        wait_until(is_final, SCAN_S, poll_s=POLL_S)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(scan, range(number)))
