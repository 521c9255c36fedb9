"""Correctness of `/metrics` under load, compared with the counts of rows and clients, and with Prometheus.

Web, workers and scheduler run as `manage.py up` runs them. Meanwhile a worker is killed with all its processes, and
web is restarted: no counter may decrease. When the service is idle, every sample that rows or clients can count must be
equal. If Prometheus is installed, it scrapes all the time, and every panel and every alert is queried.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import requests

from benchmarks.audit_faults import tell, wait_until
from benchmarks.installation import BASE_DIR, install, servers
from benchmarks.metrics_load import Load
from benchmarks.metrics_rows import counted
from benchmarks.prometheus import Prometheus, alerts, panels, scraping
from tests.e2e.service import free_port

TOKEN = "a-token-for-metrics-of-32-characters"
LOAD_S = 240.0
KILL_AFTER_S, RESTART_AFTER_S = 80.0, 160.0
OWN_SCRAPE_EVERY_S = 6.0  # /metrics caches its samples for 5 s
HANDED_OVER_S = 12.0
TIME_LIMIT_S = 10
Samples = Mapping[str, float]
GROWING = ("_total", "_bucket", "_count", "_sum")
# Panels that may have no data after some minutes: a browser ends after fifty loads, and the guard refuses a connection
# only for a name that resolves to a private address.
RARE = frozenset({"Browsers started and ended an hour", "Connections refused by the guard, an hour"})


def main() -> int:
    """Print the figures; return 1 if a goal was missed."""
    with ExitStack() as cleanup:
        folder, stack = cleanup.enter_context(servers(durable=False))
        port = free_port()
        install(
            folder,
            stack,
            SCAN_ALLOWED_NETWORKS="127.0.0.0/8",
            SCAN_VISITS_PER_DOMAIN="50",
            SCAN_GAP_PER_DOMAIN="0",
            SCAN_TIME_LIMIT=str(TIME_LIMIT_S),
            METRICS_TOKEN=TOKEN,
            BASE_URL=f"http://127.0.0.1:{port}",
            ALLOWED_HOSTS="127.0.0.1",
        )
        service = cleanup.enter_context(_Service(folder, port))
        service.start("web", "worker", "browser", "webhooks", "scheduler")
        wait_until(lambda: service.status("/readyz") == 200)
        prometheus = cleanup.enter_context(scraping(folder, f"127.0.0.1:{port}", TOKEN))
        scraper = cleanup.enter_context(_Scraper(port))
        load = cleanup.enter_context(Load(f"http://127.0.0.1:{port}"))
        _disturb(service)
        load.end()
        wait_until(load.is_quiet)
        time.sleep(HANDED_OVER_S)
        missed = _compare(scraper, load)
        missed |= tell("counters that went back", len(scraper.back), 0)
        print("\n".join(scraper.back[:10]), end="\n" * bool(scraper.back))
        if prometheus is None:
            print("Prometheus is not installed: panels and alerts were not asked for.")
        else:
            missed |= _ask(prometheus)
        if missed:
            print(service.log()[-4000:])
        return int(missed)


def _disturb(service: _Service) -> None:
    began = time.monotonic()
    for after_s, disturb in ((KILL_AFTER_S, service.kill_worker), (RESTART_AFTER_S, service.restart_web)):
        time.sleep(max(0.0, began + after_s - time.monotonic()))
        disturb()
    time.sleep(max(0.0, began + LOAD_S - time.monotonic()))


def _compare(scraper: _Scraper, load: Load) -> bool:
    said = scraper.scrape()
    expected = {**counted(), **load.expected()}
    wrong = {name: (value, said.get(name)) for name, value in expected.items() if abs(said.get(name, 0) - value) > 0.01}
    print(f"{scraper.number} scrapes, {len(said)} samples at the end, {len(expected)} of them known from elsewhere")
    print(f"  {load}")
    for name, (value, answer) in list(wrong.items())[:20]:
        print(f"  {name}: {answer}, and {value:g} in truth")
    return tell("samples that are not what rows and clients say", len(wrong), 0)


def _ask(prometheus: Prometheus) -> bool:
    empty = [(title, asked) for title, asked in panels() if not prometheus.has_data(asked)]
    quiet = [name for name, asked in alerts() if not prometheus.has_data(asked)]
    fired = [name for name, _ in alerts() if name not in quiet]
    print(f"Prometheus: {sum(1 for _ in panels())} expressions of panels, {sum(1 for _ in alerts())} alerts")
    print(f"  panels without a number: {', '.join(title for title, _ in empty) or 'none'}")
    print(f"  alerts whose condition was true for a moment: {', '.join(fired) or 'none'}")
    missed = tell("panels without a number, but for what is rare", sum(title not in RARE for title, _ in empty), 0)
    return tell("rules that could not be evaluated", len(prometheus.unhealthy_rules()), 0) or missed


class _Scraper:
    """Scraper that runs every few seconds and records each counter that decreases."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}/metrics"
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._scrape_for_ever, daemon=True)
        self.number = 0
        self.back: list[str] = []

    def __enter__(self) -> _Scraper:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()

    def scrape(self) -> Samples:
        from tests.operations.scraping import samples  # needs Django's settings

        response = requests.get(self._url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30)
        response.raise_for_status()
        return samples(response.text)

    def _scrape_for_ever(self) -> None:
        before: Samples = {}
        while not self._ends.wait(OWN_SCRAPE_EVERY_S):
            with suppress(requests.RequestException):  # while web is restarted
                now = self.scrape()
                self.back += list(_back(before, now))
                before = {**before, **now}
                self.number += 1


def _back(before: Samples, now: Samples) -> Iterator[str]:
    for name, value in before.items():
        if name.partition("{")[0].endswith(GROWING) and now.get(name, 0) < value:
            yield f"{name}: {value:g}, then {now.get(name)}"


class _Service:
    """Processes of `manage.py up`, without its supervisor."""

    def __init__(self, folder: Path, port: int) -> None:
        from operations.stack.management.commands.up import programs

        env = dict(os.environ) | {"PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges"}
        self._commands = {each.name: each.command for each in programs(folder, port, env)}
        self._env, self._port = env, port
        self._path = folder / "processes.log"
        self._log = self._path.open("wb")
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> _Service:
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self._running):
            self._stop(name)
        self._log.close()

    def start(self, *names: str) -> None:
        for name in names:
            self._running[name] = subprocess.Popen(
                list(self._commands[name]), cwd=BASE_DIR, env=self._env, stdout=self._log, stderr=self._log
            )

    def kill_worker(self) -> None:
        """Kill the worker with all its processes, as the kernel does when memory is short, and restart it."""
        process = psutil.Process(self._running["worker"].pid)
        for each in (process, *process.children(recursive=True)):
            each.kill()
        self._running["worker"].wait()
        self.start("worker")

    def restart_web(self) -> None:
        self._stop("web")
        self.start("web")

    def status(self, path: str) -> int:
        with suppress(requests.RequestException):
            return requests.get(f"http://127.0.0.1:{self._port}{path}", timeout=5).status_code
        return 0

    def log(self) -> str:
        return self._path.read_text(errors="replace")

    def _stop(self, name: str) -> None:
        process = self._running.pop(name)
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
