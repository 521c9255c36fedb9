"""Tests that concurrent audits respect limits.

They must not deadlock. The tests use real threads and PostgreSQL.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db.models import Count

from accounts.closing.services import close_organization
from accounts.models import MonthlyUsage, Tier
from scans.models import Scan
from scans.visits.claims import claim_next, finish_scan
from scans.visits.queue import Worker, running_visits
from sites.audits.dispatch import dispatch_pages
from sites.audits.sweeping import sweep_audits
from sites.models import Audit, AuditPage
from tests.factories import Api, Member, make_result, member_of
from tests.scans.test_races import PARALLEL, call_in_50_threads
from tests.threads import close_connections
from website_scan.findings import ScanType
from website_scan.result import ScanError

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

WORKERS = 6
OURS = ScanError("INTERNAL_ERROR", "The scanner failed.")


@pytest.fixture
def business_member(transactional_db: None) -> Member:
    return member_of("Crowd", "business")


def audit_body(pages: int, name: str = "", *types: str) -> dict[str, object]:
    return {"pages": [f"https://example.com/{name}{number}" for number in range(pages)], "types": types or ["seo"]}


def finish_visit(worker: str, random_failures: random.Random | None = None) -> bool:
    """Claim and finish a visit like a worker, sometimes with an internal error.

    Return False if none is queued.
    """
    queued_scan = Scan.objects.visits().filter(status="queued").first()
    claim = claim_next(queued_scan.id, Worker(worker, 100)) if queued_scan else None
    if claim is None:
        return False
    scans = {ScanType(scan.type): scan for scan in Scan.objects.of_visit(claim.scan_id)}
    columns: dict[str, Any] = {}
    if random_failures is not None and random_failures.random() < 0.3:
        columns = {"status": "failed", "score": None, "grade": None, "categories": (), "error": OURS}
    # The worker loses its claim if the organization was closed.
    finish_scan(claim, *(make_result(scans[scan_type], **columns) for scan_type in claim.types))
    dispatch_pages(claim.organization_id)
    return True


def test_50_audits_respect_the_concurrency_limit(business_member: Member) -> None:
    Tier.objects.filter(name="business").update(concurrent_scans=10)
    answers = Counter(
        call_in_50_threads(lambda _: Api(business_member.plaintext).post("/v1/audits", audit_body(3)).status_code)
    )
    assert answers == {202: PARALLEL}
    assert running_visits(business_member.organization.id) == 9  # One slot is reserved for interactive scans.
    assert MonthlyUsage.objects.get().used == 9


def test_50_audits_respect_the_audit_limit(business_member: Member) -> None:
    Tier.objects.filter(name="business").update(concurrent_scans=2)
    answers = Counter(
        call_in_50_threads(lambda _: Api(business_member.plaintext).post("/v1/audits", audit_body(2)).status_code)
    )
    assert answers == {202: 10, 429: 40}
    assert Audit.objects.count() == 10
    assert running_visits(business_member.organization.id) == 1


def test_50_parallel_audits_respect_the_quota(business_member: Member) -> None:
    Tier.objects.filter(name="business").update(scans_per_month=7, concurrent_scans=100)
    call_in_50_threads(
        lambda _: Api(business_member.plaintext).post("/v1/audits", audit_body(1, "", "seo", "security")).status_code
    )
    # Pages use two scans of the quota of seven, so one scan is never used.
    assert MonthlyUsage.objects.get().used == Scan.objects.count() == 6


def test_50_requests_with_one_key_create_one_audit(business_member: Member) -> None:
    def post(_: int) -> tuple[int, str | None]:
        response = Api(business_member.plaintext).post("/v1/audits", audit_body(2), Idempotency_Key="one")
        return response.status_code, response.json().get("code")

    answers = Counter(call_in_50_threads(post))
    assert set(answers) <= {(202, None), (409, "IDEMPOTENCY_CONFLICT")}
    assert answers[(202, None)] >= 1
    assert Audit.objects.count() == 1


def test_concurrent_operations_do_not_deadlock(business_member: Member) -> None:
    """Change audits concurrently, then compare all counters.

    Audits are created, finished, dispatched, cancelled and swept.
    """
    Tier.objects.filter(name="business").update(concurrent_scans=5)
    stopped = threading.Event()
    are_audits_created = threading.Event()

    def run_worker(number: int) -> None:
        chance = random.Random(number)
        try:
            while not stopped.is_set():
                idle = not finish_visit(f"worker {number}", chance)
                if idle and are_audits_created.is_set() and not Audit.objects.exclude(status__in=Audit.FINAL).exists():
                    return
        finally:
            close_connections()

    def create_audits(number: int) -> None:
        chance = random.Random(number)
        api = Api(business_member.plaintext)
        try:
            for index in range(4):
                created = api.post("/v1/audits", audit_body(6, f"{number}-{index}-", "seo", "security"))
                assert created.status_code == 202, created.content
                if chance.random() < 0.5:
                    assert api.delete(f"/v1/audits/{created.json()['id']}").status_code == 200
                sweep_audits()
        finally:
            close_connections()

    with ThreadPoolExecutor(WORKERS + 3) as pool:
        workers = [pool.submit(run_worker, number) for number in range(WORKERS)]
        try:
            for creator in [pool.submit(create_audits, number) for number in range(3)]:
                creator.result(120)
            are_audits_created.set()
            for worker in workers:
                worker.result(120)
        finally:
            stopped.set()
    while finish_visit("the last"):  # Finish the queued visits of cancelled audits.
        pass
    assert Audit.objects.count() == 12
    assert not Scan.objects.unfinished().exists()
    charged_scans = Scan.objects.exclude(error_code__in=("INTERNAL_ERROR", "SCAN_CANCELLED")).count()
    assert MonthlyUsage.objects.get().used == charged_scans
    for audit in Audit.objects.all():
        pages = dict(audit.pages.order_by().values_list("status").annotate(Count("id")))
        assert not {"waiting", "released"} & pages.keys()
        assert (audit.pages_done, audit.pages_failed) == (pages.get("done", 0), pages.get("failed", 0))
        assert audit.pages_planned == audit.pages_done + audit.pages_failed
        assert audit.scans_done == 2 * audit.pages_planned


def test_organization_is_closed_during_its_audits(business_member: Member) -> None:
    for number in range(3):
        assert (
            business_member.api.post("/v1/audits", audit_body(20, f"{number}-", "seo", "security")).status_code == 202
        )
    start_barrier = threading.Barrier(WORKERS + 1)

    def run_worker(number: int) -> None:
        start_barrier.wait()
        try:
            while finish_visit(f"worker {number}"):
                pass
        finally:
            close_connections()

    with ThreadPoolExecutor(WORKERS) as pool:
        workers = [pool.submit(run_worker, number) for number in range(WORKERS)]
        start_barrier.wait()
        close_organization(business_member.organization)
        for worker in workers:
            worker.result(120)
    assert dispatch_pages(business_member.organization.id) == 0
    assert not Scan.objects.unfinished().exists()
    assert set(Audit.objects.values_list("status", flat=True)) <= {"cancelled", "completed"}
    assert not AuditPage.objects.filter(status="waiting").exists()
