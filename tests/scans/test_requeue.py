"""Tests for requeueing scans as an operator."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from accounts.models import ActivityEvent, MonthlyUsage, Tier, User
from scans import services
from scans.models import Scan
from scans.services import NotRequeued, requeue_scan
from scans.visits.claims import claim_scan
from scans.visits.queue import MAX_ATTEMPTS
from tests.factories import Member, finished_scan, make_scan, member_of
from tests.threads import close_connections


@pytest.fixture
def staff(db: None) -> User:
    return User.objects.create_superuser("operator@people.test")


@pytest.fixture
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the IDs of enqueued scans instead of sending messages."""
    ids: list[str] = []
    monkeypatch.setattr(services, "enqueue", lambda scan_id, scan_type: ids.append(scan_id))
    return ids


def requeue_details() -> list[dict[str, str]]:
    return [event.details for event in ActivityEvent.objects.filter(action="scan.requeued").order_by("id")]


def test_queued_scan_is_enqueued_again(
    home: Member, staff: User, enqueued: list[str], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    before = timezone.now() - timedelta(hours=1)
    scan = make_scan(home, enqueued_at=before)
    with django_capture_on_commit_callbacks(execute=True):
        assert requeue_scan(actor=staff, scan_id=scan.id).id == scan.id
    scan.refresh_from_db()
    assert (scan.status, scan.enqueued_at > before) == ("queued", True)
    assert enqueued == [scan.id]
    (event,) = ActivityEvent.objects.filter(action="scan.requeued")
    assert (event.organization, event.actor, event.object_name) == (home.organization, staff, scan.url)


def test_requeued_scan_gets_all_attempts(home: Member, staff: User) -> None:
    past = timezone.now() - timedelta(seconds=1)
    scan = make_scan(home, status="scanning", attempts=MAX_ATTEMPTS, lease_expires_at=past)
    assert claim_scan(scan.id) is None
    requeue_scan(actor=staff, scan_id=scan.id)
    assert claim_scan(scan.id) is not None


def test_running_scan_is_not_requeued(home: Member, staff: User) -> None:
    scan = make_scan(home)
    assert claim_scan(scan.id) is not None
    with pytest.raises(NotRequeued, match="A worker is processing it"):
        requeue_scan(actor=staff, scan_id=scan.id)
    assert requeue_details() == []


@pytest.mark.parametrize("code", ["TIMEOUT", "URL_NOT_REACHABLE", "SCAN_CANCELLED", "DOMAIN_BLOCKED"])
def test_failure_of_the_site_is_not_requeued(home: Member, staff: User, code: str) -> None:
    scan = make_scan(home, status="failed", error_code=code)
    with pytest.raises(NotRequeued, match="not because of an error on our side"):
        requeue_scan(actor=staff, scan_id=scan.id)
    assert Scan.objects.count() == 1


def test_scan_with_a_report_is_not_requeued(home: Member, staff: User) -> None:
    with pytest.raises(NotRequeued):
        requeue_scan(actor=staff, scan_id=finished_scan(home).id)


def test_unknown_scan_id_is_refused(staff: User) -> None:
    with pytest.raises(NotRequeued):
        requeue_scan(actor=staff, scan_id="scan_unknown")


@pytest.mark.parametrize("code", ["INTERNAL_ERROR", "SCAN_INTERRUPTED"])
def test_failure_of_the_service_is_replaced_once(home: Member, staff: User, code: str) -> None:
    failed = make_scan(home, status="failed", error_code=code, type="seo")
    replacement = requeue_scan(actor=staff, scan_id=failed.id)
    assert (replacement.status, replacement.url, replacement.type, replacement.api_key_id) == (
        "queued",
        failed.url,
        "seo",
        home.key.id,
    )
    failed.refresh_from_db()
    assert (failed.status, failed.error_code) == ("failed", code)  # The final state of the failed scan never changes.
    assert MonthlyUsage.objects.get().used == 1
    assert requeue_details() == [{"scan": failed.id, "type": "seo", "new_scan": replacement.id}]
    with pytest.raises(NotRequeued, match="already"):
        requeue_scan(actor=staff, scan_id=failed.id)
    assert Scan.objects.count() == 2


def test_requeued_scan_can_be_replaced(home: Member, staff: User) -> None:
    scan = make_scan(home)
    requeue_scan(actor=staff, scan_id=scan.id)
    Scan.objects.update(status="failed", error_code="INTERNAL_ERROR")
    assert requeue_scan(actor=staff, scan_id=scan.id).id != scan.id


@pytest.mark.parametrize(
    ("limits", "reason"), [({"scans_per_month": 0}, "of this month are used"), ({"concurrent_scans": 0}, "at once")]
)
def test_replacement_respects_the_limits(home: Member, staff: User, limits: dict[str, int], reason: str) -> None:
    Tier.objects.update(**limits)
    failed = make_scan(home, status="failed", error_code="INTERNAL_ERROR")
    with pytest.raises(NotRequeued, match=reason):
        requeue_scan(actor=staff, scan_id=failed.id)
    assert (Scan.objects.count(), requeue_details()) == (1, [])


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_ten_operators_create_one_replacement() -> None:
    staff = User.objects.create_superuser("operator@people.test")
    failed = make_scan(member_of("Crowd", "business"), status="failed", error_code="INTERNAL_ERROR")
    barrier = Barrier(10)

    def requeue(_: int) -> bool:
        barrier.wait()
        try:
            requeue_scan(actor=staff, scan_id=failed.id)
        except NotRequeued:
            return False
        finally:
            close_connections()
        return True

    with ThreadPoolExecutor(10) as pool:
        assert sum(pool.map(requeue, range(10))) == 1
    assert Scan.objects.count() == 2
    assert MonthlyUsage.objects.get().used == 1
