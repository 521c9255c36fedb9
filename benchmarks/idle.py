"""Benchmark an idle `manage.py up`, with all its processes and servers, on Linux.

Memory is the proportional set size (PSS), in which memory shared by several processes counts once. Processor time is
the time of the whole process tree, including ended processes.
"""

from __future__ import annotations

import json
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import redis
import requests

from benchmarks.table import Table
from benchmarks.usage import cpu_s, memory_mib, process_tree
from operations.stack.running import variables_of
from tests.e2e.service import Service, free_port
from tests.operations.stack.processes import wait_until
from tests.targets.sample import sample_site

START_TIMEOUT_S, SCAN_TIMEOUT_S = 120.0, 60.0
# The start counts as finished when the processes use less than CALM_CPU_S of CPU time within CALM_DURATION_S.
CALM_DURATION_S, CALM_CPU_S = 3.0, 0.06
IDLE_DURATION_S, MIN_IDLE_DURATION_S, PAUSE_AFTER_SCANS_S = 120.0, 60.0, 30.0
SCANS, CONCURRENT_SCANS = 500, 8
FINAL = ("completed", "partial", "failed")

MAX_PROCESSES, MAX_MEMORY_MIB, MAX_MEMORY_AFTER_SCANS_MIB = 16, 450, 500
MAX_FIRST_START_CPU_S, MAX_SECOND_START_CPU_S = 10, 4
MAX_CPU_S_PER_MINUTE, MAX_REDIS_COMMANDS_PER_MINUTE = 0.3, 60


def measure(table: Table, share: float) -> None:
    with tempfile.TemporaryDirectory(prefix="wss-idle-") as name, sample_site() as site:
        folder = Path(name, "var")
        Path(name).chmod(0o755)
        table.head("start until it is calm", "CPU-s", "s to the page")
        with _running_service(folder, str(site.ca_file)) as service:
            table.row("first", *_wait_for_start(service), most=(MAX_FIRST_START_CPU_S,))
        with _running_service(folder, str(site.ca_file)) as service:
            root = psutil.Process(service.process.pid)
            table.row("second", *_wait_for_start(service), most=(MAX_SECOND_START_CPU_S,))
            table.head("idle", "processes", "MiB")
            table.row("after the start", _process_count(root), memory_mib(root), most=(MAX_PROCESSES, MAX_MEMORY_MIB))
            table.head("a minute of it", "CPU-s", "Redis commands")
            commands, cpu_before_s, start = _redis_command_count(folder), cpu_s(root), time.monotonic()
            time.sleep(max(MIN_IDLE_DURATION_S, IDLE_DURATION_S * share))
            minutes = (time.monotonic() - start) / 60
            figures = (cpu_s(root) - cpu_before_s) / minutes, (_redis_command_count(folder) - commands) / minutes
            table.row("all processes", *figures, most=(MAX_CPU_S_PER_MINUTE, MAX_REDIS_COMMANDS_PER_MINUTE))
            scans = max(CONCURRENT_SCANS, round(SCANS * share))
            _scan_repeatedly(service, site.url_as("localhost") + "/", scans)
            time.sleep(PAUSE_AFTER_SCANS_S)
            table.head(f"after {scans} scans", "MiB", "processes")
            table.row("half a minute later", memory_mib(root), _process_count(root), most=(MAX_MEMORY_AFTER_SCANS_MIB,))


@contextmanager
def _running_service(folder: Path, ca_file: str) -> Iterator[Service]:
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


def _wait_for_start(service: Service) -> tuple[float, float]:
    """Wait until all programs have started.

    Return their CPU seconds, and the seconds until the page was available.

    Raises TimeoutError if the programs are still busy after START_LIMIT_S.
    """
    page_available_s = service.wait_for_health(START_TIMEOUT_S)
    root = psutil.Process(service.process.pid)
    deadline = time.monotonic() + START_TIMEOUT_S
    previous_cpu_s = cpu_s(root)
    while time.monotonic() < deadline:
        time.sleep(CALM_DURATION_S)
        current_cpu_s = cpu_s(root)
        if current_cpu_s - previous_cpu_s <= CALM_CPU_S:
            return current_cpu_s, page_available_s
        previous_cpu_s = current_cpu_s
    raise TimeoutError("the service does not calm down")


def _process_count(root: psutil.Process) -> int:
    return len(list(process_tree(root)))


def _redis_command_count(folder: Path) -> int:
    """Return how many commands Redis has executed since its start."""
    with redis.Redis.from_url(variables_of(folder)["REDIS_URL"]) as client:
        return int(client.info("stats")["total_commands_processed"])


def _scan_repeatedly(service: Service, url: str, number: int) -> None:
    """Scan a page `number` times for the demo organization, with at most CONCURRENT_SCANS concurrent scans."""
    key = json.loads((service.data_dir / "demo.json").read_text())["api_key"]
    body, headers = {"url": url, "type": "security"}, {"Authorization": f"Bearer {key}"}

    def request_scan() -> None:
        address = f"http://127.0.0.1:{service.port}/v1/scan"
        while (
            response := requests.post(address, json=body, headers=headers, timeout=SCAN_TIMEOUT_S)
        ).status_code == requests.codes.too_many:
            time.sleep(float(response.headers["Retry-After"]))
        response.raise_for_status()

    # The database is asked, because requests to the API would exceed the rate limit.
    with service.connect() as database:
        database.autocommit = True

        def unfinished() -> int:
            query = "SELECT count(*) FROM scans_scan WHERE NOT status = ANY(%s)"
            (count,) = database.execute(query, [list(FINAL)]).fetchone() or (0,)
            return int(count)

        for _ in range(number):
            wait_until(lambda: unfinished() < CONCURRENT_SCANS, SCAN_TIMEOUT_S)
            request_scan()
        wait_until(lambda: unfinished() == 0, SCAN_TIMEOUT_S)
