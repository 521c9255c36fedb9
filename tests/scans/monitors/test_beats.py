"""What is due becomes a run, once; a run becomes an audit."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from scans.models import Audit, MonitorRun
from scans.monitors.beats import beat
from scans.monitors.starting import start_runs
from tests.scans.monitors.cast import make_monitor
from tests.world import Member

pytestmark = pytest.mark.django_db


def test_what_is_due_runs_once(home: Member) -> None:
    monitor = make_monitor(home)
    now = timezone.now()
    assert beat(now) == 1
    assert beat(now) == 0
    run = monitor.runs.get()
    assert (run.status, run.due_at) == (MonitorRun.Status.DUE, monitor.next_run_at)
    monitor.refresh_from_db()
    assert monitor.next_run_at is not None
    assert now < monitor.next_run_at <= now + timedelta(days=1)
    assert start_runs(now, lambda: True) == 1
    run.refresh_from_db()
    assert run.status == MonitorRun.Status.RUNNING
    audit = run.audit
    assert audit is not None
    assert (audit.of_monitor, audit.status, audit.url) == (True, Audit.Status.RUNNING, "https://example.com/")
    assert start_runs(now, lambda: True) == 0


def test_a_run_that_has_not_ended_is_not_doubled(home: Member) -> None:
    monitor = make_monitor(home)
    beat(timezone.now())
    start_runs(timezone.now(), lambda: True)
    later = timezone.now() + timedelta(days=1)
    assert beat(later) == 1
    assert start_runs(later, lambda: True) == 0
    assert monitor.runs.order_by("-due_at").values_list("status", "error_code").first() == ("skipped", "STILL_RUNNING")
    assert Audit.objects.count() == 1
