"""Rate limit of visits to a domain over all organizations: concurrent visits, and the gap between visits."""

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
def _with_a_gap(settings: Any) -> None:
    settings.SCAN_GAP_PER_DOMAIN_S = 10.0


class Told(list[tuple[float, str]]):
    """Arranged wake-ups: the delay in seconds, and the scan."""


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    told = Told()
    monkeypatch.setattr(politeness, "enqueue_later", lambda seconds, scan_id, _: told.append((seconds, scan_id)))
    return told


@pytest.fixture
def take(told: Told, django_capture_on_commit_callbacks: Any) -> Any:
    def take(scan: Scan, worker: Worker = WORKER) -> Scan | None:
        with django_capture_on_commit_callbacks(execute=True):
            claim = claim_next(scan.id, worker)
        return Scan.objects.get(id=claim.scan_id) if claim else None

    return take


def end_gaps() -> None:
    DomainTurn.objects.update(free_at=timezone.now() - timedelta(milliseconds=1))


def on(host: str, member: Member, **columns: Any) -> Scan:
    return make_scan(member, url=f"https://{host}/", **columns)


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.com", "example.com"),
        ("www.example.com", "example.com"),
        ("a.b.example.co.uk:8443", "example.co.uk"),
        ("one.github.io", "one.github.io"),  # on the Public Suffix List: each subdomain has another owner
        ("co.uk", "co.uk"),
        ("203.0.113.7:8080", "203.0.113.7"),
        ("[2001:db8::1]:8443", "2001:db8::1"),
        ("127.0.0.1:8001", "127.0.0.1:8001"),  # exempted
        ("10.0.0.5", "10.0.0.5"),
        ("localhost:8080", "localhost:8080"),
        ("", ""),
    ],
)
def test_what_is_counted_as_one_site(host: str, domain: str, settings: Any) -> None:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"), (ip_network("10.0.0.0/8"), 8080))
    assert domain_of(host) == domain
    assert gap_s(host) == (0 if host.startswith(("127.", "10.", "localhost")) or not host else 10)


def test_a_scan_knows_its_domain_from_the_start(home: Member) -> None:
    scan = on("www.example.co.uk", home)
    assert Scan.objects.get(id=scan.id).domain == "example.co.uk"
    of_audit = Scan(organization=home.organization, url="https://a.example.org/", type="seo", period=scan.period)
    Scan.objects.bulk_create([of_audit])
    assert Scan.objects.get(id=of_audit.id).domain == "example.org"


def test_a_domain_rests_between_two_visits_whoever_asks_and_lets_others_pass(
    home: Member, stranger: Member, take: Any
) -> None:
    first = on("www.example.com", home)
    theirs = on("shop.example.com", stranger)
    elsewhere = on("example.org", stranger, created_at=timezone.now() + timedelta(seconds=1))
    assert take(first) == first
    assert take(theirs) == elsewhere, "it is younger, but its domain is free"
    assert take(theirs) is None
    end_gaps()
    assert take(theirs) == theirs


def test_without_a_gap_nothing_rests(home: Member, take: Any, settings: Any, told: Told) -> None:
    settings.SCAN_GAP_PER_DOMAIN_S = 0.0
    scans = [on("example.com", home) for _ in range(3)]
    assert [take(each) for each in scans] == scans
    assert told == []


def test_ones_own_sites_do_not_rest(home: Member, take: Any, settings: Any) -> None:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    settings.SCAN_VISITS_PER_DOMAIN = 2
    scans = [on("127.0.0.1:8001", home) for _ in range(3)]
    other = on("127.0.0.1:8002", home, created_at=timezone.now() + timedelta(seconds=1))
    assert [take(each) for each in scans] == [*scans[:2], other], "each port for itself, with the bound"
    assert take(other) is None


def test_all_hosts_of_a_domain_have_its_places_together(
    home: Member, stranger: Member, take: Any, settings: Any
) -> None:
    settings.SCAN_GAP_PER_DOMAIN_S = 0.0
    settings.SCAN_VISITS_PER_DOMAIN = 2
    scans = [on(f"{number}.example.com", home) for number in range(2)]
    theirs = on("example.com:8443", stranger)
    taken = [take(theirs) for _ in range(3)]
    assert taken[2] is None
    assert {each.id for each in taken[:2]} <= {each.id for each in (*scans, theirs)}


