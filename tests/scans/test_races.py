"""Tests that concurrent requests cannot exceed scan limits.

They use real threads and PostgreSQL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_network
from threading import Barrier

import pytest
from pytest_django import Settings

from accounts.models import Membership, MonthlyUsage, Tier
from scans.models import Scan
from scans.services import cancel_scan
from scans.visits.claims import claim_scan
from tests.factories import Api, Member, listening, member_of, person_of
from tests.threads import close_connections
from webhooks.models import Webhook

PARALLEL = 50

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


@pytest.fixture
def member_and_url(settings: Settings) -> Iterator[tuple[Member, str]]:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    with listening() as port:
        yield member_of("Crowd", "business"), f"http://127.0.0.1:{port}/"


def call_in_50_threads(call: Callable[[int], object]) -> list[object]:
    """Call a function in 50 threads that start together.

    Return the results.
    """
    barrier = Barrier(PARALLEL)

    def call_in_thread(number: int) -> object:
        barrier.wait()
        try:
            return call(number)
        finally:
            close_connections()

    with ThreadPoolExecutor(PARALLEL) as pool:
        return list(pool.map(call_in_thread, range(PARALLEL)))


def post(member: Member, url: str, **headers: str) -> tuple[int, str | None]:
    response = Api(member.plaintext).post("/v1/scan", {"url": url, "type": "seo"}, **headers)
    return response.status_code, response.json().get("code")


def test_50_parallel_scans_respect_a_limit_of_2(member_and_url: tuple[Member, str]) -> None:
    member, url = member_and_url
    Tier.objects.filter(name="business").update(concurrent_scans=2)
    responses = Counter(call_in_50_threads(lambda _: post(member, url)))
    assert responses == {(201, None): 2, (429, "CONCURRENT_LIMIT"): 48}
    assert Scan.objects.count() == 2
    assert MonthlyUsage.objects.get().used == 2


def test_50_parallel_scans_use_the_last_quota_once(member_and_url: tuple[Member, str]) -> None:
    member, url = member_and_url
    Tier.objects.filter(name="business").update(scans_per_month=1, concurrent_scans=100)
    responses = Counter(call_in_50_threads(lambda _: post(member, url)))
    assert responses == {(201, None): 1, (429, "QUOTA_EXCEEDED"): 49}
    assert Scan.objects.count() == 1
    assert MonthlyUsage.objects.get().used == 1


def test_50_parallel_requests_create_one_scan(member_and_url: tuple[Member, str]) -> None:
    member, url = member_and_url
    responses = Counter(call_in_50_threads(lambda _: post(member, url, Idempotency_Key="one")))
    assert set(responses) <= {(201, None), (409, "IDEMPOTENCY_CONFLICT")}
    assert responses[(201, None)] >= 1
    assert Scan.objects.count() == 1
    assert MonthlyUsage.objects.get().used == 1


def test_cancelled_scan_is_not_claimed(member_and_url: tuple[Member, str]) -> None:
    member, url = member_and_url
    person_of(member, "member", "crowd@people.test")
    membership = Membership.objects.select_related("organization", "user").get()
    for _ in range(3):
        assert post(member, url) == (201, None)
        scan = Scan.objects.latest("created_at")
        before = MonthlyUsage.objects.get().used

        def call(number: int, scan: Scan = scan) -> bool:
            return cancel_scan(member=membership, scan_id=scan.id) if number % 2 else claim_scan(scan.id) is not None

        successes = call_in_50_threads(call)
        scan.refresh_from_db()
        is_cancelled = scan.status == "failed"
        assert (successes[1::2].count(True), successes[::2].count(True)) == ((1, 0) if is_cancelled else (0, 1))
        assert MonthlyUsage.objects.get().used == before - is_cancelled


def test_50_parallel_requests_create_3_webhooks(member_and_url: tuple[Member, str]) -> None:
    member, url = member_and_url
    Tier.objects.filter(name="business").update(webhooks=3)

    def register(_: int) -> int:
        body = {"url": url, "events": ["scan.completed"]}
        return int(Api(member.plaintext).post("/api/webhooks", body).status_code)

    assert Counter(call_in_50_threads(register)) == {201: 3, 409: 47}
    assert Webhook.objects.count() == 3
