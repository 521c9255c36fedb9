"""Test that a list run survives crashes of the service.

Every site is scanned once, one at a time.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import psycopg
import pytest
import requests

from tests.e2e.conftest import RunningService
from tests.e2e.test_audit_faults import PAGE, RECOVERY_TIMEOUT_S, crash_servers, scanning_processes, suspended
from tests.e2e.test_metrics import query_rows
from tests.operations.stack.processes import wait_until
from tests.targets.server import Answer, Site

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

SITES = 6
# Counts the pairs of scans whose times overlap.
OVERLAPS = """
    SELECT count(*) FROM scans_scan AS one JOIN scans_scan AS other ON one.id < other.id
    WHERE one.url LIKE '{site}/%' AND other.url LIKE '{site}/%'
        AND one.started_at < other.completed_at AND other.started_at < one.completed_at
"""


def test_list_run_survives_failures_of_the_service(running: RunningService) -> None:
    headers = {"Authorization": f"Bearer {running.key}"}

    def call(method: str, path: str, body: object = None) -> dict[str, Any]:
        answer = requests.request(method, f"{running.base}/v1/{path}", json=body, headers=headers, timeout=30)
        assert answer.ok, answer.text
        document: dict[str, Any] = answer.json()
        return document

    def count_rows(query: str) -> int:
        try:
            return int(query_rows(running, query)[0][0])
        except psycopg.OperationalError:
            return -1  # PostgreSQL has not restarted yet.

    used_quota_before = call("GET", "usage")["quota"]["used"]
    with Site({"*": Answer(PAGE, delay_s=0.5)}) as site:
        scan_count_query = f"SELECT count(*) FROM scans_scan WHERE url LIKE '{site.url}/%'"
        towns = call("POST", "lists", {"name": "Towns", "types": ["security"], "window_hours": 0})
        # A list run scans only one site of a host at a time.
        urls = [f"{site.url}/{number}" for number in range(SITES)]
        call("PUT", f"lists/{towns['id']}/entries", {"entries": [{"url": url} for url in urls]})
        run = call("POST", f"lists/{towns['id']}/runs")
        wait_until(lambda: bool(scanning_processes(running, site)), RECOVERY_TIMEOUT_S)
        with suspended(scanning_processes(running, site)[0]):
            crash_servers(running)
            wait_until(lambda: count_rows(f"{scan_count_query} AND attempts = 2") > 0, RECOVERY_TIMEOUT_S)
        ended = f"SELECT count(*) FROM sites_listrun WHERE id = '{run['id']}' AND status <> 'running'"
        wait_until(lambda: count_rows(ended) == 1, RECOVERY_TIMEOUT_S, poll_s=0.5)
        run = call("GET", f"lists/{towns['id']}/runs/{run['id']}")
        assert (run["status"], run["done"], run["failed"], run["left_out"]) == ("completed", SITES, 0, 0)
        assert Counter(query_rows(running, f"SELECT url FROM scans_scan WHERE url LIKE '{site.url}/%'")) == Counter(
            (url,) for url in urls
        )
        assert count_rows(OVERLAPS.format(site=site.url)) == 0
    counts = query_rows(
        running, f"SELECT data->>'sites', data->>'judged' FROM sites_listcount WHERE run_id = '{run['id']}'"
    )
    assert counts == [(str(SITES), str(SITES))]
    assert call("GET", "usage")["quota"]["used"] == used_quota_before + SITES
