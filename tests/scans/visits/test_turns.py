"""Tests that organizations take turns.

One backlog must not delay the others.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from infrastructure import redis_client
from scans.models import Scan
from scans.visits import serving
from scans.visits.claims import OTHER_WORKERS_DELAY_S, claim_next, finish_scan, wake_waiting_scans
from scans.visits.queue import MAX_ATTEMPTS, Worker
from sites.audits.services import claim_discovery
from sites.models import Audit
from tests.factories import Member, make_result, make_scan, member_of
from tests.redis_commands import counted_redis_commands
from tests.threads import close_connections

WORKER = Worker("one", 4)


def make_queued(member: Member, count: int = 1, scan_type: str = "security") -> list[Scan]:
    """Create queued scans, and return them oldest first."""
    start = timezone.now() - timedelta(seconds=count)
    return [
        make_scan(member, type=scan_type, created_at=start + timedelta(milliseconds=number)) for number in range(count)
    ]


def claim_in_turn(scan: Scan, worker: Worker = WORKER) -> Scan | None:
    claim = claim_next(scan.id, worker)
    return Scan.objects.get(id=claim.scan_id) if claim else None


@pytest.fixture(autouse=True)
def _without_domain_limits_and_messages(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable the domain limit and claim messages.

    These tests only concern turns.
    """
    settings.SCAN_VISITS_PER_DOMAIN = 100
    monkeypatch.setattr("scans.visits.claims.has_messages", lambda _: False)
    monkeypatch.setattr("scans.visits.claims.enqueue_later", lambda *_: None)


@pytest.fixture
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the scan IDs of the messages that claims send."""
    enqueued: list[str] = []
    monkeypatch.setattr("scans.visits.claims.enqueue", lambda scan_id, _: enqueued.append(scan_id))
    return enqueued


@pytest.fixture
def browser_enabled(settings: Settings) -> None:
    settings.SCAN_BROWSER = "auto"


def test_single_scan_overtakes_a_foreign_backlog(home: Member, stranger: Member) -> None:
    backlog = make_queued(home, 24)
    for scan in backlog[:3]:
        assert claim_in_turn(scan) == scan, "scans of one organization are in order"
    assert claim_in_turn(backlog[3]) is None, "the last slot is reserved for others"
    (single,) = make_queued(stranger)
    # The message names a scan of the backlog, but another organization has the next turn.
    assert claim_in_turn(backlog[4]) == single
    assert claim_in_turn(backlog[4], Worker("two", 4)) == backlog[3]


def test_single_scan_overtakes_two_backlogs(home: Member, stranger: Member) -> None:
    worker = Worker("one", 6)
    own_backlog = make_queued(home, 24)
    assert [bool(claim_in_turn(own_backlog[0], worker)) for _ in range(5)] == [True, True, True, True, False]
    other_backlog = make_queued(stranger, 200)
    assert [bool(claim_in_turn(own_backlog[0], worker)) for _ in range(3)] == [True, False, False]
    running = Counter(Scan.objects.filter(status="scanning").values_list("organization", flat=True))
    assert sorted(running.values()) == [1, 4]
    (single,) = make_queued(member_of("Third"))
    assert claim_in_turn(other_backlog[0], worker) == single
    assert claim_in_turn(other_backlog[0], worker) is None, "all six slots are in use"


def test_organization_alone_uses_all_slots(home: Member) -> None:
    backlog = make_queued(home, 5)
    assert [claim_in_turn(scan) for scan in backlog] == backlog


def test_worker_with_one_slot_reserves_none(home: Member, stranger: Member) -> None:
    first, second = make_queued(home, 2)
    assert claim_in_turn(first, Worker("one", 1)) == first
    assert claim_in_turn(first, Worker("two", 1)) == second, "although a scan of the organization runs elsewhere"


def test_end_of_a_visit_wakes_up_a_waiting_scan(
    home: Member, stranger: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = Worker("one", 2)
    first, second = make_queued(home, 2)
    claim = claim_next(first.id, worker)
    assert claim
    assert claim_in_turn(second, worker) is None
    finish_scan(claim, make_result(first))
    enqueued: list[str] = []
    monkeypatch.setattr("scans.visits.claims.enqueue", lambda scan_id, _: enqueued.append(scan_id))
    monkeypatch.setattr("scans.visits.claims.has_messages", lambda queue: queue == "scans")
    wake_waiting_scans(claim, WORKER)
    assert enqueued == [], "a message in the queue will use the slot"
    monkeypatch.setattr("scans.visits.claims.has_messages", lambda _: False)
    wake_waiting_scans(claim, WORKER)
    assert enqueued == [second.id]


def test_worker_passes_the_message_on(home: Member, stranger: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a visit must send a second message.

    Without it, a free slot on another host would stay unused until the next sweep.
    """
    delayed: list[tuple[float, str]] = []
    monkeypatch.setattr(
        "scans.visits.claims.enqueue_later", lambda after_s, scan_id, _: delayed.append((after_s, scan_id))
    )
    full, free = Worker("full", 2), Worker("free", 2)
    serving.register(free.name, ["scans"])
    first, second = make_queued(home, 2)
    assert claim_in_turn(first, full) == first
    assert delayed == [(OTHER_WORKERS_DELAY_S, second.id)], "the last slot is reserved for others"
    assert claim_in_turn(second, full) is None
    assert len(delayed) == 1, "all processes together send one message in that time"
    redis_client.client.delete("queue:passed-on:scans")
    assert claim_in_turn(second, full) is None
    assert len(delayed) == 2
    redis_client.client.delete("queue:passed-on:scans")
    monkeypatch.setattr("scans.visits.claims.has_messages", lambda _: True)
    assert claim_in_turn(second, full) is None
    assert len(delayed) == 2, "another message is in the queue"
    assert claim_in_turn(second, free) == second
    monkeypatch.setattr("scans.visits.claims.has_messages", lambda _: False)
    assert claim_in_turn(second, full) is None
    assert len(delayed) == 2, "no scan waits any more"


