"""Tests for the overload protection.

It must ignore other organizations' backlogs.
"""

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
def _queue_age_limit(settings: Any) -> None:
    settings.SCAN_QUEUE_AGE_LIMIT_S = 120


def seconds_ago(seconds: float) -> Any:
    return timezone.now() - timedelta(seconds=seconds)


def make_queued(member: Member, seconds: float, **columns: Any) -> Scan:
    return make_scan(member, created_at=seconds_ago(seconds), **columns)


def post_scan(member: Member, target: str, scan_type: str = "security") -> tuple[int, int | None]:
    """Request a scan.

    Return the response status and, for a refusal, Retry-After.
    """
    response = member.api.post("/v1/scan", {"url": target, "type": scan_type})
    assert response.status_code == 201 or response.json()["code"] == "SERVICE_UNAVAILABLE"
    retry_after = response.headers.get("Retry-After")
    return response.status_code, int(retry_after) if retry_after and response.status_code == 503 else None


def post_audit(member: Member) -> int:
    body = {"pages": ["https://example.com/"], "types": ["security"]}
    return int(member.api.post("/v1/audits", body).status_code)


def test_long_waits_cause_refusals(home: Member, stranger: Member, target: str) -> None:
    scan = make_queued(stranger, 130)
    status, retry_after = post_scan(home, target)
    assert status == 503
    assert retry_after is not None
    assert 130 <= retry_after < 200, "as long as the longest present wait"
    Scan.objects.filter(id=scan.id).update(created_at=seconds_ago(100))
    assert post_scan(home, target) == (201, None)


def test_retry_after_is_bounded(home: Member, stranger: Member, target: str) -> None:
    make_queued(stranger, 1_000)
    assert post_scan(home, target) == (503, 300)


def test_foreign_backlog_does_not_refuse_scans(home: Member, stranger: Member, target: str) -> None:
    for _ in range(50):
        make_queued(stranger, 1_000)
    Turn.objects.create(organization=stranger.organization, queue="scans", taken_at=seconds_ago(5))
    assert 5 <= queue_age_s("scans") < 60, "measured since its last turn"
    assert post_scan(home, target) == (201, None)


def test_running_scan_does_not_cause_overload(home: Member, stranger: Member, target: str) -> None:
    make_queued(stranger, 1_000)
    make_scan(stranger, status="scanning", lease_expires_at=seconds_ago(-10))
    assert queue_age_s("scans") == 0
    assert post_scan(home, target) == (201, None)


def test_waiting_for_a_domain_causes_no_overload(home: Member, stranger: Member, target: str, settings: Any) -> None:
    settings.SCAN_VISITS_PER_DOMAIN = 1
    make_queued(stranger, 1_000)
    running = make_scan(home, status="scanning", lease_expires_at=seconds_ago(-10))
    assert queue_age_s("scans") == 0, "the domain is at its limit"
    Scan.objects.filter(id=running.id).update(status="failed")
    assert queue_age_s("scans") > 900
    DomainTurn.objects.create(domain="example.com", taken_at=seconds_ago(20), free_at=seconds_ago(-20))
    assert queue_age_s("scans") == 0, "the domain is in its pause"
    DomainTurn.objects.update(free_at=seconds_ago(10))
    assert 20 <= queue_age_s("scans") < 60, "measured since the last visit of the domain"
    assert post_scan(home, target) == (201, None)


def test_one_waiting_organization_causes_overload(home: Member, stranger: Member, target: str) -> None:
    make_queued(stranger, 1_000)
    Turn.objects.create(organization=stranger.organization, queue="scans", taken_at=seconds_ago(1))
    make_queued(member_of("Third"), 200)
    assert post_scan(home, target)[0] == 503


def test_waiting_audit_pages_cause_no_overload(home: Member, stranger: Member, target: str) -> None:
    make_queued(stranger, 1_000, is_background=True)
    assert post_scan(home, target) == (201, None)


def test_overload_is_measured_for_each_queue(home: Member, stranger: Member, target: str, settings: Any) -> None:
    settings.SCAN_BROWSER = "auto"
    make_queued(stranger, 1_000, type="seo")
    assert post_scan(home, target, "seo")[0] == 503
    assert post_scan(home, target, "security") == (201, None)


def test_audits_are_refused_earlier_than_scans(home: Member, stranger: Member, target: str) -> None:
    scan = make_queued(stranger, 70)
    assert post_audit(home) == 503
    assert post_scan(home, target) == (201, None)
    Scan.objects.filter(id=scan.id).update(created_at=seconds_ago(30))
    assert post_audit(home) == 202


def test_monitor_run_is_postponed_during_overload(home: Member, stranger: Member) -> None:
    scan = make_queued(stranger, 70, type="seo")
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


def test_overload_query_reads_only_waiting_scans(home: Member) -> None:
    """The overload query must not read all scans.

    This also holds if no scan has waited too long.
    """
    period = month_of(timezone.now())
    scans = [
        Scan(
            organization=home.organization, url="https://example.com/", type="seo", status=status, period=period,
            created_at=seconds_ago(seconds),
        )
        for status, seconds in [("failed", 3_600)] * 10_000 + [("queued", 60)] * 2_000
    ]  # fmt: skip
    Scan.objects.bulk_create(scans)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE scans_scan")
    with counted() as post_scan:
        assert overload_s([ScanType.SEO]) == 0
    (sql,) = post_scan
    assert 2_000 <= rows_read(explained(sql, {})) < 8_000
