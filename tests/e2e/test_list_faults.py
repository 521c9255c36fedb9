"""Run of a list while the running service fails: each site is judged once, one after the other, and paid for once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import psycopg
import pytest
import requests

from tests.e2e.conftest import Running
from tests.e2e.test_audit_faults import PAGE, RECOVERY_S, crash_servers, frozen, visitors
from tests.e2e.test_metrics import rows
from tests.operations.stack.processes import wait_until
from tests.targets.server import Answer, Site

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

SITES = 6
# Pairs of visits of the same run that were under way at the same time.
OVERLAPS = """
    SELECT count(*) FROM scans_scan AS one JOIN scans_scan AS other ON one.id < other.id
    WHERE one.url LIKE '{site}/%' AND other.url LIKE '{site}/%'
        AND one.started_at < other.completed_at AND other.started_at < one.completed_at
"""


def test_list_run_survives_a_frozen_worker_an_emptied_redis_and_a_crashed_postgresql(running: Running) -> None:
    headers = {"Authorization": f"Bearer {running.key}"}

    def call(method: str, path: str, body: object = None) -> dict[str, Any]:
        answer = requests.request(method, f"{running.base}/v1/{path}", json=body, headers=headers, timeout=30)
        assert answer.ok, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def count(query: str) -> int:
        try:
            return int(rows(running, query)[0][0])
        except psycopg.OperationalError:
            return -1  # PostgreSQL is not there yet

    used_before = call("GET", "usage")["quota"]["used"]
    with Site({"*": Answer(PAGE, delay_s=0.5)}) as site:
        of_site = f"SELECT count(*) FROM scans_scan WHERE url LIKE '{site.url}/%'"
        towns = call("POST", "lists", {"name": "Towns", "types": ["security"], "window_hours": 0})
        # The domain alone would allow several at once.
        urls = [f"{site.url}/{number}" for number in range(SITES)]
        call("PUT", f"lists/{towns['id']}/entries", {"entries": [{"url": each} for each in urls]})
        run = call("POST", f"lists/{towns['id']}/runs")
        wait_until(lambda: bool(visitors(running, site)), RECOVERY_S)
        with frozen(visitors(running, site)[0]):
            crash_servers(running)
            wait_until(lambda: count(f"{of_site} AND attempts = 2") > 0, RECOVERY_S)
        ended = f"SELECT count(*) FROM sites_listrun WHERE id = '{run['id']}' AND status <> 'running'"
        wait_until(lambda: count(ended) == 1, RECOVERY_S, poll_s=0.5)
        run = call("GET", f"lists/{towns['id']}/runs/{run['id']}")
        assert (run["status"], run["done"], run["failed"], run["left_out"]) == ("completed", SITES, 0, 0)
        assert Counter(rows(running, f"SELECT url FROM scans_scan WHERE url LIKE '{site.url}/%'")) == Counter(
            (each,) for each in urls
        )
        assert count(OVERLAPS.format(site=site.url)) == 0
    counts = rows(running, f"SELECT data->>'sites', data->>'judged' FROM sites_listcount WHERE run_id = '{run['id']}'")
    assert counts == [(str(SITES), str(SITES))]
    assert call("GET", "usage")["quota"]["used"] == used_before + SITES
