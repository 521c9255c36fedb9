"""Life cycle of a scan: claimed once, ended once, never lost."""

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


def failed(scan: Scan, code: str) -> ScanResult:
    return make_result(scan, "failed", score=None, grade=None, categories=(), error=ScanError(code, "Because."))


def used(member: Member) -> int:
    return MonthlyUsage.objects.get(organization=member.organization).used


@pytest.fixture
def scan(home: Member) -> Scan:
    made = make_scan(home)
    MonthlyUsage.objects.create(organization=home.organization, period=made.period, used=1)
    return made


def expire_lease() -> None:
    now = timezone.now()
    Scan.objects.update(lease_expires_at=now - timedelta(seconds=1), enqueued_at=now - timedelta(seconds=25))


def told(percent: int, phase: Phase, done: int, total: int) -> Progress:
    return Progress(percent, phase, {ScanType.SECURITY: Checked(done, total)})


def test_a_scan_is_claimed_once(scan: Scan) -> None:
    assert claim_scan(scan.id) is not None
    assert claim_scan(scan.id) is None
    scan.refresh_from_db()
    assert (scan.status, scan.attempts) == ("scanning", 1)
    assert scan.started_at is not None


def test_an_expired_lease_can_be_claimed_and_the_first_claim_is_lost(scan: Scan) -> None:
    first = claim_scan(scan.id)
    expire_lease()
    second = claim_scan(scan.id)
    assert first
    assert second
    assert not renew_claim(first, told(50, "checking", 1, 2))
    assert not finish_scan(first, make_result(scan))
    assert Report.objects.count() == 0
    assert finish_scan(second, make_result(scan))
    assert not finish_scan(second, make_result(scan))
    assert Report.objects.count() == 1


@pytest.mark.parametrize("status", ["completed", "partial", "failed"])
def test_nothing_leaves_a_final_state(scan: Scan, status: str) -> None:
    claim = claim_scan(scan.id)
    assert claim
    result = failed(scan, "TIMEOUT") if status == "failed" else make_result(scan, status)
    assert finish_scan(claim, result)
    expire_lease()
    assert claim_scan(scan.id) is None
    assert sweep_scans(lambda: 0, lambda *_: None) == 0
    scan.refresh_from_db()
    assert scan.status == status
    assert (scan.percent, scan.phase) == (100, "done")
    assert scan.completed_at is not None
    assert Report.objects.count() == (status != "failed")


def test_a_fault_of_ours_is_given_back_and_one_of_the_sites_is_not(home: Member, scan: Scan) -> None:
    claim = claim_scan(scan.id)
    assert claim
    finish_scan(claim, failed(scan, "TIMEOUT"))
    assert used(home) == 1
    other = make_scan(home)
    claim = claim_scan(other.id)
    assert claim
    finish_scan(claim, failed(other, "INTERNAL_ERROR"))
    assert used(home) == 0


def test_progress_never_goes_back_over_attempts(scan: Scan) -> None:
    first = claim_scan(scan.id)
    assert first
    assert renew_claim(first, told(80, "checking", 5, 9))
    expire_lease()
    second = claim_scan(scan.id)
    assert second
    assert renew_claim(second, told(10, "connecting", 0, 9))
    scan.refresh_from_db()
    assert (scan.percent, scan.checks_done) == (80, 5)


def test_the_progress_of_all_scans_of_a_visit_is_one_statement(home: Member) -> None:
    lead = make_scan(home)
    follower = make_scan(home, type="seo", lead=lead)
    claim = claim_scan(lead.id)
    assert claim
    checks = {ScanType.SECURITY: Checked(5, 9), ScanType.SEO: Checked(2, 7)}
    with counted() as asked:
        assert renew_claim(claim, Progress(40, "checking", checks))
    assert len(asked) == 1
    written = Scan.objects.in_bulk([lead.id, follower.id])
    assert {(each.percent, each.phase) for each in written.values()} == {(40, "checking")}
    assert (written[lead.id].checks_done, written[lead.id].checks_total) == (5, 9)
    assert (written[follower.id].checks_done, written[follower.id].checks_total) == (2, 7)
    Scan.objects.filter(id=follower.id).update(status="failed")
    assert not renew_claim(claim, Progress(50, "checking", {})), "a claim is of all scans of a visit, or lost"


def test_a_renewed_lease_is_not_swept(scan: Scan) -> None:
    claim = claim_scan(scan.id)
    assert claim
    expire_lease()
    assert renew_claim(claim, told(10, "connecting", 0, 9))
    assert sweep_scans(lambda: 0, lambda *_: None) == 0


def test_the_sweeper_puts_back_what_the_queue_lost_once(scan: Scan) -> None:
    put_back: list[str] = []
    assert sweep_scans(lambda: 0, lambda id, _: put_back.append(id)) == 0
    Scan.objects.update(enqueued_at=timezone.now() - timedelta(minutes=2))
    assert sweep_scans(lambda: 0, lambda id, _: put_back.append(id)) == 1
    assert sweep_scans(lambda: 0, lambda id, _: put_back.append(id)) == 0
    assert put_back == [scan.id]


def test_a_long_queue_is_not_made_longer(scan: Scan) -> None:
    Scan.objects.update(enqueued_at=timezone.now() - timedelta(minutes=2))
    assert sweep_scans(lambda: 100, lambda *_: None) == 0


def test_an_interrupted_scan_is_put_back_whatever_the_queue(scan: Scan) -> None:
    claim_scan(scan.id)
    expire_lease()
    put_back: list[str] = []
    for _ in range(3):
        sweep_scans(lambda: 10_000, lambda id, _: put_back.append(id))
    assert put_back == [scan.id], "once, not with every sweep"
    assert claim_scan(scan.id)
    expire_lease()
    sweep_scans(lambda: 10_000, lambda id, _: put_back.append(id))
    assert put_back == [scan.id, scan.id], "once for each interruption"


def test_a_scan_that_dies_too_often_fails_and_does_not_count(home: Member, scan: Scan) -> None:
    for _ in range(MAX_ATTEMPTS):
        assert claim_scan(scan.id)
        expire_lease()
    assert claim_scan(scan.id) is None
    assert sweep_scans(lambda: 0, lambda *_: None) == 0
    scan.refresh_from_db()
    assert (scan.status, scan.error_code) == ("failed", "SCAN_INTERRUPTED")
    assert used(home) == 0
    body = home.api.get(f"/v1/scan/{scan.id}").json()
    assert body["error"]["code"] == "SCAN_INTERRUPTED"
