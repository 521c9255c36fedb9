"""Claims of deliveries: limits over all workers, taking turns, leases."""

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
from tests.sites.monitors.cast import make_monitor
from webhooks import services
from webhooks.delivery.claims import PER_RECEIVER, DeliveryClaim, claim, hold, next_due
from webhooks.examples import example
from webhooks.models import Delivery, Event, EventKind, FormerSecret, Webhook
from webhooks.requests import WebhookRequest

MANY = 1000


def webhook_to(member: Member, receiver: str, **columns: object) -> Webhook:
    return Webhook.objects.create(
        organization=member.organization,
        url=f"http://{receiver}/",
        receiver=receiver,
        events=["scan.completed"],
        encrypted_secret=encryption.encrypt("whsec_new"),
        **columns,
    )


def due(webhook: Webhook, count: int = 1, age: timedelta = timedelta(), **columns: object) -> list[Delivery]:
    event = Event.objects.create(
        organization_id=webhook.organization_id,
        kind=EventKind.SCAN_COMPLETED,
        body=example(EventKind.SCAN_COMPLETED, timezone.now()),
    )
    moment = timezone.now() - age
    return Delivery.objects.bulk_create(
        Delivery(webhook=webhook, event=event, **{"next_attempt_at": moment} | columns) for _ in range(count)
    )


def take(limit: int = MANY, failing_limit: int = MANY, now: datetime | None = None) -> list[DeliveryClaim]:
    return claim(limit=limit, failing_limit=failing_limit, now=now or timezone.now())


def by_webhook(claims: list[DeliveryClaim]) -> Counter[str]:
    return Counter(each.webhook_id for each in claims)


def test_a_claim_brings_all_that_an_attempt_needs(home: Member) -> None:
    webhook = webhook_to(home, "a:80")
    for hours, text in ((5, "whsec_older"), (20, "whsec_old"), (-1, "whsec_expired")):
        FormerSecret.objects.create(
            webhook=webhook,
            encrypted_secret=encryption.encrypt(text),
            expires_at=timezone.now() + timedelta(hours=hours),
        )
    (delivery,) = due(webhook, attempts_made=2)
    (claimed,) = take()
    assert (claimed.delivery_id, claimed.webhook_id, claimed.url) == (delivery.id, webhook.id, "http://a:80/")
    assert (claimed.attempt, claimed.is_failing, claimed.is_test) == (3, False, True)
    assert (claimed.event_id, claimed.kind) == (delivery.event_id, "scan.completed")
    assert claimed.body == bytes(delivery.event.body)
    assert [encryption.decrypt(each) for each in claimed.encrypted_secrets] == ["whsec_older", "whsec_old", "whsec_new"]
    delivery.refresh_from_db()
    assert delivery.claim_token == claimed.token


def test_what_is_claimed_is_nobody_elses_until_its_lease_runs_out(home: Member) -> None:
    due(webhook_to(home, "a:80"))
    (first,) = take()
    assert take() == []
    Delivery.objects.update(lease_expires_at=timezone.now())
    (second,) = take()
    assert take() == []
    assert second.delivery_id == first.delivery_id
    assert second.token != first.token
    assert second.attempt == first.attempt, "the end of the first is not known"


def test_a_lease_from_before_the_clock_was_put_back_holds_nothing(home: Member) -> None:
    (delivery,) = due(webhook_to(home, "a:80"), lease_expires_at=timezone.now() + timedelta(hours=1))
    (claimed,) = take()
    assert claimed.delivery_id == delivery.id
    assert take() == []


@pytest.mark.parametrize(
    "columns",
    [
        {"status": "delivered"},
        {"status": "failed"},
        {"next_attempt_at": timezone.now() + timedelta(hours=1)},
    ],
)
def test_a_worker_claims_only_deliveries_that_are_pending_and_due(home: Member, columns: dict[str, Any]) -> None:
    due(webhook_to(home, "a:80"), **columns)
    assert take() == []


def test_a_disabled_webhook_keeps_its_deliveries(home: Member) -> None:
    webhook = webhook_to(home, "a:80", enabled=False)
    due(webhook, 3)
    assert take() == []
    Webhook.objects.update(enabled=True)
    assert len(take()) == 3


def test_attempts_at_once_to_one_receiver_are_bounded_whoever_owns_the_webhooks(home: Member, stranger: Member) -> None:
    due(webhook_to(home, "a:80"), 20)
    due(webhook_to(stranger, "a:80"), 20)
    due(webhook_to(stranger, "a:8080"), 20)
    assert Counter(each.url for each in take()) == {"http://a:80/": PER_RECEIVER, "http://a:8080/": PER_RECEIVER}
    assert take() == [], "also over the next workers"


def test_webhooks_of_one_receiver_take_turns(home: Member, stranger: Member) -> None:
    long, short = webhook_to(home, "a:80"), webhook_to(stranger, "a:80")
    due(long, 100, age=timedelta(hours=1))
    due(short, 4)
    assert by_webhook(take()) == {long.id: 4, short.id: 4}


def test_receivers_take_turns(home: Member) -> None:
    webhooks = [webhook_to(home, f"a{number}:80") for number in range(10)]
    for webhook in webhooks:
        due(webhook, 50, age=timedelta(minutes=webhooks.index(webhook)))
    assert by_webhook(take(limit=20)) == {webhook.id: 2 for webhook in webhooks}


def test_a_failing_webhook_gets_one_attempt_at_a_time(home: Member) -> None:
    due(webhook_to(home, "a:80", failing_since=timezone.now()), 20)
    (only,) = take()
    assert only.is_failing
    assert take() == []


