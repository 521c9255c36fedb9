"""The service on three hosts: scaling with the number of hosts, and recovery after a network partition.

Each host has web, a worker, webhooks; two have a scheduler. They share one PostgreSQL and one Redis. The sites respond
slowly, so that the figures do not depend on the cores of this machine. Then the clocks of the hosts differ, and one
host loses its network while it scans: every scan must end, be reported and be charged exactly once.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import psutil
import requests

from benchmarks import namespaces
from benchmarks.audit_faults import Client, tell, wait_until
from benchmarks.installation import BASE_DIR, install
from benchmarks.namespaces import NETWORK, SERVERS, Host
from operations.stack.postgres import Postgres
from operations.stack.redis import find_binary

HOSTS = 3
WEB_PORT, SITE_PORT = 8000, 80
SITES = [f"10.83.1.{number}" for number in range(1, 101)]
ANSWER_S = 0.35
PLACES = 4
TYPES = ("security", "seo")
PER_HOST = 60  # scans per host in the measurement of the rate
GOAL = 2.4
SCANS, CUT_AFTER, CUT_S = 150, 20, 45.0
APART_S = 30
TIME_LIMIT_S, LEASE_S, GRACE_S = 30, 20, 60


def main() -> int:
    """Print the figures; return 1 if a goal was missed."""
    status = namespaces.enter("hosts")
    return _inside() if status is None else status


def _inside() -> int:
    namespaces.add_addresses(SITES)
    with ExitStack() as cleanup:
        folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="wss-bench-")))
        folder.chmod(0o755)
        cleanup.enter_context(_servers(folder))
        env = {
            "DATABASE_URL": f"postgresql://postgres@{SERVERS}:5432/postgres",
            "REDIS_URL": f"redis://{SERVERS}:6379/0",
            "SCAN_ALLOWED_NETWORKS": NETWORK,
            "SCAN_VISITS_PER_DOMAIN": "100",
            "SCAN_TIME_LIMIT": str(TIME_LIMIT_S),
            "SCAN_BROWSER": "off",
            "ALLOWED_HOSTS": "*",
        }
        install(folder, None, **env)
        sites = cleanup.enter_context(_Sites())
        hosts = [Host(number) for number in range(1, HOSTS + 1)]
        for host in hosts:
            host.make()
        running = cleanup.enter_context(_Processes(folder))
        missed = _scaling(running, hosts)
        missed |= _cut_off(running, hosts, sites, folder)
        if missed:
            print(running.log()[-6000:])
    return int(missed)


def _scaling(running: _Processes, hosts: list[Host]) -> bool:
    """Measure the scans per minute with workers on one, two and three hosts."""
    for number, host in enumerate(hosts):
        running.start(host, "web", "webhooks", *(["scheduler"] if number < 2 else []))
    for host in hosts:
        running.await_web(host)
    clients = [Client(f"http://{host.address}:{WEB_PORT}", f"Scale {host.number}", 10_000) for host in hosts]
    rates: list[float] = []
    for number, host in enumerate(hosts, start=1):
        running.start(host, "worker")
        _ask(clients, PER_HOST // 4 * number)  # warm-up: each process of the new worker imports its modules
        psutil.cpu_times_percent()
        scans = _ask(clients, PER_HOST * number)
        cpu = psutil.cpu_times_percent()
        rates.append(_rate(scans))
        print(
            f"{number} of {HOSTS} hosts: {rates[-1]:6.1f} scans a minute,"
            f" {rates[-1] / rates[0]:.2f} x one; the machine was idle for {cpu.idle:.0f} % of the time",
            flush=True,
        )
    return tell(f"{HOSTS} hosts as a multiple of one, at least", -rates[-1] / rates[0], -GOAL)


def _ask(clients: list[Client], number: int) -> list[str]:
    """Request `number` scans from all hosts in turn; return their IDs when all have ended."""
    from scans.models import Scan

    def ask(each: int) -> str:
        body = {"url": f"http://{SITES[each % len(SITES)]}/{each}", "type": TYPES[each % len(TYPES)]}
        status, answer = clients[each % len(clients)].post("/v1/scan", body)
        assert status == 201, answer
        return str(answer["id"])

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(ask, range(number)))
    wait_until(lambda: not Scan.objects.filter(id__in=ids).exclude(status__in=Scan.FINAL).exists())
    return ids


def _rate(ids: list[str]) -> float:
    """Return the scans per minute in the middle of the period, when all slots were in use."""
    from scans.models import Scan

    ends = sorted(each.timestamp() for each in Scan.objects.filter(id__in=ids).values_list("completed_at", flat=True))
    first, last = len(ends) // 5, 4 * len(ends) // 5
    return (last - first) / (ends[last] - ends[first]) * 60


def _cut_off(running: _Processes, hosts: list[Host], sites: _Sites, folder: Path) -> bool:
    """Give the hosts different clocks, and cut one host off from the network while it scans."""
    from accounts.models import MonthlyUsage
    from reports.models import Report
    from scans.models import Scan
    from webhooks.models import Event

    if (library := namespaces.clock_library(folder)) is None:
        print("Without a C compiler all hosts have the same clock.")
        apart = hosts
    else:
        clocks = (0, APART_S, -APART_S)
        apart = [Host(host.number, clock_s, library) for host, clock_s in zip(hosts, clocks, strict=True)]
        for number, host in enumerate(apart):
            running.stop(host)
            running.start(host, "web", "webhooks", "worker", *(["scheduler"] if number < 2 else []))
        for host in apart:
            running.await_web(host)
        print(f"clocks: {', '.join(f'{host.name} {host.clock_s:+d} s' for host in apart)}", flush=True)
    cut, others = apart[1], [apart[0], apart[2]]
    client = Client(f"http://{others[0].address}:{WEB_PORT}", "Cut", 10_000)
    status, answer = client.post(
        "/api/webhooks", {"url": f"http://{SITES[0]}/hook", "events": ["scan.completed", "scan.partial", "scan.failed"]}
    )
    assert status == 201, answer
    mine = Scan.objects.filter(organization=client.organization)
    asked = threading.Thread(target=_ask, args=([client], SCANS))
    asked.start()
    wait_until(lambda: mine.filter(status__in=Scan.FINAL).count() >= CUT_AFTER)
    held = list(mine.filter(status="scanning", worker__contains=cut.name).values_list("id", flat=True))
    cut.cut_off()
    cut_at, is_cut = time.time(), time.monotonic()
    print(f"{cut.name} is cut off while it runs {len(held)} scans", flush=True)
    wait_until(lambda: time.monotonic() - is_cut > CUT_S)
    statuses = [_status(host, "/readyz") for host in others]
    print(f"  /readyz of the others meanwhile: {statuses}")
    cut.reconnect()
    asked.join()
    ends = mine.filter(id__in=held).values_list("completed_at", flat=True)
    late = max((each.timestamp() - cut_at for each in ends), default=0)
    by_host = Counter(name.partition("@")[2] for name in mine.values_list("worker", flat=True))
    print(f"  ended by: {dict(by_host)}; attempts: {dict(Counter(mine.values_list('attempts', flat=True)))}")
    # The host must work again without a restart.
    wait_until(lambda: _status(cut, "/readyz") == 200)
    again = _ask([Client(f"http://{cut.address}:{WEB_PORT}", "Again", 10_000)], PER_HOST)
    of_cut = Scan.objects.filter(id__in=again, worker__contains=cut.name).count()
    wait_until(lambda: len(sites.events()) >= SCANS)
    reports = Counter(Report.objects.filter(scan__in=mine).values_list("scan_id", flat=True))
    used = MonthlyUsage.objects.get(organization=client.organization).used
    missed = tell("scans that did not end completed", mine.exclude(status="completed").count(), 0)
    missed |= tell("reports that are missing or double", SCANS - len(reports) + sum(n - 1 for n in reports.values()), 0)
    missed |= tell("scans that were paid for wrongly", abs(used - mine.count()), 0)
    events = Event.objects.filter(organization=client.organization).count()
    missed |= tell("events that are missing or double", abs(events - SCANS), 0)
    missed |= tell("events that no receiver got", SCANS - len(sites.events()), 0)
    missed |= tell("last end of what it held, s after the cut", late, LEASE_S + TIME_LIMIT_S + GRACE_S)
    missed |= tell("hosts not ready while one was cut off", sum(each != 200 for each in statuses), 0)
    return tell("scans by the host that was cut off, afterwards", -of_cut, -1) or missed


def _status(host: Host, path: str) -> int:
    with contextlib.suppress(requests.RequestException):
        return requests.get(f"http://{host.address}:{WEB_PORT}{path}", timeout=5).status_code
    return 0


class _Processes:
    """Processes on the hosts, started as by `manage.py up`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: dict[str, list[subprocess.Popen[bytes]]] = {}
        self._log = (folder / "processes.log").open("wb")

    def __enter__(self) -> _Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self._running):
            self._end(name)
        self._log.close()

    def start(self, host: Host, *names: str) -> None:
        from operations.stack.management.commands.up import programs

        data_dir = self._folder / host.name
        data_dir.mkdir(exist_ok=True)
        env = dict(os.environ) | {
            "BASE_URL": f"http://{host.address}:{WEB_PORT}",
            "PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges",
        }
        commands = {each.name: each.command for each in programs(data_dir, WEB_PORT, env)}
        for name in names:
            command = [each.replace("127.0.0.1:", f"{host.address}:") for each in commands[name]]
            if name == "web":
                command[command.index("--workers") + 1] = "2"
            if name == "worker":
                command[command.index("--concurrency") + 1] = str(PLACES)
            started = host.start(command, env, BASE_DIR, self._log)
            self._running.setdefault(host.name, []).append(started)

    def stop(self, host: Host) -> None:
        """Stop the host's processes gracefully: they finish the work that they have begun."""
        self._end(host.name)

    def await_web(self, host: Host) -> None:
        wait_until(lambda: _status(host, "/readyz") == 200)

    def log(self) -> str:
        return (self._folder / "processes.log").read_text(errors="replace")

    def _end(self, name: str) -> None:
        processes = self._running.pop(name, [])
        for each in processes:
            each.send_signal(signal.SIGTERM)
        for each in processes:
            try:
                each.wait(TIME_LIMIT_S + 10)
            except subprocess.TimeoutExpired:
                for child in psutil.Process(each.pid).children(recursive=True):
                    child.kill()
                each.kill()
                each.wait()


