"""Visits of lists to the same IP address: they wait for each other, even if the host names differ."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Tier
from scans.models import Scan
from scans.visits.claims import claim_next, finish_scan, wake_next
from scans.visits.fairness import next_turn_sql
from scans.visits.queue import Worker
from tests.factories import Member, make_result, make_scan
from tests.queries import explained, rows_read

WORKER = Worker("one", 8)
SHARED, OTHER = "93.184.216.34", "2606:2800:220:1::1"


@pytest.fixture(autouse=True)
def _without_pauses(settings: Any) -> None:
    settings.SCAN_GAP_PER_DOMAIN_S = 0.0


def make_scan_at(member: Member, number: int, *addresses: str, is_of_list: bool = True, **columns: Any) -> Scan:
    """Create a scan of a site on its own domain, by default of a list, with these known addresses."""
    url = f"https://site-{number}.example-{number}.com/"
    known_addresses = list(addresses) or None
    columns = {"is_background": is_of_list, **columns}
    return make_scan(member, url=url, is_of_list=is_of_list, addresses=known_addresses, **columns)


def claim_in_turn(scan: Scan) -> Scan | None:
    claim = claim_next(scan.id, WORKER)
    return Scan.objects.get(id=claim.scan_id) if claim else None


def end(scan: Scan) -> None:
    Scan.objects.filter(id=scan.id).update(status="failed", lease_expires_at=None)


def test_names_at_one_address_are_visited_one_after_the_other(home: Member) -> None:
    Tier.objects.update(concurrent_scans=200)
    scans = [make_scan_at(home, number, SHARED) for number in range(100)]
    visited_ids = []
    while (scan := claim_in_turn(scans[0])) is not None:
        visited_ids.append(scan.id)
        assert claim_in_turn(scans[0]) is None, "no second visit at the same time"
        end(scan)
    assert sorted(visited_ids) == sorted(listed.id for listed in scans)


def test_visit_of_another_address_does_not_wait(home: Member) -> None:
    first, second, third = make_scan_at(home, 1, SHARED), make_scan_at(home, 2, SHARED), make_scan_at(home, 3, OTHER)
    assert claim_in_turn(first) == first
    assert claim_in_turn(second) == third


def test_one_common_address_is_enough_to_wait(home: Member) -> None:
    first, both, third = (
        make_scan_at(home, 1, SHARED),
        make_scan_at(home, 2, OTHER, SHARED),
        make_scan_at(home, 3, OTHER),
    )
    assert claim_in_turn(first) == first
    assert claim_in_turn(both) == third
    end(first)
    assert claim_in_turn(both) is None, "the other address is still in use"
    end(third)
    assert claim_in_turn(both) == both


def test_visits_of_different_organizations_wait_for_each_other(home: Member, stranger: Member) -> None:
    first, theirs = make_scan_at(home, 1, SHARED), make_scan_at(stranger, 2, SHARED)
    assert claim_in_turn(first) == first
    assert claim_in_turn(theirs) is None
    end(first)
    assert claim_in_turn(theirs) == theirs


def test_list_waits_for_interactive_scans_but_not_the_other_way_round(home: Member, stranger: Member) -> None:
    interactive = make_scan_at(home, 1, SHARED, is_of_list=False)
    assert claim_in_turn(interactive) == interactive
    of_list = make_scan_at(stranger, 2, SHARED)
    assert claim_in_turn(of_list) is None
    end(interactive)
    assert claim_in_turn(of_list) == of_list
    other = make_scan_at(home, 3, SHARED, is_of_list=False)
    assert claim_in_turn(other) == other


def test_visits_without_known_addresses_are_limited_by_domain_only(home: Member) -> None:
    scans = [make_scan_at(home, number) for number in range(3)]
    assert {claim_in_turn(scans[0]), claim_in_turn(scans[0]), claim_in_turn(scans[0])} == set(scans)


def test_interrupted_visit_also_waits_for_its_address(home: Member, stranger: Member) -> None:
    ago = timezone.now() - timedelta(seconds=1)
    interrupted = make_scan_at(home, 1, SHARED, status="scanning", attempts=1, lease_expires_at=ago)
    assert claim_in_turn(interrupted) == interrupted, "its own expired lease does not occupy the address"
    Scan.objects.filter(id=interrupted.id).update(lease_expires_at=ago)
    other = make_scan_at(stranger, 2, SHARED, is_of_list=False)
    assert claim_in_turn(other) == interrupted
    end(interrupted)
    assert claim_in_turn(other) == other
    Scan.objects.filter(id=interrupted.id).update(status="scanning", lease_expires_at=ago)
    assert claim_in_turn(interrupted) is None


def test_end_of_a_visit_wakes_up_scans_of_another_queue_that_wait_for_its_address(
    home: Member, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SCAN_BROWSER = "auto"
    seo, plain = make_scan_at(home, 1, SHARED, type="seo"), make_scan_at(home, 2, SHARED)
    claim = claim_next(seo.id, WORKER)
    assert claim
    assert claim_in_turn(plain) is None
    finish_scan(claim, make_result(seo))
    enqueued: list[str] = []
    monkeypatch.setattr("scans.visits.claims.enqueue", lambda scan_id, _: enqueued.append(scan_id))
    wake_next(claim, WORKER)
    assert enqueued == [plain.id]
    assert claim_in_turn(plain) == plain


def test_claim_reads_only_running_and_queued_scans(home: Member) -> None:
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
        "queue": "scans", "types": ["security", "seo"], "worker": "one", "share": 8, "common": 8, "background": 7,
        "per_domain": 4, "max_attempts": 3,
    }  # fmt: skip
    plan = explained(next_turn_sql(), parameters)
    assert rows_read([node for node in plan if node.get("Relation Name") == "scans_scan"]) < 4 * len(queued)
