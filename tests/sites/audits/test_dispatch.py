"""Release of an audit's pages: a few ahead of the workers, in batches, one releaser at a time; and its cancellation."""

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
from scans.visits.claims import claim_next, finish_scan, renew_claim, wake_next
from scans.visits.queue import Worker, running_visits
from sites.audits import dispatch
from sites.audits.dispatch import AHEAD, dispatch_pages
from sites.models import Audit
from tests.factories import Member, make_result, member_of
from tests.queries import counted, explained, rows_read
from tests.sites.audits.test_life import created, pages, shown, visit
from tests.threads import close_connections
from website_scan.result import Progress

LARGE = 200


@pytest.fixture
def large(db: None) -> Member:
    """Organization with many concurrent scans and pages for each audit."""
    Tier.objects.update(concurrent_scans=LARGE, pages_per_audit=1000, scans_per_month=100_000)
    return member_of("Large", "business")


def claimed(worker: str = "one") -> Any:
    waiting = Scan.objects.visits().filter(status="queued").first()
    return claim_next(waiting.id, Worker(worker, LARGE)) if waiting else None


def waiting_in_queue() -> int:
    return int(Scan.objects.visits().filter(status="queued").count())


def test_queue_has_few_waiting_pages_whatever_the_concurrency_limit(large: Member) -> None:
    created(large, {"pages": pages(100), "types": ["seo"]})
    assert visit(large)
    assert waiting_in_queue() == AHEAD
    for _ in range(20):
        assert visit(large)
        assert AHEAD // 2 <= waiting_in_queue() <= AHEAD


