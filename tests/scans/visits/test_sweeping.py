"""Sweeper: visits in an unserved queue end, are refunded and reported; visits in a long queue go on waiting."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from accounts.models import MonthlyUsage
from scans.models import Scan, Turn
from scans.visits import sweeping
from scans.visits.sweeping import MAX_REQUEUED, MAX_UNSERVED_WAIT, UNSERVED_AFTER, sweep_scans
from tests.factories import Member, make_scan


class Clock:
    """Clock of the sweeper, which the test advances."""

    def __init__(self) -> None:
        self.now_ = timezone.now()

    def now(self) -> object:
        return self.now_

    def sweep_for(self, duration: timedelta) -> None:
        """Sweep like the scheduler, but every half a minute."""
        step = timedelta(seconds=30)
        for _ in range(duration // step):
            self.now_ += step
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
    made = make_scan(home, type="seo")
    MonthlyUsage.objects.create(organization=home.organization, period=made.period, used=1)
    return made


def test_a_scan_that_nobody_takes_ends_and_does_not_count(
    home: Member, scan: Scan, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    clock.sweep_for(MAX_UNSERVED_WAIT - timedelta(minutes=1))
    assert status_of(scan) == ("queued", "")
    assert caplog.text.count("queue scans has 1 scans, and nobody takes them") == 1
    clock.sweep_for(timedelta(minutes=2))
    assert status_of(scan) == ("failed", "SCAN_NOT_STARTED")
    assert MonthlyUsage.objects.get(organization=home.organization).used == 0
    assert home.api.get("/v1/usage").json()["concurrent"]["running"] == 0


def test_an_interrupted_scan_that_nobody_takes_up_again_ends_too(scan: Scan, clock: Clock) -> None:
    Scan.objects.update(status="scanning", attempts=1, lease_expires_at=clock.now_ - timedelta(seconds=1))
    clock.sweep_for(MAX_UNSERVED_WAIT + timedelta(minutes=1))
    assert status_of(scan) == ("failed", "SCAN_NOT_STARTED")


def test_a_long_queue_is_waited_in(scan: Scan, stranger: Member, clock: Clock) -> None:
    turn = Turn(organization=stranger.organization, queue="scans", taken_at=clock.now_)
    turn.save()
    for _ in range(2 * MAX_UNSERVED_WAIT // UNSERVED_AFTER):
        clock.sweep_for(UNSERVED_AFTER / 2)
        Turn.objects.update(taken_at=clock.now_)
    assert status_of(scan) == ("queued", "")


def test_another_queues_turns_do_not_count(scan: Scan, stranger: Member, clock: Clock) -> None:
    Turn.objects.create(organization=stranger.organization, queue="browser", taken_at=clock.now_ + timedelta(hours=1))
    clock.sweep_for(MAX_UNSERVED_WAIT + timedelta(minutes=1))
    assert status_of(scan)[0] == "failed"


def test_after_an_outage_of_everything_workers_have_their_time(scan: Scan, clock: Clock) -> None:
    clock.sweep_for(MAX_UNSERVED_WAIT - timedelta(minutes=1))
    cache.clear()  # the keys have expired, because no sweeper renewed them
    clock.now_ += timedelta(hours=5)
    clock.sweep_for(timedelta(minutes=10))
    assert status_of(scan) == ("queued", "")


def test_of_a_long_backlog_as_many_are_put_back_as_may_find_places(home: Member) -> None:
    made = [make_scan(home) for _ in range(MAX_REQUEUED + 10)]
    Scan.objects.update(enqueued_at=timezone.now() - timedelta(minutes=1))
    put_back: list[str] = []
    sweep_scans(lambda: 0, lambda scan_id, _: put_back.append(scan_id))
    assert len(put_back) == MAX_REQUEUED
    sweep_scans(lambda: 0, lambda scan_id, _: put_back.append(scan_id))
    assert set(put_back) == {each.id for each in made}, "then the others"


def test_of_two_organizations_in_a_queue_without_a_worker_both_get_their_places_back(
    home: Member, stranger: Member, clock: Clock, settings: Any
) -> None:
    settings.SCAN_BROWSER = "auto"
    stuck = [make_scan(member, type="seo") for member in (home, stranger)]
    for each in stuck:
        MonthlyUsage.objects.create(organization=each.organization, period=each.period, used=1)
    served = make_scan(home, type="security")
    Turn.objects.create(organization=home.organization, queue="scans", taken_at=clock.now_ + timedelta(hours=1))
    clock.sweep_for(MAX_UNSERVED_WAIT + timedelta(minutes=1))
    assert [status_of(each) for each in stuck] == [("failed", "SCAN_NOT_STARTED")] * 2
    assert status_of(served) == ("queued", ""), "its queue has a worker"
    assert set(MonthlyUsage.objects.values_list("used", flat=True)) == {0}
    assert home.api.get("/v1/usage").json()["concurrent"]["running"] == 1
    assert stranger.api.get("/v1/usage").json()["concurrent"]["running"] == 0
