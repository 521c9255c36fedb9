"""Order of visits in the queues: backlogs do not delay other organizations, and interrupted visits go first."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone
from pytest_django import Settings

from scans.models import Scan
from scans.visits.claims import OTHER_WORKERS_AFTER_S, claim_next, finish_scan, wake_next
from scans.visits.queue import MAX_ATTEMPTS, Worker
from sites.audits.services import claim_discovery
from sites.models import Audit
from tests.factories import Member, make_result, make_scan, member_of
from tests.threads import close_connections

WORKER = Worker("one", 4)


def queued(member: Member, count: int = 1, scan_type: str = "security") -> list[Scan]:
    """Create queued scans, oldest first."""
    begin = timezone.now() - timedelta(seconds=count)
    return [
        make_scan(member, type=scan_type, created_at=begin + timedelta(milliseconds=number)) for number in range(count)
    ]


def taken(scan: Scan, worker: Worker = WORKER) -> Scan | None:
    claim = claim_next(scan.id, worker)
    return Scan.objects.get(id=claim.scan_id) if claim else None


@pytest.fixture(autouse=True)
def _one_host_for_all(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SCAN_VISITS_PER_DOMAIN = 100
    monkeypatch.setattr("scans.visits.claims.has_messages", lambda _: False)
    monkeypatch.setattr("scans.visits.claims.enqueue_later", lambda *_: None)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Scans that claims have sent messages about."""
    sent: list[str] = []
    monkeypatch.setattr("scans.visits.claims.enqueue", lambda scan_id, _: sent.append(scan_id))
    return sent


@pytest.fixture
def with_browser(settings: Settings) -> None:
    settings.SCAN_BROWSER = "auto"


def test_however_many_one_has_queued_anothers_single_scan_is_next(home: Member, stranger: Member) -> None:
    backlog = queued(home, 24)
    for each in backlog[:3]:
        assert taken(each) == each, "its own come in their order"
    assert taken(backlog[3]) is None, "the last place is for others"
    (single,) = queued(stranger)
    # The message names a scan of the backlog, but it is the other organization's turn.
    assert taken(backlog[4]) == single
    assert taken(backlog[4], Worker("two", 4)) == backlog[3]


def test_with_two_backlogs_a_third_ones_scan_finds_a_place(home: Member, stranger: Member) -> None:
    worker = Worker("one", 6)
    mine = queued(home, 24)
    assert [bool(taken(mine[0], worker)) for _ in range(5)] == [True, True, True, True, False]
    theirs = queued(stranger, 200)
    assert [bool(taken(mine[0], worker)) for _ in range(3)] == [True, False, False]
    running = Counter(Scan.objects.filter(status="scanning").values_list("organization", flat=True))
    assert sorted(running.values()) == [1, 4]
    (single,) = queued(member_of("Third"))
    assert taken(theirs[0], worker) == single
    assert taken(theirs[0], worker) is None, "all six are taken"


def test_who_is_alone_has_all_places(home: Member) -> None:
    backlog = queued(home, 5)
    assert [taken(each) for each in backlog] == backlog


def test_a_worker_with_one_place_has_none_to_keep(home: Member, stranger: Member) -> None:
    first, second = queued(home, 2)
    assert taken(first, Worker("one", 1)) == first
    assert taken(first, Worker("two", 1)) == second, "although one of its own runs elsewhere"


