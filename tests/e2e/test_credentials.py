"""Scan of a page that needs credentials by the running service; no trace of them may be left afterwards."""

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
from tests.e2e.conftest import Running
from tests.operations.stack.processes import wait_until
from tests.targets.repeating import OTHER, Canaries, site_that_repeats_everything
from tests.targets.server import Answer, Site

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

TYPES = ["security", "performance", "accessibility", "seo"]
FINAL = {"completed", "partial", "failed"}


def test_credentials_are_not_in_database_queue_logs_or_data_folder(running: Running) -> None:
    given = Canaries()
    variables = variables_of(running.service.data_dir)
    api = requests.Session()
    api.headers["Authorization"] = f"Bearer {running.key}"
    queued: list[str] = []
    with (
        Site() as site,
        Site({"*": Answer("other")}, address=OTHER) as other,
        redis.Redis.from_url(variables["REDIS_URL"]) as client,
    ):
        site_that_repeats_everything(given, site, other)
        with client.monitor() as monitor:
            reader = threading.Thread(target=read, args=(monitor, queued), daemon=True)
            reader.start()
            answers = []
            for each in TYPES:
                body = {"url": f"{site.url}/", "type": each, "request": given.request}
                answers.append(api.post(f"{running.base}/v1/scan", json=body, timeout=30))
            assert [each.status_code for each in answers] == [201] * 4
            ids = [each.json()["id"] for each in answers]

            def ended(id: str) -> bool:
                return api.get(f"{running.base}/v1/scan/{id}", timeout=30).json()["status"] in FINAL

            wait_until(lambda: all(map(ended, ids)), 110, poll_s=0.5)
            client.publish("the-end", "")
            reader.join(10)
        reports = [api.get(f"{running.base}/v1/report/{id}/export?format=json", timeout=30) for id in ids]
    assert [each.status_code for each in reports] == [200] * 4
    assert any(each in command for command in queued for each in ids), "the queue was not seen"
    assert given.found_in("".join(queued)) == []
    assert given.found_in(json.dumps([each.text for each in (*answers, *reports)])) == []
    assert given.found_in("".join(f"{each.path}{each.headers}{each.body!r}" for each in other.requests)) == []
    assert given.found_in(dump_of_database(environ.Env.db_url_config(variables["DATABASE_URL"]))) == []
    assert given.found_in(running.service.output) == []
    # Also search the database's files and its write-ahead log.
    assert [str(path) for path in files(running.service.data_dir) if given.found_in(content(path))] == []


def read(monitor: redis.client.Monitor, into: list[str]) -> None:
    for each in monitor.listen():  # type: ignore[no-untyped-call]  # redis does not annotate it
        into.append(str(each["command"]))
        if "the-end" in into[-1]:
            return


def files(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file()]


def content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:  # the running service has deleted it
        return b""
