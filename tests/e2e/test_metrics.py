"""Tests that the service's /metrics agrees with the database."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from typing import Any

import psutil
import pytest
import requests

from tests.e2e.conftest import RunningService
from tests.operations.metrics.scraping import TOKEN, Samples, samples
from tests.operations.stack.processes import WORKERS, programs_with, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

ENDED = """
    SELECT type, status, error_code, CASE WHEN is_background THEN 'background' ELSE 'interactive' END, count(*),
        count(started_at)
    FROM scans_scan WHERE completed_at IS NOT NULL GROUP BY 1, 2, 3, 4
"""
METRICS_TIMEOUT_S = 110
GROWING = ("_total", "_bucket", "_count", "_sum")


def scrape(running: RunningService) -> Samples:
    response = requests.get(f"{running.base}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30)
    assert response.status_code == 200, response.text
    return samples(response.text)


def ended_scans(metrics: Samples) -> dict[str, float]:
    return {name: value for name, value in metrics.items() if name.startswith("scans_ended_total")}


def query_rows(running: RunningService, sql: str) -> list[tuple[Any, ...]]:
    with running.service.connect() as connection:
        return connection.execute(sql).fetchall()


def metrics_from_rows(running: RunningService) -> tuple[dict[str, float], dict[str, float]]:
    """Count ended and started scans in the database.

    Ended scans are samples of scans_ended_total, and started scans are counted by type.
    """
    expected_metrics, started_by_type = {}, dict[str, float]()
    for kind, status, reason, waited, count, started in query_rows(running, ENDED):
        expected_metrics[f'scans_ended_total{{class="{waited}",reason="{reason}",status="{status}",type="{kind}"}}'] = (
            count
        )
        started_by_type[kind] = started_by_type.get(kind, 0) + started
    return expected_metrics, started_by_type


def start_scan(running: RunningService, **body: str) -> str:
    headers = {"Authorization": f"Bearer {running.key}", "X-Request-ID": "asked-by-the-e2e-test"}
    created = requests.post(f"{running.base}/v1/scan", json=body, headers=headers, timeout=30)
    assert created.status_code == 201, created.text
    scan_id: str = created.json()["id"]
    return scan_id


def test_metrics_equal_the_database_rows(running: RunningService) -> None:
    ids = [start_scan(running, url=f"{running.site.url_as('localhost')}/", type=kind) for kind in ("seo", "security")]

    def have_scans_ended() -> bool:
        listed = ", ".join(f"'{scan_id}'" for scan_id in ids)
        ((count,),) = query_rows(
            running, f"SELECT count(*) FROM scans_scan WHERE id IN ({listed}) AND completed_at IS NOT NULL"
        )
        return bool(count == len(ids))

    wait_until(have_scans_ended, METRICS_TIMEOUT_S, poll_s=0.5)
    # The service may cache the response for some seconds.
    wait_until(lambda: ended_scans(scrape(running)) == metrics_from_rows(running)[0], 60, poll_s=1)
    metrics = scrape(running)
    for kind, started in metrics_from_rows(running)[1].items():
        assert metrics[f'scan_duration_seconds_count{{type="{kind}"}}'] == started
        assert metrics[f'scan_cpu_seconds_count{{type="{kind}"}}'] <= started
    ((seconds,),) = query_rows(
        running,
        "SELECT sum(extract(epoch FROM completed_at - started_at)) FROM scans_scan WHERE started_at IS NOT NULL",
    )
    total_duration_s = sum(value for name, value in metrics.items() if name.startswith("scan_duration_seconds_sum"))
    assert total_duration_s == pytest.approx(float(seconds), abs=0.1)
    assert metrics['up{server="postgresql"}'] == metrics['up{server="redis"}'] == 1
    assert all(metrics[f'queue_workers{{queue="{name}"}}'] >= 1 for name in ("scans", "webhooks", "maintenance"))
    assert running.service.output.count("[asked-by-the-e2e-test] POST /v1/scan 201 ") >= len(ids)
    for scan_id in ids:
        assert re.search(rf"\[asked-by-the-e2e-test {scan_id}\] {scan_id} \w+ completed", running.service.output)


def test_requests_of_stopped_worker_are_counted(running: RunningService) -> None:
    name = 'http_requests_total{method="GET",route="/v1/usage",status="200"}'
    headers = {"Authorization": f"Bearer {running.key}"}
    before = scrape(running).get(name, 0)
    for _ in range(20):
        assert requests.get(f"{running.base}/v1/usage", headers=headers, timeout=30).status_code == 200
    for pid in programs_with(str(running.service.data_dir), "web"):
        if _is_web_worker(pid):
            os.kill(pid, signal.SIGTERM)  # The arbiter of the web server starts another worker.
    wait_until(lambda: _metric_value(running, name) == before + 20, 60, poll_s=1)


def test_counters_survive_a_killed_worker(running: RunningService) -> None:
    before = scrape(running)
    for pid in programs_with(str(running.service.data_dir), *WORKERS):
        with contextlib.suppress(ProcessLookupError):  # The process has ended with its parent.
            os.kill(pid, signal.SIGKILL)
    start_scan(running, url=f"{running.site.url_as('localhost')}/", type="security")
    wait_until(
        lambda: sum(ended_scans(scrape(running)).values()) > sum(ended_scans(before).values()),
        METRICS_TIMEOUT_S,
        poll_s=1,
    )
    after = scrape(running)
    growing = {name: value for name, value in before.items() if name.partition("{")[0].endswith(GROWING)}
    assert len(growing) > 50
    assert {name: (value, after.get(name)) for name, value in growing.items() if after.get(name, 0) < value} == {}


def _metric_value(running: RunningService, name: str) -> float | None:
    try:
        return scrape(running).get(name)
    except requests.RequestException:
        return None  # The web process has just ended, so it does not respond.


def _is_web_worker(pid: int) -> bool:
    """Return True if the process's parent is a web process."""
    try:
        parent = psutil.Process(pid).parent()
        return parent is not None and parent.name() == "web"
    except psutil.NoSuchProcess:
        return False
