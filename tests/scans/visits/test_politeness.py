"""Tests for the limits of visits to a domain.

They apply to concurrent visits and to the pause between visits, across all organizations.
"""

from __future__ import annotations

import threading
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from django.utils import timezone

from scans.models import DomainTurn, Scan
from scans.models.domain import domain_of
from scans.visits import politeness
from scans.visits.claims import claim_next, finish_scan, wake_waiting_scans
from scans.visits.politeness import min_gap_s
from scans.visits.queue import Worker
from scans.visits.sweeping import sweep_scans
from tests.factories import Member, make_result, make_scan

WORKER = Worker("one", 8)


@pytest.fixture(autouse=True)
def _pause_of_ten_seconds(settings: Any) -> None:
    settings.SCAN_GAP_PER_DOMAIN_S = 10.0


class WakeUps(list[tuple[float, str]]):
    """List of pairs (delay in seconds, scan ID) for scheduled wake-ups."""


@pytest.fixture
def wake_ups(monkeypatch: pytest.MonkeyPatch) -> WakeUps:
    wake_ups = WakeUps()
    monkeypatch.setattr(politeness, "enqueue_later", lambda seconds, scan_id, _: wake_ups.append((seconds, scan_id)))
    return wake_ups


@pytest.fixture
def claim_in_turn(wake_ups: WakeUps, django_capture_on_commit_callbacks: Any) -> Any:
    def claim_in_turn(scan: Scan, worker: Worker = WORKER) -> Scan | None:
        with django_capture_on_commit_callbacks(execute=True):
            claim = claim_next(scan.id, worker)
        return Scan.objects.get(id=claim.scan_id) if claim else None

    return claim_in_turn


def end_pauses() -> None:
    DomainTurn.objects.update(free_at=timezone.now() - timedelta(milliseconds=1))


def make_scan_of_host(host: str, member: Member, **columns: Any) -> Scan:
    return make_scan(member, url=f"https://{host}/", **columns)


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.com", "example.com"),
        ("www.example.com", "example.com"),
        ("a.b.example.co.uk:8443", "example.co.uk"),
        # This domain is a public suffix, so its subdomains have different owners.
        ("one.github.io", "one.github.io"),
        ("co.uk", "co.uk"),
        ("203.0.113.7:8080", "203.0.113.7"),
        ("[2001:db8::1]:8443", "2001:db8::1"),
        ("127.0.0.1:8001", "127.0.0.1:8001"),  # This address is in SCAN_ALLOWED_NETWORKS.
        ("10.0.0.5", "10.0.0.5"),
        ("localhost:8080", "localhost:8080"),
        ("", ""),
    ],
)
def test_hosts_have_a_registrable_domain(host: str, domain: str, settings: Any) -> None:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"), (ip_network("10.0.0.0/8"), 8080))
    assert domain_of(host) == domain
    assert min_gap_s(host) == (0 if host.startswith(("127.", "10.", "localhost")) or not host else 10)


def test_domain_is_stored_with_a_scan(home: Member) -> None:
    scan = make_scan_of_host("www.example.co.uk", home)
    assert Scan.objects.get(id=scan.id).domain == "example.co.uk"
    page_scan_of_audit = Scan(
        organization=home.organization, url="https://a.example.org/", type="seo", period=scan.period
    )
    Scan.objects.bulk_create([page_scan_of_audit])
    assert Scan.objects.get(id=page_scan_of_audit.id).domain == "example.org"


def test_domain_pause_applies_to_all_organizations(home: Member, stranger: Member, claim_in_turn: Any) -> None:
    first = make_scan_of_host("www.example.com", home)
    theirs = make_scan_of_host("shop.example.com", stranger)
    elsewhere = make_scan_of_host("example.org", stranger, created_at=timezone.now() + timedelta(seconds=1))
    assert claim_in_turn(first) == first
    assert claim_in_turn(theirs) == elsewhere, "the scan is younger, but its domain is free"
    assert claim_in_turn(theirs) is None
    end_pauses()
    assert claim_in_turn(theirs) == theirs


def test_pause_between_visits_can_be_disabled(
    home: Member, claim_in_turn: Any, settings: Any, wake_ups: WakeUps
) -> None:
    settings.SCAN_GAP_PER_DOMAIN_S = 0.0
    scans = [make_scan_of_host("example.com", home) for _ in range(3)]
    assert [claim_in_turn(scan) for scan in scans] == scans
    assert wake_ups == []


def test_private_hosts_are_visited_without_pauses(home: Member, claim_in_turn: Any, settings: Any) -> None:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    settings.SCAN_VISITS_PER_DOMAIN = 2
    scans = [make_scan_of_host("127.0.0.1:8001", home) for _ in range(3)]
    other = make_scan_of_host("127.0.0.1:8002", home, created_at=timezone.now() + timedelta(seconds=1))
    assert [claim_in_turn(scan) for scan in scans] == [*scans[:2], other], "each port has its own limit"
    assert claim_in_turn(other) is None


def test_all_hosts_of_a_domain_share_its_slots(
    home: Member, stranger: Member, claim_in_turn: Any, settings: Any
) -> None:
    settings.SCAN_GAP_PER_DOMAIN_S = 0.0
    settings.SCAN_VISITS_PER_DOMAIN = 2
    scans = [make_scan_of_host(f"{number}.example.com", home) for number in range(2)]
    theirs = make_scan_of_host("example.com:8443", stranger)
    claimed = [claim_in_turn(theirs) for _ in range(3)]
    assert claimed[2] is None
    assert {scan.id for scan in claimed[:2]} <= {scan.id for scan in (*scans, theirs)}


