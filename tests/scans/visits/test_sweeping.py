"""Tests for the sweeper.

It ends visits in an unserved queue but not in a long one.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from accounts.models import MonthlyUsage
from scans.models import Scan, Turn
from scans.visits import sweeping
from scans.visits.sweeping import MAX_REQUEUED_SCANS, MAX_UNSERVED_WAIT, UNSERVED_AFTER, sweep_scans
from tests.factories import Member, make_scan


class Clock:
    """Fake clock for the sweeper."""

    def __init__(self) -> None:
        self.time = timezone.now()

    def now(self) -> object:
        return self.time

    def sweep_for(self, duration: timedelta) -> None:
        """Sweep every 30 seconds of the fake clock for this duration."""
        step = timedelta(seconds=30)
        for _ in range(duration // step):
            self.time += step
            sweep_scans(lambda: 0, lambda *_: None)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(sweeping, "timezone", clock)
    return clock


def status_of(scan: Scan) -> tuple[str, str]:
    scan.refresh_from_db()
    return str(scan.status), scan.error_code


@pytest.fixture
def scan(home: Member) -> Scan:
    scan = make_scan(home, type="seo")
    MonthlyUsage.objects.create(organization=home.organization, period=scan.period, used=1)
    return scan


def test_unserved_scan_fails(home: Member, scan: Scan, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    clock.sweep_for(MAX_UNSERVED_WAIT - timedelta(minutes=1))
    assert status_of(scan) == ("queued", "")
    assert caplog.text.count("queue scans has 1 scans, but no worker serves it") == 1
    clock.sweep_for(timedelta(minutes=2))
    assert status_of(scan) == ("failed", "SCAN_NOT_STARTED")
    assert MonthlyUsage.objects.get(organization=home.organization).used == 0
    assert home.api.get("/v1/usage").json()["concurrent"]["running"] == 0


def test_interrupted_unserved_scan_fails(scan: Scan, clock: Clock) -> None:
    Scan.objects.update(status="scanning", attempts=1, lease_expires_at=clock.time - timedelta(seconds=1))
    clock.sweep_for(MAX_UNSERVED_WAIT + timedelta(minutes=1))
    assert status_of(scan) == ("failed", "SCAN_NOT_STARTED")


def test_scan_in_a_served_queue_is_not_ended(scan: Scan, stranger: Member, clock: Clock) -> None:
    turn = Turn(organization=stranger.organization, queue="scans", taken_at=clock.time)
    turn.save()
    for _ in range(2 * MAX_UNSERVED_WAIT // UNSERVED_AFTER):
        clock.sweep_for(UNSERVED_AFTER / 2)
        Turn.objects.update(taken_at=clock.time)
    assert status_of(scan) == ("queued", "")


def test_unserved_queue_is_detected(scan: Scan, stranger: Member, clock: Clock) -> None:
    Turn.objects.create(organization=stranger.organization, queue="browser", taken_at=clock.time + timedelta(hours=1))
    clock.sweep_for(MAX_UNSERVED_WAIT + timedelta(minutes=1))
    assert status_of(scan)[0] == "failed"


def test_downtime_does_not_count_as_waiting(scan: Scan, clock: Clock) -> None:
    clock.sweep_for(MAX_UNSERVED_WAIT - timedelta(minutes=1))
    cache.clear()  # The keys have expired in Redis, because no sweeper has renewed them.
    clock.time += timedelta(hours=5)
    clock.sweep_for(timedelta(minutes=10))
    assert status_of(scan) == ("queued", "")


def test_sweep_requeues_a_limited_number(home: Member) -> None:
    scans = [make_scan(home) for _ in range(MAX_REQUEUED_SCANS + 10)]
    Scan.objects.update(enqueued_at=timezone.now() - timedelta(minutes=1))
    requeued: list[str] = []
    sweep_scans(lambda: 0, lambda scan_id, _: requeued.append(scan_id))
    assert len(requeued) == MAX_REQUEUED_SCANS
    sweep_scans(lambda: 0, lambda scan_id, _: requeued.append(scan_id))
    assert set(requeued) == {scan.id for scan in scans}, "the next sweep requeues the others"


def test_unserved_scans_are_refunded(home: Member, stranger: Member, clock: Clock, settings: Any) -> None:
    settings.SCAN_BROWSER = "auto"
    stuck = [make_scan(member, type="seo") for member in (home, stranger)]
    for scan in stuck:
        MonthlyUsage.objects.create(organization=scan.organization, period=scan.period, used=1)
    served = make_scan(home, type="security")
    Turn.objects.create(organization=home.organization, queue="scans", taken_at=clock.time + timedelta(hours=1))
    clock.sweep_for(MAX_UNSERVED_WAIT + timedelta(minutes=1))
    assert [status_of(scan) for scan in stuck] == [("failed", "SCAN_NOT_STARTED")] * 2
    assert status_of(served) == ("queued", ""), "its queue is served"
    assert set(MonthlyUsage.objects.values_list("used", flat=True)) == {0}
    assert home.api.get("/v1/usage").json()["concurrent"]["running"] == 1
    assert stranger.api.get("/v1/usage").json()["concurrent"]["running"] == 0