class _Sites:
    """All sites in one separate process, which also receives webhooks."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._events: set[str] = set()

    def __enter__(self) -> _Sites:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.hosts"], cwd=BASE_DIR, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"
        threading.Thread(target=self._read, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def events(self) -> set[str]:
        """Return the IDs of the received events."""
        return set(self._events)

    def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._events.add(line.strip())


PAGE = b"<!doctype html><html lang=en><meta charset=utf-8><title>A page that takes its time</title><h1>Hello</h1>"


async def _serve() -> None:
    servers = [await asyncio.start_server(_answer, address, SITE_PORT) for address in SITES]
    print("ready", flush=True)
    await asyncio.gather(*(each.serve_forever() for each in servers))


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, asyncio.IncompleteReadError):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, path, _ = head.split(" ", 2)
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head.split("\r\n"))}
            await reader.readexactly(int(headers.get("content-length", "0")))
            if method == "POST":
                print(headers["webhook-id"], flush=True)
            else:
                await asyncio.sleep(ANSWER_S)
            is_page = path.strip("/").isdecimal() or path == "/"
            status, body = ("200 OK", PAGE) if is_page or method == "POST" else ("404 Not Found", b"")
            lines = [f"HTTP/1.1 {status}", "Content-Type: text/html; charset=utf-8", f"Content-Length: {len(body)}"]
            writer.write("\r\n".join([*lines, "", ""]).encode() + (b"" if method == "HEAD" else body))
            await writer.drain()
    writer.close()


class _Listening(Postgres):
    """Embedded server that also listens on the hosts' network."""

    def __init__(self, data_dir: Path, sockets: Path) -> None:
        super().__init__(data_dir, sockets, durable=True)
        self._settings = self._settings | {"listen_addresses": SERVERS, "max_connections": "200"}

    def _initialise(self) -> None:
        super()._initialise()
        with (self._cluster / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all all {NETWORK} trust\n")


@contextlib.contextmanager
def _servers(folder: Path) -> Iterator[None]:
    """Run PostgreSQL and Redis on an address that only the hosts can reach."""
    sockets = folder / "sockets"
    sockets.mkdir(mode=0o700)
    postgresql = _Listening(folder, sockets)
    postgresql.start()
    redis = subprocess.Popen(
        [find_binary(), "--bind", SERVERS, "--port", "6379", "--protected-mode", "no", "--save", ""],
        stdout=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60
        while not postgresql.is_ready():
            assert time.monotonic() < deadline, postgresql.complaint()
            time.sleep(0.1)
        yield
    finally:
        postgresql.send(signal.SIGINT)
        redis.terminate()
        redis.wait()
        if postgresql.process is not None:
            postgresql.process.wait()


if __name__ == "__main__":
    asyncio.run(_serve())
