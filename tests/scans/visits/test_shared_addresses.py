"""Visits of lists wait for each other at an address, however many names lead to it."""

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
def _without_gaps(settings: Any) -> None:
    settings.SCAN_GAP_PER_DOMAIN_S = 0.0


def on(member: Member, number: int, *addresses: str, is_of_list: bool = True, **columns: Any) -> Scan:
    """Create a scan of a site of a list, each on a domain of its own."""
    url = f"https://site-{number}.example-{number}.com/"
    known = list(addresses) or None
    columns = {"is_background": is_of_list, **columns}
    return make_scan(member, url=url, is_of_list=is_of_list, addresses=known, **columns)


def take(scan: Scan) -> Scan | None:
    claim = claim_next(scan.id, WORKER)
    return Scan.objects.get(id=claim.scan_id) if claim else None


def end(scan: Scan) -> None:
    Scan.objects.filter(id=scan.id).update(status="failed", lease_expires_at=None)


def test_names_on_one_address_are_visited_one_after_the_other(home: Member) -> None:
    Tier.objects.update(concurrent_scans=200)
    names = [on(home, number, SHARED) for number in range(100)]
    visited = []
    while (taken := take(names[0])) is not None:
        visited.append(taken.id)
        assert take(names[0]) is None, "another one began while it was visited"
        end(taken)
    assert sorted(visited) == sorted(each.id for each in names)


def test_another_address_does_not_wait(home: Member) -> None:
    first, second, third = on(home, 1, SHARED), on(home, 2, SHARED), on(home, 3, OTHER)
    assert take(first) == first
    assert take(second) == third


def test_any_common_address_counts(home: Member) -> None:
    first, both, rest = on(home, 1, SHARED), on(home, 2, OTHER, SHARED), on(home, 3, OTHER)
    assert take(first) == first
    assert take(both) == rest
    end(first)
    assert take(both) is None, "the other address is still visited"
    end(rest)
    assert take(both) == both


def test_it_holds_over_all_organizations(home: Member, stranger: Member) -> None:
    first, theirs = on(home, 1, SHARED), on(stranger, 2, SHARED)
    assert take(first) == first
    assert take(theirs) is None
    end(first)
    assert take(theirs) == theirs


def test_a_list_waits_for_scans_that_people_wait_for_but_not_the_other_way_round(
    home: Member, stranger: Member
) -> None:
    interactive = on(home, 1, SHARED, is_of_list=False)
    assert take(interactive) == interactive
    of_list = on(stranger, 2, SHARED)
    assert take(of_list) is None
    end(interactive)
    assert take(of_list) == of_list
    other = on(home, 3, SHARED, is_of_list=False)
    assert take(other) == other


def test_unknown_addresses_are_limited_by_domain_only(home: Member) -> None:
    scans = [on(home, number) for number in range(3)]
    assert {take(scans[0]), take(scans[0]), take(scans[0])} == set(scans)


def test_an_interrupted_visit_waits_for_the_address_as_well(home: Member, stranger: Member) -> None:
    ago = timezone.now() - timedelta(seconds=1)
    died = on(home, 1, SHARED, status="scanning", attempts=1, lease_expires_at=ago)
    assert take(died) == died, "its own lease has run out, so nobody is at the address"
    Scan.objects.filter(id=died.id).update(lease_expires_at=ago)
    other = on(stranger, 2, SHARED, is_of_list=False)
    assert take(other) == died
    end(died)
    assert take(other) == other
    Scan.objects.filter(id=died.id).update(status="scanning", lease_expires_at=ago)
    assert take(died) is None


def test_the_end_of_a_visit_wakes_who_waits_for_its_address_in_another_queue(
    home: Member, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SCAN_BROWSER = "auto"
    seo, plain = on(home, 1, SHARED, type="seo"), on(home, 2, SHARED)
    claim = claim_next(seo.id, WORKER)
    assert claim
    assert take(plain) is None
    finish_scan(claim, make_result(seo))
    heard: list[str] = []
    monkeypatch.setattr("scans.visits.claims.enqueue", lambda scan_id, _: heard.append(scan_id))
    wake_next(claim, WORKER)
    assert heard == [plain.id]
    assert take(plain) == plain


def test_a_claim_reads_no_more_than_what_runs_and_what_an_organization_may_queue(home: Member) -> None:
    now = timezone.now()
    ended = [
        Scan(
            organization=home.organization, url=f"https://old-{n}.example.org/", type="seo", status="failed",
            period=now.date().replace(day=1), addresses=[SHARED], is_of_list=True,
        )
        for n in range(2_000)
    ]  # fmt: skip
    Scan.objects.bulk_create(ended)
    queued = [on(home, number, SHARED) for number in range(50)]
    assert take(queued[0])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE scans_scan")
    parameters = {
        "queue": "scans", "types": ["security", "seo"], "worker": "one", "share": 8, "common": 8, "background": 7,
        "per_domain": 4, "max_attempts": 3,
    }  # fmt: skip
    plan = explained(next_turn_sql(), parameters)
    assert rows_read([each for each in plan if each.get("Relation Name") == "scans_scan"]) < 4 * len(queued)