def test_failing_webhooks_come_last_and_never_take_every_place(home: Member) -> None:
    well = webhook_to(home, "well:80")
    due(well, 5)
    for number in range(20):
        due(webhook_to(home, f"a{number}:80", failing_since=timezone.now()), 5, age=timedelta(hours=1))
    taken = take(limit=10, failing_limit=3)
    assert [each.is_failing for each in taken].count(True) == 3
    assert by_webhook(taken)[well.id] == 5
    assert all(each.is_failing for each in take(limit=10, failing_limit=10))


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_what_another_transaction_holds_is_left_out(home: Member) -> None:
    first, second = due(webhook_to(home, "a:80"), 2)
    with transaction.atomic():
        Delivery.objects.select_for_update().get(id=first.id)
        found: list[DeliveryClaim] = []
        in_threads(lambda: found.extend(take()), 1)
    assert [each.delivery_id for each in found] == [second.id]


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_workers_that_claim_at_once_share_without_passing_the_bounds(home: Member) -> None:
    for number in range(5):
        due(webhook_to(home, f"a{number}:80"), 30)
    found: list[DeliveryClaim] = []
    in_threads(lambda: found.extend(take(limit=6)), 12)
    assert len({each.delivery_id for each in found}) == len(found)
    assert set(by_webhook(found).values()) == {PER_RECEIVER}


def in_threads(work: Callable[[], object], count: int) -> None:
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
        take(limit=10)
        transaction.set_rollback(True)
    (sql,) = (each["sql"] for each in queries if "RECURSIVE" in each["sql"])
    plan = explained(sql.replace("%", "%%"), {})
    of_deliveries = [each for each in plan if each.get("Relation Name") == "webhooks_delivery"]
    return sum(float(each["Actual Rows"] * each["Actual Loops"]) for each in of_deliveries)


def test_a_claim_reads_few_rows_of_a_long_backlog(home: Member) -> None:
    for number in range(3):
        due(webhook_to(home, f"a{number}:80"), 2000)
    due(webhook_to(home, "paused:80", enabled=False), 2000)
    assert 0 < rows_read_by_a_claim() < 200


def test_a_claim_walks_past_no_webhook_that_is_disabled(home: Member) -> None:
    webhooks = [webhook_to(home, f"a{number}:80") for number in range(60)]
    for webhook in webhooks:
        due(webhook, 2)
    Webhook.objects.exclude(id=webhooks[0].id).update(enabled=False)
    assert rows_read_by_a_claim() > 60
    assert hold() == 2 * 59
    assert 0 < rows_read_by_a_claim() < 20
    assert hold() == 0
    enable(webhooks[1])
    assert by_webhook(take()) == {webhooks[0].id: 2, webhooks[1].id: 2}


def enable(webhook: Webhook) -> None:
    caller = key_caller(webhook.organization_id)
    services.update_webhook(caller=caller, webhook=webhook, request=WebhookRequest(enabled=True))


def test_what_a_dead_worker_left_to_a_disabled_webhook_is_held_and_what_is_being_sent_is_not(home: Member) -> None:
    webhook = webhook_to(home, "a:80", enabled=False)
    (dead,) = due(webhook, lease_expires_at=timezone.now() - timedelta(minutes=1))
    due(webhook, lease_expires_at=timezone.now() + timedelta(minutes=1))
    assert hold() == 1
    assert Delivery.objects.get(is_held=True) == dead


def test_what_was_held_until_it_failed_can_be_sent_again(home: Member) -> None:
    webhook = webhook_to(home, "a:80", enabled=False)
    deliveries = due(webhook, 2)
    hold()
    Delivery.objects.update(status="failed", finished_at=timezone.now())  # as retention does after 30 days
    enable(webhook)
    names: dict[str, Any] = {"caller": key_caller(webhook.organization_id), "webhook_id": webhook.id}
    Event.objects.update(scan=make_scan(home))
    services.replay_delivery(**names, delivery_id=deliveries[0].id)
    assert len(take()) == 1
    assert services.recover_failed(**names, since=timezone.now() - timedelta(days=1)) == 1
    assert len(take()) == 1


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_webhook_that_is_being_enabled_keeps_nothing_held(home: Member) -> None:
    webhook = webhook_to(home, "a:80", enabled=False)
    due(webhook, 3)
    with transaction.atomic():
        Webhook.objects.select_for_update(no_key=True).get()
        held: list[int] = []
        in_threads(lambda: held.append(hold()), 1)
        enable(webhook)
    hold()
    assert (held, len(take())) == ([0], 3)


def test_the_next_due_moment_is_told_when_it_is_near(home: Member) -> None:
    webhook, disabled = webhook_to(home, "a:80"), webhook_to(home, "b:80", enabled=False)
    now = timezone.now()
    due(webhook, next_attempt_at=now + timedelta(seconds=30))
    due(disabled, next_attempt_at=now + timedelta(seconds=1))
    assert next_due(now=now, within=timedelta(seconds=15)) is None
    assert next_due(now=now, within=timedelta(seconds=60)) == now + timedelta(seconds=30)


def test_what_is_told_of_a_scan_or_a_monitor_is_tried_again_and_a_test_is_not(home: Member) -> None:
    webhook = webhook_to(home, "a:80")
    for event in (
        Event.objects.create(organization=home.organization, kind="scan.completed", body=b"{}", scan=make_scan(home)),
        Event.objects.create(
            organization=home.organization, kind="monitor.changed", body=b"{}", monitor=make_monitor(home)
        ),
        Event.objects.create(organization=home.organization, kind="scan.completed", body=b"{}"),
    ):
        Delivery.objects.create(webhook=webhook, event=event)
    claimed = {each.event_id: each.is_test for each in take()}
    assert claimed == {each.id: each.is_test for each in Event.objects.all()}
    assert sorted(claimed.values()) == [False, False, True]