def test_what_was_kept_back_is_taken_up_when_a_visit_ends(
    home: Member, stranger: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = Worker("one", 2)
    first, second = queued(home, 2)
    claim = claim_next(first.id, worker)
    assert claim
    assert taken(second, worker) is None
    finish_scan(claim, make_result(first))
    told: list[str] = []
    monkeypatch.setattr("scans.visits.claims.enqueue", lambda scan_id, _: told.append(scan_id))
    monkeypatch.setattr("scans.visits.claims.has_messages", lambda queue: queue == "scans")
    wake_next(claim, WORKER)
    assert told == [], "a message that waits will find the place"
    monkeypatch.setattr("scans.visits.claims.has_messages", lambda _: False)
    wake_next(claim, WORKER)
    assert told == [second.id]


def test_a_message_that_a_kept_place_has_taken_is_passed_on(
    home: Member, stranger: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a free slot on another host would wait for the sweeper."""
    told: list[tuple[float, str]] = []
    monkeypatch.setattr(
        "scans.visits.claims.enqueue_later", lambda after_s, scan_id, _: told.append((after_s, scan_id))
    )
    full, free = Worker("full", 2), Worker("free", 2)
    first, second = queued(home, 2)
    assert taken(first, full) == first
    assert told == [(OTHER_WORKERS_AFTER_S, second.id)], "its last place is for others"
    assert taken(second, full) is None
    assert len(told) == 1, "all processes together send one in that time"
    cache.clear()
    assert taken(second, full) is None
    assert len(told) == 2
    cache.clear()
    monkeypatch.setattr("scans.visits.claims.has_messages", lambda _: True)
    assert taken(second, full) is None
    assert len(told) == 2, "another message is on its way"
    assert taken(second, free) == second
    monkeypatch.setattr("scans.visits.claims.has_messages", lambda _: False)
    assert taken(second, full) is None
    assert len(told) == 2, "nothing waits any more"


def test_a_claim_wakes_the_next_place_while_a_visit_may_begin(home: Member, sent: list[str]) -> None:
    """Many visits are released with one message."""
    worker = Worker("one", 3)
    first, second, third, _ = background(home, 4)
    assert taken(first, worker) == first
    assert sent == [second.id]
    assert taken(second, worker) == second
    assert sent == [second.id], "pages leave one place, and another page may not have it"
    (single,) = queued(home)
    assert taken(third, worker) == single
    assert sent == [second.id]


def test_a_claim_sends_no_message_while_one_waits(
    home: Member, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scans.visits.claims.has_messages", lambda _: True)
    first, _ = queued(home, 2)
    assert taken(first) == first
    assert sent == []


def test_nobody_asks_for_visits_whose_domain_is_at_its_limit(
    home: Member, sent: list[str], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of a visit to the domain sends a message, so that no place has to ask again and again."""
    later: list[str] = []
    monkeypatch.setattr("scans.visits.claims.enqueue_later", lambda _, scan_id, __: later.append(scan_id))
    settings.SCAN_VISITS_PER_DOMAIN = 2
    worker = Worker("one", 8)
    first, second = background(home, 2)
    claim = claim_next(first.id, worker)
    assert claim
    assert taken(second, worker) is None
    assert (sent, later) == ([], [])
    finish_scan(claim, make_result(first))
    wake_next(claim, worker)
    assert sent == [second.id]


def test_with_one_place_organizations_take_turns(home: Member, stranger: Member) -> None:
    backlog, others = queued(home, 4), queued(stranger, 3)
    order = []
    for _ in range(7):
        claim = claim_next(backlog[0].id, Worker("one", 1))
        assert claim
        order.append(claim.scan_id)
        finish_scan(claim, make_result(Scan.objects.get(id=claim.scan_id)))
    turns = [Scan.objects.get(id=each).organization_id == home.organization.id for each in order]
    assert turns == [True, False, True, False, True, False, True]
    assert order[0::2] == [each.id for each in backlog]
    assert order[1::2] == [each.id for each in others]


def test_what_was_interrupted_goes_first(home: Member, stranger: Member) -> None:
    backlog = queued(stranger, 3)
    interrupted = make_scan(home, type="security", status="scanning", attempts=1, lease_expires_at=timezone.now())
    assert taken(backlog[0]) == interrupted


def test_a_message_takes_only_from_its_own_queue(home: Member, with_browser: None) -> None:
    (plain,), (seo,) = queued(home), queued(home, scan_type="seo")
    assert taken(seo) == seo
    assert taken(seo) is None
    assert taken(plain) == plain


def test_half_of_the_browsers_is_kept_from_each_organization(
    home: Member, stranger: Member, with_browser: None
) -> None:
    backlog = queued(home, 6, "accessibility")
    assert [taken(each) for each in backlog[:3]] == [*backlog[:2], None]
    # Another worker has its own slots.
    assert taken(backlog[2], Worker("two", 2)) == backlog[2]
    (single,) = queued(stranger, scan_type="seo")
    assert taken(single) == single


def test_a_place_that_gets_free_goes_to_what_the_share_kept_back(
    home: Member, stranger: Member, with_browser: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = queued(home, 2, "seo")
    claim = claim_next(first.id, Worker("one", 2))
    assert claim
    assert taken(second, Worker("one", 2)) is None
    finish_scan(claim, make_result(first))
    told: list[str] = []
    monkeypatch.setattr("scans.visits.claims.enqueue", lambda scan_id, _: told.append(scan_id))
    wake_next(claim, WORKER)
    assert told == [second.id]
    assert taken(second, Worker("one", 2)) == second


def test_who_is_alone_has_all_browsers(home: Member, with_browser: None) -> None:
    backlog = queued(home, 4, "seo")
    assert [taken(each) for each in backlog] == backlog


def test_a_cancelled_scan_is_passed_over(home: Member) -> None:
    first, second = queued(home, 2)
    Scan.objects.filter(id=first.id).update(status="failed")
    assert taken(first) == second
    assert taken(first) is None


def test_a_lease_from_before_the_clock_was_put_back_has_run_out(home: Member) -> None:
    later = timezone.now() + timedelta(hours=1)
    stuck = make_scan(home, type="security", status="scanning", attempts=1, lease_expires_at=later)
    assert taken(stuck) == stuck
    assert taken(stuck) is None


def make_audit(member: Member, **columns: Any) -> Audit:
    columns = {"kind": "site", "url": "https://example.com/", "types": ["seo"], "max_pages": 10} | columns
    return Audit.objects.create(organization=member.organization, **columns)


def background(member: Member, count: int, scan_type: str = "security") -> list[Scan]:
    """Create background visits, as of an audit of several pages, oldest first."""
    scans = queued(member, count, scan_type)
    Scan.objects.filter(id__in=[each.id for each in scans]).update(is_background=True)
    return scans


def test_what_somebody_waits_for_goes_before_the_pages_of_audits(home: Member, stranger: Member) -> None:
    pages = background(home, 6)
    assert taken(pages[0]) == pages[0]
    (own,), (others,) = queued(home), queued(stranger)
    assert taken(pages[1]) == others, "who has nothing running comes first"
    assert taken(pages[1]) == own
    assert taken(pages[1]) is None, "the last place is for somebody else"
    assert taken(pages[1], Worker("two", 4)) == pages[1]


def test_pages_of_audits_leave_the_last_place_of_a_worker(home: Member, stranger: Member) -> None:
    mine, theirs = background(home, 4), background(stranger, 4)
    assert [taken(mine[0]) for _ in range(4)] == [mine[0], theirs[0], mine[1], None]
    (single,) = queued(home)
    assert taken(single) == single
    assert taken(mine[0], Worker("with one place", 1)) is not None, "who has but one place does all there is"


def test_who_looks_for_pages_takes_none_of_the_places_that_are_kept_for_people(home: Member) -> None:
    make_audit(home, status="discovering", worker="one", lease_expires_at=timezone.now() + timedelta(minutes=1))
    pages = background(home, 4)
    assert [taken(pages[0]) for _ in range(3)] == [pages[0], pages[1], None]
    (single,) = queued(home)
    assert taken(single) == single


def test_a_discovery_counts_against_the_slots_that_are_not_reserved(home: Member, stranger: Member) -> None:
    make_audit(home, status="discovering", worker="one", lease_expires_at=timezone.now() + timedelta(minutes=1))
    backlog = queued(home, 4)
    assert [bool(taken(backlog[0])) for _ in range(3)] == [True, True, False]
    (single,) = queued(stranger)
    assert taken(single) == single


def test_pages_of_one_organizations_audits_use_half_of_the_browsers(
    home: Member, stranger: Member, with_browser: None
) -> None:
    pages = background(home, 3, "seo")
    assert [taken(pages[0]) for _ in range(3)] == [pages[0], pages[1], None]
    (others,) = background(stranger, 1, "seo")
    assert taken(pages[2]) == others


def test_turns_and_running_visits_count_in_their_own_queue_only(
    home: Member, stranger: Member, with_browser: None
) -> None:
    """An organization whose browser visit runs is not behind in the queue of scans without a browser."""
    (in_browser,) = queued(home, scan_type="seo")
    assert taken(in_browser) == in_browser
    (mine,), (theirs,) = queued(home), queued(stranger)
    Scan.objects.filter(id=mine.id).update(created_at=theirs.created_at - timedelta(seconds=1))
    assert taken(theirs) == mine


def test_a_visit_without_an_attempt_left_is_not_next(home: Member) -> None:
    spent, fresh = queued(home, 2)
    Scan.objects.filter(id=spent.id).update(attempts=MAX_ATTEMPTS)
    make_scan(
        home, type="security", status="scanning", attempts=MAX_ATTEMPTS, lease_expires_at=timezone.now()
    )  # an interrupted one
    assert taken(spent) == fresh
    assert taken(spent) is None


def test_a_place_that_a_page_of_an_audit_leaves_goes_to_the_next_of_anybody(
    home: Member, stranger: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    (mine,), (theirs,) = background(home, 1), background(stranger, 1)
    claim = claim_next(mine.id, Worker("one", 2))
    assert claim
    assert taken(theirs, Worker("one", 2)) is None
    finish_scan(claim, make_result(mine))
    told: list[str] = []
    monkeypatch.setattr("scans.visits.claims.enqueue", lambda scan_id, _: told.append(scan_id))
    wake_next(claim, WORKER)
    assert told == [theirs.id]


def test_scans_of_a_visit_are_one_in_the_queue(home: Member) -> None:
    (lead,) = queued(home)
    follower = make_scan(home, type="seo", lead=lead)
    claim = claim_next(follower.id, WORKER)
    assert claim
    assert (claim.scan_id, claim.types) == (lead.id, ("security", "seo"))
    assert taken(follower) is None
    assert set(Scan.objects.values_list("status", flat=True)) == {"scanning"}


def test_no_host_is_visited_more_often_at_once_than_it_may_be(
    home: Member, stranger: Member, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SCAN_VISITS_PER_DOMAIN = 2
    worker = Worker("one", 8)
    mine, theirs = queued(home, 3), queued(stranger, 2)
    elsewhere = make_scan(home, type="security", url="https://example.org/")
    claims = [claim_next(mine[0].id, worker) for _ in range(3)]
    assert [claim and claim.host for claim in claims] == ["example.com", "example.com", "example.org"]
    assert claims[2] is not None
    assert claims[2].scan_id == elsewhere.id
    assert taken(mine[0], worker) is None
    told: list[str] = []
    monkeypatch.setattr("scans.visits.claims.enqueue", lambda scan_id, _: told.append(scan_id))
    first = claims[0]
    assert first is not None
    finish_scan(first, make_result(Scan.objects.get(id=first.scan_id)))
    wake_next(first, worker)
    assert len(told) == 1, "whose message came too early is told again"
    assert taken(theirs[0], worker) is not None
    assert taken(theirs[0], worker) is None


def test_pages_of_audits_leave_the_last_place_at_a_host(home: Member, stranger: Member, settings: Settings) -> None:
    settings.SCAN_VISITS_PER_DOMAIN = 3
    pages = background(home, 4)
    worker = Worker("one", 8)
    assert [taken(pages[0], worker) for _ in range(3)] == [pages[0], pages[1], None]
    (single,) = queued(stranger)
    assert taken(single, worker) == single
    settings.SCAN_VISITS_PER_DOMAIN = 1
    Scan.objects.exclude(id=pages[3].id).update(status="failed", lease_expires_at=None)
    assert taken(pages[3], worker) == pages[3], "where there is but one place, they have it"


def test_organizations_take_turns_at_having_pages_looked_for(home: Member, stranger: Member) -> None:
    first, second, _ = (make_audit(home) for _ in range(3))
    theirs = make_audit(stranger)
    claims = [claim_discovery(WORKER) for _ in range(2)]
    assert [each and each.audit_id for each in claims] == [first.id, theirs.id]
    assert claim_discovery(WORKER) is None, "half of its places"
    Audit.objects.filter(id=theirs.id).update(status="running")
    assert claim_discovery(WORKER) is None, "one organization has half of those"
    Audit.objects.filter(id=first.id).update(status="running")
    claim = claim_discovery(WORKER)
    assert claim
    assert claim.audit_id == second.id, "its own come in their order"


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_places_for_looking_for_pages_hold_against_all_processes_at_once() -> None:
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
