"""Audit while the running service fails: each page is judged once, and paid for once."""

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

from tests.e2e.conftest import Running
from tests.e2e.test_metrics import rows
from tests.operations.stack.processes import WORKERS, programs_with, running_with, wait_until
from tests.targets.server import Answer, Site

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

PAGES = 8
PAGE = '<!doctype html><html lang="en"><title>A page</title><h1>Hello</h1>'
# Covers a lease of 20 s, messages that were lost for 30 s, and sweeps every 15 s, on a busy machine.
RECOVERY_S = 110


def visitors(running: Running, site: Site) -> list[psutil.Process]:
    """Return the processes that have a connection to the site."""
    found = []
    for pid in programs_with(str(running.service.data_dir), *WORKERS):
        connections = psutil.Process(pid).net_connections("tcp")
        if any(each.raddr and each.raddr.port == site.port for each in connections):
            found.append(psutil.Process(pid))
    return found


@contextmanager
def frozen(process: psutil.Process) -> Iterator[None]:
    """Stop a process, as when its host hangs or loses its network."""
    process.suspend()
    try:
        yield
    finally:
        process.resume()


def crash_servers(running: Running) -> None:
    """Kill Redis with all its data, and let PostgreSQL end as in a crash; the supervisor starts them again."""
    for pid, command in running_with(str(running.service.data_dir)).items():
        if "valkey-server" in command:
            os.kill(pid, signal.SIGKILL)
    postmaster = running.service.data_dir / "postgres" / "postmaster.pid"
    os.kill(int(postmaster.read_text().split()[0]), signal.SIGQUIT)


def test_audit_survives_a_frozen_worker_an_emptied_redis_and_a_crashed_postgresql(running: Running) -> None:
    headers = {"Authorization": f"Bearer {running.key}"}

    def used() -> int:
        answer = requests.get(f"{running.base}/v1/usage", headers=headers, timeout=30)
        number: int = answer.json()["quota"]["used"]
        return number

    def count(condition: str) -> int:
        query = f"SELECT count(*) FROM scans_scan WHERE url LIKE '{site.url}/%' AND {condition}"
        try:
            return int(rows(running, query)[0][0])
        except psycopg.OperationalError:
            return -1  # PostgreSQL is not there yet

    used_before = used()
    with Site({"*": Answer(PAGE, delay_s=0.5)}) as site:
        pages = [f"{site.url}/{number}" for number in range(PAGES)]
        body = {"pages": pages, "types": ["security"]}
        answer = requests.post(f"{running.base}/v1/audits", json=body, headers=headers, timeout=30)
        assert answer.status_code == 202, answer.text
        wait_until(lambda: bool(visitors(running, site)), RECOVERY_S)
        with frozen(visitors(running, site)[0]):
            crash_servers(running)
            wait_until(lambda: count("attempts = 2 AND status = 'scanning'") > 0, RECOVERY_S)
        # The frozen process goes on with a visit that another has taken over.
        wait_until(lambda: count("status = 'completed'") == PAGES, RECOVERY_S, poll_s=0.5)
        wait_until(lambda: not visitors(running, site), RECOVERY_S, poll_s=0.5)
        audit = requests.get(f"{running.base}/v1/audits/{answer.json()['id']}", headers=headers, timeout=30).json()
        assert (audit["status"], audit["pages"]["done"], audit["pages"]["failed"]) == ("completed", PAGES, 0)
        scans = rows(running, f"SELECT url FROM scans_scan WHERE url LIKE '{site.url}/%'")
        reports = rows(
            running,
            f"SELECT url FROM reports_report JOIN scans_scan ON scans_scan.id = scan_id WHERE url LIKE '{site.url}/%'",
        )
    once = Counter((each,) for each in pages)
    assert Counter(scans) == once
    assert Counter(reports) == once
    assert used() == used_before + PAGES
