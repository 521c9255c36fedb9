"""Tests for recording delivery attempts and disabling webhooks."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from scans.policy import scan_policy
from tests.factories import Member, attempt_deliveries, finished_scan, make_due, register_webhook
from tests.targets.server import Answer, Site
from webhooks.delivery import schedule
from webhooks.delivery.attempts import record
from webhooks.delivery.claims import claim
from webhooks.delivery.sending import AttemptResult, send
from webhooks.models import Attempt, Delivery, Webhook


@pytest.fixture
def webhook(home: Member, receiver: Site) -> Webhook:
    return register_webhook(home, f"{receiver.url}/hook")[0]


def answer_with_failure(receiver: Site, status: int = 500) -> None:
    receiver.routes["/hook"] = Answer("no", status=status)


def webhook_failing_for(webhook: Webhook, age: timedelta, failures: int) -> datetime:
    since = timezone.now() - age
    Webhook.objects.filter(id=webhook.id).update(failing_since=since, failures=failures)
    return since


def test_failing_since_is_the_first_failure(home: Member, webhook: Webhook, receiver: Site) -> None:
    finished_scan(home)
    answer_with_failure(receiver)
    attempt_deliveries()
    webhook.refresh_from_db()
    since = webhook.failing_since
    assert since == Attempt.objects.get().at
    make_due()
    attempt_deliveries()
    webhook.refresh_from_db()
    assert (webhook.failing_since, webhook.failures) == (since, 2)
    make_due()
    receiver.routes["/hook"] = Answer("ok")
    attempt_deliveries()
    webhook.refresh_from_db()
    assert (webhook.failing_since, webhook.failures, webhook.enabled) == (None, 0, True)


def test_410_disables_the_webhook_at_once(
    home: Member, webhook: Webhook, receiver: Site, caplog: pytest.LogCaptureFixture
) -> None:
    finished_scan(home)
    answer_with_failure(receiver, 410)
    with caplog.at_level(logging.WARNING):
        attempt_deliveries()
    webhook.refresh_from_db()
    assert (webhook.enabled, webhook.disabled_reason) == (False, "gone")
    assert webhook.disabled_at is not None
    assert f"webhook {webhook.id} was disabled" in caplog.text
    assert Delivery.objects.get().status == "failed"


def test_five_days_of_failures_disable_webhook(home: Member, webhook: Webhook, receiver: Site) -> None:
    finished_scan(home)
    answer_with_failure(receiver)
    webhook_failing_for(webhook, timedelta(days=5), 7)
    attempt_deliveries()
    webhook.refresh_from_db()
    assert (webhook.enabled, webhook.disabled_reason, webhook.failures) == (False, "failing", 8)
    assert Delivery.objects.get().status == "pending", "the delivery waits until the webhook is enabled"
    make_due()
    assert attempt_deliveries() == []


@pytest.mark.parametrize(("age", "failures"), [(timedelta(days=4, hours=23), 500), (timedelta(days=60), 3)])
def test_few_failures_keep_a_webhook_enabled(
    home: Member, webhook: Webhook, receiver: Site, age: timedelta, failures: int
) -> None:
    finished_scan(home)
    answer_with_failure(receiver)
    webhook_failing_for(webhook, age, failures)
    attempt_deliveries()
    webhook.refresh_from_db()
    assert webhook.enabled


def test_success_prevents_disabling(home: Member, webhook: Webhook, receiver: Site) -> None:
    finished_scan(home)
    webhook_failing_for(webhook, timedelta(days=6), 100)
    attempt_deliveries()
    webhook.refresh_from_db()
    assert (webhook.enabled, webhook.failing_since) == (True, None)


def test_disabled_webhook_holds_its_deliveries(home: Member, webhook: Webhook, receiver: Site) -> None:
    home.api.patch(f"/api/webhooks/{webhook.id}", {"enabled": False})
    scan = finished_scan(home)
    assert attempt_deliveries() == []
    home.api.patch(f"/api/webhooks/{webhook.id}", {"enabled": True})
    (result,) = attempt_deliveries()
    assert result.is_success
    assert scan.id.encode() in receiver.requests[0].body


def test_enabling_resets_the_failures(home: Member, webhook: Webhook, receiver: Site) -> None:
    finished_scan(home)
    answer_with_failure(receiver, 410)
    webhook_failing_for(webhook, timedelta(days=10), 100)
    attempt_deliveries()
    answer = home.api.patch(f"/api/webhooks/{webhook.id}", {"enabled": True}).json()
    assert (answer["enabled"], answer["disabled_at"], answer["failing_since"]) == (True, None, None)
    finished_scan(home)
    answer_with_failure(receiver)
    attempt_deliveries()
    webhook.refresh_from_db()
    assert (webhook.enabled, webhook.failures) == (True, 1)


def failure_and_success(home: Member, receiver: Site) -> list[AttemptResult]:
    """Make a failed and then a successful attempt for one webhook."""
    finished_scan(home)
    finished_scan(home)
    claims = claim(limit=10, failing_limit=10, now=timezone.now())
    answer_with_failure(receiver)
    failed = send(claims[0], scan_policy())
    receiver.routes["/hook"] = Answer("ok")
    return [failed, send(claims[1], scan_policy())]


@pytest.mark.parametrize("is_reversed", [False, True])
def test_results_are_recorded_in_order(home: Member, webhook: Webhook, receiver: Site, is_reversed: bool) -> None:
    results = failure_and_success(home, receiver)
    record(results[::-1] if is_reversed else results)
    webhook.refresh_from_db()
    assert (webhook.failing_since, webhook.failures) == (None, 0)


def test_result_after_the_lease_is_ignored(home: Member, webhook: Webhook, receiver: Site) -> None:
    finished_scan(home)
    (late,) = claim(limit=1, failing_limit=1, now=timezone.now())
    answer_with_failure(receiver, 410)
    result = send(late, scan_policy())
    Delivery.objects.update(lease_expires_at=timezone.now())
    (again,) = claim(limit=1, failing_limit=1, now=timezone.now())
    record([result])
    webhook.refresh_from_db()
    delivery = Delivery.objects.get()
    assert (webhook.enabled, delivery.status, delivery.claim_token) == (True, "pending", again.token)
    assert Attempt.objects.count() == 0
    receiver.routes["/hook"] = Answer("ok")
    record([send(again, scan_policy())])
    assert Delivery.objects.get().status == "delivered"


def test_result_for_a_deleted_webhook_is_ignored(home: Member, webhook: Webhook, receiver: Site) -> None:
    finished_scan(home)
    (claimed,) = claim(limit=1, failing_limit=1, now=timezone.now())
    answer_with_failure(receiver)
    result = send(claimed, scan_policy())
    assert home.api.delete(f"/api/webhooks/{webhook.id}").status_code == 204
    record([result])
    assert (Delivery.objects.count(), Attempt.objects.count()) == (0, 0)


def test_delivery_has_eight_attempts() -> None:
    assert schedule.MAX_FAILURES + 1 == len(schedule.PAUSES) + 1 == 8
