"""Overload: new scans are refused if they would wait too long, but not because of other organizations' backlogs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.usage import month_of
from scans.models import DomainTurn, Scan, Turn
from scans.visits.overload import overload_s, queue_age_s
from sites.monitors.runs import start_run
from tests.factories import Member, make_scan, member_of
from tests.queries import counted, explained, rows_read
from tests.sites.monitors.cast import make_monitor
from website_scan.findings import ScanType


@pytest.fixture(autouse=True)
def _limit(settings: Any) -> None:
    settings.SCAN_QUEUE_AGE_LIMIT_S = 120


def ago(seconds: float) -> Any:
    return timezone.now() - timedelta(seconds=seconds)


def waiting(member: Member, seconds: float, **columns: Any) -> Scan:
    return make_scan(member, created_at=ago(seconds), **columns)


def asked(member: Member, target: str, scan_type: str = "security") -> tuple[int, int | None]:
    answer = member.api.post("/v1/scan", {"url": target, "type": scan_type})
    assert answer.status_code == 201 or answer.json()["code"] == "SERVICE_UNAVAILABLE"
    after = answer.headers.get("Retry-After")
    return answer.status_code, int(after) if after and answer.status_code == 503 else None


def audited(member: Member) -> int:
    body = {"pages": ["https://example.com/"], "types": ["security"]}
    return int(member.api.post("/v1/audits", body).status_code)


def test_where_organizations_wait_too_long_for_a_turn_new_scans_are_refused(
    home: Member, stranger: Member, target: str
) -> None:
    scan = waiting(stranger, 130)
    status, after = asked(home, target)
    assert status == 503
    assert after is not None
    assert 130 <= after < 200, "as long as the longest has waited"
    Scan.objects.filter(id=scan.id).update(created_at=ago(100))
    assert asked(home, target) == (201, None)


def test_what_is_said_of_when_to_come_back_is_bounded(home: Member, stranger: Member, target: str) -> None:
    waiting(stranger, 1_000)
    assert asked(home, target) == (503, 300)


def test_a_backlog_of_one_is_its_own(home: Member, stranger: Member, target: str) -> None:
    for _ in range(50):
        waiting(stranger, 1_000)
    Turn.objects.create(organization=stranger.organization, queue="scans", taken_at=ago(5))
    assert 5 <= queue_age_s("scans") < 60, "since its last turn"
    assert asked(home, target) == (201, None)


def test_who_has_something_running_is_behind_who_has_not(home: Member, stranger: Member, target: str) -> None:
    waiting(stranger, 1_000)
    make_scan(stranger, status="scanning", lease_expires_at=ago(-10))
    assert queue_age_s("scans") == 0
    assert asked(home, target) == (201, None)


def test_what_its_domain_keeps_back_does_not_count(home: Member, stranger: Member, target: str, settings: Any) -> None:
    settings.SCAN_VISITS_PER_DOMAIN = 1
    waiting(stranger, 1_000)
    running = make_scan(home, status="scanning", lease_expires_at=ago(-10))
    assert queue_age_s("scans") == 0, "others visit it"
    Scan.objects.filter(id=running.id).update(status="failed")
    assert queue_age_s("scans") > 900
    DomainTurn.objects.create(domain="example.com", taken_at=ago(20), free_at=ago(-20))
    assert queue_age_s("scans") == 0, "it rests"
    DomainTurn.objects.update(free_at=ago(10))
    assert 20 <= queue_age_s("scans") < 60, "it may be visited again, since a moment"
    assert asked(home, target) == (201, None)


def test_one_who_waits_too_long_is_seen_among_others_who_do_not(home: Member, stranger: Member, target: str) -> None:
    waiting(stranger, 1_000)
    Turn.objects.create(organization=stranger.organization, queue="scans", taken_at=ago(1))
    waiting(member_of("Third"), 200)
    assert asked(home, target)[0] == 503


def test_pages_of_audits_keep_nobody_out(home: Member, stranger: Member, target: str) -> None:
    waiting(stranger, 1_000, is_background=True)
    assert asked(home, target) == (201, None)


def test_each_queue_has_its_own_age(home: Member, stranger: Member, target: str, settings: Any) -> None:
    settings.SCAN_BROWSER = "auto"
    waiting(stranger, 1_000, type="seo")
    assert asked(home, target, "seo")[0] == 503
    assert asked(home, target, "security") == (201, None)


def test_audits_give_way_before_scans_do(home: Member, stranger: Member, target: str) -> None:
    scan = waiting(stranger, 70)
    assert audited(home) == 503
    assert asked(home, target) == (201, None)
    Scan.objects.filter(id=scan.id).update(created_at=ago(30))
    assert audited(home) == 202


def test_monitors_give_way_and_go_on_afterwards(home: Member, stranger: Member) -> None:
    scan = waiting(stranger, 70, type="seo")
    now = timezone.now()
    monitor = make_monitor(home)
    run = monitor.runs.create(due_at=now, not_before=now)
    start_run(run.id, monitor.id, now)
    run.refresh_from_db()
    assert (run.status, run.not_before) == ("due", now + timedelta(minutes=1))
    Scan.objects.filter(id=scan.id).delete()
    start_run(run.id, monitor.id, run.not_before)
    run.refresh_from_db()
    assert run.status == "running"


def test_of_many_scans_only_those_that_wait_are_read(home: Member) -> None:
    """Also when a query for one that has waited too long would find none, as on most days."""
    period = month_of(timezone.now())
    scans = [
        Scan(
            organization=home.organization, url="https://example.com/", type="seo", status=status, period=period,
            created_at=ago(seconds),
        )
        for status, seconds in [("failed", 3_600)] * 10_000 + [("queued", 60)] * 2_000
    ]  # fmt: skip
    Scan.objects.bulk_create(scans)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE scans_scan")
    with counted() as asked:
        assert overload_s([ScanType.SEO]) == 0
    (sql,) = asked
    assert 2_000 <= rows_read(explained(sql, {})) < 8_000
