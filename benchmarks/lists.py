"""A run of a list of 10,000 sites on 500 addresses, four types without a browser.

With a tenth of them or more, programs are killed and servers stand still meanwhile.
The service is that of `make run`, with its supervisor. Sites and their name server are in a process of their own. The
window of the run is shortened so that the starts of all entries fill the time that the sites take; its 24th parts
stand for hours.
"""

from __future__ import annotations

import contextlib
import json
import signal
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import psycopg
import requests

from benchmarks import usage
from benchmarks.table import Table
from operations.stack.running import variables_of
from tests.e2e.service import Service, free_port
from tests.targets.many_sites import NAME_SERVER, address_of, host_of, kind_of, serve
from website_scan.written_urls import split_url

SITES, ADDRESSES = 10_000, 500
TYPES = ["security", "performance", "accessibility", "seo"]
START_S, ANSWER_S, STOPPED_S = 120.0, 120.0, 45.0
# Seconds of the window for each site. Two cores need 0.2 to 0.3 for the four types of one.
PACE_S = 0.4
HOURS = 24
MOST_IMPORT_S, MOST_OF_EVEN, MOST_GROWTH = 3.0, 1.5, 1.25
LONG_RUN = 1_000  # sites
# What dies or stands still in a long run, after which share of the window.
KILLED = {0.15: "worker", 0.3: "scheduler"}
STOPPED = {0.45: "postgres", 0.65: "valkey-server"}

STARTS = """
    SELECT extract(epoch FROM scan.started_at)::float, extract(epoch FROM scan.completed_at)::float, scan.url
    FROM sites_listresult AS result
    JOIN sites_auditpage AS page ON page.audit_id = result.audit_id
    JOIN scans_scan AS scan ON scan.audit_page_id = page.id AND scan.lead_id IS NULL
    WHERE result.run_id = %s AND scan.started_at IS NOT NULL ORDER BY 1
"""


def measure(table: Table, share: float) -> None:
    number = max(100, round(SITES * share))
    with tempfile.TemporaryDirectory(prefix="wss-lists-") as name, usage.elsewhere(serve, ADDRESSES) as sites:
        assert sites.recv() == "ready"
        folder = Path(name, "var")
        Path(name).chmod(0o755)
        with _running(folder) as service:
            service.wait_for_health(START_S)
            _measure(table, service, folder, number)


@contextlib.contextmanager
def _running(folder: Path) -> Iterator[Service]:
    service = Service(
        folder,
        free_port(),
        ACCESS_LOG="0",
        SCAN_BROWSER="off",
        SCAN_ALLOWED_NETWORKS="127.0.0.0/8",
        SCAN_NAME_SERVERS=NAME_SERVER,
        SCAN_TIME_LIMIT="20",
    )
    try:
        yield service
        service.stop(signal.SIGTERM)
    except BaseException:
        print(service.output[-6_000:])
        raise
    finally:
        service.kill()


def _measure(table: Table, service: Service, folder: Path, number: int) -> None:
    key = json.loads((folder / "demo.json").read_text())["api_key"]
    with requests.Session() as session, _database(folder) as database:
        session.headers["Authorization"] = f"Bearer {key}"
        api = _Api(session, f"http://127.0.0.1:{service.port}/v1")
        database.execute(
            "UPDATE accounts_tier SET scans_per_month = 1000000, list_entries = 1000000, requests_per_minute = 1000000"
        )
        list_id = api.ask("POST", "/lists", {"name": "Offices", "types": TYPES})["id"]
        lines = "".join(f"http://{host_of(each)}/,area-{each % 10};office\n" for each in range(number))
        began = time.monotonic()
        answer = api.ask("PUT", f"/lists/{list_id}/entries", lines.encode())
        table.head(f"{number:,} lines", "s", "added")
        table.row("imported", time.monotonic() - began, answer["added"], most=(MOST_IMPORT_S,))
        run_id = api.ask("POST", f"/lists/{list_id}/runs")["id"]
        window_s = PACE_S * number
        database.execute(
            "UPDATE sites_listresult SET starts_at = now() + (position::float / %s) * %s * interval '1 second'"
            " WHERE run_id = %s",
            [number, window_s, run_id],
        )
        watched = _watch(api, service, f"/lists/{list_id}/runs/{run_id}", window_s)
        _tell(table, api, database, list_id, run_id, number, window_s, watched)


class _Api:
    """Client of the API that waits while the service does not answer."""

    def __init__(self, session: requests.Session, base: str) -> None:
        self._session = session
        self._base = base

    def ask(self, method: str, path: str, body: object = None) -> Any:
        data = {"data": body, "headers": {"Content-Type": "text/csv"}} if isinstance(body, bytes) else {"json": body}
        answer = self._session.request(method, self._base + path, timeout=ANSWER_S, **data)
        assert answer.ok, answer.text[:500]
        return answer.json()

    def poll(self, path: str) -> Any:
        with contextlib.suppress(requests.RequestException, AssertionError):
            return self.ask("GET", path)
        return None


class _Watched:
    """Processor seconds, and memory in MiB at each look, of the service's processes by kind."""

    def __init__(self) -> None:
        self.memory: list[float] = []
        self.seconds = 0.0
        self.cpu_s = 0.0
        self.postgres_s = 0.0


