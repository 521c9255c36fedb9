"""Access log: one line for each request, scan and delivery, with the request ID and without secrets."""

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

ASKED_BY = "asked-by-this-request"


class Lines:
    """Lines written to standard error so far."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self._written = ""

    def __iter__(self) -> Iterator[str]:
        self._written += self._capsys.readouterr().err
        return iter(self._written.splitlines())


@pytest.fixture
def lines(settings: Settings, capsys: pytest.CaptureFixture[str]) -> Lines:
    """The lines of the log as text."""
    settings.ACCESS_LOG = True
    return Lines(capsys)


@pytest.fixture
def objects(settings: Settings, lines: Lines) -> Lines:
    """The lines of the log as JSON."""
    settings.LOG_FORMAT = "json"
    return lines


def test_a_request_is_a_line_with_its_route_and_whose_it_is(home: Member, lines: Lines) -> None:
    home.api.get("/v1/scan/scan_abc?secret=one", **{"X-Request-ID": ASKED_BY})
    (line,) = lines
    assert line.startswith(f"INFO access [{ASKED_BY}] GET /v1/scan/<any:scan_id> 400 ")
    assert line.endswith(f" ms CPU, organization {home.organization.id}, client 127.0.0.1")


def test_the_same_in_fields(home: Member, objects: Lines) -> None:
    home.api.get("/v1/usage", **{"X-Request-ID": ASKED_BY})
    (line,) = map(json.loads, objects)
    assert line["duration_ms"] > 0
    expected = {
        "level": "INFO",
        "logger": "access",
        "request_id": ASKED_BY,
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
def test_nothing_of_an_address_gets_into_it(db: None, lines: Lines, path: str) -> None:
    Client().get(path, headers={"Authorization": "Bearer SECRET", "User-Agent": "SECRET\nINFO access"})
    (line,) = lines
    assert "SECRET" not in line


def test_probes_get_a_line_when_not_all_is_well(db: None, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Client().get("/readyz").status_code == 200
    assert not [*lines]
    monkeypatch.setattr("operations.health.probes.redis_answers", lambda: False)
    assert Client().get("/readyz").status_code == 503
    (line,) = lines
    assert " GET /readyz 503 " in line


def test_a_scan_and_its_delivery_carry_the_request_that_asked_for_it(
    home: Member,
    target: str,
    objects: Lines,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    monkeypatch.setattr(tasks, "_visit", lambda claim, _: (make_result(Scan.objects.get(id=claim.scan_id)),))
    monkeypatch.setattr("infrastructure.queue.current_app.send_task", lambda *_, **__: None)
    with Site({"/": Answer("Thanks")}) as receiver:
        webhook, _ = register_webhook(home, receiver.url_as("localhost") + "/", ["scan.completed"])
        created = home.api.post("/v1/scan", {"url": target, "type": "security"}, **{"X-Request-ID": ASKED_BY})
        assert created.status_code == 201, created.json()
        with django_capture_on_commit_callbacks(execute=True):
            tasks.run_scan(created.json()["id"])
        (attempt,) = attempt_deliveries()
    assert attempt.is_success
    *_, of_request, of_scan, of_delivery = map(json.loads, objects)
    assert (of_request["kind"], of_request["request_id"]) == ("request", ASKED_BY)
    assert (of_scan["kind"], of_scan["request_id"], of_scan["job"]) == ("scan", ASKED_BY, created.json()["id"])
    assert (of_scan["type"], of_scan["status"], of_scan["reason"], of_scan["attempt"]) == (
        *("security", "completed", None),
        1,
    )
    assert of_scan["cpu_ms"] >= 0
    assert (of_delivery["kind"], of_delivery["request_id"]) == ("delivery", ASKED_BY)
    assert (of_delivery["webhook"], of_delivery["outcome"], of_delivery["status"]) == (webhook.id, "delivered", 200)


def test_pages_of_an_audit_carry_it_too(home: Member, target: str) -> None:
    created = home.api.post("/v1/audits", {"page": target, "types": ["seo"]}, **{"X-Request-ID": ASKED_BY})
    assert created.status_code == 202, created.json()
    audit = Audit.objects.get(id=created.json()["id"])
    assert audit.request_id == ASKED_BY
    from sites.audits.dispatch import dispatch_pages

    dispatch_pages(home.organization.id)
    scan = Scan.objects.get(audit_page__in=AuditPage.objects.filter(audit=audit))
    assert scan.request_id == ASKED_BY


def test_lines_of_a_probe_say_of_which_scan_they_are(home: Member) -> None:
    """Probes run in threads of their own."""
    from infrastructure.logging import current_job, working_on
    from scans.policy import scan_policy
    from website_scan.findings import ScanType
    from website_scan.net.client import Network
    from website_scan.net.http.response import Response
    from website_scan.net.targets import Target, parse_target
    from website_scan.result import Budget
    from website_scan.run import scan

    seen: set[str] = set()

    class Noting(Network):
        def addresses(self, host: str, port: int) -> tuple[str, ...]:
            seen.add(current_job.get())
            return super().addresses(host, port)

        def fetch(self, request: Request | Target | str) -> Response:
            seen.add(current_job.get())
            return super().fetch(request)

    policy = scan_policy()
    row = make_scan(home)
    with working_on(row.id, ""), Noting(policy, time_limit_s=5) as network:
        scan(parse_target("http://nowhere.example.com/", policy), [ScanType.SEO], network, Budget(time_limit_s=5))
    assert seen == {row.id}


def test_a_log_that_nobody_reads_any_more_breaks_nothing(
    home: Member, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ACCESS_LOG = True
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    assert home.api.get("/v1/usage").status_code == 200


def test_it_can_be_left_out(home: Member, lines: Lines, settings: Settings) -> None:
    settings.ACCESS_LOG = False
    home.api.get("/v1/usage")
    assert not [*lines]
