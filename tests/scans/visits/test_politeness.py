"""Limits of visits to a domain over all organizations: concurrent visits, and the pause between two visits."""

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
from scans.visits.claims import claim_next, finish_scan, wake_next
from scans.visits.politeness import gap_s
from scans.visits.queue import Worker
from scans.visits.sweeping import sweep_scans
from tests.factories import Member, make_result, make_scan

WORKER = Worker("one", 8)


@pytest.fixture(autouse=True)
def _pause_of_ten_seconds(settings: Any) -> None:
    settings.SCAN_GAP_PER_DOMAIN_S = 10.0


class WakeUps(list[tuple[float, str]]):
    """Scheduled wake-ups: the delay in seconds, and the scan's ID."""


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


def make_scan_of(host: str, member: Member, **columns: Any) -> Scan:
    return make_scan(member, url=f"https://{host}/", **columns)


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.com", "example.com"),
        ("www.example.com", "example.com"),
        ("a.b.example.co.uk:8443", "example.co.uk"),
        ("one.github.io", "one.github.io"),  # On the Public Suffix List: each subdomain has another owner.
        ("co.uk", "co.uk"),
        ("203.0.113.7:8080", "203.0.113.7"),
        ("[2001:db8::1]:8443", "2001:db8::1"),
        ("127.0.0.1:8001", "127.0.0.1:8001"),  # In SCAN_ALLOWED_NETWORKS.
        ("10.0.0.5", "10.0.0.5"),
        ("localhost:8080", "localhost:8080"),
        ("", ""),
    ],
)
def test_domain_of_a_host_and_its_pause(host: str, domain: str, settings: Any) -> None:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"), (ip_network("10.0.0.0/8"), 8080))
    assert domain_of(host) == domain
    assert gap_s(host) == (0 if host.startswith(("127.", "10.", "localhost")) or not host else 10)


def test_domain_is_stored_when_a_scan_is_created(home: Member) -> None:
    scan = make_scan_of("www.example.co.uk", home)
    assert Scan.objects.get(id=scan.id).domain == "example.co.uk"
    of_audit = Scan(organization=home.organization, url="https://a.example.org/", type="seo", period=scan.period)
    Scan.objects.bulk_create([of_audit])
    assert Scan.objects.get(id=of_audit.id).domain == "example.org"


def test_domain_pauses_between_visits_of_all_organizations_but_not_other_domains(
    home: Member, stranger: Member, claim_in_turn: Any
) -> None:
    first = make_scan_of("www.example.com", home)
    theirs = make_scan_of("shop.example.com", stranger)
    elsewhere = make_scan_of("example.org", stranger, created_at=timezone.now() + timedelta(seconds=1))
    assert claim_in_turn(first) == first
    assert claim_in_turn(theirs) == elsewhere, "the scan is younger, but its domain is free"
    assert claim_in_turn(theirs) is None
    end_pauses()
    assert claim_in_turn(theirs) == theirs


def test_pause_can_be_switched_off(home: Member, claim_in_turn: Any, settings: Any, wake_ups: WakeUps) -> None:
    settings.SCAN_GAP_PER_DOMAIN_S = 0.0
    scans = [make_scan_of("example.com", home) for _ in range(3)]
    assert [claim_in_turn(scan) for scan in scans] == scans
    assert wake_ups == []


def test_private_hosts_have_no_pause(home: Member, claim_in_turn: Any, settings: Any) -> None:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    settings.SCAN_VISITS_PER_DOMAIN = 2
    scans = [make_scan_of("127.0.0.1:8001", home) for _ in range(3)]
    other = make_scan_of("127.0.0.1:8002", home, created_at=timezone.now() + timedelta(seconds=1))
    assert [claim_in_turn(scan) for scan in scans] == [*scans[:2], other], "each port has its own limit"
    assert claim_in_turn(other) is None


def test_all_hosts_of_a_domain_share_its_slots(
    home: Member, stranger: Member, claim_in_turn: Any, settings: Any
) -> None:
    settings.SCAN_GAP_PER_DOMAIN_S = 0.0
    settings.SCAN_VISITS_PER_DOMAIN = 2
    scans = [make_scan_of(f"{number}.example.com", home) for number in range(2)]
    theirs = make_scan_of("example.com:8443", stranger)
    claimed = [claim_in_turn(theirs) for _ in range(3)]
    assert claimed[2] is None
    assert {scan.id for scan in claimed[:2]} <= {scan.id for scan in (*scans, theirs)}


