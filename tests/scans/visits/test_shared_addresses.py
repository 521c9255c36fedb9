"""Tests that visits to one IP address wait for each other.

This includes visits to different host names.
"""

from __future__ import annotations

from datetime import timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Tier
from scans.models import Scan
from scans.tasks import run_scan
from scans.visits.claims import ScanClaim, claim_next, claim_scan, finish_scan, wake_waiting_scans
from scans.visits.fairness import next_turn_sql
from scans.visits.queue import Worker
from scans.visits.shared_addresses import enter_addresses
from tests.factories import Member, make_result, make_scan
from tests.queries import explained, rows_read
from tests.targets.server import Answer, Site

WORKER = Worker("one", 8)
SHARED, OTHER = "93.184.216.34", "2606:2800:220:1::1"


@pytest.fixture(autouse=True)
def _without_pauses(settings: Any) -> None:
    settings.SCAN_GAP_PER_DOMAIN_S = 0.0


def make_scan_at(member: Member, number: int, *addresses: str, is_of_list: bool = True, **columns: Any) -> Scan:
    """Create a scan of a site with these known IP addresses.

    By default, it belongs to a list.
    """
    url = f"https://site-{number}.example-{number}.com/"
    known_addresses = list(addresses) or None
    columns = {"is_background": is_of_list, **columns}
    return make_scan(member, url=url, is_of_list=is_of_list, addresses=known_addresses, **columns)


def claim_in_turn(scan: Scan) -> Scan | None:
    claim = claim_next(scan.id, WORKER)
    return Scan.objects.get(id=claim.scan_id) if claim else None


def finish_visit(scan: Scan) -> None:
    Scan.objects.filter(id=scan.id).update(status="failed", lease_expires_at=None)


def test_list_visits_to_an_address_take_turns(home: Member) -> None:
    Tier.objects.update(concurrent_scans=200)
    scans = [make_scan_at(home, number, SHARED) for number in range(100)]
    visited_ids = []
    while (scan := claim_in_turn(scans[0])) is not None:
        visited_ids.append(scan.id)
        assert claim_in_turn(scans[0]) is None, "no second visit at the same time"
        finish_visit(scan)
    assert sorted(visited_ids) == sorted(listed.id for listed in scans)


def test_visit_to_another_address_does_not_wait(home: Member) -> None:
    first, second, third = make_scan_at(home, 1, SHARED), make_scan_at(home, 2, SHARED), make_scan_at(home, 3, OTHER)
    assert claim_in_turn(first) == first
    assert claim_in_turn(second) == third


def test_one_common_address_makes_visits_wait(home: Member) -> None:
    first, both, third = (
        make_scan_at(home, 1, SHARED),
        make_scan_at(home, 2, OTHER, SHARED),
        make_scan_at(home, 3, OTHER),
    )
    assert claim_in_turn(first) == first
    assert claim_in_turn(both) == third
    finish_visit(first)
    assert claim_in_turn(both) is None, "the other address is still in use"
    finish_visit(third)
    assert claim_in_turn(both) == both


def test_organizations_wait_for_one_address(home: Member, stranger: Member) -> None:
    first, theirs = make_scan_at(home, 1, SHARED), make_scan_at(stranger, 2, SHARED)
    assert claim_in_turn(first) == first
    assert claim_in_turn(theirs) is None
    finish_visit(first)
    assert claim_in_turn(theirs) == theirs


def test_lists_and_interactive_scans_share_the_limit(home: Member, stranger: Member) -> None:
    interactive = make_scan_at(home, 1, SHARED, is_of_list=False)
    assert claim_in_turn(interactive) == interactive
    list_scan = make_scan_at(stranger, 2, SHARED)
    assert claim_in_turn(list_scan) is None
    finish_visit(interactive)
    assert claim_in_turn(list_scan) == list_scan
    other = make_scan_at(home, 3, SHARED, is_of_list=False)
    assert claim_in_turn(other) is None
    finish_visit(list_scan)
    assert claim_in_turn(other) == other


@pytest.mark.parametrize("is_background", [False, True], ids=["interactive", "page of an audit"])
def test_names_of_one_address_take_turns(home: Member, stranger: Member, is_background: bool) -> None:
    """More names must not multiply the visits to a server.

    Anybody can point names at another owner's server.
    """
    Tier.objects.update(concurrent_scans=200)
    scans = [
        make_scan_at(member, 10 * number, SHARED, is_of_list=False, is_background=is_background)
        for number, member in enumerate([home, stranger] * 10)
    ]
    visits = 0
    while (scan := claim_in_turn(scans[0])) is not None:
        visits += 1
        assert claim_in_turn(scans[0]) is None
        finish_visit(scan)
    assert visits == len(scans)


def test_domain_pages_are_visited_concurrently(home: Member) -> None:
    pages = [make_scan_at(home, 1, SHARED, is_of_list=False, is_background=True) for _ in range(3)]
    assert {claim_in_turn(pages[0]), claim_in_turn(pages[0]), claim_in_turn(pages[0])} == set(pages)


def test_waiting_domain_gets_the_address_next(home: Member, stranger: Member) -> None:
    """Other domains must get the address during a long audit.

    Thousands of sites may share one IP address.
    """
    first, *pages = [make_scan_at(home, 1, SHARED, is_of_list=False, is_background=True) for _ in range(3)]
    running = claim_in_turn(first)
    assert running
    theirs = make_scan_at(stranger, 2, SHARED, is_of_list=False)
    assert claim_in_turn(first) is None
    finish_visit(running)
    assert claim_in_turn(first) == theirs
    finish_visit(theirs)
    assert {claim_in_turn(first), claim_in_turn(first)} == {first, *pages} - {running}


