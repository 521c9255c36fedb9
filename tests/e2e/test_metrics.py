"""/metrics of the running service, compared with the rows."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
from collections.abc import Mapping
from typing import Any

import environ
import psutil
import psycopg
import pytest
import requests

from tests.e2e.conftest import Running
from tests.operations.metrics.scraping import TOKEN, Samples, samples
from tests.operations.stack.processes import WORKERS, programs_with, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

ENDED = """
    SELECT type, status, error_code, CASE WHEN is_background THEN 'background' ELSE 'interactive' END, count(*),
        count(started_at)
    FROM scans_scan WHERE completed_at IS NOT NULL GROUP BY 1, 2, 3, 4
"""
PATIENCE_S = 110
GROWING = ("_total", "_bucket", "_count", "_sum")


def scrape(running: Running) -> Samples:
    response = requests.get(f"{running.base}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30)
    assert response.status_code == 200, response.text
    return samples(response.text)


def ended(of: Samples) -> dict[str, float]:
    return {name: value for name, value in of.items() if name.startswith("scans_ended_total")}


def variables(running: Running) -> Mapping[str, str]:
    found: dict[str, str] = json.loads((running.service.data_dir / "running.json").read_text())
    return found


def rows(running: Running, sql: str) -> list[tuple[Any, ...]]:
    at = environ.Env.db_url_config(variables(running)["DATABASE_URL"])
    with psycopg.connect(dbname=at["NAME"], user=at["USER"], host=at["HOST"], port=at["PORT"]) as connection:
        return connection.execute(sql).fetchall()


def by_rows(running: Running) -> tuple[dict[str, float], dict[str, float]]:
    """Return the expected result of `ended`, and the number of started scans of each type."""
    found, begun = {}, dict[str, float]()
    for kind, status, reason, waited, count, started in rows(running, ENDED):
        found[f'scans_ended_total{{class="{waited}",reason="{reason}",status="{status}",type="{kind}"}}'] = count
        begun[kind] = begun.get(kind, 0) + started
    return found, begun


def start(running: Running, **body: str) -> str:
    headers = {"Authorization": f"Bearer {running.key}", "X-Request-ID": "asked-by-the-e2e-test"}
    created = requests.post(f"{running.base}/v1/scan", json=body, headers=headers, timeout=30)
    assert created.status_code == 201, created.text
    scan_id: str = created.json()["id"]
    return scan_id


def test_metrics_equal_the_database_rows(running: Running) -> None:
    ids = [start(running, url=f"{running.site.url_as('localhost')}/", type=kind) for kind in ("seo", "security")]

    def have_ended() -> bool:
        listed = ", ".join(f"'{each}'" for each in ids)
        ((count,),) = rows(
            running, f"SELECT count(*) FROM scans_scan WHERE id IN ({listed}) AND completed_at IS NOT NULL"
        )
        return bool(count == len(ids))

    wait_until(have_ended, PATIENCE_S, poll_s=0.5)
    # The response may be cached for some seconds.
    wait_until(lambda: ended(scrape(running)) == by_rows(running)[0], 60, poll_s=1)
    found = scrape(running)
    for kind, begun in by_rows(running)[1].items():
        assert found[f'scan_duration_seconds_count{{type="{kind}"}}'] == begun
        assert found[f'scan_cpu_seconds_count{{type="{kind}"}}'] <= begun
    ((seconds,),) = rows(
        running,
        "SELECT sum(extract(epoch FROM completed_at - started_at)) FROM scans_scan WHERE started_at IS NOT NULL",
    )
    told = sum(value for name, value in found.items() if name.startswith("scan_duration_seconds_sum"))
    assert told == pytest.approx(float(seconds), abs=0.1)
    assert found['up{server="postgresql"}'] == found['up{server="redis"}'] == 1
    assert all(found[f'queue_workers{{queue="{name}"}}'] >= 1 for name in ("scans", "webhooks", "maintenance"))
    assert running.service.output.count("[asked-by-the-e2e-test] POST /v1/scan 201 ") >= len(ids)
    for scan_id in ids:
        assert re.search(rf"\[asked-by-the-e2e-test {scan_id}\] {scan_id} \w+ completed", running.service.output)


def test_requests_of_a_stopped_web_worker_are_counted(running: Running) -> None:
    name = 'http_requests_total{method="GET",route="/v1/usage",status="200"}'
    headers = {"Authorization": f"Bearer {running.key}"}
    before = scrape(running).get(name, 0)
    for _ in range(20):
        assert requests.get(f"{running.base}/v1/usage", headers=headers, timeout=30).status_code == 200
    for pid in programs_with(str(running.service.data_dir), "web"):
        if _is_child(pid):
            os.kill(pid, signal.SIGTERM)  # the arbiter starts another
    wait_until(lambda: _said(running, name) == before + 20, 60, poll_s=1)


def test_counters_do_not_decrease_when_a_worker_is_killed(running: Running) -> None:
    before = scrape(running)
    for pid in programs_with(str(running.service.data_dir), *WORKERS):
        with contextlib.suppress(ProcessLookupError):  # it ended with its parent
            os.kill(pid, signal.SIGKILL)
    start(running, url=f"{running.site.url_as('localhost')}/", type="security")
    wait_until(lambda: sum(ended(scrape(running)).values()) > sum(ended(before).values()), PATIENCE_S, poll_s=1)
    after = scrape(running)
    growing = {name: value for name, value in before.items() if name.partition("{")[0].endswith(GROWING)}
    assert len(growing) > 50
    assert {name: (value, after.get(name)) for name, value in growing.items() if after.get(name, 0) < value} == {}


def _said(running: Running, name: str) -> float | None:
    try:
        return scrape(running).get(name)
    except requests.RequestException:
        return None  # the web process has just ended


def _is_child(pid: int) -> bool:
    """Return True if the parent of a process is of the web program, too."""
    try:
        parent = psutil.Process(pid).parent()
        return parent is not None and parent.name() == "web"
    except psutil.NoSuchProcess:
        return False
