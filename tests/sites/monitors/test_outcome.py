"""Conclusion of a run: notifications, stored state, and that it happens exactly once."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest import mock

import psycopg
import pytest
from django.db import OperationalError, close_old_connections, connection
from django.utils import timezone

from infrastructure import queue
from reports.models import Mute
from sites import tasks
from sites.audits.services import cancel_audit
from sites.models import Monitor, MonitorRun, MonitorState
from sites.monitors import comparison, outcome
from sites.monitors.outcome import finish_missed, finish_run
from sites.monitors.runs import start_run
from tests.factories import Member
from tests.generated import assert_described
from tests.queries import counted
from tests.results import elements
from tests.sites.monitors.cast import make_monitor
from tests.sites.monitors.watching import Judged, Watch, finding, told
from webhooks.models import Delivery, Event, EventKind
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM
from website_scan.fingerprints import fingerprints
from website_scan.places import Rows
from website_scan.result import CheckResult, ScanError, SkippedCheck
from website_scan.security.certificates import CertificateRow

UNREACHABLE = ScanError("URL_NOT_REACHABLE", "Nothing answers on port 443.")
BAD, GOOD = (finding("thing"),), (finding("thing", status="pass"),)

pytestmark = pytest.mark.django_db


def watch(owner: Member, site: Judged, *paths: str, **columns: Any) -> Watch:
    pages = [f"https://example.com{path}" for path in paths or ("/",)]
    monitor = make_monitor(owner, pages=pages, kind="pages" if paths else "page", max_pages=len(pages), **columns)
    return Watch(monitor, site.work_off)


def running(owner: Member, site: Judged, *paths: str, **columns: Any) -> tuple[Watch, MonitorRun]:
    """Create a monitor with one concluded run, and a second run whose audit has just ended with a new finding."""
    found = watch(owner, site, *paths, **columns)
    site.usual = GOOD
    found.look()
    run = found.monitor.runs.create(due_at=found.now + timedelta(hours=1), not_before=found.now)
    assert start_run(run.id, found.monitor.id, found.now)
    run.refresh_from_db()
    site.usual = BAD
    assert run.audit is not None
    site.work_off(run.audit.id)
    return found, run


def test_only_changes_are_reported(owner: Member, site: Judged) -> None:
    home = watch(owner, site)
    site.usual = (finding("thing", HIGH, "#a"), finding("other", status="pass"))
    assert home.look() == []
    first = home.run.audit
    site.usual = (finding("thing", HIGH, "#b", "#a"), finding("other", LOW))
    (body,) = home.look()
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
    assert home.look() == []
    assert (home.run.news, home.run.is_told) == ({}, False)


def test_finding_below_the_threshold_is_in_the_run_without_message(owner: Member, site: Judged) -> None:
    home = watch(owner, site)
    site.usual = GOOD
    home.look()
    site.usual = (finding("thing", MEDIUM),)
    assert home.look() == []
    assert home.run.news["new"][0]["check"] == "thing"
    assert (home.run.news["reasons"], home.run.is_told) == ([], False)


@pytest.mark.parametrize(("alert", "kinds"), [({}, []), ({"fixed": True}, ["changed"])])
def test_fixes_alone_are_reported_if_the_monitor_requests_them(
    owner: Member, site: Judged, alert: dict[str, Any], kinds: list[str]
) -> None:
    home = watch(owner, site, alert=alert)
    site.usual = BAD
    home.look()
    site.usual = GOOD
    assert [told(each)["event"] for each in home.look()] == kinds
    assert home.run.news["fixed"][0]["check"] == "thing"


def test_same_change_on_several_pages_is_one_group(owner: Member, site: Judged) -> None:
    home = watch(owner, site, *(f"/{each}" for each in range(8)))
    site.usual = GOOD
    home.look()
    site.usual = (finding("thing", HIGH, "#a"),)
    site.of["/3"] = (finding("thing", HIGH, "#other"),)
    (body,) = home.look()
    assert [(each["pages_affected"], len(each["pages"])) for each in body["data"]["new"]] == [(7, 5), (1, 1)]


def test_scans_and_audits_of_monitors_send_no_events(owner: Member, site: Judged) -> None:
    home = watch(owner, site, types=["security", "seo"])
    home.look()
    site.of["/"] = UNREACHABLE
    home.look()
    assert list(Event.objects.values_list("kind", flat=True)) == ["monitor.failed"]


def test_monitor_without_webhooks_records_no_event(owner: Member, site: Judged) -> None:
    home, run = running(owner, site, tells_webhooks=False)
    assert finish_run(run.id, home.now)
    run.refresh_from_db()
    assert (run.is_told, Event.objects.count()) == (True, 0)


def test_page_is_reported_unreachable_after_a_second_failure(owner: Member, site: Judged) -> None:
    home = watch(owner, site)
    home.look()
    site.of["/"] = UNREACHABLE
    run = home.monitor.runs.create(due_at=home.now + timedelta(hours=1), not_before=home.now)
    assert start_run(run.id, home.monitor.id, home.now)
    run.refresh_from_db()
    assert run.audit is not None
    site.work_off(run.audit.id)
    assert finish_run(run.id, home.now)
    run.refresh_from_db()
    assert (run.status, run.not_before - home.now) == ("due", timedelta(minutes=5))
    assert not Event.objects.exists()
    assert not start_run(run.id, home.monitor.id, home.now)
    del site.of["/"]
    assert start_run(run.id, home.monitor.id, run.not_before)
    run.refresh_from_db()
    assert run.audit is not None
    site.work_off(run.audit.id)
    assert finish_run(run.id, run.not_before)
    run.refresh_from_db()
    assert (run.status, run.attempts, run.error_code, Event.objects.count()) == ("done", 2, "", 0)


def test_outage_is_reported_once_and_its_end_with_the_changes(owner: Member, site: Judged) -> None:
    home = watch(owner, site)
    site.usual = GOOD
    home.look()
    site.of["/"] = UNREACHABLE
    (failed,) = home.look()
    assert (failed["event"], failed["data"]["error"]["code"]) == ("monitor.failed", "URL_NOT_REACHABLE")
    assert (home.run.status, home.run.attempts, home.run.error_code) == ("failed", 2, "URL_NOT_REACHABLE")
    assert home.monitor.failing_since is not None
    assert home.look() == []
    assert home.run.attempts == 1, "what is known to be failing is not tried again"
    site.of["/"] = BAD
    (recovered,) = home.look()
    assert recovered["event"] == "monitor.recovered"
    assert recovered["data"]["down_since"] == failed["data"]["since"]
    assert recovered["data"]["changes"]["reasons"] == ["new_findings"]
    assert home.monitor.failing_since is None


def test_monitor_without_outage_alerts_still_reports_changes(owner: Member, site: Judged) -> None:
    home = watch(owner, site, alert={"unreachable": False, "recovered": False})
    site.usual = GOOD
    home.look()
    site.of["/"] = UNREACHABLE
    assert home.look() == []
    site.of["/"] = BAD
    assert [each["event"] for each in home.look()] == ["monitor.changed"]


@pytest.mark.parametrize("code", ["INTERNAL_ERROR", "SCAN_INTERRUPTED", "SCAN_CANCELLED"])
def test_errors_of_the_service_are_no_outage(owner: Member, site: Judged, code: str) -> None:
    home = watch(owner, site)
    home.look()
    site.of["/"] = ScanError(code, "It was us.")
    assert home.look() == []
    assert (home.run.status, home.run.attempts, home.run.error_code) == ("failed", 1, code)
    assert home.monitor.failing_since is None


def test_run_without_audit_ends_with_an_error(owner: Member, site: Judged) -> None:
    home = watch(owner, site)
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
    assert [json.loads(bytes(each.body))["event"] for each in Event.objects.all()] == ["monitor.failed"]


def test_cancelled_audit_ends_its_run_without_message(
    owner: Member, site: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = watch(owner, site)
    run = home.monitor.runs.create(due_at=home.now, not_before=home.now)
    start_run(run.id, home.monitor.id, home.now)
    run.refresh_from_db()
    assert run.audit is not None
    told: list[tuple[str, ...]] = []
    monkeypatch.setattr(queue, "enqueue", lambda *args: told.append(args))
    from accounts.authentication import Caller

    caller = mock.Mock(
        spec=Caller, organization_id=owner.organization.id, member=None, key_id=owner.key.id, key_name="tests"
    )
    with mock.patch("django.db.transaction.on_commit", side_effect=lambda call: call()):
        cancel_audit(caller=caller, audit_id=run.audit.id)
    assert told == [("sites.tasks.finish_run", str(run.id))]
    assert finish_run(run.id, home.now)
    run.refresh_from_db()
    assert (run.status, run.error_code, Event.objects.count()) == ("failed", "SCAN_CANCELLED", 0)


def test_one_of_several_pages_is_reported_after_two_failures(owner: Member, site: Judged) -> None:
    home = watch(owner, site, "/", "/shop", types=["seo", "security"])
    home.look()
    site.of["/shop"] = UNREACHABLE
    assert home.look() == []
    (body,) = home.look()
    page = {"url": "https://example.com/shop", "message": UNREACHABLE.message}
    assert body["data"]["unreachable_pages"] == [page]
    assert body["data"]["reasons"] == ["unreachable_pages"]
    assert home.look() == []
    site.of["/shop"] = BAD
    (body,) = home.look()
    assert body["data"]["reachable_pages"] == [{"url": "https://example.com/shop"}]
    assert "new_findings" in body["data"]["reasons"]
    assert home.look() == []


def test_page_that_failed_once_is_not_reported(owner: Member, site: Judged) -> None:
    home = watch(owner, site, "/", "/shop")
    home.look()
    for found in (UNREACHABLE, site.usual) * 3:
        site.of["/shop"] = found
        assert home.look() == []


def test_new_page_is_not_reported(owner: Member, site: Judged) -> None:
    home = watch(owner, site, "/")
    home.look()
    Monitor.objects.update(pages=["https://example.com/", "https://example.com/new"])
    home.monitor.refresh_from_db()
    site.of["/new"] = BAD
    assert home.look() == []
    assert MonitorState.objects.count() == 2
    site.of["/new"] = (finding("thing", CRITICAL),)
    assert [told(each)["worse"] for each in home.look()] == [["thing"]]


def test_first_run_below_the_score_threshold_is_reported(owner: Member, site: Judged) -> None:
    home = watch(owner, site, alert={"score_below": {"seo": 80}})
    site.scores["seo"] = 70
    assert [told(each)["reasons"] for each in home.look()] == [["score_below"]]
    assert home.look() == []


def test_complete_report_after_a_partial_one_is_compared_with_the_last_state(owner: Member, site: Judged) -> None:
    home = watch(owner, site)
    site.usual = GOOD
    home.look()
    site.usual = ()
    site.usual = (finding("other", status="pass"),)
    site.columns = {"status": "partial", "skipped_checks": (SkippedCheck("thing", "Thing", "Late.", "out-of-time"),)}
    assert home.look() == []
    site.usual, site.columns = BAD, {}
    assert [told(each)["new"] for each in home.look()] == [["thing"]]


def certificate(end: str) -> CheckResult:
    leaf = CertificateRow("example.com", "R11", "2026-01-01T00:00:00Z", end, "RSA 2048", None)
    return replace(finding("tls-cert-expiry", status="pass"), details=Rows.of([leaf]))


def test_expiring_certificate_is_reported_once(owner: Member, site: Judged) -> None:
    home = watch(owner, site, types=["security"])
    end = home.now + timedelta(days=23, hours=1)
    site.usual = (certificate(f"{end:%Y-%m-%dT%H:%M:%SZ}"),)
    assert home.look() == []
    assert (home.monitor.certificate_host, home.monitor.certificate_expires_at) == ("example.com", end)
    assert home.look() == []
    (body,) = home.look()
    assert body["data"]["reasons"] == ["certificate"]
    assert body["data"]["certificate"] == {
        "host": "example.com",
        "expires_at": f"{end:%Y-%m-%dT%H:%M:%SZ}",
        "days_left": 20,
    }
    assert home.look() == []
    later = home.now + timedelta(days=5)
    site.usual = (certificate(f"{later:%Y-%m-%dT%H:%M:%SZ}"),)
    assert [told(each)["reasons"] for each in home.look()] == [["certificate"]]


def test_end_of_a_run_wakes_the_workers(
    owner: Member, site: Judged, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[tuple[str, ...]] = []
    monkeypatch.setattr(queue, "enqueue", lambda *args: sent.append(args[:2]))
    with django_capture_on_commit_callbacks(execute=True):
        home, run = running(owner, site)
    assert ("sites.tasks.finish_run", str(run.id)) in sent
    sent.clear()
    assert finish_missed(home.now - timedelta(days=2)) == 0
    assert finish_missed(home.now + timedelta(minutes=2)) == 1
    assert sent == [("sites.tasks.finish_run", str(run.id))]
    tasks.finish_run(str(run.id))
    assert finish_missed(home.now + timedelta(minutes=2)) == 0


class Killed(BaseException):
    """Simulated kill of the process."""


@contextmanager
def killed_at(number: int) -> Iterator[None]:
    """Raise Killed in place of the query with this number."""
    left = [number]
    execute = psycopg.Cursor.execute

    def counting(cursor: psycopg.Cursor[Any], query: Any, *args: Any, **kwargs: Any) -> Any:
        is_ours = not str(query).startswith(("ROLLBACK", "RELEASE", "SAVEPOINT", "SELECT pg_advisory_unlock"))
        left[0] -= is_ours
        if is_ours and left[0] < 0:
            raise Killed
        return execute(cursor, query, *args, **kwargs)

    with mock.patch.object(psycopg.Cursor, "execute", counting):
        yield


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_change_is_announced_once_despite_a_crash_at_any_query(owner: Member, site: Judged) -> None:
    home, run = running(owner, site, "/", "/shop")
    for number in range(1000):
        try:
            with killed_at(number):
                assert finish_run(run.id, home.now)
        except Killed:
            assert (Event.objects.count(), Delivery.objects.count()) == (0, 0)
            assert MonitorRun.objects.get(id=run.id).status == "running"
            failed = {"categories": [{"checks": [{"status": "fail"}]}]}
            assert not MonitorState.objects.filter(document__contains=failed)
        else:
            break
    assert number > 10
    assert not finish_run(run.id, home.now)
    assert (Event.objects.count(), Delivery.objects.count()) == (1, 1)
    site.usual = BAD
    assert home.look()[1:] == [], "and never again"


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_concurrent_workers_conclude_a_run_once(owner: Member, site: Judged) -> None:
    home, run = running(owner, site)
    together = threading.Barrier(4)
    ended: list[bool] = []

    def work() -> None:
        together.wait()
        ended.append(finish_run(run.id, home.now))
        close_old_connections()
        connection.close()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert sorted(ended) == [False, False, False, True]
    assert Event.objects.count() == 1


def test_exception_during_the_conclusion_loses_no_change(
    owner: Member, site: Judged, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    home, run = running(owner, site)
    with monkeypatch.context() as patch:
        patch.setattr(outcome, "compare_audit", mock.Mock(side_effect=ValueError("a bug")))
        assert finish_run(run.id, home.now)
    run.refresh_from_db()
    assert (run.status, run.error_code) == ("failed", "INTERNAL_ERROR")
    assert [told(each)["new"] for each in home.look()] == [["thing"]]


def test_conclusion_is_retried_after_a_database_outage(
    owner: Member, site: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, run = running(owner, site)
    with monkeypatch.context() as patch:
        patch.setattr(outcome, "compare_audit", mock.Mock(side_effect=OperationalError("gone")))
        with pytest.raises(OperationalError):
            finish_run(run.id, home.now)
    assert finish_run(run.id, home.now)
    assert Event.objects.count() == 1


def test_run_needs_as_many_queries_for_many_reports_as_for_one(
    owner: Member, site: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "PAGES_AT_ONCE", 5)
    monkeypatch.setattr(comparison, "ROWS_AT_ONCE", 12)

    def queries(name: str, count: int) -> int:
        paths = [f"/{name}{each}" for each in range(count)]
        home, run = running(owner, site, *paths, types=["security", "performance", "accessibility", "seo"])
        with counted() as asked:
            assert finish_run(run.id, home.now)
        return len(asked)

    few, many = queries("few", 2), queries("many", comparison.PAGES_AT_ONCE * 2)
    assert many - few <= 6
    assert many < 40


def test_size_of_an_event_is_limited_for_hostile_pages(owner: Member, site: Judged) -> None:
    paths = [f"/{each}/{'%C3%BC' * 300}" for each in range(6)]
    home = watch(owner, site, *paths)
    site.usual = tuple(finding(f"check{each}", status="pass") for each in range(80))
    home.look()
    for path in paths:
        site.of[path] = tuple(
            finding(f"check{each}", HIGH, *(f"#{path[1]}{number}" + "\U0001f4a9" * 300 for number in range(6)))
            for each in range(80)
        )
    found = home.look()
    assert home.run.error_code == ""
    (body,) = found
    assert len(bytes(Event.objects.get().body)) < 256_000
    assert body["data"]["new"]
    assert body["data"]["more"]["new"] + len(body["data"]["new"]) == 480


def mute(owner: Member, **columns: Any) -> None:
    until = timezone.now() + timedelta(days=300)
    values = {"check_id": "thing", "host": "example.com", "reason": "So be it.", "expires_at": until}
    Mute.objects.create(organization=owner.organization, **values | columns)


def test_muted_findings_are_not_reported(owner: Member, site: Judged) -> None:
    mute(owner, path_prefix="/muted")
    home = watch(owner, site, "/muted", "/")
    site.usual = GOOD
    home.look()
    site.of["/muted"] = BAD
    assert home.look() == []
    assert home.run.news == {}
    site.of["/"] = BAD
    (body,) = home.look()
    assert [each["url"] for each in body["data"]["new"][0]["pages"]] == ["https://example.com/"]


def test_muted_place_is_omitted_from_changes(owner: Member, site: Judged) -> None:
    (muted,) = fingerprints("thing", elements("#a"), "https://example.com/")
    mute(owner, fingerprint=muted)
    home = watch(owner, site)
    site.usual = GOOD
    home.look()
    site.usual = (finding("thing", HIGH, "#a"),)
    assert home.look() == []
    site.usual = (finding("thing", HIGH, "#a", "#b"),)
    (body,) = home.look()
    (worse,) = body["data"]["worse"]
    assert (worse["said"], worse["pages"][0]["places"]) == ("1 new place", ["#b"])


def test_mute_of_one_outcome_does_not_hide_others(owner: Member, site: Judged) -> None:
    mute(owner, outcome="short")
    home = watch(owner, site)
    site.usual = GOOD
    home.look()
    (thing,) = BAD
    site.usual = (replace(thing, outcome="short"),)
    assert home.look() == []
    site.usual = (replace(thing, outcome="missing"),)
    (body,) = home.look()
    assert [(each["outcome"], each["said"]) for each in body["data"]["new"]] == [("missing", "no longer muted")]


@pytest.mark.parametrize("kind", ["monitor.changed", "monitor.failed", "monitor.recovered"])
def test_test_event_has_the_form_of_a_real_event(owner: Member, site: Judged, kind: str) -> None:
    from webhooks.examples import example

    home = watch(owner, site)
    site.usual = GOOD
    home.look()
    if kind == "monitor.changed":
        site.usual = BAD
    else:
        site.of["/"] = UNREACHABLE
    home.look()
    site.of = {}
    home.look()
    shown = json.loads(example(EventKind(kind), timezone.now()))
    real = next(body for each in Event.objects.all() if (body := json.loads(bytes(each.body)))["event"] == kind)
    assert_described(real)
    assert shown.pop("test") is True
    assert shown.keys() == real.keys()
    assert shown["data"].keys() == real["data"].keys()
    for name in ("run", "more"):
        assert shown["data"].get(name, {}).keys() == real["data"].get(name, {}).keys()
    for one, other in zip(shown["data"].get("new", ()), real["data"].get("new", ()), strict=True):
        assert one.keys() == other.keys()
        assert one["pages"][0].keys() == other["pages"][0].keys()
