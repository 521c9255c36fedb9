"""Test that the service neither stores nor logs a scan's credentials."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import environ
import pytest
import redis
import requests

from operations.stack.running import variables_of
from tests.database_dump import dump_of_database
from tests.e2e.conftest import RunningService
from tests.operations.stack.processes import wait_until
from tests.targets.repeating import OTHER, Canaries, site_that_repeats_everything
from tests.targets.server import Answer, Site

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

TYPES = ["security", "performance", "accessibility", "seo"]
FINAL = {"completed", "partial", "failed"}


def test_credentials_are_not_stored_or_logged(running: RunningService) -> None:
    canaries = Canaries()
    variables = variables_of(running.service.data_dir)
    api = requests.Session()
    api.headers["Authorization"] = f"Bearer {running.key}"
    redis_commands: list[str] = []
    with (
        Site() as site,
        Site({"*": Answer("other")}, address=OTHER) as other,
        redis.Redis.from_url(variables["REDIS_URL"]) as client,
    ):
        site_that_repeats_everything(canaries, site, other)
        with client.monitor() as monitor:
            reader = threading.Thread(target=record_commands, args=(monitor, redis_commands), daemon=True)
            reader.start()
            answers = []
            for scan_type in TYPES:
                body = {"url": f"{site.url}/", "type": scan_type, "request": canaries.request}
                answers.append(api.post(f"{running.base}/v1/scan", json=body, timeout=30))
            assert [response.status_code for response in answers] == [201] * 4
            ids = [response.json()["id"] for response in answers]

            def has_scan_ended(id: str) -> bool:
                return api.get(f"{running.base}/v1/scan/{id}", timeout=30).json()["status"] in FINAL

            wait_until(lambda: all(map(has_scan_ended, ids)), 110, poll_s=0.5)
            client.publish("the-end", "")
            reader.join(10)
        reports = [api.get(f"{running.base}/v1/report/{id}/export?format=json", timeout=30) for id in ids]
    assert [report.status_code for report in reports] == [200] * 4
    assert any(scan_id in command for command in redis_commands for scan_id in ids), "the queue was not seen"
    assert canaries.found_in("".join(redis_commands)) == []
    assert canaries.found_in(json.dumps([response.text for response in (*answers, *reports)])) == []
    assert (
        canaries.found_in("".join(f"{request.path}{request.headers}{request.body!r}" for request in other.requests))
        == []
    )
    assert canaries.found_in(dump_of_database(environ.Env.db_url_config(variables["DATABASE_URL"]))) == []
    assert canaries.found_in(running.service.output) == []
    # The database's files and its write-ahead log are searched as well.
    assert [str(path) for path in list_files(running.service.data_dir) if canaries.found_in(read_file(path))] == []


def record_commands(monitor: redis.client.Monitor, into: list[str]) -> None:
    for entry in monitor.listen():  # type: ignore[no-untyped-call]  # redis does not annotate it
        into.append(str(entry["command"]))
        if "the-end" in into[-1]:
            return


def list_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:  # The running service has deleted the file.
        return b""
