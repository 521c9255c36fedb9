"""Tests for deleting finished deliveries after 30 days."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from tests.factories import Member, attempt_deliveries, finished_scan, register_webhook
from tests.targets.server import Answer, Site
from webhooks import retention
from webhooks.models import Attempt, Delivery, Event, FormerSecret, Webhook
from webhooks.retention import delete_deliveries

OLD = timedelta(days=30, minutes=1)
YOUNG = timedelta(days=29, hours=23)


def make_older(delivery: Delivery, by: timedelta) -> datetime:
    """Move the times of a delivery and its event into the past."""
    moment = timezone.now() - by
    finished = {"finished_at": moment} if delivery.status != "pending" else {}
    Delivery.objects.filter(id=delivery.id).update(created_at=moment, **finished)
    Event.objects.filter(id=delivery.event_id).update(created_at=moment)
    return moment


@pytest.fixture
def deliveries(home: Member, receiver: Site) -> list[Delivery]:
    """Create three finished deliveries, the last of which has failed."""
    register_webhook(home, f"{receiver.url}/hook")
    for status in (200, 200, 410):
        finished_scan(home)
        receiver.routes["/hook"] = Answer(status=status)
        attempt_deliveries()
    return list(Delivery.objects.order_by("created_at"))


def test_finished_delivery_expires_after_30_days(deliveries: list[Delivery]) -> None:
    first, second, third = deliveries
    make_older(first, OLD)
    make_older(second, YOUNG)
    make_older(third, OLD)
    for _ in range(2):
        delete_deliveries()
        assert [delivery.id for delivery in Delivery.objects.all()] == [second.id]
        assert [attempt.delivery_id for attempt in Attempt.objects.all()] == [second.id]
        assert [event.id for event in Event.objects.all()] == [second.event_id]


def test_deliveries_are_deleted_in_batches(deliveries: list[Delivery], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH", 2)
    for delivery in deliveries:
        make_older(delivery, OLD)
    delete_deliveries()
    assert (Delivery.objects.count(), Attempt.objects.count(), Event.objects.count()) == (0, 0, 0)


def test_old_pending_delivery_is_kept(home: Member, receiver: Site) -> None:
    register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    make_older(Delivery.objects.get(), timedelta(days=300))
    delete_deliveries()
    assert Delivery.objects.get().status == "pending"
    assert Event.objects.count() == 1


def test_delivery_waits_at_most_30_days(home: Member, receiver: Site) -> None:
    register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    finished_scan(home)
    Webhook.objects.update(enabled=False)
    waiting, young = Delivery.objects.order_by("created_at")
    make_older(waiting, OLD)
    make_older(young, YOUNG)
    delete_deliveries()
    waiting.refresh_from_db()
    young.refresh_from_db()
    assert (waiting.status, young.status) == ("failed", "pending")
    assert waiting.finished_at is not None
    delete_deliveries()
    assert Delivery.objects.count() == 2


def test_event_outlives_its_last_delivery(home: Member, receiver: Site) -> None:
    register_webhook(home, f"{receiver.url}/hook")
    register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    attempt_deliveries()
    first, second = Delivery.objects.all()
    make_older(first, OLD)
    delete_deliveries()
    assert [delivery.id for delivery in Delivery.objects.all()] == [second.id]
    assert Event.objects.count() == 1


def test_expired_former_secrets_are_deleted(home: Member, receiver: Site) -> None:
    webhook, _ = register_webhook(home, receiver.url)
    for hours in (-1, 1):
        FormerSecret.objects.create(
            webhook=webhook, encrypted_secret=b"x", expires_at=timezone.now() + timedelta(hours=hours)
        )
    delete_deliveries()
    assert FormerSecret.objects.get().expires_at > timezone.now()


def test_deletion_stops_without_time(deliveries: list[Delivery], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH", 1)
    for delivery in deliveries:
        make_older(delivery, OLD)
    count = Delivery.objects.count()
    assert not delete_deliveries(lambda: False)
    assert Delivery.objects.count() == count
    assert delete_deliveries()
    assert not Delivery.objects.exclude(status="pending").exists()
