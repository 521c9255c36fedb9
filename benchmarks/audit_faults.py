"""Audits with real processes: fairness of waiting times, concurrency limits, and recovery after kills.

Web, worker and scheduler run as `manage.py up` runs them, without a browser. They, PostgreSQL and Redis are killed
during the audit of a site; then every page must have been judged once for each type, and charged once.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import requests

from benchmarks.installation import BASE_DIR, install, servers
from operations.stack import embedded
from tests.e2e.service import free_port, get_status
from tests.targets.many_pages import shop_site
from tests.targets.server import Answer, Site

if TYPE_CHECKING:
    from accounts.models import Organization

LONG, SHORT, CROWD = 1_000, 100, 50
PAGE_S = 0.2
SINGLES, START_S = 5, 2.0
PLACES = 4
UNDER_WAY = 15  # pages to be judged before the measurement begins
DOWN_S = 3.0
PATIENCE_S = 420.0
TYPES = ["security", "seo"]
NAMES = ("web", "worker", "scheduler")


class Stack:
    """Servers and processes of the service; each can be killed and restarted."""

    def __init__(self, folder: Path, stack: embedded.Stack, port: int) -> None:
        from operations.stack.management.commands.up import programs

        self.base = f"http://127.0.0.1:{port}"
        self._folder, self._stack, self._port = folder, stack, port
        self._commands = {
            each.name: each.command for each in programs(folder, port, dict(os.environ)) if each.name in NAMES
        }
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._log = (folder / "processes.log").open("wb")

    def __enter__(self) -> Stack:
        for name in NAMES:
            self.start(name)
        wait_until(lambda: get_status(self._port, "/readyz") == 200)
        return self

    def __exit__(self, *_: object) -> None:
        for name in NAMES:
            self.kill(name)
        self._log.close()

    def start(self, name: str) -> None:
        env = dict(os.environ) | {"PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges"}
        self._processes[name] = subprocess.Popen(
            self._commands[name], cwd=BASE_DIR, env=env, stdout=self._log, stderr=self._log
        )

    def kill(self, name: str) -> None:
        """Kill a process with its children. It may have ended already, if it was started while PostgreSQL was down."""
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(self._processes[name].pid)
            for each in [process, *process.children(recursive=True)]:
                with contextlib.suppress(psutil.Error):
                    each.kill()
        self._processes[name].wait()

    def kill_and_start(self, name: str) -> None:
        self.kill(name)
        self.start(name)

    def kill_postgresql(self) -> None:
        """Stop PostgreSQL as in a crash, and restart it after DOWN_S."""
        os.kill(int((self._folder / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)
        time.sleep(DOWN_S)
        wait_until(lambda: bool(self._stack.revive()))

    def kill_redis(self) -> None:
        """Kill Redis with all its data, and restart it empty after DOWN_S."""
        for each in psutil.Process().children(recursive=True):
            if "valkey-server" in each.name():
                each.kill()
        time.sleep(DOWN_S)
        wait_until(lambda: bool(self._stack.revive()))

    def log(self) -> str:
        return (self._folder / "processes.log").read_text(errors="replace")


class Client:
    """API client of an organization."""

    def __init__(self, base: str, name: str, places: int) -> None:
        from accounts.keys.services import create_api_key
        from accounts.models import Tier
        from accounts.services import ensure_organization

        tier = Tier.objects.get(name="business")
        tier.pk, tier.name, tier.concurrent_scans = name.lower(), name.lower(), places
        tier.scans_per_month, tier.pages_per_audit, tier.requests_per_minute = 1_000_000, LONG, 1_000_000
        tier.save(force_insert=True)
        self.organization: Organization = ensure_organization(name=name)
        self.organization.tier = tier
        self.organization.save()
        _, self.key = create_api_key(organization=self.organization, name="bench")
        self._base, self._headers = base, {"Authorization": f"Bearer {self.key}"}

    def post(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        response = requests.post(f"{self._base}{path}", json=body, headers=self._headers, timeout=60)
        return response.status_code, response.json()

    def audit(self, site: Site, pages: int, types: list[str]) -> str:
        status, answer = self.post("/v1/audits", {"site": f"{site.url}/", "max_pages": pages, "types": types})
        assert status == 202, answer
        return str(answer["id"])

    def cancel(self, audit_id: str) -> None:
        requests.delete(f"{self._base}/v1/audits/{audit_id}", headers=self._headers, timeout=60).raise_for_status()


def main() -> int:
    """Print the figures; return 1 if a goal was missed."""
    with ExitStack() as cleanup:
        folder, stack = cleanup.enter_context(servers())
        port = free_port()
        install(
            folder, stack, SCAN_ALLOWED_NETWORKS="127.0.0.0/8", SCAN_BROWSER="off", ALLOWED_HOSTS="127.0.0.1,localhost"
        )
        running = cleanup.enter_context(Stack(folder, stack, port))
        missed = _fairness(running)
        missed |= _limits(running)
        missed |= _faults(running)
        if missed:
            print(running.log()[-6000:])
    return int(missed)


def _fairness(running: Stack) -> bool:
    """Measure the wait of single scans while their organization, or another one, audits a large site."""
    with slow_site(LONG) as site:
        one, other = Client(running.base, "One", 20), Client(running.base, "Other", 2)
        audit_id = one.audit(site, LONG, TYPES)
        wait_until(lambda: pages_done(audit_id) >= UNDER_WAY)
        missed = False
        for name, client in (("of another organization", other), ("of the same organization", one)):
            waits = [_wait_of_single(client, site) for _ in range(SINGLES)]
            print(f"single scans {name} began after {', '.join(f'{each:.2f}' for each in waits)} s")
            missed |= tell(f"  the slowest, with {LONG} pages waiting", max(waits), START_S)
        print(f"  {pages_done(audit_id)} pages of the audit were done by then")
        one.cancel(audit_id)
        wait_until(lambda: unfinished(one) == 0)
    return missed


def _wait_of_single(client: Client, site: Site) -> float:
    from scans.models import Scan

    status, answer = client.post("/v1/scan", {"url": f"{site.url}/", "type": "seo"})
    assert status == 201, answer
    wait_until(lambda: Scan.objects.get(id=answer["id"]).is_final)
    scan = Scan.objects.get(id=answer["id"])
    assert scan.started_at
    return (scan.started_at - scan.created_at).total_seconds()


def _limits(running: Stack) -> bool:
    """Start many audits and scans at once with a low concurrency limit."""
    from accounts.models import MonthlyUsage
    from scans.models import Scan
    from sites.models import Audit

    with slow_site(20) as site:
        client = Client(running.base, "Crowd", PLACES)
        most, is_over = [0], threading.Event()

        def watch() -> None:
            from django.db import connection

            while not is_over.is_set():
                most[0] = max(most[0], unfinished(client))
            connection.close()

        watcher = threading.Thread(target=watch)
        watcher.start()

        def ask(number: int) -> str:
            if number % 2:
                status, answer = client.post("/v1/scan", {"url": f"{site.url}/", "type": "seo"})
            else:
                pages = [f"{site.url}/?{number}-{each}" for each in range(3)]
                status, answer = client.post("/v1/audits", {"pages": pages, "types": TYPES})
            return f"{'scan' if number % 2 else 'audit'} {answer.get('code') or status}"

        with ThreadPoolExecutor(CROWD) as pool:
            print("answers: " + ", ".join(f"{n} {what}" for what, n in Counter(pool.map(ask, range(CROWD))).items()))
        unended = Audit.objects.filter(organization=client.organization).exclude(status__in=Audit.FINAL)
        wait_until(lambda: not unended.exists() and not unfinished(client))
        is_over.set()
        watcher.join()
    scans = Scan.objects.filter(organization=client.organization)
    used = MonthlyUsage.objects.get(organization=client.organization).used
    missed = tell(f"most visits at once, of {PLACES}", most[0], PLACES)
    return tell("scans that were paid for wrongly", abs(used - scans.count()), 0) or missed


def _faults(running: Stack) -> bool:
    """Kill each process and server once during the audit of a site."""
    from accounts.models import MonthlyUsage
    from reports.models import Report
    from scans.models import Scan
    from sites.models import Audit

    faults: dict[str, Callable[[], None]] = {
        "worker": lambda: running.kill_and_start("worker"),
        "web": lambda: running.kill_and_start("web"),
        "Redis": running.kill_redis,
        "PostgreSQL": running.kill_postgresql,
        "scheduler": lambda: running.kill_and_start("scheduler"),
        "worker again": lambda: running.kill_and_start("worker"),
    }
    with slow_site(SHORT) as site:
        client = Client(running.base, "Faults", 8)
        audit_id = client.audit(site, SHORT, TYPES)
        for number, (name, fault) in enumerate(faults.items(), start=1):
            least = number * SHORT // (len(faults) + 2)
            wait_until(lambda least=least: pages_done(audit_id) >= least)  # type: ignore[misc]  # its default
            print(f"after {pages_done(audit_id)} pages: {name} is killed", flush=True)
            fault()
        began = time.monotonic()
        wait_until(lambda: Audit.objects.get(id=audit_id).is_final)
        audit = Audit.objects.get(id=audit_id)
        print(f"{audit.status} {time.monotonic() - began:.0f} s after the last: {audit.error_message or 'no error'}")
    scans = Scan.objects.filter(organization=client.organization)
    judged = Counter(scans.values_list("url", "type"))
    reports = Counter(Report.objects.filter(scan__in=scans).values_list("scan__url", "scan__type"))
    used = MonthlyUsage.objects.get(organization=client.organization).used
    attempts = Counter(scans.filter(lead=None).values_list("attempts", flat=True))
    statuses = Counter(scans.values_list("status", flat=True))
    print(f"  attempts at visits: {dict(attempts)}; ends of scans: {dict(statuses)}")
    missed = tell("pages not judged", SHORT - audit.pages_done, 0)
    missed |= tell("judged more than once", sum(each - 1 for each in judged.values()), 0)
    missed |= tell(
        "reports that are missing or double",
        len(TYPES) * SHORT - len(reports) + sum(each - 1 for each in reports.values()),
        0,
    )
    missed |= tell("counted wrongly by the audit", abs(audit.scans_done - scans.count()), 0)
    return tell("scans that were paid for wrongly", abs(used - scans.count()), 0) or missed


@contextlib.contextmanager
def slow_site(pages: int) -> Iterator[Site]:
    """Serve a shop whose pages are slow; requests for other paths get a quick 404."""
    site = shop_site(pages, with_sitemap=True)
    for path, route in list(site.routes.items()):
        assert isinstance(route, Answer)
        if not path.endswith((".txt", ".xml")):
            site.routes[path] = Answer(route.body, headers=route.headers, delay_s=PAGE_S)
    with site:
        yield site


def pages_done(audit_id: str) -> int:
    """Return the number of judged pages of an audit."""
    from sites.models import Audit

    audit = Audit.objects.get(id=audit_id)
    return audit.pages_done + audit.pages_failed


def unfinished(client: Client) -> int:
    from scans.visits.queue import running_visits

    return running_visits(client.organization.id)


def wait_until(condition: Callable[[], bool]) -> None:
    """Poll a condition twice a second until it is true; while PostgreSQL is down it counts as false."""
    from django.db import InterfaceError, OperationalError, connection

    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            if condition():
                return
        except (OperationalError, InterfaceError):
            connection.close()
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.5)


def tell(what: str, value: float, goal: float) -> bool:
    """Print a figure beside its goal; return True if it misses the goal."""
    print(f"{what:44}{value:8.2f}  goal {goal:g}: {'met' if value <= goal else 'MISSED'}", flush=True)
    return value > goal
