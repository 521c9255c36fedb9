"""What is due becomes a run, once; a run becomes an audit."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from scans.models import Audit, Monitor, MonitorRun
from scans.monitors.beats import beat
from scans.monitors.starting import start_runs
from tests.world import Member, member_of

pytestmark = pytest.mark.django_db


def make_monitor(member: Member, **columns: Any) -> Monitor:
    """A monitor of one page as if it had been accepted, due a minute ago."""
    values: dict[str, Any] = {
        "name": "Shop",
        "kind": "page",
        "pages": ["https://example.com/"],
        "types": ["seo"],
        "max_pages": 1,
        "every": "day",
        "alert": {},
        "next_run_at": timezone.now() - timedelta(minutes=1),
    }
    return Monitor.objects.create(organization=member.organization, **values | columns)


def test_what_is_due_runs_once() -> None:
    home = member_of("home")
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


def test_a_run_that_has_not_ended_is_not_doubled() -> None:
    home = member_of("home")
    monitor = make_monitor(home)
    beat(timezone.now())
    start_runs(timezone.now(), lambda: True)
    later = timezone.now() + timedelta(days=1)
    assert beat(later) == 1
    assert start_runs(later, lambda: True) == 0
    assert monitor.runs.order_by("-due_at").values_list("status", "error_code").first() == ("skipped", "STILL_RUNNING")
    assert Audit.objects.count() == 1
