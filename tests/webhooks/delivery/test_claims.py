"""Tests for claiming deliveries."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from infrastructure import encryption
from tests.factories import Member, key_caller, make_scan
from tests.queries import explained
from tests.sites.lists.cast import make_list
from tests.sites.monitors.cast import make_monitor
from webhooks import services
from webhooks.delivery.claims import MAX_ATTEMPTS_PER_RECEIVER, DeliveryClaim, claim, mark_held_deliveries, next_due_at
from webhooks.examples import example
from webhooks.models import Delivery, Event, EventKind, FormerSecret, Webhook
from webhooks.requests import WebhookRequest

MANY = 1000


def webhook_to_receiver(member: Member, receiver: str, **columns: object) -> Webhook:
    return Webhook.objects.create(
        organization=member.organization,
        url=f"http://{receiver}/",
        receiver=receiver,
        events=["scan.completed"],
        encrypted_secret=encryption.encrypt("whsec_new"),
        **columns,
    )


def make_due(webhook: Webhook, count: int = 1, age: timedelta = timedelta(), **columns: object) -> list[Delivery]:
    event = Event.objects.create(
        organization_id=webhook.organization_id,
        kind=EventKind.SCAN_COMPLETED,
        body=example(EventKind.SCAN_COMPLETED, timezone.now()),
    )
    moment = timezone.now() - age
    return Delivery.objects.bulk_create(
        Delivery(webhook=webhook, event=event, **{"next_attempt_at": moment} | columns) for _ in range(count)
    )


def claim_due(limit: int = MANY, failing_limit: int = MANY, now: datetime | None = None) -> list[DeliveryClaim]:
    return claim(limit=limit, failing_limit=failing_limit, now=now or timezone.now())


def count_by_webhook(claims: list[DeliveryClaim]) -> Counter[str]:
    return Counter(claimed.webhook_id for claimed in claims)


def test_claim_has_all_data_for_an_attempt(home: Member) -> None:
    webhook = webhook_to_receiver(home, "a:80")
    for hours, text in ((5, "whsec_older"), (20, "whsec_old"), (-1, "whsec_expired")):
        FormerSecret.objects.create(
            webhook=webhook,
            encrypted_secret=encryption.encrypt(text),
            expires_at=timezone.now() + timedelta(hours=hours),
        )
    (delivery,) = make_due(webhook, attempts_made=2)
    (claimed,) = claim_due()
    assert (claimed.delivery_id, claimed.webhook_id, claimed.url) == (delivery.id, webhook.id, "http://a:80/")
    assert (claimed.attempt, claimed.is_failing, claimed.is_test) == (3, False, True)
    assert (claimed.event_id, claimed.kind) == (delivery.event_id, "scan.completed")
    assert claimed.body == bytes(delivery.event.body)
    secrets = [encryption.decrypt(secret) for secret in claimed.encrypted_secrets]
    assert secrets == ["whsec_older", "whsec_old", "whsec_new"]
    delivery.refresh_from_db()
    assert delivery.claim_token == claimed.token


def test_claimed_delivery_is_not_claimed_again(home: Member) -> None:
    make_due(webhook_to_receiver(home, "a:80"))
    (first,) = claim_due()
    assert claim_due() == []
    Delivery.objects.update(lease_expires_at=timezone.now())
    (second,) = claim_due()
    assert claim_due() == []
    assert second.delivery_id == first.delivery_id
    assert second.token != first.token
    assert second.attempt == first.attempt, "the first attempt has no known result"


def test_lease_before_a_clock_change_has_expired(home: Member) -> None:
    (delivery,) = make_due(webhook_to_receiver(home, "a:80"), lease_expires_at=timezone.now() + timedelta(hours=1))
    (claimed,) = claim_due()
    assert claimed.delivery_id == delivery.id
    assert claim_due() == []


@pytest.mark.parametrize(
    "columns",
    [
        {"status": "delivered"},
        {"status": "failed"},
        {"next_attempt_at": timezone.now() + timedelta(hours=1)},
    ],
)
def test_only_due_deliveries_are_claimed(home: Member, columns: dict[str, Any]) -> None:
    make_due(webhook_to_receiver(home, "a:80"), **columns)
    assert claim_due() == []


def test_disabled_webhook_gets_no_claim(home: Member) -> None:
    webhook = webhook_to_receiver(home, "a:80", enabled=False)
    make_due(webhook, 3)
    assert claim_due() == []
    Webhook.objects.update(enabled=True)
    assert len(claim_due()) == 3


def test_receiver_limit_spans_organizations(home: Member, stranger: Member) -> None:
    make_due(webhook_to_receiver(home, "a:80"), 20)
    make_due(webhook_to_receiver(stranger, "a:80"), 20)
    make_due(webhook_to_receiver(stranger, "a:8080"), 20)
    assert Counter(claimed.url for claimed in claim_due()) == {
        "http://a:80/": MAX_ATTEMPTS_PER_RECEIVER,
        "http://a:8080/": MAX_ATTEMPTS_PER_RECEIVER,
    }
    assert claim_due() == [], "the limit applies to all workers together"


def test_claims_alternate_between_webhooks(home: Member, stranger: Member) -> None:
    long, short = webhook_to_receiver(home, "a:80"), webhook_to_receiver(stranger, "a:80")
    make_due(long, 100, age=timedelta(hours=1))
    make_due(short, 4)
    assert count_by_webhook(claim_due()) == {long.id: 4, short.id: 4}


def test_claims_alternate_between_receivers(home: Member) -> None:
    webhooks = [webhook_to_receiver(home, f"a{number}:80") for number in range(10)]
    for webhook in webhooks:
        make_due(webhook, 50, age=timedelta(minutes=webhooks.index(webhook)))
    assert count_by_webhook(claim_due(limit=20)) == {webhook.id: 2 for webhook in webhooks}


def test_failing_webhook_gets_single_attempts(home: Member) -> None:
    make_due(webhook_to_receiver(home, "a:80", failing_since=timezone.now()), 20)
    (only,) = claim_due()
    assert only.is_failing
    assert claim_due() == []


def test_failing_webhooks_are_claimed_last(home: Member) -> None:
    working = webhook_to_receiver(home, "well:80")
    make_due(working, 5)
    for number in range(20):
        make_due(webhook_to_receiver(home, f"a{number}:80", failing_since=timezone.now()), 5, age=timedelta(hours=1))
    claims = claim_due(limit=10, failing_limit=3)
    assert [claimed.is_failing for claimed in claims].count(True) == 3
    assert count_by_webhook(claims)[working.id] == 5
    assert all(claimed.is_failing for claimed in claim_due(limit=10, failing_limit=10))


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_claim_skips_locked_deliveries(home: Member) -> None:
    first, second = make_due(webhook_to_receiver(home, "a:80"), 2)
    with transaction.atomic():
        Delivery.objects.select_for_update().get(id=first.id)
        claims: list[DeliveryClaim] = []
        run_in_threads(lambda: claims.extend(claim_due()), 1)
    assert [claimed.delivery_id for claimed in claims] == [second.id]


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_concurrent_claims_are_disjoint(home: Member) -> None:
    for number in range(5):
        make_due(webhook_to_receiver(home, f"a{number}:80"), 30)
    claims: list[DeliveryClaim] = []
    run_in_threads(lambda: claims.extend(claim_due(limit=6)), 12)
    assert len({claimed.delivery_id for claimed in claims}) == len(claims)
    assert set(count_by_webhook(claims).values()) == {MAX_ATTEMPTS_PER_RECEIVER}


def run_in_threads(work: Callable[[], object], count: int) -> None:
    barrier = threading.Barrier(count)

    def run() -> None:
        barrier.wait()
        try:
            work()
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def rows_read_by_a_claim() -> float:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE webhooks_delivery, webhooks_webhook, webhooks_event")
    with CaptureQueriesContext(connection) as queries, transaction.atomic():
        claim_due(limit=10)
        transaction.set_rollback(True)
    (sql,) = (query["sql"] for query in queries if "RECURSIVE" in query["sql"])
    plan = explained(sql.replace("%", "%%"), {})
    delivery_nodes = [node for node in plan if node.get("Relation Name") == "webhooks_delivery"]
    return sum(float(node["Actual Rows"] * node["Actual Loops"]) for node in delivery_nodes)


def test_claim_reads_few_rows(home: Member) -> None:
    for number in range(3):
        make_due(webhook_to_receiver(home, f"a{number}:80"), 2000)
    make_due(webhook_to_receiver(home, "paused:80", enabled=False), 2000)
    assert 0 < rows_read_by_a_claim() < 200


def test_claim_does_not_read_held_deliveries(home: Member) -> None:
    webhooks = [webhook_to_receiver(home, f"a{number}:80") for number in range(60)]
    for webhook in webhooks:
        make_due(webhook, 2)
    Webhook.objects.exclude(id=webhooks[0].id).update(enabled=False)
    assert rows_read_by_a_claim() > 60
    assert mark_held_deliveries() == 2 * 59
    assert 0 < rows_read_by_a_claim() < 20
    assert mark_held_deliveries() == 0
    enable(webhooks[1])
    assert count_by_webhook(claim_due()) == {webhooks[0].id: 2, webhooks[1].id: 2}


def enable(webhook: Webhook) -> None:
    caller = key_caller(webhook.organization_id)
    services.update_webhook(caller=caller, webhook=webhook, request=WebhookRequest(enabled=True))


def test_mark_held_includes_expired_leases(home: Member) -> None:
    webhook = webhook_to_receiver(home, "a:80", enabled=False)
    (expired,) = make_due(webhook, lease_expires_at=timezone.now() - timedelta(minutes=1))
    make_due(webhook, lease_expires_at=timezone.now() + timedelta(minutes=1))
    assert mark_held_deliveries() == 1
    assert Delivery.objects.get(is_held=True) == expired


def test_held_deliveries_can_be_replayed(home: Member) -> None:
    webhook = webhook_to_receiver(home, "a:80", enabled=False)
    deliveries = make_due(webhook, 2)
    mark_held_deliveries()
    # The retention task sets deliveries to failed after 30 days.
    Delivery.objects.update(status="failed", finished_at=timezone.now())
    enable(webhook)
    arguments: dict[str, Any] = {"caller": key_caller(webhook.organization_id), "webhook_id": webhook.id}
    Event.objects.update(scan=make_scan(home))
    services.replay_delivery(**arguments, delivery_id=deliveries[0].id)
    assert len(claim_due()) == 1
    assert services.recover_failed(**arguments, since=timezone.now() - timedelta(days=1)) == 1
    assert len(claim_due()) == 1


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_mark_held_skips_a_locked_webhook(home: Member) -> None:
    webhook = webhook_to_receiver(home, "a:80", enabled=False)
    make_due(webhook, 3)
    with transaction.atomic():
        Webhook.objects.select_for_update(no_key=True).get()
        held_counts: list[int] = []
        run_in_threads(lambda: held_counts.append(mark_held_deliveries()), 1)
        enable(webhook)
    mark_held_deliveries()
    assert (held_counts, len(claim_due())) == ([0], 3)


def test_next_due_time_ignores_disabled_webhooks(home: Member) -> None:
    webhook, disabled = webhook_to_receiver(home, "a:80"), webhook_to_receiver(home, "b:80", enabled=False)
    now = timezone.now()
    make_due(webhook, next_attempt_at=now + timedelta(seconds=30))
    make_due(disabled, next_attempt_at=now + timedelta(seconds=1))
    assert next_due_at(now=now, within=timedelta(seconds=15)) is None
    assert next_due_at(now=now, within=timedelta(seconds=60)) == now + timedelta(seconds=30)


def test_claimed_test_events_are_marked(home: Member) -> None:
    """Regression test: events of lists were claimed as tests, so that a failed delivery was not tried again."""
    webhook = webhook_to_receiver(home, "a:80")
    for event in (
        Event.objects.create(organization=home.organization, kind="scan.completed", body=b"{}", scan=make_scan(home)),
        Event.objects.create(
            organization=home.organization, kind="monitor.changed", body=b"{}", monitor=make_monitor(home)
        ),
        Event.objects.create(
            organization=home.organization, kind="list.completed", body=b"{}", site_list=make_list(home, name="Schools")
        ),
        Event.objects.create(organization=home.organization, kind="scan.completed", body=b"{}"),
    ):
        Delivery.objects.create(webhook=webhook, event=event)
    is_test = {claimed.event_id: claimed.is_test for claimed in claim_due()}
    assert is_test == {event.id: event.is_test for event in Event.objects.all()}
    assert sorted(is_test.values()) == [False, False, False, True]