def test_interrupted_visit_is_first_after_the_pause(home: Member, stranger: Member, claim_in_turn: Any) -> None:
    first = make_scan_of_host("example.com", home)
    assert claim_in_turn(first) == first
    ago = timezone.now() - timedelta(seconds=1)
    interrupted = make_scan_of_host("www.example.com", home, status="scanning", attempts=1, lease_expires_at=ago)
    waiting = make_scan_of_host("example.com", stranger)
    assert claim_in_turn(waiting) is None
    end_pauses()
    assert claim_in_turn(waiting) == interrupted


def test_visit_schedules_one_wake_up(home: Member, claim_in_turn: Any, wake_ups: WakeUps) -> None:
    scans = [make_scan_of_host("example.com", home) for _ in range(3)]
    assert claim_in_turn(scans[0]) == scans[0]
    assert len(wake_ups) == 1, "scheduled because other scans wait"
    seconds, scan_id = wake_ups[0]
    assert 9 < seconds <= 10
    assert scan_id in {scan.id for scan in scans[1:]}
    assert claim_in_turn(scans[1]) is None
    assert claim_in_turn(scans[2]) is None
    assert len(wake_ups) == 1, "independent of the number of early messages"
    end_pauses()
    assert claim_in_turn(scans[1]) == scans[1]
    assert len(wake_ups) == 2
    end_pauses()
    assert claim_in_turn(scans[2]) == scans[2]
    assert len(wake_ups) == 2, "no scan waits any more"


def test_scan_during_a_pause_schedules_a_wake_up(home: Member, claim_in_turn: Any, wake_ups: WakeUps) -> None:
    first = make_scan_of_host("example.com", home)
    assert claim_in_turn(first) == first
    assert wake_ups == []
    late = make_scan_of_host("example.com", home)
    assert claim_in_turn(late) is None
    assert [scan_id for _, scan_id in wake_ups] == [late.id]


def test_queues_get_their_own_wake_up(home: Member, claim_in_turn: Any, wake_ups: WakeUps, settings: Any) -> None:
    settings.SCAN_BROWSER = "auto"
    first, plain, seo = (
        make_scan_of_host("example.com", home),
        make_scan_of_host("example.com", home),
        make_scan_of_host("example.com", home, type="seo"),
    )
    assert claim_in_turn(first) == first
    assert claim_in_turn(seo) is None
    assert {scan_id for _, scan_id in wake_ups} == {plain.id, seo.id}


def test_interrupted_visit_gets_a_wake_up(home: Member, claim_in_turn: Any, wake_ups: WakeUps) -> None:
    first = make_scan_of_host("example.com", home)
    assert claim_in_turn(first) == first
    ago = timezone.now() - timedelta(seconds=1)
    interrupted = make_scan_of_host("example.com", home, status="scanning", attempts=1, lease_expires_at=ago)
    assert claim_in_turn(interrupted) is None
    assert [scan_id for _, scan_id in wake_ups] == [interrupted.id]


def test_pause_before_a_clock_change_is_ignored(home: Member, claim_in_turn: Any) -> None:
    first, second = make_scan_of_host("example.com", home), make_scan_of_host("example.com", home)
    assert claim_in_turn(first) == first
    later = timezone.now() + timedelta(hours=1)
    DomainTurn.objects.update(taken_at=later, free_at=later + timedelta(seconds=10))
    assert claim_in_turn(second) == second


def test_freed_slot_wakes_up_the_other_queue(
    home: Member, claim_in_turn: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SCAN_GAP_PER_DOMAIN_S = 0.0
    settings.SCAN_BROWSER = "auto"
    settings.SCAN_VISITS_PER_DOMAIN = 1
    seo, plain = make_scan_of_host("example.com", home, type="seo"), make_scan_of_host("www.example.com", home)
    claim = claim_next(seo.id, WORKER)
    assert claim
    assert claim_in_turn(plain) is None
    finish_scan(claim, make_result(seo))
    enqueued: list[tuple[str, str]] = []
    monkeypatch.setattr("scans.visits.claims.enqueue", lambda scan_id, queue: enqueued.append((scan_id, queue)))
    wake_waiting_scans(claim, WORKER)
    assert enqueued == [(plain.id, "scans")]


def test_delayed_message_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    is_sent, enqueued = threading.Event(), []

    def enqueue(scan_id: str, queue: str) -> None:
        enqueued.append((scan_id, queue))
        is_sent.set()

    monkeypatch.setattr(politeness, "enqueue", enqueue)
    politeness.enqueue_later(0.01, "scan_a", "browser")
    assert is_sent.wait(10)
    assert enqueued == [("scan_a", "browser")]


def test_sweeper_deletes_old_domain_turns(home: Member, claim_in_turn: Any) -> None:
    first, second = make_scan_of_host("example.com", home), make_scan_of_host("example.com", home)
    assert claim_in_turn(first) == first
    old = timezone.now() - timedelta(hours=2)
    DomainTurn.objects.create(domain="example.org", taken_at=old, free_at=old)
    Scan.objects.filter(id=second.id).update(enqueued_at=timezone.now() - timedelta(minutes=1))
    requeued: list[str] = []
    sweep_scans(lambda: 0, lambda scan_id, _: requeued.append(scan_id))
    assert requeued == [second.id]
    assert list(DomainTurn.objects.values_list("domain", flat=True)) == ["example.com"]
