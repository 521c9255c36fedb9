"""Tests for concluding a monitor run, which must happen exactly once."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from unittest import mock

import psycopg
import pytest
from django.db import OperationalError, close_old_connections, connection
from django.utils import timezone
from msgspec.structs import replace

from infrastructure import queue
from reports.models import Mute
from sites import tasks
from sites.audits.services import cancel_audit
from sites.models import Audit, Monitor, MonitorRun, MonitorState
from sites.monitors import comparison, outcome
from sites.monitors.outcome import finish_missed_runs, finish_run
from sites.monitors.runs import start_run
from tests.factories import Member, register_webhook
from tests.generated import assert_described
from tests.queries import counted
from tests.results import elements
from tests.sites.monitors.cast import make_monitor
from tests.sites.monitors.watching import DailyMonitor, ScriptedSite, event_summary, make_finding
from webhooks.models import Delivery, Event, EventKind
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM
from website_scan.fingerprints import fingerprints
from website_scan.places import Rows
from website_scan.result import CheckResult, ScanError, SkippedCheck
from website_scan.security.certificates import CertificateRow

UNREACHABLE = ScanError("URL_NOT_REACHABLE", "Nothing answers on port 443.")
BAD, GOOD = (make_finding("thing"),), (make_finding("thing", status="pass"),)

pytestmark = pytest.mark.django_db


def daily_monitor(owner: Member, site: ScriptedSite, *paths: str, **columns: Any) -> DailyMonitor:
    pages = [f"https://example.com{path}" for path in paths or ("/",)]
    monitor = make_monitor(owner, pages=pages, kind="pages" if paths else "page", max_pages=len(pages), **columns)
    return DailyMonitor(monitor, site.run_all_work)


def monitor_with_ended_audit(
    owner: Member, site: ScriptedSite, *paths: str, **columns: Any
) -> tuple[DailyMonitor, MonitorRun]:
    """Create a monitor with a concluded run and a second one.

    The audit of the second run ended with a new finding.
    """
    monitored = daily_monitor(owner, site, *paths, **columns)
    site.default_checks = GOOD
    monitored.run_once()
    run = monitored.monitor.runs.create(due_at=monitored.now + timedelta(hours=1), not_before=monitored.now)
    assert start_run(run.id, monitored.monitor.id, monitored.now)
    run.refresh_from_db()
    site.default_checks = BAD
    assert run.audit is not None
    site.run_all_work(run.audit.id)
    return monitored, run


def test_only_changes_are_reported(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site)
    site.default_checks = (make_finding("thing", HIGH, "#a"), make_finding("other", status="pass"))
    assert home.run_once() == []
    first = home.run.audit
    site.default_checks = (make_finding("thing", HIGH, "#b", "#a"), make_finding("other", LOW))
    (body,) = home.run_once()
    assert first is not None
    assert home.run.audit is not None
    before, now = (audit.pages.get().results["seo"]["scan_id"] for audit in (first, home.run.audit))
    data = body["data"]
    assert (body["event"], data["monitor_id"], data["target"]) == (
        "monitor.changed",
        home.monitor.id,
        "https://example.com/",
    )
    assert data["run"]["audit_url"] == home.run.audit.audit_url
    assert data["reasons"] == ["worse_findings"]
    assert data["scores"] == {"seo": {"before": 90, "after": 90, "grade": "A"}}
    (worse,), (new,) = data["worse"], data["new"]
    assert (worse["check"], worse["severity"], worse["said"], worse["fix"]) == ("thing", "high", "1 new place", "Do.")
    assert worse["pages"] == [
        {
            "url": "https://example.com/",
            "report_url": f"http://localhost:8000/report/{now}",
            "previous_report_url": f"http://localhost:8000/report/{before}",
            "places": ["#b"],
        }
    ]
    assert (new["check"], new["severity"]) == ("other", "low")
    assert {name: value for name, value in data.items() if name in home.run.news} == home.run.news
    assert home.run.is_told
    assert home.run.scores == {"seo": {"before": 90, "score": 90, "grade": "A"}}
    assert home.monitor.scores == {"seo": {"score": 90, "grade": "A"}}
    assert Event.objects.get().monitor_id == home.monitor.id
    assert home.run_once() == []
    assert (home.run.news, home.run.is_told) == ({}, False)


def test_finding_below_the_threshold_is_stored(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site)
    site.default_checks = GOOD
    home.run_once()
    site.default_checks = (make_finding("thing", MEDIUM),)
    assert home.run_once() == []
    assert home.run.news["new"][0]["check"] == "thing"
    assert (home.run.news["reasons"], home.run.is_told) == ([], False)


@pytest.mark.parametrize(("alert", "kinds"), [({}, []), ({"fixed": True}, ["changed"])])
def test_fixed_findings_are_reported_on_request(
    owner: Member, site: ScriptedSite, alert: dict[str, Any], kinds: list[str]
) -> None:
    home = daily_monitor(owner, site, alert=alert)
    site.default_checks = BAD
    home.run_once()
    site.default_checks = GOOD
    assert [event_summary(body)["event"] for body in home.run_once()] == kinds
    assert home.run.news["fixed"][0]["check"] == "thing"


def test_same_change_on_pages_is_one_group(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site, *(f"/{number}" for number in range(8)))
    site.default_checks = GOOD
    home.run_once()
    site.default_checks = (make_finding("thing", HIGH, "#a"),)
    site.results_by_path["/3"] = (make_finding("thing", HIGH, "#other"),)
    (body,) = home.run_once()
    assert [(finding["pages_affected"], len(finding["pages"])) for finding in body["data"]["new"]] == [(7, 5), (1, 1)]


def test_monitored_scans_send_no_scan_events(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site, types=["security", "seo"])
    home.run_once()
    site.results_by_path["/"] = UNREACHABLE
    home.run_once()
    assert list(Event.objects.values_list("kind", flat=True)) == ["monitor.failed"]


def test_monitor_without_webhooks_has_no_event(owner: Member, site: ScriptedSite) -> None:
    home, run = monitor_with_ended_audit(owner, site, webhook_ids=[])
    assert finish_run(run.id, home.now)
    run.refresh_from_db()
    assert (run.is_told, Event.objects.count()) == (True, 0)


def test_event_goes_only_to_chosen_webhooks(owner: Member, site: ScriptedSite) -> None:
    chosen, _ = register_webhook(owner, "https://example.com/chosen", ["monitor.changed"])
    home, run = monitor_with_ended_audit(owner, site, webhook_ids=[chosen.id, "wh_deleted"])
    assert finish_run(run.id, home.now)
    assert [delivery.webhook_id for delivery in Delivery.objects.filter(event__monitor=home.monitor)] == [chosen.id]


def test_earlier_audit_is_compared_as_the_first_run(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site, "/")
    site.default_checks = BAD
    home.run_once()
    audit = home.run.audit
    assert audit is not None
    home.monitor.delete()
    Audit.objects.update(run_of="", completed_at=timezone.now())
    body = {"pages": [audit.url], "types": audit.types, "every": "day"}
    created = owner.api.post("/v1/monitors", body).json()
    run = MonitorRun.objects.get(monitor=created["id"])
    assert finish_run(run.id, timezone.now())
    shown = owner.api.get(f"/v1/monitors/{created['id']}").json()
    assert shown["results"]["seo"] == {"score": audit.scores["seo"]["score"], "grade": audit.scores["seo"]["grade"]}
    assert MonitorState.objects.filter(monitor=created["id"]).count() == 1
    assert not Event.objects.exists()


def test_second_failure_is_reported(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site)
    home.run_once()
    site.results_by_path["/"] = UNREACHABLE
    run = home.monitor.runs.create(due_at=home.now + timedelta(hours=1), not_before=home.now)
    assert start_run(run.id, home.monitor.id, home.now)
    run.refresh_from_db()
    assert run.audit is not None
    site.run_all_work(run.audit.id)
    assert finish_run(run.id, home.now)
    run.refresh_from_db()
    assert (run.status, run.not_before - home.now) == ("due", timedelta(minutes=5))
    assert not Event.objects.exists()
    assert not start_run(run.id, home.monitor.id, home.now)
    del site.results_by_path["/"]
    assert start_run(run.id, home.monitor.id, run.not_before)
    run.refresh_from_db()
    assert run.audit is not None
    site.run_all_work(run.audit.id)
    assert finish_run(run.id, run.not_before)
    run.refresh_from_db()
    assert (run.status, run.attempts, run.error_code, Event.objects.count()) == ("done", 2, "", 0)


def test_outage_is_reported_once(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site)
    site.default_checks = GOOD
    home.run_once()
    site.results_by_path["/"] = UNREACHABLE
    (failed,) = home.run_once()
    assert (failed["event"], failed["data"]["error"]["code"]) == ("monitor.failed", "URL_NOT_REACHABLE")
    assert (home.run.status, home.run.attempts, home.run.error_code) == ("failed", 2, "URL_NOT_REACHABLE")
    assert home.monitor.failing_since is not None
    assert home.run_once() == []
    assert home.run.attempts == 1, "what is known to be failing is not tried again"
    site.results_by_path["/"] = BAD
    (recovered,) = home.run_once()
    assert recovered["event"] == "monitor.recovered"
    assert recovered["data"]["down_since"] == failed["data"]["since"]
    assert recovered["data"]["changes"]["reasons"] == ["new_findings"]
    assert home.monitor.failing_since is None


def test_changes_are_reported_without_outage_alerts(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site, alert={"unreachable": False, "recovered": False})
    site.default_checks = GOOD
    home.run_once()
    site.results_by_path["/"] = UNREACHABLE
    assert home.run_once() == []
    site.results_by_path["/"] = BAD
    assert [body["event"] for body in home.run_once()] == ["monitor.changed"]


@pytest.mark.parametrize("code", ["INTERNAL_ERROR", "SCAN_INTERRUPTED", "SCAN_CANCELLED"])
def test_service_errors_do_not_count_as_outages(owner: Member, site: ScriptedSite, code: str) -> None:
    home = daily_monitor(owner, site)
    home.run_once()
    site.results_by_path["/"] = ScanError(code, "It was us.")
    assert home.run_once() == []
    assert (home.run.status, home.run.attempts, home.run.error_code) == ("failed", 1, code)
    assert home.monitor.failing_since is None


def test_run_without_audit_has_an_error(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site)
    now = home.now
    run = home.monitor.runs.create(
        due_at=now, not_before=now, status="running", attempts=1, error_code="DOMAIN_BLOCKED", error_message="No."
    )
    gone = home.monitor.runs.create(due_at=now + timedelta(hours=1), not_before=now, status="running", attempts=1)
    assert finish_run(run.id, now)
    assert finish_run(gone.id, now)
    assert list(home.monitor.runs.order_by("due_at").values_list("status", "error_code")) == [
        ("failed", "DOMAIN_BLOCKED"),
        ("failed", "AUDIT_GONE"),
    ]
    assert [json.loads(bytes(event.body))["event"] for event in Event.objects.all()] == ["monitor.failed"]


def test_cancelled_audit_sends_no_message(owner: Member, site: ScriptedSite, monkeypatch: pytest.MonkeyPatch) -> None:
    home = daily_monitor(owner, site)
    run = home.monitor.runs.create(due_at=home.now, not_before=home.now)
    start_run(run.id, home.monitor.id, home.now)
    run.refresh_from_db()
    assert run.audit is not None
    enqueued: list[tuple[str, ...]] = []
    monkeypatch.setattr(queue, "enqueue", lambda *args: enqueued.append(args))
    from accounts.authentication import Caller

    caller = mock.Mock(
        spec=Caller, organization_id=owner.organization.id, member=None, key_id=owner.key.id, key_name="tests"
    )
    with mock.patch("django.db.transaction.on_commit", side_effect=lambda call: call()):
        cancel_audit(caller=caller, audit_id=run.audit.id)
    assert enqueued == [("sites.tasks.finish_run", str(run.id))]
    assert finish_run(run.id, home.now)
    run.refresh_from_db()
    assert (run.status, run.error_code, Event.objects.count()) == ("failed", "SCAN_CANCELLED", 0)


def test_failing_page_is_reported_after_two_runs(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site, "/", "/shop", types=["seo", "security"])
    home.run_once()
    site.results_by_path["/shop"] = UNREACHABLE
    assert home.run_once() == []
    (body,) = home.run_once()
    page = {"url": "https://example.com/shop", "message": UNREACHABLE.message}
    assert body["data"]["unreachable_pages"] == [page]
    assert body["data"]["reasons"] == ["unreachable_pages"]
    assert home.run_once() == []
    site.results_by_path["/shop"] = BAD
    (body,) = home.run_once()
    assert body["data"]["reachable_pages"] == [{"url": "https://example.com/shop"}]
    assert "new_findings" in body["data"]["reasons"]
    assert home.run_once() == []


def test_single_failure_is_not_reported(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site, "/", "/shop")
    home.run_once()
    for result in (UNREACHABLE, site.default_checks) * 3:
        site.results_by_path["/shop"] = result
        assert home.run_once() == []


def test_new_page_has_no_new_findings(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site, "/")
    home.run_once()
    Monitor.objects.update(pages=["https://example.com/", "https://example.com/new"])
    home.monitor.refresh_from_db()
    site.results_by_path["/new"] = BAD
    assert home.run_once() == []
    assert MonitorState.objects.count() == 2
    site.results_by_path["/new"] = (make_finding("thing", CRITICAL),)
    assert [event_summary(body)["worse"] for body in home.run_once()] == [["thing"]]


def test_first_low_score_is_reported(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site, alert={"score_below": {"seo": 80}})
    site.scores["seo"] = 70
    assert [event_summary(body)["reasons"] for body in home.run_once()] == [["score_below"]]
    assert home.run_once() == []


def test_skipped_check_keeps_its_last_state(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site)
    site.default_checks = GOOD
    home.run_once()
    site.default_checks = ()
    site.default_checks = (make_finding("other", status="pass"),)
    site.columns = {"status": "partial", "skipped_checks": (SkippedCheck("thing", "Thing", "Late.", "out-of-time"),)}
    assert home.run_once() == []
    site.default_checks, site.columns = BAD, {}
    assert [event_summary(body)["new"] for body in home.run_once()] == [["thing"]]


def certificate_check(end: str) -> CheckResult:
    leaf = CertificateRow("example.com", "R11", "2026-01-01T00:00:00Z", end, "RSA 2048", None)
    return replace(make_finding("tls-cert-expiry", status="pass"), details=Rows.of([leaf]))


def test_expiring_certificate_is_reported_once(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site, types=["security"])
    end = home.now + timedelta(days=23, hours=1)
    site.default_checks = (certificate_check(f"{end:%Y-%m-%dT%H:%M:%SZ}"),)
    assert home.run_once() == []
    assert (home.monitor.certificate_host, home.monitor.certificate_expires_at) == ("example.com", end)
    assert home.run_once() == []
    (body,) = home.run_once()
    assert body["data"]["reasons"] == ["certificate"]
    assert body["data"]["certificate"] == {
        "host": "example.com",
        "expires_at": f"{end:%Y-%m-%dT%H:%M:%SZ}",
        "days_left": 20,
    }
    assert home.run_once() == []
    later = home.now + timedelta(days=5)
    site.default_checks = (certificate_check(f"{later:%Y-%m-%dT%H:%M:%SZ}"),)
    assert [event_summary(body)["reasons"] for body in home.run_once()] == [["certificate"]]


def test_end_of_a_run_enqueues_its_conclusion(
    owner: Member, site: ScriptedSite, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[tuple[str, ...]] = []
    monkeypatch.setattr(queue, "enqueue", lambda *args: sent.append(args[:2]))
    with django_capture_on_commit_callbacks(execute=True):
        home, run = monitor_with_ended_audit(owner, site)
    assert ("sites.tasks.finish_run", str(run.id)) in sent
    sent.clear()
    assert finish_missed_runs(home.now - timedelta(days=2)) == 0
    assert finish_missed_runs(home.now + timedelta(minutes=2)) == 1
    assert sent == [("sites.tasks.finish_run", str(run.id))]
    tasks.finish_run(str(run.id))
    assert finish_missed_runs(home.now + timedelta(minutes=2)) == 0


class SimulatedKill(BaseException):
    """Raised where a real process would be killed."""


@contextmanager
def kill_at_query(number: int) -> Iterator[None]:
    """Raise SimulatedKill instead of executing the query with this number."""
    remaining = [number]
    execute = psycopg.Cursor.execute

    def execute_or_kill(cursor: psycopg.Cursor[Any], query: Any, *args: Any, **kwargs: Any) -> Any:
        is_counted = not str(query).startswith(("ROLLBACK", "RELEASE", "SAVEPOINT", "SELECT pg_advisory_unlock"))
        remaining[0] -= is_counted
        if is_counted and remaining[0] < 0:
            raise SimulatedKill
        return execute(cursor, query, *args, **kwargs)

    with mock.patch.object(psycopg.Cursor, "execute", execute_or_kill):
        yield


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_killed_process_reports_a_change_once(owner: Member, site: ScriptedSite) -> None:
    home, run = monitor_with_ended_audit(owner, site, "/", "/shop")
    for number in range(1000):
        try:
            with kill_at_query(number):
                assert finish_run(run.id, home.now)
        except SimulatedKill:
            assert (Event.objects.count(), Delivery.objects.count()) == (0, 0)
            assert MonitorRun.objects.get(id=run.id).status == "running"
            failed = {"categories": [{"checks": [{"status": "fail"}]}]}
            assert not MonitorState.objects.filter(document__contains=failed)
        else:
            break
    assert number > 10
    assert not finish_run(run.id, home.now)
    assert (Event.objects.count(), Delivery.objects.count()) == (1, 1)
    site.default_checks = BAD
    assert home.run_once()[1:] == [], "and never again"


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_workers_conclude_a_run_once(owner: Member, site: ScriptedSite) -> None:
    home, run = monitor_with_ended_audit(owner, site)
    start_barrier = threading.Barrier(4)
    conclusions: list[bool] = []

    def conclude_run() -> None:
        start_barrier.wait()
        conclusions.append(finish_run(run.id, home.now))
        close_old_connections()
        connection.close()

    workers = [threading.Thread(target=conclude_run) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(conclusions) == [False, False, False, True]
    assert Event.objects.count() == 1


def test_failed_conclusion_loses_no_changes(
    owner: Member, site: ScriptedSite, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    home, run = monitor_with_ended_audit(owner, site)
    with monkeypatch.context() as patch:
        patch.setattr(outcome, "compare_audit", mock.Mock(side_effect=ValueError("a bug")))
        assert finish_run(run.id, home.now)
    run.refresh_from_db()
    assert (run.status, run.error_code) == ("failed", "INTERNAL_ERROR")
    assert [event_summary(body)["new"] for body in home.run_once()] == [["thing"]]


def test_conclusion_is_repeated_after_an_outage(
    owner: Member, site: ScriptedSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, run = monitor_with_ended_audit(owner, site)
    with monkeypatch.context() as patch:
        patch.setattr(outcome, "compare_audit", mock.Mock(side_effect=OperationalError("gone")))
        with pytest.raises(OperationalError):
            finish_run(run.id, home.now)
    assert finish_run(run.id, home.now)
    assert Event.objects.count() == 1


def test_query_count_is_almost_constant(owner: Member, site: ScriptedSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "PAGES_PER_BATCH", 5)
    monkeypatch.setattr(comparison, "ROWS_AT_ONCE", 12)

    def count_queries(name: str, count: int) -> int:
        paths = [f"/{name}{number}" for number in range(count)]
        home, run = monitor_with_ended_audit(
            owner, site, *paths, types=["security", "performance", "accessibility", "seo"]
        )
        with counted() as statements:
            assert finish_run(run.id, home.now)
        return len(statements)

    few, many = count_queries("few", 2), count_queries("many", comparison.PAGES_PER_BATCH * 2)
    assert many - few <= 6
    assert many < 40


def test_event_size_is_limited(owner: Member, site: ScriptedSite) -> None:
    paths = [f"/{number}/{'%C3%BC' * 300}" for number in range(6)]
    home = daily_monitor(owner, site, *paths)
    site.default_checks = tuple(make_finding(f"check{number}", status="pass") for number in range(80))
    home.run_once()
    for path in paths:
        site.results_by_path[path] = tuple(
            make_finding(f"check{index}", HIGH, *(f"#{path[1]}{number}" + "\U0001f4a9" * 300 for number in range(6)))
            for index in range(80)
        )
    bodies = home.run_once()
    assert home.run.error_code == ""
    (body,) = bodies
    assert len(bytes(Event.objects.get().body)) < 256_000
    assert body["data"]["new"]
    assert body["data"]["more"]["new"] + len(body["data"]["new"]) == 480


def create_mute(owner: Member, **columns: Any) -> None:
    until = timezone.now() + timedelta(days=300)
    values = {"check_id": "thing", "host": "example.com", "reason": "So be it.", "expires_at": until}
    Mute.objects.create(organization=owner.organization, **values | columns)


def test_muted_findings_are_not_reported(owner: Member, site: ScriptedSite) -> None:
    create_mute(owner, path_prefix="/muted")
    home = daily_monitor(owner, site, "/muted", "/")
    site.default_checks = GOOD
    home.run_once()
    site.results_by_path["/muted"] = BAD
    assert home.run_once() == []
    assert home.run.news == {}
    site.results_by_path["/"] = BAD
    (body,) = home.run_once()
    assert [page["url"] for page in body["data"]["new"][0]["pages"]] == ["https://example.com/"]


def test_muted_place_is_omitted_from_changes(owner: Member, site: ScriptedSite) -> None:
    (muted,) = fingerprints("thing", elements("#a"), "https://example.com/")
    create_mute(owner, fingerprint=muted)
    home = daily_monitor(owner, site)
    site.default_checks = GOOD
    home.run_once()
    site.default_checks = (make_finding("thing", HIGH, "#a"),)
    assert home.run_once() == []
    site.default_checks = (make_finding("thing", HIGH, "#a", "#b"),)
    (body,) = home.run_once()
    (worse,) = body["data"]["worse"]
    assert (worse["said"], worse["pages"][0]["places"]) == ("1 new place", ["#b"])


def test_mute_hides_only_its_outcome(owner: Member, site: ScriptedSite) -> None:
    create_mute(owner, outcome="short")
    home = daily_monitor(owner, site)
    site.default_checks = GOOD
    home.run_once()
    (thing,) = BAD
    site.default_checks = (replace(thing, outcome="short"),)
    assert home.run_once() == []
    site.default_checks = (replace(thing, outcome="missing"),)
    (body,) = home.run_once()
    assert [(finding["outcome"], finding["said"]) for finding in body["data"]["new"]] == [
        ("missing", "no longer muted")
    ]


@pytest.mark.parametrize("kind", ["monitor.changed", "monitor.failed", "monitor.recovered"])
def test_test_event_has_the_fields_of_a_real_one(owner: Member, site: ScriptedSite, kind: str) -> None:
    from webhooks.examples import example

    home = daily_monitor(owner, site)
    site.default_checks = GOOD
    home.run_once()
    if kind == "monitor.changed":
        site.default_checks = BAD
    else:
        site.results_by_path["/"] = UNREACHABLE
    home.run_once()
    site.results_by_path = {}
    home.run_once()
    example_body = json.loads(example(EventKind(kind), timezone.now()))
    real = next(body for event in Event.objects.all() if (body := json.loads(bytes(event.body)))["event"] == kind)
    assert_described(real)
    assert example_body.pop("test") is True
    assert example_body.keys() == real.keys()
    assert example_body["data"].keys() == real["data"].keys()
    for name in ("run", "more"):
        assert example_body["data"].get(name, {}).keys() == real["data"].get(name, {}).keys()
    for one, other in zip(example_body["data"].get("new", ()), real["data"].get("new", ()), strict=True):
        assert one.keys() == other.keys()
        assert one["pages"][0].keys() == other["pages"][0].keys()
