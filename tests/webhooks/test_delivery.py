"""From the end of a scan to the receiver: written with it, signed, retried, never lost."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network

import pytest
from django.db import transaction
from django.utils import timezone

from scans.engine.result import ScanError
from scans.models import Scan
from scans.services import claim_scan, finish_scan
from tests.world import Member, finished_scan, make_result, make_scan
from webhooks import dispatch, schedule, signing
from webhooks.models import Delivery, Event
from webhooks.tasks import deliver

EVENTS = ["scan.completed", "scan.failed", "scan.partial"]


class Receiver:
    """A receiver that keeps what it gets and answers with `status`."""

    def __init__(self) -> None:
        self.status = 200
        self.requests: list[tuple[dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.requests.append(({k.lower(): v for k, v in self.headers.items()}, body))
                self.send_response(receiver.status)
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"


@pytest.fixture
def receiver(settings) -> Iterator[Receiver]:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    made = Receiver()
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def register(member: Member, url: str, events: list[str] = EVENTS) -> str:
    return member.api.post("/api/webhooks", {"url": url, "events": events}).json()["secret"]


def test_a_delivery_carries_both_signatures_over_the_stored_bytes(home: Member, receiver: Receiver) -> None:
    secret = register(home, receiver.url)
    scan = finished_scan(home)
    delivery = Delivery.objects.get()
    deliver(delivery.id)
    ((headers, body),) = receiver.requests
    event = Event.objects.get()
    assert body == bytes(event.body)
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    assert headers["x-service-signature"] == f"sha256={expected}"
    assert headers["x-service-event"] == "scan.completed"
    assert headers["content-type"] == "application/json"
    assert headers["webhook-id"] == event.id
    signed = f"{event.id}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    standard = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{standard}"
    scan.refresh_from_db()
    assert json.loads(body) == {
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
    delivery.refresh_from_db()
    assert (delivery.status, delivery.response_status) == ("delivered", 200)
    deliver(delivery.id)
    assert len(receiver.requests) == 1


def test_a_failed_scan_tells_its_error(home: Member, receiver: Receiver) -> None:
    register(home, receiver.url, ["scan.failed"])
    scan = make_scan(home)
    claim = claim_scan(scan.id)
    assert claim
    error = ScanError("TIMEOUT", "Too slow.")
    finish_scan(claim, make_result(scan, "failed", score=None, grade=None, categories=(), error=error))
    data = json.loads(bytes(Event.objects.get().body))["data"]
    assert data["status"] == "failed"
    assert (data["score"], data["grade"], data["findings_count"]) == (None, None, 0)
    assert data["error"] == {"code": "TIMEOUT", "message": "Too slow."}


def test_only_subscribed_receivers_of_the_organization_get_an_event(
    home: Member, stranger: Member, receiver: Receiver
) -> None:
    register(home, receiver.url, ["scan.partial"])
    register(stranger, receiver.url)
    finished_scan(home)
    assert Delivery.objects.count() == 0
    finished_scan(home, "partial")
    assert Delivery.objects.get().webhook.organization == home.organization


def test_the_delivery_exists_exactly_when_the_scan_has_ended(home: Member, receiver: Receiver) -> None:
    register(home, receiver.url)
    scan = make_scan(home)
    claim = claim_scan(scan.id)
    assert claim
    with transaction.atomic():
        finish_scan(claim, make_result(scan))
        assert Delivery.objects.count() == 1
        transaction.set_rollback(True)
    assert Delivery.objects.count() == 0
    assert Scan.objects.get().status == "scanning"


@pytest.mark.parametrize("status", [301, 307, 400, 410, 500])
def test_anything_but_2xx_is_tried_again(home: Member, receiver: Receiver, status: int) -> None:
    register(home, receiver.url)
    finished_scan(home)
    receiver.status = status
    delivery = Delivery.objects.get()
    deliver(delivery.id)
    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts, delivery.response_status) == ("pending", 1, status)
    pause = delivery.next_attempt_at - timezone.now()
    assert timedelta(seconds=2) < pause < timedelta(seconds=7)
    deliver(delivery.id)
    assert len(receiver.requests) == 1, "not due yet"
    Delivery.objects.update(next_attempt_at=timezone.now())
    receiver.status = 204
    deliver(delivery.id)
    first, second = receiver.requests
    assert first[1] == second[1]
    assert first[0]["webhook-id"] == second[0]["webhook-id"]
    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts) == ("delivered", 2)


def test_a_receiver_that_became_private_gets_no_connection(home: Member, receiver: Receiver, settings) -> None:
    register(home, receiver.url)
    finished_scan(home)
    settings.SCAN_ALLOWED_NETWORKS = ()
    delivery = Delivery.objects.get()
    deliver(delivery.id)
    delivery.refresh_from_db()
    assert receiver.requests == []
    assert delivery.status == "pending"
    assert "not publicly accessible" in delivery.error


def test_what_is_due_is_found_by_the_sweeper(home: Member, receiver: Receiver) -> None:
    register(home, receiver.url)
    finished_scan(home)
    assert dispatch.due(10) == [Delivery.objects.get().id]
    Delivery.objects.update(next_attempt_at=timezone.now() + timedelta(minutes=1))
    assert dispatch.due(10) == []


def test_the_schedule_follows_its_pauses_and_ends() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    pauses = [schedule.next_attempt(n, now, lambda low, high: 1.0) for n in range(1, 9)]
    seconds = [(each - now).total_seconds() if each else None for each in pauses]
    assert seconds == [5, 300, 1800, 7200, 18000, 36000, 36000, None]
    assert schedule.next_attempt(1, now, lambda low, high: low) == now + timedelta(seconds=4)
    assert schedule.next_attempt(1, now, lambda low, high: high) == now + timedelta(seconds=6)


def test_secrets_are_random() -> None:
    assert signing.new_secret() != signing.new_secret()
