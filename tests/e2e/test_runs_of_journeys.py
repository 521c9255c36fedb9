"""Test runs of journeys by the whole service: killed workers, runs at the same time, and secrets."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import environ
import pytest
import redis
import requests

from operations.stack.running import variables_of
from tests.database_dump import dump_of_database
from tests.e2e.conftest import RunningService, running_service
from tests.e2e.test_audit_faults import scanning_processes
from tests.e2e.test_credentials import list_files, read_file, record_commands
from tests.e2e.test_metrics import query_rows
from tests.operations.stack.processes import wait_until
from tests.project import ROOT
from tests.targets.journeys.account import PASSWORD, USER, account_site
from tests.targets.server import Answer, Request, Site

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

STATES = ["Account", "Loans", "Signed out"]
TYPES = ["security", "accessibility"]
# A lease takes 20 s, a lost message 30 s and the next sweep up to 15 s. A run takes some seconds on an idle machine.
TIMEOUT_S = 170
FINAL = {"completed", "partial", "failed", "cancelled"}


class Client:
    """Client of the API of journeys."""

    def __init__(self, running: RunningService) -> None:
        self._base = running.base
        self._session = requests.Session()
        self._session.headers["Authorization"] = f"Bearer {running.key}"
        self.responses: list[str] = []

    def call(self, method: str, path: str, status: int, body: object = None) -> Any:
        response = self._session.request(method, f"{self._base}{path}", json=body, timeout=30)
        self.responses.append(response.text)
        assert response.status_code == status, response.text
        return response.json() if response.content else None

    def create_journey(self, site: Site, secrets: Mapping[str, str]) -> str:
        """Create the example journey of an account, prove control, and return its ID."""
        steps = (ROOT / "examples/journeys/account.txt").read_text("utf-8")
        body = {"name": "Account", "steps": steps, "start": site.url, "types": TYPES, "secrets": secrets}
        journey_id = str(self.call("POST", "/v1/journeys", 201, body)["id"])
        self.call("POST", f"/v1/journeys/{journey_id}/proof", 200)
        return journey_id

    def start_run(self, journey_id: str) -> str:
        return str(self.call("POST", f"/v1/journeys/{journey_id}/runs", 202)["id"])

    def wait_for_run(self, audit_id: str) -> Any:
        """Wait until a run has ended, and return its audit."""

        def has_ended() -> bool:
            audit = self._session.get(f"{self._base}/v1/audits/{audit_id}", timeout=30).json()
            return bool(audit["status"] in FINAL)

        wait_until(has_ended, TIMEOUT_S, poll_s=0.5)
        return self.call("GET", f"/v1/audits/{audit_id}", 200)

    def used_quota(self) -> int:
        return int(self.call("GET", "/v1/usage", 200)["quota"]["used"])


@pytest.fixture(scope="module")
def running() -> Iterator[RunningService]:
    """Service with a browser, which the other tests do without."""
    with running_service(SCAN_BROWSER="auto") as running:
        yield running


@pytest.fixture
def client(running: RunningService) -> Iterator[Client]:
    """Client of the service, whose journeys are deleted afterwards, because the plan allows only one."""
    client = Client(running)
    yield client
    for journey in client.call("GET", "/v1/journeys", 200)["journeys"]:
        client.call("DELETE", f"/v1/journeys/{journey['id']}", 204)


@contextmanager
def recorded_redis_commands(url: str) -> Iterator[list[str]]:
    """Record all commands that Redis executes."""
    commands: list[str] = []
    with redis.Redis.from_url(url) as client, client.monitor() as monitor:
        reader = threading.Thread(target=record_commands, args=(monitor, commands), daemon=True)
        reader.start()
        yield commands
        client.publish("the-end", "")
        reader.join(10)


def test_run_is_stored_without_its_secrets(running: RunningService, client: Client) -> None:
    variables = variables_of(running.service.data_dir)
    with Site(account_site(is_faulty=True)) as site, recorded_redis_commands(variables["REDIS_URL"]) as commands:
        audit_id = client.start_run(client.create_journey(site, {"user": USER, "password": PASSWORD}))
        audit = client.wait_for_run(audit_id)
    assert (audit["status"], audit["error"]) == ("completed", None)
    pages = client.call("GET", f"/v1/audits/{audit_id}/pages", 200)["pages"]
    assert [page["state"] for page in pages] == STATES
    assert [page["step"] for page in pages] == [6, 9, 11]
    client.call("GET", f"/v1/audits/{audit_id}/findings", 200)
    client.call("GET", f"/v1/audits/{audit_id}/export?format=json", 200)
    for page in pages:
        for result in page["results"].values():
            client.call("GET", f"/v1/report/{result['scan_id']}", 200)
            exported = client.call("GET", f"/v1/report/{result['scan_id']}/export?format=json", 200)
            assert exported["state"] == {"journey": "Account", "name": page["state"], "step": page["step"]}
    pictures = query_rows(running, "SELECT count(picture) FROM sites_journeystep")
    assert int(pictures[0][0]) > 0
    outputs = {
        "responses": json.dumps(client.responses),
        "Redis": "".join(commands),
        "database": dump_of_database(environ.Env.db_url_config(variables["DATABASE_URL"])),
        "log": running.service.output,
    }
    assert audit_id in outputs["database"]
    for secret in (USER, PASSWORD):
        assert {name for name, text in outputs.items() if secret in text} == set()
        assert [path for path in list_files(running.service.data_dir) if secret.encode() in read_file(path)] == []


def test_run_of_a_killed_worker_ends_once(running: RunningService, client: Client) -> None:
    used_before = client.used_quota()
    has_been_killed = threading.Event()
    routes = account_site(is_faulty=False)
    account = routes["/account"]
    assert callable(account)

    def wait_for_the_end_of_the_worker(request: Request) -> Answer | None:
        has_been_killed.wait(TIMEOUT_S)
        return account(request)

    with Site({**routes, "/account": wait_for_the_end_of_the_worker, "/webhook": Answer()}) as site:
        webhook = {"url": f"{site.url}/webhook", "events": ["audit.completed", "audit.failed", "audit.scan"]}
        client.call("POST", "/api/webhooks", 201, webhook)
        audit_id = client.start_run(client.create_journey(site, {"user": USER, "password": PASSWORD}))
        wait_until(lambda: any(request.path.startswith("/account") for request in site.requests), TIMEOUT_S)
        workers = scanning_processes(running, site)
        assert workers
        for process in workers:
            process.kill()
        has_been_killed.set()
        audit = client.wait_for_run(audit_id)
    assert (audit["status"], audit["error"]) == ("completed", None)
    assert audit["pages"] == {"found": 3, "planned": 3, "done": 3, "failed": 0}
    assert audit["scans"] == {"planned": 6, "done": 6}
    condition = f"audit_page_id IN (SELECT id FROM sites_auditpage WHERE audit_id = '{audit_id}')"
    assert query_rows(running, f"SELECT DISTINCT attempts, status FROM scans_scan WHERE {condition}") == [
        (2, "completed")
    ]
    reports = query_rows(
        running, f"SELECT count(*) FROM reports_report WHERE scan_id IN (SELECT id FROM scans_scan WHERE {condition})"
    )
    assert int(reports[0][0]) == 6
    assert client.used_quota() == used_before + 6
    events = query_rows(
        running,
        "SELECT kind, count(*), count(DISTINCT scan_id) FROM webhooks_event "
        f"WHERE audit_id = '{audit_id}' OR scan_id IN (SELECT id FROM scans_scan WHERE {condition}) "
        "GROUP BY kind ORDER BY kind",
    )
    assert events == [("audit.completed", 1, 0), ("audit.scan", 6, 6)]


def test_two_runs_at_once_have_separate_sessions(running: RunningService, client: Client) -> None:
    with Site(account_site(is_faulty=False)) as site:
        journey_id = client.create_journey(site, {"user": USER, "password": PASSWORD})
        audits = [client.wait_for_run(audit_id) for audit_id in [client.start_run(journey_id) for _ in range(2)]]
        log_ins = [request for request in site.requests if request.path == "/session" and request.method == "POST"]
    assert [(audit["status"], audit["error"]) for audit in audits] == [("completed", None)] * 2
    assert [audit["pages"]["done"] for audit in audits] == [3, 3]
    assert len(log_ins) == 2
