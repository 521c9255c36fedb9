"""Test that an audit survives crashes of the service.

Every page is scanned and charged once.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import psycopg
import pytest
import requests

from tests.e2e.conftest import RunningService
from tests.e2e.test_metrics import query_rows
from tests.operations.stack.processes import WORKERS, programs_with, running_with, wait_until
from tests.targets.server import Answer, Site

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

PAGES = 8
PAGE = '<!doctype html><html lang="en"><title>A page</title><h1>Hello</h1>'
# A lease takes 20 s, a lost message 30 s and the next sweep up to 15 s.
RECOVERY_TIMEOUT_S = 110


def scanning_processes(running: RunningService, site: Site) -> list[psutil.Process]:
    """Return the worker processes that have a connection to the site."""
    processes = []
    for pid in programs_with(str(running.service.data_dir), *WORKERS):
        connections = psutil.Process(pid).net_connections("tcp")
        if any(connection.raddr and connection.raddr.port == site.port for connection in connections):
            processes.append(psutil.Process(pid))
    return processes


@contextmanager
def suspended(process: psutil.Process) -> Iterator[None]:
    """Suspend a process like a host that hangs or loses its network."""
    process.suspend()
    try:
        yield
    finally:
        process.resume()


def crash_servers(running: RunningService) -> None:
    """Kill Redis with all its data and crash PostgreSQL.

    The supervisor restarts both.
    """
    for pid, command in running_with(str(running.service.data_dir)).items():
        if "valkey-server" in command:
            os.kill(pid, signal.SIGKILL)
    postmaster = running.service.data_dir / "postgres" / "postmaster.pid"
    os.kill(int(postmaster.read_text().split()[0]), signal.SIGQUIT)


def test_audit_survives_failures_of_the_service(running: RunningService) -> None:
    headers = {"Authorization": f"Bearer {running.key}"}

    def used_quota() -> int:
        answer = requests.get(f"{running.base}/v1/usage", headers=headers, timeout=30)
        number: int = answer.json()["quota"]["used"]
        return number

    def count_scans(condition: str) -> int:
        query = f"SELECT count(*) FROM scans_scan WHERE url LIKE '{site.url}/%' AND {condition}"
        try:
            return int(query_rows(running, query)[0][0])
        except psycopg.OperationalError:
            return -1  # PostgreSQL has not restarted yet.

    used_quota_before = used_quota()
    with Site({"*": Answer(PAGE, delay_s=0.5)}) as site:
        pages = [f"{site.url}/{number}" for number in range(PAGES)]
        body = {"pages": pages, "types": ["security"]}
        answer = requests.post(f"{running.base}/v1/audits", json=body, headers=headers, timeout=30)
        assert answer.status_code == 202, answer.text
        wait_until(lambda: bool(scanning_processes(running, site)), RECOVERY_TIMEOUT_S)
        with suspended(scanning_processes(running, site)[0]):
            crash_servers(running)
            wait_until(lambda: count_scans("attempts = 2 AND status = 'scanning'") > 0, RECOVERY_TIMEOUT_S)
        # Another process has taken over the visit of the resumed process.
        wait_until(lambda: count_scans("status = 'completed'") == PAGES, RECOVERY_TIMEOUT_S, poll_s=0.5)
        wait_until(lambda: not scanning_processes(running, site), RECOVERY_TIMEOUT_S, poll_s=0.5)
        audit = requests.get(f"{running.base}/v1/audits/{answer.json()['id']}", headers=headers, timeout=30).json()
        assert (audit["status"], audit["pages"]["done"], audit["pages"]["failed"]) == ("completed", PAGES, 0)
        scans = query_rows(running, f"SELECT url FROM scans_scan WHERE url LIKE '{site.url}/%'")
        reports = query_rows(
            running,
            f"SELECT url FROM reports_report JOIN scans_scan ON scans_scan.id = scan_id WHERE url LIKE '{site.url}/%'",
        )
    one_scan_per_page = Counter((page,) for page in pages)
    assert Counter(scans) == one_scan_per_page
    assert Counter(reports) == one_scan_per_page
    assert used_quota() == used_quota_before + PAGES