def test_interrupted_visit_goes_first_after_the_pause_of_its_domain(
    home: Member, stranger: Member, claim_in_turn: Any
) -> None:
    first = make_scan_of("example.com", home)
    assert claim_in_turn(first) == first
    ago = timezone.now() - timedelta(seconds=1)
    interrupted = make_scan_of("www.example.com", home, status="scanning", attempts=1, lease_expires_at=ago)
    waiting = make_scan_of("example.com", stranger)
    assert claim_in_turn(waiting) is None
    end_pauses()
    assert claim_in_turn(waiting) == interrupted


def test_each_visit_schedules_one_wake_up_for_the_end_of_its_pause(
    home: Member, claim_in_turn: Any, wake_ups: WakeUps
) -> None:
    scans = [make_scan_of("example.com", home) for _ in range(3)]
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


def test_scan_created_during_a_pause_schedules_a_wake_up(home: Member, claim_in_turn: Any, wake_ups: WakeUps) -> None:
    first = make_scan_of("example.com", home)
    assert claim_in_turn(first) == first
    assert wake_ups == []
    late = make_scan_of("example.com", home)
    assert claim_in_turn(late) is None
    assert [scan_id for _, scan_id in wake_ups] == [late.id]


def test_each_queue_gets_a_wake_up(home: Member, claim_in_turn: Any, wake_ups: WakeUps, settings: Any) -> None:
    settings.SCAN_BROWSER = "auto"
    first, plain, seo = (
        make_scan_of("example.com", home),
        make_scan_of("example.com", home),
        make_scan_of("example.com", home, type="seo"),
    )
    assert claim_in_turn(first) == first
    assert claim_in_turn(seo) is None
    assert {scan_id for _, scan_id in wake_ups} == {plain.id, seo.id}


def test_interrupted_visit_gets_a_wake_up(home: Member, claim_in_turn: Any, wake_ups: WakeUps) -> None:
    first = make_scan_of("example.com", home)
    assert claim_in_turn(first) == first
    ago = timezone.now() - timedelta(seconds=1)
    interrupted = make_scan_of("example.com", home, status="scanning", attempts=1, lease_expires_at=ago)
    assert claim_in_turn(interrupted) is None
    assert [scan_id for _, scan_id in wake_ups] == [interrupted.id]


def test_pause_from_before_a_clock_change_is_over(home: Member, claim_in_turn: Any) -> None:
    first, second = make_scan_of("example.com", home), make_scan_of("example.com", home)
    assert claim_in_turn(first) == first
    later = timezone.now() + timedelta(hours=1)
    DomainTurn.objects.update(taken_at=later, free_at=later + timedelta(seconds=10))
    assert claim_in_turn(second) == second


def test_free_slot_of_a_domain_wakes_up_the_other_queue(
    home: Member, claim_in_turn: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SCAN_GAP_PER_DOMAIN_S = 0.0
    settings.SCAN_BROWSER = "auto"
    settings.SCAN_VISITS_PER_DOMAIN = 1
    seo, plain = make_scan_of("example.com", home, type="seo"), make_scan_of("www.example.com", home)
    claim = claim_next(seo.id, WORKER)
    assert claim
    assert claim_in_turn(plain) is None
    finish_scan(claim, make_result(seo))
    enqueued: list[tuple[str, str]] = []
    monkeypatch.setattr(
        "scans.visits.claims.enqueue", lambda scan_id, scan_type: enqueued.append((scan_id, str(scan_type)))
    )
    wake_next(claim, WORKER)
    assert enqueued == [(plain.id, "security")]


def test_delayed_message_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    is_sent, enqueued = threading.Event(), []

    def enqueue(scan_id: str, scan_type: object) -> None:
        enqueued.append((scan_id, scan_type))
        is_sent.set()

    monkeypatch.setattr(politeness, "enqueue", enqueue)
    politeness.enqueue_later(0.01, "scan_a", "seo")  # type: ignore[arg-type]
    assert is_sent.wait(10)
    assert enqueued == [("scan_a", "seo")]


def test_sweeper_deletes_old_domain_turns_and_requeues_scans_without_a_wake_up(
    home: Member, claim_in_turn: Any
) -> None:
    first, second = make_scan_of("example.com", home), make_scan_of("example.com", home)
    assert claim_in_turn(first) == first
    old = timezone.now() - timedelta(hours=2)
    DomainTurn.objects.create(domain="example.org", taken_at=old, free_at=old)
    Scan.objects.filter(id=second.id).update(enqueued_at=timezone.now() - timedelta(minutes=1))
    requeued: list[str] = []
    sweep_scans(lambda: 0, lambda scan_id, _: requeued.append(scan_id))
    assert requeued == [second.id]
    assert list(DomainTurn.objects.values_list("domain", flat=True)) == ["example.com"]
