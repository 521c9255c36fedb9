"""Races of audits, with real threads on real PostgreSQL: limits hold, turns are fair, nothing deadlocks."""

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
from tests.scans.test_races import PARALLEL, all_at_once
from tests.threads import close_connections
from website_scan.findings import ScanType
from website_scan.result import ScanError

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

WORKERS = 6
OURS = ScanError("INTERNAL_ERROR", "The scanner failed.")


@pytest.fixture
def crowd(transactional_db: None) -> Member:
    return member_of("Crowd", "business")


def body(pages: int, name: str = "", *types: str) -> dict[str, object]:
    return {"pages": [f"https://example.com/{name}{number}" for number in range(pages)], "types": types or ["seo"]}


def visit(worker: str, chance: random.Random | None = None) -> bool:
    """Claim and finish a visit like a worker; by `chance` it fails through the service's fault. False if none waits."""
    named = Scan.objects.visits().filter(status="queued").first()
    claim = claim_next(named.id, Worker(worker, 100)) if named else None
    if claim is None:
        return False
    scans = {ScanType(each.type): each for each in Scan.objects.of_visit(claim.scan_id)}
    columns: dict[str, Any] = {}
    if chance is not None and chance.random() < 0.3:
        columns = {"status": "failed", "score": None, "grade": None, "categories": (), "error": OURS}
    # The claim is lost if the organization was closed.
    finish_scan(claim, *(make_result(scans[each], **columns) for each in claim.types))
    dispatch_pages(claim.organization_id)
    return True


def test_50_parallel_audits_respect_the_concurrency_limit(crowd: Member) -> None:
    Tier.objects.filter(name="business").update(concurrent_scans=10)
    answers = Counter(all_at_once(lambda _: Api(crowd.plaintext).post("/v1/audits", body(3)).status_code))
    assert answers == {202: PARALLEL}
    assert running_visits(crowd.organization.id) == 9  # one slot is left for an interactive scan
    assert MonthlyUsage.objects.get().used == 9


def test_50_parallel_audits_respect_the_audit_limit(crowd: Member) -> None:
    Tier.objects.filter(name="business").update(concurrent_scans=2)
    answers = Counter(all_at_once(lambda _: Api(crowd.plaintext).post("/v1/audits", body(2)).status_code))
    assert answers == {202: 10, 429: 40}
    assert Audit.objects.count() == 10
    assert running_visits(crowd.organization.id) == 1


def test_50_parallel_audits_respect_the_quota(crowd: Member) -> None:
    Tier.objects.filter(name="business").update(scans_per_month=7, concurrent_scans=100)
    all_at_once(lambda _: Api(crowd.plaintext).post("/v1/audits", body(1, "", "seo", "security")).status_code)
    # Each page takes two scans of the quota; the last single one stays unused.
    assert MonthlyUsage.objects.get().used == Scan.objects.count() == 6


def test_50_parallel_requests_with_one_idempotency_key_create_one_audit(crowd: Member) -> None:
    def post(_: int) -> tuple[int, str | None]:
        response = Api(crowd.plaintext).post("/v1/audits", body(2), Idempotency_Key="one")
        return response.status_code, response.json().get("code")

    answers = Counter(all_at_once(post))
    assert set(answers) <= {(202, None), (409, "IDEMPOTENCY_CONFLICT")}
    assert answers[(202, None)] >= 1
    assert Audit.objects.count() == 1


def test_concurrent_operations_on_audits_do_not_deadlock(crowd: Member) -> None:
    """Create, finish, release, cancel and sweep concurrently until nothing is left; then all counters must agree."""
    Tier.objects.filter(name="business").update(concurrent_scans=5)
    stopped = threading.Event()
    is_created = threading.Event()

    def work(number: int) -> None:
        chance = random.Random(number)
        try:
            while not stopped.is_set():
                idle = not visit(f"worker {number}", chance)
                if idle and is_created.is_set() and not Audit.objects.exclude(status__in=Audit.FINAL).exists():
                    return
        finally:
            close_connections()

    def create(number: int) -> None:
        chance = random.Random(number)
        api = Api(crowd.plaintext)
        try:
            for each in range(4):
                created = api.post("/v1/audits", body(6, f"{number}-{each}-", "seo", "security"))
                assert created.status_code == 202, created.content
                if chance.random() < 0.5:
                    assert api.delete(f"/v1/audits/{created.json()['id']}").status_code == 200
                sweep_audits()
        finally:
            close_connections()

    with ThreadPoolExecutor(WORKERS + 3) as pool:
        workers = [pool.submit(work, number) for number in range(WORKERS)]
        try:
            for creator in [pool.submit(create, number) for number in range(3)]:
                creator.result(120)
            is_created.set()
            for worker in workers:
                worker.result(120)
        finally:
            stopped.set()
    while visit("the last"):  # visits of cancelled audits
        pass
    assert Audit.objects.count() == 12
    assert not Scan.objects.unfinished().exists()
    kept = Scan.objects.exclude(error_code__in=("INTERNAL_ERROR", "SCAN_CANCELLED")).count()
    assert MonthlyUsage.objects.get().used == kept
    for audit in Audit.objects.all():
        pages = dict(audit.pages.order_by().values_list("status").annotate(Count("id")))
        assert not {"waiting", "released"} & pages.keys()
        assert (audit.pages_done, audit.pages_failed) == (pages.get("done", 0), pages.get("failed", 0))
        assert audit.pages_planned == audit.pages_done + audit.pages_failed
        assert audit.scans_done == 2 * audit.pages_planned


def test_organization_can_be_closed_while_its_audits_run(crowd: Member) -> None:
    for number in range(3):
        assert crowd.api.post("/v1/audits", body(20, f"{number}-", "seo", "security")).status_code == 202
    begun = threading.Barrier(WORKERS + 1)

    def work(number: int) -> None:
        begun.wait()
        try:
            while visit(f"worker {number}"):
                pass
        finally:
            close_connections()

    with ThreadPoolExecutor(WORKERS) as pool:
        workers = [pool.submit(work, number) for number in range(WORKERS)]
        begun.wait()
        close_organization(crowd.organization)
        for worker in workers:
            worker.result(120)
    assert dispatch_pages(crowd.organization.id) == 0
    assert not Scan.objects.unfinished().exists()
    assert set(Audit.objects.values_list("status", flat=True)) <= {"cancelled", "completed"}
    assert not AuditPage.objects.filter(status="waiting").exists()
