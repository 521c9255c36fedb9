"""Tests for deleting old runs and page states.

A state is deleted when its page is no longer monitored.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from infrastructure.postgresql import deletion
from sites.models import Alert, Cause, Monitor, MonitorRun, MonitorState
from sites.models.alert import CauseText
from sites.retention import delete_causes, delete_runs
from tests.factories import Member, person_of
from tests.sites.monitors.cast import make_monitor

pytestmark = pytest.mark.django_db


def create_state(monitor: Monitor, days: int) -> None:
    at = timezone.now() - timedelta(days=days)
    document: Any = {}
    MonitorState.objects.create(
        monitor=monitor,
        page=f"{days}",
        url=f"https://example.com/{days}",
        type="seo",
        confirmed_at=at,
        document=document,
    )


def stored_pages(monitor: Monitor) -> list[str]:
    return sorted(monitor.states.values_list("page", flat=True), key=int)


def test_runs_are_stored_for_a_year(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "BATCH", 2)
    monitor, now = make_monitor(home), timezone.now()
    for days in (1, 399, 401, 402, 403, 404, 405):
        at = now - timedelta(days=days)
        monitor.runs.create(due_at=at, not_before=at, status="done")
    unfinished = monitor.runs.create(due_at=now - timedelta(days=500), not_before=now)
    delete_runs()
    assert MonitorRun.objects.count() == 3
    assert MonitorRun.objects.filter(id=unfinished.id).exists()


def test_state_of_an_unmonitored_page_is_deleted(home: Member) -> None:
    daily, monthly, paused = (
        make_monitor(home),
        make_monitor(home, every="month"),
        make_monitor(home, paused_at=timezone.now()),
    )
    for monitor in (daily, monthly, paused):
        for days in (1, 34, 36, 99, 101):
            create_state(monitor, days)
    delete_runs()
    assert stored_pages(daily) == ["1", "34"]
    assert stored_pages(monthly) == ["1", "34", "36", "99"]
    assert stored_pages(paused) == ["1", "34", "36", "99", "101"]


def test_old_causes_are_deleted_with_alerts(home: Member) -> None:
    monitor, now = make_monitor(home), timezone.now()
    run = monitor.runs.create(due_at=now, not_before=now)
    text: CauseText = {"title": "Unreachable", "severity": "critical", "fix": "", "type": "", "check": ""}
    ann = person_of(home, "owner", "ann@home.test")
    for days in (399, 401):
        at = now - timedelta(days=days)
        cause = Cause.objects.create(
            organization=home.organization, kind="outage", key=str(days), group="", site="", text=text, first_seen_at=at
        )
        Alert.objects.create(cause=cause, monitor=monitor, run=run, user=ann, is_end=False, places=[], created_at=at)
    delete_causes()
    assert Alert.objects.get().cause == Cause.objects.get(key="399")