def test_batch_of_pages_needs_one_queue_message(
    large: Member, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    """A claim wakes the next one; more messages would be read in vain."""
    created(large, {"pages": [f"https://example{number}.com/" for number in range(100)], "types": ["seo"]})
    sent: list[str] = []
    monkeypatch.setattr("sites.audits.dispatch.enqueue", lambda scan_id, _: sent.append(scan_id))
    before = set(Scan.objects.values_list("id", flat=True))
    for _ in range(AHEAD // 2):
        assert claimed()
    with django_capture_on_commit_callbacks(execute=True):
        released = dispatch_pages(large.organization.id)
    assert released > 1
    assert len(sent) == 1
    assert sent[0] not in before


def test_dispatching_a_page_needs_few_statements(large: Member) -> None:
    """A visit of four types, from the release to the end of its page; without the engine's own."""
    created(large, {"pages": pages(3)})
    assert visit(large)  # goes ahead for the origin
    with counted() as asked:
        claim = claimed()
        assert claim
        assert renew_claim(claim, Progress(40, "checking", {}))
        results = [make_result(each) for each in Scan.objects.of_visit(claim.scan_id)]
        assert finish_scan(claim, *results)
        dispatch_pages(large.organization.id)
        wake_next(claim, Worker("one", LARGE))
    assert len(asked) <= 30, asked


def test_claim_frees_a_queue_slot_for_the_next_pages(large: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of one domain few pages are scanned at once.
    created(large, {"pages": [f"https://example{number}.com/" for number in range(100)], "types": ["seo"]})
    assert visit(large)
    seen: list[int] = []

    def look(claim: Any, *_: object) -> tuple[Any, ...]:
        if len(seen) < 2 * AHEAD:  # this worker is busy, and another one takes the next page
            seen.append(waiting_in_queue())
            waiting = Scan.objects.visits().filter(status="queued").first()
            assert waiting
            tasks.run_scan(waiting.id)
        return tuple(make_result(each) for each in Scan.objects.of_visit(claim.scan_id))

    monkeypatch.setattr(tasks, "_this_worker", Worker("one", LARGE))
    monkeypatch.setattr(tasks, "_visit", look)
    tasks.run_scan(str(Scan.objects.visits().filter(status="queued").values_list("id", flat=True)[0]))
    assert len(seen) == 2 * AHEAD
    assert min(seen) >= AHEAD // 2


def test_database_outage_after_a_claim_loses_no_visit(large: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    created(large, {"pages": pages(3), "types": ["seo"]})
    scan = Scan.objects.get()
    monkeypatch.setattr(tasks, "_visit", lambda *_: (make_result(scan),))
    monkeypatch.setattr(tasks, "connection", mock.Mock())
    with mock.patch.object(dispatch, "dispatch_pages", side_effect=OperationalError("away")):
        tasks.run_scan(scan.id)
    scan.refresh_from_db()
    assert scan.status == "completed"


def statements(large: Member, room: int) -> list[str]:
    Tier.objects.update(concurrent_scans=1)
    audit = created(large, {"pages": pages(100), "types": ["seo", "security"]})
    assert visit(large)
    Scan.objects.filter(status="queued").delete()
    Audit.objects.get(id=audit["id"]).pages.filter(status="released").update(status="waiting")
    Tier.objects.update(concurrent_scans=room + 1)
    with counted() as asked:
        assert dispatch_pages(large.organization.id) == room
    Scan.objects.all().delete()
    Audit.objects.all().delete()
    return asked


def test_batch_of_pages_needs_as_many_statements_as_one_page(large: Member) -> None:
    assert len(statements(large, AHEAD)) == len(statements(large, 1))


def test_dispatch_reads_each_waiting_page_once(large: Member) -> None:
    """Even while the first page of the only origin goes ahead, and no other one may be released."""
    created(large, {"pages": pages(1000), "types": ["seo"]})
    asked = {"organization": large.organization.id, "ahead": AHEAD, "most": AHEAD}
    assert rows_read(explained(dispatch.NEXT, asked)) < 20 * 1000


def test_interactive_audits_are_dispatched_before_lists(large: Member, target: str) -> None:
    created(large, {"pages": pages(20), "types": ["seo"]})
    assert visit(large)
    Tier.objects.update(concurrent_scans=AHEAD + 1)  # one place is left, and only an interactive audit may take it
    with mock.patch("sites.audits.services.dispatch_pages"):
        single = created(large, {"page": target, "types": ["seo"]})
    dispatch_pages(large.organization.id)
    assert Scan.objects.filter(status="queued", audit_page__audit_id=single["id"]).exists()


@pytest.fixture
def crowd(transactional_db: None) -> Member:
    member = member_of("Crowd", "business")
    Tier.objects.filter(name="business").update(concurrent_scans=LARGE)
    return member


@pytest.fixture
def elsewhere(crowd: Member) -> Iterator[Any]:
    """Connection of another process."""
    settings = connection.get_connection_params()
    settings.pop("cursor_factory", None)
    settings.pop("context", None)
    with psycopg.connect(**settings) as other:
        yield other


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_one_process_dispatches_and_others_do_not_wait(crowd: Member, elsewhere: Any) -> None:
    organization_id = crowd.organization.id
    elsewhere.execute(dispatch.TRY_LOCK, {"lock": dispatch.DISPATCH_LOCK, "organization": organization_id})
    created(crowd, {"pages": pages(3), "types": ["seo"]})
    assert dispatch_pages(organization_id) == 0
    elsewhere.rollback()
    assert dispatch_pages(organization_id) == 1


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_dispatcher_checks_again_for_processes_that_did_not_get_the_lock(crowd: Member) -> None:
    """A place that became free while another process was releasing is filled by that process."""
    Tier.objects.update(concurrent_scans=2)
    created(crowd, {"pages": pages(5), "types": ["seo"]})
    with mock.patch.object(dispatch, "_next_pages", return_value=[]):
        assert visit(crowd)
    looked = dispatch._next_pages
    turned_away: list[int] = []

    def come_late() -> int:
        try:
            Tier.objects.update(concurrent_scans=4)
            return dispatch_pages(crowd.organization.id)
        finally:
            close_connections()

    def look(*args: Any) -> Any:
        found = looked(*args)
        if connection.in_atomic_block and not turned_away:
            with ThreadPoolExecutor(1) as pool:
                turned_away.append(pool.submit(come_late).result(30))
        return found

    with mock.patch.object(dispatch, "_next_pages", look):
        assert dispatch_pages(crowd.organization.id) == 3
    assert turned_away == [0]


# Cancellation


def test_cancelling_many_pages_needs_as_many_statements_as_one(large: Member) -> None:
    audit = created(large, {"pages": pages(100), "types": ["seo", "security"]})
    assert visit(large)
    running = claimed()
    assert running
    queued = list(Scan.objects.filter(status="queued"))
    with counted() as asked:
        answer = large.api.delete(f"/v1/audits/{audit['id']}")
    assert answer.status_code == 200
    updates = [each for each in asked if each.startswith('UPDATE "scans_scan"')]
    assert len(updates) == 1, "one for all types"
    assert len(asked) < 60
    assert (running_visits(large.organization.id), waiting_in_queue()) == (1, 0)
    ended = {each.id: each for each in Scan.objects.filter(id__in=[each.id for each in queued])}
    assert {(each.status, each.error_code, each.phase, each.percent) for each in ended.values()} == {
        ("failed", "SCAN_CANCELLED", "done", 100)
    }
    assert MonthlyUsage.objects.get().used == 4
    counts = {(each.type, each.status): each.count for each in ScanCount.objects.all() if each.count}
    assert counts == {
        (kind, status): number
        for kind in ("seo", "security")
        for status, number in (("completed", 1), ("scanning", 1), ("failed", len(queued) // 2))
    }
    body = answer.json()
    assert (body["status"], body["pages"]["failed"]) == ("cancelled", len(queued) // 2)
    assert claimed() is None
    assert dispatch_pages(large.organization.id) == 0
    assert shown(large, audit) == body


def test_queued_page_is_cancelled_and_not_failed(home: Member, target: str) -> None:
    audit = created(home, {"page": target})
    body = home.api.delete(f"/v1/audits/{audit['id']}").json()
    assert (body["status"], body["error"], body["pages"]["failed"]) == ("cancelled", None, 1)
    assert [each["status"] for each in shown(home, audit, "/pages")["pages"]] == ["failed"]


def test_audit_continues_completely_if_its_cancellation_fails(large: Member) -> None:
    audit = created(large, {"pages": pages(9), "types": ["seo"]})
    with mock.patch("sites.audits.services.cancel", side_effect=OperationalError):
        assert large.api.delete(f"/v1/audits/{audit['id']}").status_code == 503
    assert (shown(large, audit)["status"], waiting_in_queue()) == ("running", 1)
