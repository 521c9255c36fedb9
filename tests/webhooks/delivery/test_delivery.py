"""Tests for delivering events to receivers after a scan has ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks
from standardwebhooks.webhooks import Webhook as StandardWebhook

from infrastructure import queue
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from tests.factories import (
    Member,
    attempt_deliveries,
    finished_scan,
    make_due,
    make_result,
    make_scan,
    register_webhook,
)
from tests.generated import assert_described
from tests.operations.stack.processes import wait_until
from tests.targets.server import Answer, Site
from webhooks.models import Attempt, Delivery, Event
from website_scan.result import ScanError


def headers_of(receiver: Site, number: int = 0) -> dict[str, str]:
    return {name.lower(): value for name, value in receiver.requests[number].headers}


def test_delivery_sends_both_signatures(home: Member, receiver: Site) -> None:
    _, secret = register_webhook(home, f"{receiver.url}/hook")
    scan = finished_scan(home)
    attempt_deliveries()
    (request,) = receiver.requests
    headers = headers_of(receiver)
    event = Event.objects.get()
    assert (request.method, request.path, request.body) == ("POST", "/hook", bytes(event.body))
    assert StandardWebhook(secret).verify(request.body, headers) == json.loads(request.body)
    assert headers["x-service-event"] == "scan.completed"
    assert headers["content-type"] == "application/json"
    assert headers["webhook-id"] == event.id
    scan.refresh_from_db()
    assert scan.completed_at is not None
    assert json.loads(request.body) == {
        "event": "scan.completed",
        "timestamp": scan.completed_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "data": {
            "scan_id": scan.id,
            "url": scan.url,
            "type": "security",
            "status": "completed",
            "score": 71,
            "grade": "C",
            "findings_count": 2,
            "report_url": scan.report_url,
        },
    }
    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.lease_expires_at) == ("delivered", None)
    attempt_deliveries()
    assert len(receiver.requests) == 1


def test_scan_failed_event_has_error(home: Member, receiver: Site) -> None:
    register_webhook(home, receiver.url, ["scan.failed"])
    scan = make_scan(home)
    claim = claim_scan(scan.id)
    assert claim
    error = ScanError("TIMEOUT", "Too slow.")
    finish_scan(claim, make_result(scan, "failed", score=None, grade=None, categories=(), error=error))
    body = json.loads(bytes(Event.objects.get().body))
    assert_described(body)
    data = body["data"]
    assert data["status"] == "failed"
    assert (data["score"], data["grade"], data["findings_count"]) == (None, None, 0)
    assert data["error"] == {"code": "TIMEOUT", "message": "Too slow."}


def test_only_subscribed_webhooks_get_an_event(home: Member, stranger: Member, receiver: Site) -> None:
    register_webhook(home, receiver.url, ["scan.partial"])
    register_webhook(stranger, receiver.url)
    finished_scan(home)
    assert Delivery.objects.count() == 0
    finished_scan(home, "partial")
    assert Delivery.objects.get().webhook.organization == home.organization


def test_ended_scan_creates_its_delivery(home: Member, receiver: Site) -> None:
    register_webhook(home, receiver.url)
    scan = make_scan(home)
    claim = claim_scan(scan.id)
    assert claim
    with transaction.atomic():
        finish_scan(claim, make_result(scan))
        assert Delivery.objects.count() == 1
        transaction.set_rollback(True)
    assert Delivery.objects.count() == 0
    assert Scan.objects.get().status == "scanning"


@pytest.mark.parametrize("status", [301, 307, 400, 404, 429, 500, 503])
def test_error_response_is_retried(home: Member, receiver: Site, status: int) -> None:
    _, secret = register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    receiver.routes["/hook"] = Answer("Not now.", status=status, headers={"Location": "/elsewhere"})
    attempt_deliveries()
    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.attempts_made) == ("pending", 1)
    assert timedelta(seconds=2) < delivery.next_attempt_at - timezone.now() < timedelta(seconds=7)
    attempt_deliveries()
    assert receiver.paths() == ["/hook"], "not due yet, and no redirect is followed"
    receiver.routes["/hook"] = Answer(status=204)
    make_due()
    attempt_deliveries()
    first, second = receiver.requests
    assert first.body == second.body
    assert headers_of(receiver, 0)["webhook-id"] == headers_of(receiver, 1)["webhook-id"]
    StandardWebhook(secret).verify(second.body, headers_of(receiver, 1))
    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts_made) == ("delivered", 2)
    logged = list(Attempt.objects.values_list("response_status", "error_code", "response_body"))
    assert logged == [(status, "RECEIVER_STATUS", "Not now."), (204, "", "")]


def test_delivery_fails_after_eight_attempts(home: Member, receiver: Site) -> None:
    register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    receiver.routes["/hook"] = Answer(status=500)
    for _ in range(9):
        make_due()
        attempt_deliveries()
    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.attempts_made, len(receiver.requests)) == ("failed", 8, 8)
    assert delivery.finished_at is not None


def test_Retry_After_postpones_next_attempt(home: Member, receiver: Site) -> None:
    register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    receiver.routes["/hook"] = Answer(status=503, headers={"Retry-After": "600"})
    attempt_deliveries()
    pause = Delivery.objects.get().next_attempt_at - timezone.now()
    assert timedelta(seconds=590) < pause <= timedelta(seconds=600)


def test_ended_scan_enqueues_one_deliver_task(
    home: Member,
    receiver: Site,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    messages: list[tuple[str, str]] = []
    monkeypatch.setattr(queue, "enqueue", lambda task, row_id: messages.append((task, row_id)))
    for path in ("/a", "/b"):
        register_webhook(home, f"{receiver.url}{path}")
    with django_capture_on_commit_callbacks(execute=True):
        finished_scan(home)
        assert messages == []
    assert messages == [("webhooks.tasks.deliver", Event.objects.get().id)]
    assert Delivery.objects.count() == 2


def is_waiting_for_lock() -> bool:
    with connection.cursor() as cursor:
        # Without this call, the transaction would reuse PostgreSQL's first statistics.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return bool(cursor.fetchone()[0])


def run_in_thread(work: Callable[[], object]) -> Future[object]:
    def run() -> object:
        try:
            return work()
        finally:
            connection.close()

    pool = ThreadPoolExecutor(1)
    future = pool.submit(run)
    pool.shutdown(wait=False)
    return future


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_webhook_deletion_waits_for_a_scan(home: Member, receiver: Site) -> None:
    webhook, _ = register_webhook(home, receiver.url)
    with transaction.atomic():
        finished_scan(home)
        deleting = run_in_thread(lambda: home.api.delete(f"/api/webhooks/{webhook.id}").status_code)
        wait_until(is_waiting_for_lock, 10)
    assert deleting.result(10) == 204
    assert (Delivery.objects.count(), Event.objects.count(), Scan.objects.get().status) == (0, 1, "completed")

    webhook, _ = register_webhook(home, receiver.url)
    with transaction.atomic():
        assert home.api.delete(f"/api/webhooks/{webhook.id}").status_code == 204
        ending = run_in_thread(lambda: finished_scan(home).status)
        wait_until(is_waiting_for_lock, 10)
    assert ending.result(10) == "completed"
    assert Delivery.objects.count() == 0
