"""Tests for dispatching and cancelling an audit's pages."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

import psycopg
import pytest
from django.db import OperationalError, connection

from accounts.models import MonthlyUsage, Tier
from scans import tasks
from scans.models import Scan, ScanCount
from scans.visits.claims import claim_next, finish_scan, renew_claim, wake_waiting_scans
from scans.visits.queue import Worker, running_visits
from sites.audits import dispatch
from sites.audits.dispatch import MAX_QUEUED_PAGES, dispatch_pages
from sites.models import Audit
from tests.factories import Member, make_result, member_of
from tests.queries import counted, explained, rows_read
from tests.sites.audits.test_life import created, get_audit, page_urls, visit
from tests.threads import close_connections
from website_scan.result import Progress

LARGE = 200


@pytest.fixture
def large_plan_member(db: None) -> Member:
    """Member with a plan for many concurrent scans.

    The plan also allows many pages per audit.
    """
    Tier.objects.update(concurrent_scans=LARGE, pages_per_audit=1000, scans_per_month=100_000)
    return member_of("Large", "business")


def claim_visit(worker: str = "one") -> Any:
    waiting = Scan.objects.visits().filter(status="queued").first()
    return claim_next(waiting.id, Worker(worker, LARGE)) if waiting else None


def count_queued_visits() -> int:
    return int(Scan.objects.visits().filter(status="queued").count())


def test_few_waiting_pages_are_queued(large_plan_member: Member) -> None:
    created(large_plan_member, {"pages": page_urls(100), "types": ["seo"]})
    assert visit(large_plan_member)
    assert count_queued_visits() == MAX_QUEUED_PAGES
    for _ in range(20):
        assert visit(large_plan_member)
        assert MAX_QUEUED_PAGES // 2 <= count_queued_visits() <= MAX_QUEUED_PAGES


def test_batch_of_pages_needs_one_queue_message(
    large_plan_member: Member, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    """One message is enough for all pages.

    Each claimed visit wakes a worker for the next one.
    """
    created(large_plan_member, {"pages": [f"https://example{number}.com/" for number in range(100)], "types": ["seo"]})
    sent: list[str] = []
    monkeypatch.setattr("sites.audits.dispatch.enqueue", lambda scan_id, _: sent.append(scan_id))
    before = set(Scan.objects.values_list("id", flat=True))
    for _ in range(MAX_QUEUED_PAGES // 2):
        assert claim_visit()
    with django_capture_on_commit_callbacks(execute=True):
        released = dispatch_pages(large_plan_member.organization.id)
    assert released > 1
    assert len(sent) == 1
    assert sent[0] not in before


def test_dispatch_needs_few_statements(large_plan_member: Member) -> None:
    """Count the SQL statements for dispatching the next pages.

    The count begins when a visit is claimed.
    """
    created(large_plan_member, {"pages": page_urls(3)})
    assert visit(large_plan_member)  # The first page of an origin is scanned first.
    with counted() as statements:
        claim = claim_visit()
        assert claim
        assert renew_claim(claim, Progress(40, "checking", {}))
        results = [make_result(scan) for scan in Scan.objects.of_visit(claim.scan_id)]
        assert finish_scan(claim, *results)
        dispatch_pages(large_plan_member.organization.id)
        wake_waiting_scans(claim, Worker("one", LARGE))
    assert len(statements) <= 32, statements


def test_claimed_visit_queues_the_next_pages(large_plan_member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    # Pages have different domains, because visits to one domain are limited.
    created(large_plan_member, {"pages": [f"https://example{number}.com/" for number in range(100)], "types": ["seo"]})
    assert visit(large_plan_member)
    queue_lengths: list[int] = []

    def run_next_visit(claim: Any, *_: object) -> Any:
        if len(queue_lengths) < 2 * MAX_QUEUED_PAGES:  # While this worker is busy, another worker claims the next page.
            queue_lengths.append(count_queued_visits())
            waiting = Scan.objects.visits().filter(status="queued").first()
            assert waiting
            tasks.run_scan(waiting.id)
        return tasks._finish_with(claim, *map(make_result, Scan.objects.of_visit(claim.scan_id)))

    monkeypatch.setattr(tasks, "_this_worker", Worker("one", LARGE))
    monkeypatch.setattr(tasks, "_visit", run_next_visit)
    tasks.run_scan(str(Scan.objects.visits().filter(status="queued").values_list("id", flat=True)[0]))
    assert len(queue_lengths) == 2 * MAX_QUEUED_PAGES
    assert min(queue_lengths) >= MAX_QUEUED_PAGES // 2


def test_outage_after_a_claim_loses_no_visit(large_plan_member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    created(large_plan_member, {"pages": page_urls(3), "types": ["seo"]})
    scan = Scan.objects.get()
    monkeypatch.setattr(tasks, "_visit", lambda claim, _: tasks._finish_with(claim, make_result(scan)))
    monkeypatch.setattr(tasks, "connection", mock.Mock())
    with mock.patch.object(dispatch, "dispatch_pages", side_effect=OperationalError("away")):
        tasks.run_scan(scan.id)
    scan.refresh_from_db()
    assert scan.status == "completed"


def dispatch_statements(large_plan_member: Member, free_slots: int) -> list[str]:
    Tier.objects.update(concurrent_scans=1)
    audit = created(large_plan_member, {"pages": page_urls(100), "types": ["seo", "security"]})
    assert visit(large_plan_member)
    Scan.objects.filter(status="queued").delete()
    Audit.objects.get(id=audit["id"]).pages.filter(status="released").update(status="waiting")
    Tier.objects.update(concurrent_scans=free_slots + 1)
    with counted() as statements:
        assert dispatch_pages(large_plan_member.organization.id) == free_slots
    Scan.objects.all().delete()
    Audit.objects.all().delete()
    return statements


def test_batch_needs_as_many_statements_as_one_page(large_plan_member: Member) -> None:
    assert len(dispatch_statements(large_plan_member, MAX_QUEUED_PAGES)) == len(
        dispatch_statements(large_plan_member, 1)
    )


def test_dispatch_reads_a_waiting_page_once(large_plan_member: Member) -> None:
    """Count the rows read while no other page may start.

    The origin's first page is running.
    """
    created(large_plan_member, {"pages": page_urls(1000), "types": ["seo"]})
    parameters = {
        "organization": large_plan_member.organization.id,
        "ahead": MAX_QUEUED_PAGES,
        "most": MAX_QUEUED_PAGES,
    }
    assert rows_read(explained(dispatch.NEXT, parameters)) < 20 * 1000


def test_interactive_audits_precede_lists(large_plan_member: Member, target: str) -> None:
    created(large_plan_member, {"pages": page_urls(20), "types": ["seo"]})
    assert visit(large_plan_member)
    Tier.objects.update(concurrent_scans=MAX_QUEUED_PAGES + 1)  # The last free slot is reserved for interactive audits.
    with mock.patch("sites.audits.services.dispatch_pages"):
        single = created(large_plan_member, {"page": target, "types": ["seo"]})
    dispatch_pages(large_plan_member.organization.id)
    assert Scan.objects.filter(status="queued", audit_page__audit_id=single["id"]).exists()


@pytest.fixture
def business_member(transactional_db: None) -> Member:
    member = member_of("Crowd", "business")
    Tier.objects.filter(name="business").update(concurrent_scans=LARGE)
    return member


@pytest.fixture
def other_connection(business_member: Member) -> Iterator[Any]:
    """Open a second database connection, like that of another process."""
    settings = connection.get_connection_params()
    settings.pop("cursor_factory", None)
    settings.pop("context", None)
    with psycopg.connect(**settings) as other:
        yield other


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_only_one_process_dispatches(business_member: Member, other_connection: Any) -> None:
    organization_id = business_member.organization.id
    other_connection.execute(dispatch.TRY_LOCK, {"lock": dispatch.DISPATCH_LOCK, "organization": organization_id})
    created(business_member, {"pages": page_urls(3), "types": ["seo"]})
    assert dispatch_pages(organization_id) == 0
    other_connection.rollback()
    assert dispatch_pages(organization_id) == 1


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_dispatcher_rechecks_for_other_processes(business_member: Member) -> None:
    """A busy dispatcher also fills slots that become free.

    The other process leaves them to it.
    """
    Tier.objects.update(concurrent_scans=2)
    created(business_member, {"pages": page_urls(5), "types": ["seo"]})
    with mock.patch.object(dispatch, "_next_pages", return_value=[]):
        assert visit(business_member)
    next_pages = dispatch._next_pages
    concurrently_dispatched: list[int] = []

    def dispatch_concurrently() -> int:
        try:
            Tier.objects.update(concurrent_scans=4)
            return dispatch_pages(business_member.organization.id)
        finally:
            close_connections()

    def next_pages_during_race(*args: Any) -> Any:
        dispatched_pages = next_pages(*args)
        if connection.in_atomic_block and not concurrently_dispatched:
            with ThreadPoolExecutor(1) as pool:
                concurrently_dispatched.append(pool.submit(dispatch_concurrently).result(30))
        return dispatched_pages

    with mock.patch.object(dispatch, "_next_pages", next_pages_during_race):
        assert dispatch_pages(business_member.organization.id) == 3
    assert concurrently_dispatched == [0]


# Tests for cancellation:


def test_cancelling_many_pages_needs_few_statements(large_plan_member: Member) -> None:
    audit = created(large_plan_member, {"pages": page_urls(100), "types": ["seo", "security"]})
    assert visit(large_plan_member)
    running = claim_visit()
    assert running
    queued = list(Scan.objects.filter(status="queued"))
    with counted() as statements:
        answer = large_plan_member.api.delete(f"/v1/audits/{audit['id']}")
    assert answer.status_code == 200
    updates = [statement for statement in statements if statement.startswith('UPDATE "scans_scan"')]
    assert len(updates) == 1, "one for all types"
    assert len(statements) < 60
    assert (running_visits(large_plan_member.organization.id), count_queued_visits()) == (1, 0)
    ended = {scan.id: scan for scan in Scan.objects.filter(id__in=[waiting.id for waiting in queued])}
    assert {(scan.status, scan.error_code, scan.phase, scan.percent) for scan in ended.values()} == {
        ("failed", "SCAN_CANCELLED", "done", 100)
    }
    assert MonthlyUsage.objects.get().used == 4
    counts = {
        (scan_count.type, scan_count.status): scan_count.count
        for scan_count in ScanCount.objects.all()
        if scan_count.count
    }
    assert counts == {
        (kind, status): number
        for kind in ("seo", "security")
        for status, number in (("completed", 1), ("scanning", 1), ("failed", len(queued) // 2))
    }
    body = answer.json()
    assert (body["status"], body["pages"]["failed"]) == ("cancelled", len(queued) // 2)
    assert claim_visit() is None
    assert dispatch_pages(large_plan_member.organization.id) == 0
    assert get_audit(large_plan_member, audit) == body


def test_queued_page_is_cancelled(home: Member, target: str) -> None:
    audit = created(home, {"page": target})
    body = home.api.delete(f"/v1/audits/{audit['id']}").json()
    assert (body["status"], body["error"], body["pages"]["failed"]) == ("cancelled", None, 1)
    assert [page["status"] for page in get_audit(home, audit, "/pages")["pages"]] == ["failed"]


def test_audit_continues_if_cancelling_fails(large_plan_member: Member) -> None:
    audit = created(large_plan_member, {"pages": page_urls(9), "types": ["seo"]})
    with mock.patch("sites.audits.services.cancel", side_effect=OperationalError):
        assert large_plan_member.api.delete(f"/v1/audits/{audit['id']}").status_code == 503
    assert (get_audit(large_plan_member, audit)["status"], count_queued_visits()) == ("running", 1)