def claim_at(scan: Scan) -> ScanClaim:
    claim = claim_scan(scan.id, WORKER)
    assert claim
    return claim


@pytest.mark.parametrize("known", [(), (OTHER,)], ids=["unknown", "changed"])
def test_visit_to_a_used_address_is_queued_again(home: Member, stranger: Member, known: tuple[str, ...]) -> None:
    """Unknown addresses are not limited.

    The addresses of a monitor's site are unknown in advance, and DNS may change after a scan was accepted.
    """
    visited = make_scan_at(home, 1, SHARED, is_of_list=False)
    assert claim_in_turn(visited) == visited
    lead = make_scan_at(stranger, 2, *known, is_of_list=False)
    follower = make_scan(stranger, url=lead.url, type="seo", lead=lead)
    assert not enter_addresses(claim_at(lead), [SHARED])
    rows = Scan.objects.filter(id__in=[lead.id, follower.id])
    columns = ("status", "attempts", "claim_token", "lease_expires_at", "started_at", "worker")
    assert set(rows.values_list(*columns)) == {("queued", 0, None, None, None, "")}
    assert claim_in_turn(lead) is None
    finish_visit(visited)
    assert claim_in_turn(lead) == lead


def test_visit_may_use_addresses_of_its_own_domain(home: Member) -> None:
    first, second = make_scan_at(home, 1, is_of_list=False), make_scan_at(home, 1, is_of_list=False)
    assert enter_addresses(claim_at(first), [SHARED, OTHER])
    first.refresh_from_db()
    assert (first.status, first.addresses) == ("scanning", [SHARED, OTHER])
    assert enter_addresses(claim_at(second), [SHARED])
    assert claim_in_turn(make_scan_at(home, 2, OTHER)) is None


def test_visit_without_claim_changes_nothing(home: Member) -> None:
    visited, other = make_scan_at(home, 1, SHARED, is_of_list=False), make_scan_at(home, 2, is_of_list=False)
    claim_at(visited)
    lost = claim_at(other)
    Scan.objects.filter(id=other.id).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    claim_at(other)
    assert enter_addresses(lost, [SHARED])
    other.refresh_from_db()
    assert (other.status, other.addresses, other.attempts) == ("scanning", None, 2)


def test_unknown_addresses_are_not_limited(home: Member) -> None:
    scans = [make_scan_at(home, number) for number in range(3)]
    assert {claim_in_turn(scans[0]), claim_in_turn(scans[0]), claim_in_turn(scans[0])} == set(scans)


def test_interrupted_visit_waits_for_its_address(home: Member, stranger: Member) -> None:
    ago = timezone.now() - timedelta(seconds=1)
    interrupted = make_scan_at(home, 1, SHARED, status="scanning", attempts=1, lease_expires_at=ago)
    assert claim_in_turn(interrupted) == interrupted, "its own expired lease does not occupy the address"
    Scan.objects.filter(id=interrupted.id).update(lease_expires_at=ago)
    other = make_scan_at(stranger, 2, SHARED, is_of_list=False)
    assert claim_in_turn(other) == interrupted
    finish_visit(interrupted)
    assert claim_in_turn(other) == other
    Scan.objects.filter(id=interrupted.id).update(status="scanning", lease_expires_at=ago)
    assert claim_in_turn(interrupted) is None


def test_end_of_a_visit_wakes_up_the_other_queue(home: Member, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SCAN_BROWSER = "auto"
    seo, plain = make_scan_at(home, 1, SHARED, type="seo"), make_scan_at(home, 2, SHARED)
    claim = claim_next(seo.id, WORKER)
    assert claim
    assert claim_in_turn(plain) is None
    finish_scan(claim, make_result(seo))
    enqueued: list[str] = []
    monkeypatch.setattr("scans.visits.claims.enqueue", lambda scan_id, _: enqueued.append(scan_id))
    wake_waiting_scans(claim, WORKER)
    assert enqueued == [plain.id]
    assert claim_in_turn(plain) == plain


def test_claim_reads_few_scans(home: Member) -> None:
    now = timezone.now()
    ended = [
        Scan(
            organization=home.organization, url=f"https://old-{n}.example.org/", type="seo", status="failed",
            period=now.date().replace(day=1), addresses=[SHARED], is_of_list=True,
        )
        for n in range(2_000)
    ]  # fmt: skip
    Scan.objects.bulk_create(ended)
    queued = [make_scan_at(home, number, SHARED) for number in range(50)]
    assert claim_in_turn(queued[0])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE scans_scan")
    parameters = {
        "queue": "scans", "types": ["security", "seo"], "has_journeys": True, "worker": "one", "share": 8, "common": 8,
        "background": 7, "per_domain": 4, "max_attempts": 3,
    }  # fmt: skip
    plan = explained(next_turn_sql(), parameters)
    assert rows_read([node for node in plan if node.get("Relation Name") == "scans_scan"]) < 4 * len(queued)


def test_worker_avoids_an_address_in_use(home: Member, stranger: Member, settings: Any) -> None:
    """A DNS change cannot bypass the limit per address.

    The worker resolves addresses again before connecting.
    """
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    settings.SCAN_BROWSER = "off"
    with Site({"/": Answer("<title>Shop</title>")}) as site:
        scan = make_scan(home, url=f"{site.url}/", type="seo")
        visited = make_scan_at(stranger, 1, f"127.0.0.1:{site.port}", is_of_list=False)
        claim_at(visited)
        run_scan(scan.id)
        scan.refresh_from_db()
        assert (scan.status, scan.addresses, site.connections) == ("queued", [f"127.0.0.1:{site.port}"], 0)
        finish_visit(visited)
        run_scan(scan.id)
        scan.refresh_from_db()
        assert scan.status in Scan.REPORTED, scan.error_message