def _watch(api: _Api, service: Service, path: str, window_s: float) -> _Watched:
    """Wait for the end of the run; kill and stop processes on the way."""
    watched, root = _Watched(), psutil.Process(service.process.pid)
    began, cpu_s, postgres_s = time.monotonic(), usage.cpu_s(root), _cpu_of(root, "postgres")
    faults = sorted([*KILLED.items(), *STOPPED.items()]) if window_s >= PACE_S * LONG_RUN else []
    while True:
        run = api.poll(path)
        if run is not None and run["status"] != "running":
            break
        assert time.monotonic() - began < 4 * window_s + 600, run
        if faults and time.monotonic() - began >= faults[0][0] * window_s:
            at, name = faults.pop(0)
            if at in KILLED:
                _kill(root, name)
            else:
                _stop_for_a_while(root, name)
        watched.memory.append(usage.memory_mib(root))
        time.sleep(5.0)
    watched.seconds = time.monotonic() - began
    watched.cpu_s = usage.cpu_s(root) - cpu_s
    watched.postgres_s = _cpu_of(root, "postgres") - postgres_s
    assert not faults, f"the run ended before {faults}"
    return watched


def _named(root: psutil.Process, name: str) -> list[psutil.Process]:
    found = []
    for each in root.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if each.name() == name:
                found.append(each)
    return found


def _kill(root: psutil.Process, name: str) -> None:
    """Kill a program with all its processes, as a machine that loses power does."""
    processes = [child for each in _named(root, name) for child in (each, *each.children(recursive=True))]
    assert processes, f"no process is called {name}"
    for each in processes:
        with contextlib.suppress(psutil.Error):
            each.kill()
    print(f"  killed {name}: {len(processes)} processes", flush=True)


def _stop_for_a_while(root: psutil.Process, name: str) -> None:
    processes = [child for each in _named(root, name) for child in (each, *each.children(recursive=True))]
    assert processes, f"no process is called {name}"
    for each in processes:
        with contextlib.suppress(psutil.Error):
            each.suspend()
    time.sleep(STOPPED_S)
    for each in processes:
        with contextlib.suppress(psutil.Error):
            each.resume()
    print(f"  stopped {name} for {STOPPED_S:.0f} s", flush=True)


def _cpu_of(root: psutil.Process, name: str) -> float:
    """Return the processor seconds of the processes with this name, and of those of them that have ended."""
    total = 0.0
    for each in _named(root, name):
        with contextlib.suppress(psutil.Error):
            times = each.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


@contextlib.contextmanager
def _database(folder: Path) -> Iterator[psycopg.Connection]:
    # The path of the embedded server's URL is the folder of its socket, and the name of the database.
    url = split_url(variables_of(folder)["DATABASE_URL"])
    sockets, _, name = url.path.rpartition("/")
    with psycopg.connect(host=sockets, user=url.username, dbname=name, autocommit=True) as database:
        yield database


def _tell(
    table: Table,
    api: _Api,
    database: psycopg.Connection,
    list_id: str,
    run_id: str,
    number: int,
    window_s: float,
    watched: _Watched,
) -> None:
    run = api.ask("GET", f"/lists/{list_id}/runs/{run_id}")
    results = database.execute(
        "SELECT status, count(*), count(DISTINCT url) FROM sites_listresult WHERE run_id = %s GROUP BY status", [run_id]
    ).fetchall()
    counted = {status: count for status, count, _ in results}
    table.head(f"run of {number:,} sites: {run['status']}", "results", "distinct")
    for status, count, distinct in results:
        table.row(f"  {status}", count, distinct)
    unreachable = sum(kind_of(each) in ("dead", "unknown") for each in range(number))
    table.row("  each entry once", number, sum(counted.values()), most=(number,), least=(number,))
    table.row(
        "  judged",
        counted.get("done", 0),
        least=(number - unreachable - sum(kind_of(each) == "hostile" for each in range(number)),),
    )
    visits = database.execute(STARTS, [run_id]).fetchall()
    # Of a short run, a part of the window has a handful of starts, and memory still grows to what it needs.
    is_long = number >= LONG_RUN
    _tell_starts(table, [began for began, _, _ in visits], window_s, (MOST_OF_EVEN,) if is_long else ())
    _tell_politeness(table, visits)
    table.head("cost", "a site", "all")
    table.row("processor seconds", watched.cpu_s / number, watched.cpu_s)
    table.row("  of PostgreSQL", watched.postgres_s / number, watched.postgres_s)
    table.row("seconds", watched.seconds / number, watched.seconds)
    half = len(watched.memory) // 2
    early, late = (statistics.median(part) for part in (watched.memory[half // 2 : half], watched.memory[half:]))
    growth = (MOST_GROWTH,) if is_long else ()
    table.head("memory of all processes, MiB", "late / early", "early", "late")
    table.row("second half of the run beside the second quarter", late / early, early, late, most=growth)


def _tell_starts(table: Table, starts: list[float], window_s: float, most: tuple[float, ...]) -> None:
    """Compare the starts in each part of the window with an even spread."""
    first = starts[0]
    parts = [0] * HOURS
    for each in starts:
        parts[min(HOURS - 1, int((each - first) / window_s * HOURS))] += 1
    even = len(starts) / HOURS
    table.head(f"starts in the {HOURS} parts of the window, of even", "ratio")
    table.row("mean", statistics.mean(parts) / even, most=most)
    table.row("worst", max(parts) / even, most=most)


def _tell_politeness(table: Table, visits: list[tuple[float, float, str]]) -> None:
    """Count the visits that began while another one reached the same address."""
    ends: dict[str, float] = {}
    together = 0
    for began, ended, url in visits:
        number = int(url.partition("site-")[2][:5])
        address = address_of(number, ADDRESSES)
        if address is not None:
            together += began < ends.get(address, 0.0)
            ends[address] = max(ends.get(address, 0.0), ended)
    table.head("visits that began while another reached the same address", "visits")
    table.row("of all", together, most=(0,))