def test_what_was_interrupted_goes_first_when_its_domain_has_rested(home: Member, stranger: Member, take: Any) -> None:
    first = on("example.com", home)
    assert take(first) == first
    ago = timezone.now() - timedelta(seconds=1)
    died = on("www.example.com", home, status="scanning", attempts=1, lease_expires_at=ago)
    waits = on("example.com", stranger)
    assert take(waits) is None
    end_gaps()
    assert take(waits) == died


def test_the_end_of_a_gap_is_told_once_for_each_beginning(home: Member, take: Any, told: Told) -> None:
    scans = [on("example.com", home) for _ in range(3)]
    assert take(scans[0]) == scans[0]
    assert len(told) == 1, "who begins knows that others wait"
    seconds, scan_id = told[0]
    assert 9 < seconds <= 10
    assert scan_id in {each.id for each in scans[1:]}
    assert take(scans[1]) is None
    assert take(scans[2]) is None
    assert len(told) == 1, "however many messages come too early"
    end_gaps()
    assert take(scans[1]) == scans[1]
    assert len(told) == 2
    end_gaps()
    assert take(scans[2]) == scans[2]
    assert len(told) == 2, "nobody waits any more"


def test_who_comes_in_a_gap_in_which_nobody_waited_is_told_too(home: Member, take: Any, told: Told) -> None:
    first = on("example.com", home)
    assert take(first) == first
    assert told == []
    late = on("example.com", home)
    assert take(late) is None
    assert [scan_id for _, scan_id in told] == [late.id]


def test_each_queue_is_told(home: Member, take: Any, told: Told, settings: Any) -> None:
    settings.SCAN_BROWSER = "auto"
    first, plain, seo = on("example.com", home), on("example.com", home), on("example.com", home, type="seo")
    assert take(first) == first
    assert take(seo) is None
    assert {scan_id for _, scan_id in told} == {plain.id, seo.id}


def test_what_was_interrupted_is_told_too(home: Member, take: Any, told: Told) -> None:
    first = on("example.com", home)
    assert take(first) == first
    ago = timezone.now() - timedelta(seconds=1)
    died = on("example.com", home, status="scanning", attempts=1, lease_expires_at=ago)
    assert take(died) is None
    assert [scan_id for _, scan_id in told] == [died.id]


def test_a_gap_from_before_the_clock_was_put_back_is_over(home: Member, take: Any) -> None:
    first, second = on("example.com", home), on("example.com", home)
    assert take(first) == first
    later = timezone.now() + timedelta(hours=1)
    DomainTurn.objects.update(taken_at=later, free_at=later + timedelta(seconds=10))
    assert take(second) == second


def test_the_place_at_a_domain_goes_to_the_other_queue_too(
    home: Member, take: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SCAN_GAP_PER_DOMAIN_S = 0.0
    settings.SCAN_BROWSER = "auto"
    settings.SCAN_VISITS_PER_DOMAIN = 1
    seo, plain = on("example.com", home, type="seo"), on("www.example.com", home)
    claim = claim_next(seo.id, WORKER)
    assert claim
    assert take(plain) is None
    finish_scan(claim, make_result(seo))
    heard: list[tuple[str, str]] = []
    monkeypatch.setattr("scans.visits.claims.enqueue", lambda scan_id, of_type: heard.append((scan_id, str(of_type))))
    wake_next(claim, WORKER)
    assert heard == [(plain.id, "security")]


def test_a_message_that_is_sent_later_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    sent, heard = threading.Event(), []

    def enqueue(scan_id: str, scan_type: object) -> None:
        heard.append((scan_id, scan_type))
        sent.set()

    monkeypatch.setattr(politeness, "enqueue", enqueue)
    politeness.enqueue_later(0.01, "scan_a", "seo")  # type: ignore[arg-type]
    assert sent.wait(10)
    assert heard == [("scan_a", "seo")]


def test_the_sweeper_forgets_domains_and_takes_up_what_no_message_came_for(home: Member, take: Any) -> None:
    first, second = on("example.com", home), on("example.com", home)
    assert take(first) == first
    old = timezone.now() - timedelta(hours=2)
    DomainTurn.objects.create(domain="example.org", taken_at=old, free_at=old)
    Scan.objects.filter(id=second.id).update(enqueued_at=timezone.now() - timedelta(minutes=1))
    put_back: list[str] = []
    sweep_scans(lambda: 0, lambda scan_id, _: put_back.append(scan_id))
    assert put_back == [second.id]
    assert list(DomainTurn.objects.values_list("domain", flat=True)) == ["example.com"]
