"""Tests that due monitors get exactly one run.

Each run starts an audit.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, time, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Organization, Tier
from scans.models import BlockedDomain, Scan
from sites.audits import services
from sites.closing import stop_audits
from sites.models import Audit, Monitor, MonitorRun
from sites.monitors.runs import MAX_CREATED_RUNS, create_due_runs, start_due
from sites.monitors.services import schedule_of
from tests.factories import Member
from tests.sites.monitors.cast import make_monitor

pytestmark = pytest.mark.django_db


def test_due_monitor_runs_once(home: Member) -> None:
    monitor = make_monitor(home)
    now = timezone.now()
    assert create_due_runs(now) == 1
    assert create_due_runs(now) == 0
    run = monitor.runs.get()
    assert (run.status, run.due_at) == (MonitorRun.Status.DUE, monitor.next_run_at)
    monitor.refresh_from_db()
    assert monitor.next_run_at is not None
    assert now < monitor.next_run_at <= now + timedelta(days=1)
    assert start_due(now, lambda: True) == 1
    run.refresh_from_db()
    assert run.status == MonitorRun.Status.RUNNING
    audit = run.audit
    assert audit is not None
    assert (audit.run_of, audit.status, audit.url) == ("monitor", Audit.Status.RUNNING, "https://example.com/")
    assert start_due(now, lambda: True) == 0


def test_running_monitor_does_not_start_again(home: Member) -> None:
    monitor = make_monitor(home)
    create_due_runs(timezone.now())
    start_due(timezone.now(), lambda: True)
    later = timezone.now() + timedelta(days=1)
    assert create_due_runs(later) == 1
    assert start_due(later, lambda: True) == 0
    assert monitor.runs.order_by("-due_at").values_list("status", "error_code").first() == ("skipped", "STILL_RUNNING")
    assert Audit.objects.count() == 1


def test_due_run_of_a_busy_monitor_is_skipped(home: Member) -> None:
    now = timezone.now()
    idle, busy = (make_monitor(home, next_run_at=now) for _ in range(2))
    before = now - timedelta(hours=1)
    for status, age in ((MonitorRun.Status.RUNNING, 2), (MonitorRun.Status.DUE, 1)):
        busy.runs.create(status=status, due_at=now - timedelta(hours=age), not_before=before)
    idle.runs.create(status=MonitorRun.Status.DONE, due_at=before, not_before=before)
    assert create_due_runs(now) == 2
    created_runs = MonitorRun.objects.filter(due_at=now).values_list(
        "monitor", "status", "not_before", "ended_at", "error_code", "scores", "news", "is_told", "attempts"
    )
    assert set(map(repr, created_runs)) == {
        repr((idle.id, "due", now, None, "", {}, {}, False, 0)),
        repr((busy.id, "skipped", now, now, "STILL_RUNNING", {}, {}, False, 0)),
    }


def test_missed_runs_start_once(home: Member) -> None:
    Tier.objects.update(shortest_interval="hour")
    now = timezone.now()
    for _ in range(50):
        make_monitor(home, every="hour", next_run_at=now - timedelta(days=1))
    assert create_due_runs(now) == 50
    runs = list(MonitorRun.objects.all())
    assert len(runs) == 50
    assert {run.due_at for run in runs} == {now - timedelta(days=1)}
    starts = [run.not_before - now for run in runs]
    assert min(starts) >= timedelta(0)
    assert max(starts) < timedelta(minutes=15)
    assert len({start // timedelta(minutes=1) for start in starts}) > 5


def test_due_monitors_need_few_statements(home: Member) -> None:
    now = timezone.now()
    make_monitor(home)
    with CaptureQueriesContext(connection) as one:
        create_due_runs(now)
    for _ in range(MAX_CREATED_RUNS):
        make_monitor(home)
    with CaptureQueriesContext(connection) as many:
        assert create_due_runs(now) == MAX_CREATED_RUNS
    assert len(many) == len(one) <= 5


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_schedulers_start_a_run_once(home: Member) -> None:
    Tier.objects.update(concurrent_scans=50, schedules=100)
    monitors = [make_monitor(home) for _ in range(30)]
    now = timezone.now()

    def schedule_runs(_: int) -> None:
        try:
            create_due_runs(now)
            start_due(now, lambda: True)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(schedule_runs, range(8)))
    start_due(now, lambda: True)  # A process skips monitors that another process has locked.
    assert MonitorRun.objects.filter(status="running").count() == Audit.objects.count() == len(monitors)


def test_monitor_without_quota_pauses(home: Member) -> None:
    Tier.objects.filter(name="free").update(scans_per_month=0)
    monitor = make_monitor(home, at=time(6), timezone="Europe/Berlin")
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    Monitor.objects.update(next_run_at=now)
    assert (create_due_runs(now), start_due(now, lambda: True)) == (1, 1)
    monitor.refresh_from_db()
    assert (monitor.is_paused, monitor.pause_reason) == (True, "quota")
    assert monitor.next_run_at == datetime(2026, 12, 1, 5, tzinfo=UTC)
    run = monitor.runs.get()
    assert (run.status, run.error_code) == ("skipped", "QUOTA_EXCEEDED")
    assert not Audit.objects.exists()

    Tier.objects.filter(name="free").update(scans_per_month=100)
    then = monitor.next_run_at
    assert (create_due_runs(then), start_due(then, lambda: True)) == (1, 1)
    monitor.refresh_from_db()
    assert (monitor.is_paused, monitor.pause_reason) == (False, "")
    assert Audit.objects.count() == 1


def test_smaller_plan_pauses_extra_monitors(home: Member) -> None:
    now = timezone.now()
    first, second = (make_monitor(home, every="hour", created_at=now - timedelta(days=age)) for age in (9, 8))
    create_due_runs(now)
    assert start_due(now, lambda: True) == 2
    first.refresh_from_db()
    second.refresh_from_db()
    assert first.next_run_at is not None
    assert not first.is_paused
    tier = home.organization.tier
    assert first.next_run_at == schedule_of(first, tier).after(now)
    assert schedule_of(first, tier).every == "day"
    assert (second.is_paused, second.pause_reason, second.next_run_at) == (True, "plan", None)


def test_blocked_target_is_not_scanned(home: Member) -> None:
    monitor = make_monitor(home)
    BlockedDomain.objects.create(domain="example.com")
    create_due_runs(timezone.now())
    start_due(timezone.now(), lambda: True)
    run = monitor.runs.get()
    assert (run.status, run.error_code, run.audit) == (
        "running",
        "DOMAIN_BLOCKED",
        None,
    )  # The task that ends runs will conclude it.


def test_runs_do_not_wait_for_foreign_audits(home: Member, stranger: Member) -> None:
    Tier.objects.update(concurrent_scans=2, schedules=100)
    for _ in range(10):
        make_monitor(home)
    monitor = make_monitor(stranger)
    now = timezone.now()
    create_due_runs(now)
    start_due(now, lambda: True)
    assert MonitorRun.objects.filter(monitor__organization=home.organization, status="running").count() == 4
    assert monitor.runs.get().status == "running"
    assert start_due(now, lambda: True) == 0
    Audit.objects.update(status="completed")
    start_due(now + timedelta(minutes=2), lambda: True)
    assert MonitorRun.objects.filter(monitor__organization=home.organization, status="running").count() == 8


def test_discovery_is_reused_between_runs(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    Tier.objects.update(concurrent_scans=1, schedules=100)
    monkeypatch.setattr(services, "SITE_AUDITS_PER_HOUR_AND_SLOT", 2)
    monitor = make_monitor(home, kind="site", discover=["links"], max_pages=3)
    for number in range(3):
        now = timezone.now()
        run = monitor.runs.create(due_at=now, not_before=now, is_requested=True)
        start_due(now, lambda: True)
        run.refresh_from_db()
        assert run.status == ("running" if number < 2 else "due")
        Audit.objects.update(status="failed")
        monitor.runs.filter(status="running").update(status="done")
    Audit.objects.update(created_at=now - timedelta(hours=2))
    start_due(now + timedelta(minutes=2), lambda: True)
    run.refresh_from_db()
    assert run.status == "running"


def test_monitors_leave_slots_free(home: Member, target: str) -> None:
    Tier.objects.update(concurrent_scans=2, schedules=100)
    for _ in range(3):
        make_monitor(home)
    now = timezone.now()
    create_due_runs(now)
    start_due(now, lambda: True)
    assert Scan.objects.filter(is_background=True).count() == 1
    assert home.api.post("/v1/scan", {"url": target, "type": "seo"}).status_code == 201


def test_closed_organization_has_no_runs(home: Member) -> None:
    monitor = make_monitor(home)
    waiting = make_monitor(home)
    run = waiting.runs.create(due_at=timezone.now(), not_before=timezone.now())
    stop_audits(organization=home.organization)
    Organization.objects.filter(id=home.organization.id).update(closed_at=timezone.now())
    assert create_due_runs(timezone.now()) == 0
    start_due(timezone.now(), lambda: True)
    assert not Audit.objects.exists()
    assert not MonitorRun.objects.filter(id=run.id).exists()
    monitor.refresh_from_db()
    assert monitor.next_run_at is None