def test_worker_alone_does_not_pass_messages_on(
    home: Member, stranger: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without another worker, a message would return to the same worker again and again."""
    delayed: list[str] = []
    monkeypatch.setattr("scans.visits.claims.enqueue_later", lambda _, scan_id, __: delayed.append(scan_id))
    full, other = Worker("alone", 2), Worker("other", 2)
    first, second = make_queued(home, 2)
    serving.register(other.name, ["browser"])
    assert claim_in_turn(first, full) == first
    with counted_redis_commands() as commands:
        assert claim_in_turn(second, full) is None
    assert delayed == []
    assert commands == {"ZRANGEBYSCORE": 1}
    serving.register(other.name, ["scans"])
    assert claim_in_turn(second, full) is None
    assert delayed == [second.id]
    serving.unregister(other.name, ["scans"])
    redis_client.client.delete("queue:passed-on:scans")
    assert claim_in_turn(second, full) is None
    assert delayed == [second.id]


def test_claim_sends_the_next_message(home: Member, enqueued: list[str]) -> None:
    """One message is enough for many dispatched visits."""
    worker = Worker("one", 3)
    first, second, third, _ = make_background_scans(home, 4)
    assert claim_in_turn(first, worker) == first
    assert enqueued == [second.id]
    assert claim_in_turn(second, worker) == second
    assert enqueued == [second.id], "pages of audits leave one slot to interactive scans"
    (single,) = make_queued(home)
    assert claim_in_turn(third, worker) == single
    assert enqueued == [second.id]


def test_claim_sends_no_second_message(home: Member, enqueued: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scans.visits.claims.has_messages", lambda _: True)
    first, _ = make_queued(home, 2)
    assert claim_in_turn(first) == first
    assert enqueued == []


def test_domain_at_its_limit_gets_no_message(
    home: Member, enqueued: list[str], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers need not poll for a free domain.

    The end of a visit to the domain sends a message.
    """
    later: list[str] = []
    monkeypatch.setattr("scans.visits.claims.enqueue_later", lambda _, scan_id, __: later.append(scan_id))
    settings.SCAN_VISITS_PER_DOMAIN = 2
    worker = Worker("one", 8)
    first, second = make_background_scans(home, 2)
    claim = claim_next(first.id, worker)
    assert claim
    assert claim_in_turn(second, worker) is None
    assert (enqueued, later) == ([], [])
    finish_scan(claim, make_result(first))
    wake_waiting_scans(claim, worker)
    assert enqueued == [second.id]


def test_organizations_take_turns(home: Member, stranger: Member) -> None:
    backlog, others = make_queued(home, 4), make_queued(stranger, 3)
    claimed_ids = []
    for _ in range(7):
        claim = claim_next(backlog[0].id, Worker("one", 1))
        assert claim
        claimed_ids.append(claim.scan_id)
        finish_scan(claim, make_result(Scan.objects.get(id=claim.scan_id)))
    turns = [Scan.objects.get(id=scan_id).organization_id == home.organization.id for scan_id in claimed_ids]
    assert turns == [True, False, True, False, True, False, True]
    assert claimed_ids[0::2] == [scan.id for scan in backlog]
    assert claimed_ids[1::2] == [scan.id for scan in others]


def test_interrupted_visit_goes_first(home: Member, stranger: Member) -> None:
    backlog = make_queued(stranger, 3)
    interrupted = make_scan(home, type="security", status="scanning", attempts=1, lease_expires_at=timezone.now())
    assert claim_in_turn(backlog[0]) == interrupted


def test_message_claims_from_its_own_queue(home: Member, browser_enabled: None) -> None:
    (plain,), (seo,) = make_queued(home), make_queued(home, scan_type="seo")
    assert claim_in_turn(seo) == seo
    assert claim_in_turn(seo) is None
    assert claim_in_turn(plain) == plain


def test_organization_gets_half_of_the_browsers(home: Member, stranger: Member, browser_enabled: None) -> None:
    backlog = make_queued(home, 6, "accessibility")
    assert [claim_in_turn(scan) for scan in backlog[:3]] == [*backlog[:2], None]
    # The slots of another worker are independent.
    assert claim_in_turn(backlog[2], Worker("two", 2)) == backlog[2]
    (single,) = make_queued(stranger, scan_type="seo")
    assert claim_in_turn(single) == single


def test_freed_browser_wakes_up_a_scan(
    home: Member, stranger: Member, browser_enabled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = make_queued(home, 2, "seo")
    claim = claim_next(first.id, Worker("one", 2))
    assert claim
    assert claim_in_turn(second, Worker("one", 2)) is None
    finish_scan(claim, make_result(first))
    enqueued: list[str] = []
    monkeypatch.setattr("scans.visits.claims.enqueue", lambda scan_id, _: enqueued.append(scan_id))
    wake_waiting_scans(claim, WORKER)
    assert enqueued == [second.id]
    assert claim_in_turn(second, Worker("one", 2)) == second


def test_organization_alone_uses_all_browsers(home: Member, browser_enabled: None) -> None:
    backlog = make_queued(home, 4, "seo")
    assert [claim_in_turn(scan) for scan in backlog] == backlog


def test_cancelled_scan_is_not_claimed(home: Member) -> None:
    first, second = make_queued(home, 2)
    Scan.objects.filter(id=first.id).update(status="failed")
    assert claim_in_turn(first) == second
    assert claim_in_turn(first) is None


def test_lease_before_a_clock_change_has_expired(home: Member) -> None:
    later = timezone.now() + timedelta(hours=1)
    stuck = make_scan(home, type="security", status="scanning", attempts=1, lease_expires_at=later)
    assert claim_in_turn(stuck) == stuck
    assert claim_in_turn(stuck) is None


def make_audit(member: Member, **columns: Any) -> Audit:
    columns = {"kind": "site", "url": "https://example.com/", "types": ["seo"], "max_pages": 10} | columns
    return Audit.objects.create(organization=member.organization, **columns)


def make_background_scans(member: Member, count: int, scan_type: str = "security") -> list[Scan]:
    """Create background visits like those of an audit of several pages.

    Return them oldest first.
    """
    scans = make_queued(member, count, scan_type)
    Scan.objects.filter(id__in=[scan.id for scan in scans]).update(is_background=True)
    return scans


def test_interactive_scans_precede_audit_pages(home: Member, stranger: Member) -> None:
    pages = make_background_scans(home, 6)
    assert claim_in_turn(pages[0]) == pages[0]
    (own,), (others,) = make_queued(home), make_queued(stranger)
    assert claim_in_turn(pages[1]) == others, "organizations without a running visit go first"
    assert claim_in_turn(pages[1]) == own
    assert claim_in_turn(pages[1]) is None, "the last slot is reserved for others"
    assert claim_in_turn(pages[1], Worker("two", 4)) == pages[1]


def test_audit_pages_leave_a_worker_slot_free(home: Member, stranger: Member) -> None:
    own_pages, other_pages = make_background_scans(home, 4), make_background_scans(stranger, 4)
    assert [claim_in_turn(own_pages[0]) for _ in range(4)] == [own_pages[0], other_pages[0], own_pages[1], None]
    (single,) = make_queued(home)
    assert claim_in_turn(single) == single
    assert claim_in_turn(own_pages[0], Worker("with one place", 1)) is not None, "a worker with one slot does all work"


def test_discovery_leaves_the_last_slot_free(home: Member) -> None:
    make_audit(home, status="discovering", worker="one", lease_expires_at=timezone.now() + timedelta(minutes=1))
    pages = make_background_scans(home, 4)
    assert [claim_in_turn(pages[0]) for _ in range(3)] == [pages[0], pages[1], None]
    (single,) = make_queued(home)
    assert claim_in_turn(single) == single


def test_discovery_uses_an_unreserved_slot(home: Member, stranger: Member) -> None:
    make_audit(home, status="discovering", worker="one", lease_expires_at=timezone.now() + timedelta(minutes=1))
    backlog = make_queued(home, 4)
    assert [bool(claim_in_turn(backlog[0])) for _ in range(3)] == [True, True, False]
    (single,) = make_queued(stranger)
    assert claim_in_turn(single) == single


def test_audit_pages_use_half_of_the_browsers(home: Member, stranger: Member, browser_enabled: None) -> None:
    pages = make_background_scans(home, 3, "seo")
    assert [claim_in_turn(pages[0]) for _ in range(3)] == [pages[0], pages[1], None]
    (others,) = make_background_scans(stranger, 1, "seo")
    assert claim_in_turn(pages[2]) == others


def test_turns_only_affect_their_own_queue(home: Member, stranger: Member, browser_enabled: None) -> None:
    """A browser visit must not delay scans without a browser.

    This concerns scans of the same organization.
    """
    (browser_scan,) = make_queued(home, scan_type="seo")
    assert claim_in_turn(browser_scan) == browser_scan
    (own,), (other,) = make_queued(home), make_queued(stranger)
    Scan.objects.filter(id=own.id).update(created_at=other.created_at - timedelta(seconds=1))
    assert claim_in_turn(other) == own


def test_visit_without_attempts_is_not_claimed(home: Member) -> None:
    exhausted, fresh = make_queued(home, 2)
    Scan.objects.filter(id=exhausted.id).update(attempts=MAX_ATTEMPTS)
    # The lease of this scan has expired, so its visit was interrupted.
    make_scan(home, type="security", status="scanning", attempts=MAX_ATTEMPTS, lease_expires_at=timezone.now())
    assert claim_in_turn(exhausted) == fresh
    assert claim_in_turn(exhausted) is None


def test_freed_slot_goes_to_the_next_organization(
    home: Member, stranger: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_page,), (other_page,) = make_background_scans(home, 1), make_background_scans(stranger, 1)
    claim = claim_next(own_page.id, Worker("one", 2))
    assert claim
    assert claim_in_turn(other_page, Worker("one", 2)) is None
    finish_scan(claim, make_result(own_page))
    enqueued: list[str] = []
    monkeypatch.setattr("scans.visits.claims.enqueue", lambda scan_id, _: enqueued.append(scan_id))
    wake_waiting_scans(claim, WORKER)
    assert enqueued == [other_page.id]


def test_scans_of_a_visit_are_claimed_together(home: Member) -> None:
    (lead,) = make_queued(home)
    companion = make_scan(home, type="seo", lead=lead)
    claim = claim_next(companion.id, WORKER)
    assert claim
    assert (claim.scan_id, claim.types) == (lead.id, ("security", "seo"))
    assert claim_in_turn(companion) is None
    assert set(Scan.objects.values_list("status", flat=True)) == {"scanning"}


def test_domain_visits_are_limited(
    home: Member, stranger: Member, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SCAN_VISITS_PER_DOMAIN = 2
    worker = Worker("one", 8)
    own, other = make_queued(home, 3), make_queued(stranger, 2)
    elsewhere = make_scan(home, type="security", url="https://example.org/")
    claims = [claim_next(own[0].id, worker) for _ in range(3)]
    assert [claim and claim.host for claim in claims] == ["example.com", "example.com", "example.org"]
    assert claims[2] is not None
    assert claims[2].scan_id == elsewhere.id
    assert claim_in_turn(own[0], worker) is None
    enqueued: list[str] = []
    monkeypatch.setattr("scans.visits.claims.enqueue", lambda scan_id, _: enqueued.append(scan_id))
    first = claims[0]
    assert first is not None
    finish_scan(first, make_result(Scan.objects.get(id=first.scan_id)))
    wake_waiting_scans(first, worker)
    assert len(enqueued) == 1, "a scan whose message was too early gets another one"
    assert claim_in_turn(other[0], worker) is not None
    assert claim_in_turn(other[0], worker) is None


def test_audit_pages_leave_a_domain_slot_free(home: Member, stranger: Member, settings: Settings) -> None:
    settings.SCAN_VISITS_PER_DOMAIN = 3
    pages = make_background_scans(home, 4)
    worker = Worker("one", 8)
    assert [claim_in_turn(pages[0], worker) for _ in range(3)] == [pages[0], pages[1], None]
    (single,) = make_queued(stranger)
    assert claim_in_turn(single, worker) == single
    settings.SCAN_VISITS_PER_DOMAIN = 1
    Scan.objects.exclude(id=pages[3].id).update(status="failed", lease_expires_at=None)
    assert claim_in_turn(pages[3], worker) == pages[3], "pages may use the only slot of a domain"


def test_discoveries_alternate(home: Member, stranger: Member) -> None:
    first, second, _ = (make_audit(home) for _ in range(3))
    other_audit = make_audit(stranger)
    claims = [claim_discovery(WORKER) for _ in range(2)]
    assert [claim and claim.audit_id for claim in claims] == [first.id, other_audit.id]
    assert claim_discovery(WORKER) is None, "discoveries use at most half of the slots"
    Audit.objects.filter(id=other_audit.id).update(status="running")
    assert claim_discovery(WORKER) is None, "one organization uses at most half of those"
    Audit.objects.filter(id=first.id).update(status="running")
    claim = claim_discovery(WORKER)
    assert claim
    assert claim.audit_id == second.id, "audits of one organization are in order"


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_processes_respect_the_discovery_limit() -> None:
    barrier = Barrier(8)
    for number in range(8):
        make_audit(member_of(f"Number {number}"))

    def claim(_: int) -> bool:
        barrier.wait()
        try:
            return claim_discovery(WORKER) is not None
        finally:
            close_connections()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(claim, range(8))) == WORKER.places // 2
