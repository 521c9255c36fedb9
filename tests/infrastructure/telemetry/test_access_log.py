"""Tests for the access log."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator

import pytest
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from scans import tasks
from scans.models import Scan
from sites.models import Audit, AuditPage
from tests.factories import Member, attempt_deliveries, make_result, make_scan, register_webhook
from tests.targets.server import Answer, Site
from website_scan.net.http.request import Request

REQUEST_ID = "asked-by-this-request"


class Lines:
    """All lines written to standard error so far."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self._written = ""

    def __iter__(self) -> Iterator[str]:
        self._written += self._capsys.readouterr().err
        return iter(self._written.splitlines())


@pytest.fixture
def lines(settings: Settings, capsys: pytest.CaptureFixture[str]) -> Lines:
    """Lines of the access log as text."""
    settings.ACCESS_LOG = True
    return Lines(capsys)


@pytest.fixture
def objects(settings: Settings, lines: Lines) -> Lines:
    """Lines of the access log as JSON."""
    settings.LOG_FORMAT = "json"
    return lines


def test_access_log_line_has_route_and_client(home: Member, lines: Lines) -> None:
    home.api.get("/v1/scan/scan_abc?secret=one", **{"X-Request-ID": REQUEST_ID})
    (line,) = lines
    assert line.startswith(f"INFO access [{REQUEST_ID}] GET /v1/scan/<any:scan_id> 400 ")
    assert line.endswith(f" ms CPU, organization {home.organization.id}, client 127.0.0.1")


def test_json_access_log_line_has_fields(home: Member, objects: Lines) -> None:
    home.api.get("/v1/usage", **{"X-Request-ID": REQUEST_ID})
    (line,) = map(json.loads, objects)
    assert line["duration_ms"] > 0
    expected = {
        "level": "INFO",
        "logger": "access",
        "request_id": REQUEST_ID,
        "job": "-",
        "kind": "request",
        "method": "GET",
        "route": "/v1/usage",
        "status": 200,
        "organization": home.organization.id,
        "client": "127.0.0.1",
    }
    assert {name: line[name] for name in expected} == expected


@pytest.mark.parametrize(
    "path",
    [
        "/invite/SECRET",
        "/signup/SECRET/",
        "/password/MQ/SECRET/",
        "/unsubscribe/SECRET",
        "/report/SECRET",
        "/audit/SECRET",
        "/badge/SECRET.svg",
        "/?next=SECRET",
        "/login/?next=/SECRET",
        "/SECRET",
        "/v1/SECRET",
        "/static/SECRET",
        "/o/SECRET/scans",
        "/admin/SECRET",
    ],
)
def test_access_log_contains_no_secret(db: None, lines: Lines, path: str) -> None:
    Client().get(path, headers={"Authorization": "Bearer SECRET", "User-Agent": "SECRET\nINFO access"})
    (line,) = lines
    assert "SECRET" not in line


def test_only_failed_readyz_is_logged(db: None, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Client().get("/readyz").status_code == 200
    assert not [*lines]
    monkeypatch.setattr("operations.health.probes.redis_answers", lambda: False)
    assert Client().get("/readyz").status_code == 503
    (line,) = lines
    assert " GET /readyz 503 " in line


def test_access_log_keeps_the_request_id(
    home: Member,
    target: str,
    objects: Lines,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    monkeypatch.setattr(
        tasks, "_visit", lambda claim, _: tasks._finish_with(claim, make_result(Scan.objects.get(id=claim.scan_id)))
    )
    monkeypatch.setattr("infrastructure.queue.current_app.send_task", lambda *_, **__: None)
    with Site({"/": Answer("Thanks")}) as receiver:
        webhook, _ = register_webhook(home, receiver.url_as("localhost") + "/", ["scan.completed"])
        created = home.api.post("/v1/scan", {"url": target, "type": "security"}, **{"X-Request-ID": REQUEST_ID})
        assert created.status_code == 201, created.json()
        with django_capture_on_commit_callbacks(execute=True):
            tasks.run_scan(created.json()["id"])
        (attempt,) = attempt_deliveries()
    assert attempt.is_success
    *_, request_line, scan_line, delivery_line = map(json.loads, objects)
    assert (request_line["kind"], request_line["request_id"]) == ("request", REQUEST_ID)
    assert (scan_line["kind"], scan_line["request_id"], scan_line["job"]) == ("scan", REQUEST_ID, created.json()["id"])
    assert (scan_line["type"], scan_line["status"], scan_line["reason"], scan_line["attempt"]) == (
        *("security", "completed", None),
        1,
    )
    assert scan_line["cpu_ms"] >= 0
    assert (delivery_line["kind"], delivery_line["request_id"]) == ("delivery", REQUEST_ID)
    assert (delivery_line["webhook"], delivery_line["outcome"], delivery_line["status"]) == (
        webhook.id,
        "delivered",
        200,
    )


def test_scans_of_an_audit_store_its_request_id(home: Member, target: str) -> None:
    created = home.api.post("/v1/audits", {"page": target, "types": ["seo"]}, **{"X-Request-ID": REQUEST_ID})
    assert created.status_code == 202, created.json()
    audit = Audit.objects.get(id=created.json()["id"])
    assert audit.request_id == REQUEST_ID
    from sites.audits.dispatch import dispatch_pages

    dispatch_pages(home.organization.id)
    scan = Scan.objects.get(audit_page__in=AuditPage.objects.filter(audit=audit))
    assert scan.request_id == REQUEST_ID


def test_probe_threads_log_the_scan_id(home: Member) -> None:
    from infrastructure.logging import current_job, job_log_context
    from scans.policy import scan_policy
    from website_scan.findings import ScanType
    from website_scan.net.client import Network
    from website_scan.net.http.response import Response
    from website_scan.net.targets import Target, parse_target
    from website_scan.result import Budget
    from website_scan.run import scan

    jobs: set[str] = set()

    class RecordingNetwork(Network):
        def addresses(self, host: str, port: int) -> tuple[str, ...]:
            jobs.add(current_job.get())
            return super().addresses(host, port)

        def fetch(self, request: Request | Target | str) -> Response:
            jobs.add(current_job.get())
            return super().fetch(request)

    policy = scan_policy()
    row = make_scan(home)
    with job_log_context(row.id, ""), RecordingNetwork(policy, time_limit_s=5) as network:
        scan(parse_target("http://nowhere.example.com/", policy), [ScanType.SEO], network, Budget(time_limit_s=5))
    assert jobs == {row.id}


def test_closed_stderr_does_not_break_requests(
    home: Member, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ACCESS_LOG = True
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    assert home.api.get("/v1/usage").status_code == 200


def test_ACCESS_LOG_false_disables_access_log(home: Member, lines: Lines, settings: Settings) -> None:
    settings.ACCESS_LOG = False
    home.api.get("/v1/usage")
    assert not [*lines]
