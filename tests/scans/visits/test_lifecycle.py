"""Tests for the scan life cycle.

A scan is claimed once, ends once and is never lost.
"""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import MonthlyUsage
from reports.models import Report
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan, renew_claim
from scans.visits.queue import MAX_ATTEMPTS
from scans.visits.sweeping import sweep_scans
from tests.factories import Member, make_result, make_scan
from tests.queries import counted
from website_scan.findings import ScanType
from website_scan.result import Checked, Phase, Progress, ScanError, ScanResult


def failed_result(scan: Scan, code: str) -> ScanResult:
    return make_result(scan, "failed", score=None, grade=None, categories=(), error=ScanError(code, "Because."))


def used_quota(member: Member) -> int:
    return MonthlyUsage.objects.get(organization=member.organization).used


@pytest.fixture
def scan(home: Member) -> Scan:
    scan = make_scan(home)
    MonthlyUsage.objects.create(organization=home.organization, period=scan.period, used=1)
    return scan


def expire_lease() -> None:
    now = timezone.now()
    Scan.objects.update(lease_expires_at=now - timedelta(seconds=1), enqueued_at=now - timedelta(seconds=25))


def progress_of(percent: int, phase: Phase, done: int, total: int) -> Progress:
    return Progress(percent, phase, {ScanType.SECURITY: Checked(done, total)})


def test_scan_is_claimed_once(scan: Scan) -> None:
    assert claim_scan(scan.id) is not None
    assert claim_scan(scan.id) is None
    scan.refresh_from_db()
    assert (scan.status, scan.attempts) == ("scanning", 1)
    assert scan.started_at is not None


def test_expired_lease_can_be_claimed_again(scan: Scan) -> None:
    first = claim_scan(scan.id)
    expire_lease()
    second = claim_scan(scan.id)
    assert first
    assert second
    assert not renew_claim(first, progress_of(50, "checking", 1, 2))
    assert not finish_scan(first, make_result(scan))
    assert Report.objects.count() == 0
    assert finish_scan(second, make_result(scan))
    assert not finish_scan(second, make_result(scan))
    assert Report.objects.count() == 1


@pytest.mark.parametrize("status", ["completed", "partial", "failed"])
def test_final_status_never_changes(scan: Scan, status: str) -> None:
    claim = claim_scan(scan.id)
    assert claim
    result = failed_result(scan, "TIMEOUT") if status == "failed" else make_result(scan, status)
    assert finish_scan(claim, result)
    expire_lease()
    assert claim_scan(scan.id) is None
    assert sweep_scans(lambda: 0, lambda *_: None) == 0
    scan.refresh_from_db()
    assert scan.status == status
    assert (scan.percent, scan.phase) == (100, "done")
    assert scan.completed_at is not None
    assert Report.objects.count() == (status != "failed")


def test_only_service_failures_are_refunded(home: Member, scan: Scan) -> None:
    claim = claim_scan(scan.id)
    assert claim
    finish_scan(claim, failed_result(scan, "TIMEOUT"))
    assert used_quota(home) == 1
    other = make_scan(home)
    claim = claim_scan(other.id)
    assert claim
    finish_scan(claim, failed_result(other, "INTERNAL_ERROR"))
    assert used_quota(home) == 0


def test_progress_never_decreases_across_attempts(scan: Scan) -> None:
    first = claim_scan(scan.id)
    assert first
    assert renew_claim(first, progress_of(80, "checking", 5, 9))
    expire_lease()
    second = claim_scan(scan.id)
    assert second
    assert renew_claim(second, progress_of(10, "connecting", 0, 9))
    scan.refresh_from_db()
    assert (scan.percent, scan.checks_done) == (80, 5)


def test_progress_needs_one_statement(home: Member) -> None:
    lead = make_scan(home)
    companion = make_scan(home, type="seo", lead=lead)
    claim = claim_scan(lead.id)
    assert claim
    checks = {ScanType.SECURITY: Checked(5, 9), ScanType.SEO: Checked(2, 7)}
    with counted() as queries:
        assert renew_claim(claim, Progress(40, "checking", checks))
    assert len(queries) == 1
    stored = Scan.objects.in_bulk([lead.id, companion.id])
    assert {(scan.percent, scan.phase) for scan in stored.values()} == {(40, "checking")}
    assert (stored[lead.id].checks_done, stored[lead.id].checks_total) == (5, 9)
    assert (stored[companion.id].checks_done, stored[companion.id].checks_total) == (2, 7)
    Scan.objects.filter(id=companion.id).update(status="failed")
    assert not renew_claim(claim, Progress(50, "checking", {})), "a claim is lost if one scan of the visit has ended"


def test_renewed_lease_is_not_swept(scan: Scan) -> None:
    claim = claim_scan(scan.id)
    assert claim
    expire_lease()
    assert renew_claim(claim, progress_of(10, "connecting", 0, 9))
    assert sweep_scans(lambda: 0, lambda *_: None) == 0


def test_sweeper_requeues_a_lost_scan_once(scan: Scan) -> None:
    requeued: list[str] = []
    assert sweep_scans(lambda: 0, lambda id, _: requeued.append(id)) == 0
    Scan.objects.update(enqueued_at=timezone.now() - timedelta(minutes=2))
    assert sweep_scans(lambda: 0, lambda id, _: requeued.append(id)) == 1
    assert sweep_scans(lambda: 0, lambda id, _: requeued.append(id)) == 0
    assert requeued == [scan.id]


def test_long_queue_stops_requeueing(scan: Scan) -> None:
    Scan.objects.update(enqueued_at=timezone.now() - timedelta(minutes=2))
    assert sweep_scans(lambda: 100, lambda *_: None) == 0


def test_interrupted_scan_is_requeued_in_a_long_queue(scan: Scan) -> None:
    claim_scan(scan.id)
    expire_lease()
    requeued: list[str] = []
    for _ in range(3):
        sweep_scans(lambda: 10_000, lambda id, _: requeued.append(id))
    assert requeued == [scan.id], "once, not with every sweep"
    assert claim_scan(scan.id)
    expire_lease()
    sweep_scans(lambda: 10_000, lambda id, _: requeued.append(id))
    assert requeued == [scan.id, scan.id], "once for each interruption"


def test_scan_interrupted_too_often_fails(home: Member, scan: Scan) -> None:
    for _ in range(MAX_ATTEMPTS):
        assert claim_scan(scan.id)
        expire_lease()
    assert claim_scan(scan.id) is None
    assert sweep_scans(lambda: 0, lambda *_: None) == 0
    scan.refresh_from_db()
    assert (scan.status, scan.error_code) == ("failed", "SCAN_INTERRUPTED")
    assert used_quota(home) == 0
    body = home.api.get(f"/v1/scan/{scan.id}").json()
    assert body["error"]["code"] == "SCAN_INTERRUPTED"
