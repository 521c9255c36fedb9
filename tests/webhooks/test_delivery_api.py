"""Tests for API operations on a webhook.

Examples are replaying deliveries and rotating the secret.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings
from standardwebhooks.webhooks import Webhook as StandardWebhook

from tests.factories import (
    ALL_EVENTS,
    Member,
    attempt_deliveries,
    finished_scan,
    key_caller,
    make_due,
    register_webhook,
)
from tests.generated import assert_described
from tests.responses import ClientResponse
from tests.targets.server import Answer, Site
from tests.website_scan.net.seams import PUBLIC, Names
from webhooks import services
from webhooks.models import Delivery, Event, FormerSecret, Webhook
from webhooks.services import MAX_FORMER_SECRETS
from website_scan.net import client

DETAIL_FIELDS = {
    "id",
    "name",
    "url",
    "events",
    "created_at",
    "enabled",
    "disabled_at",
    "disabled_reason",
    "failing_since",
    "format",
}
DELIVERY_FIELDS = {
    *("id", "event_id", "event", "scan_id", "audit_id", "test", "status"),
    *("created_at", "next_attempt_at", "finished_at", "attempts"),
}


def refusal(response: ClientResponse) -> tuple[int, str]:
    assert set(response.json()) == {"code", "error"}
    return response.status_code, response.json()["code"]


@pytest.fixture
def webhook(home: Member, receiver: Site) -> Webhook:
    return register_webhook(home, f"{receiver.url}/hook")[0]


@pytest.fixture
def path(webhook: Webhook) -> str:
    return f"/api/webhooks/{webhook.id}"


def test_webhook_detail_has_no_secret(home: Member, webhook: Webhook, path: str) -> None:
    body = home.api.get(path).json()
    assert set(body) == DETAIL_FIELDS
    assert (body["enabled"], body["disabled_at"], body["disabled_reason"], body["failing_since"]) == (
        *(True, None),
        *(None, None),
    )
    assert home.api.get("/api/webhooks").json() == [{"id": webhook.id, "url": webhook.url, "events": ALL_EVENTS}]


def test_PATCH_changes_the_url(home: Member, webhook: Webhook, path: str, receiver: Site) -> None:
    finished_scan(home)
    receiver.routes["/new"] = Answer("ok")
    answer = home.api.patch(path, {"url": f"{receiver.url_as('localhost')}/new#x", "events": ["scan.failed"] * 2})
    assert answer.status_code == 200
    body = answer.json()
    assert set(body) == DETAIL_FIELDS
    assert (body["url"], body["events"]) == (f"http://localhost:{receiver.port}/new", ["scan.failed"])
    attempt_deliveries()
    assert receiver.paths() == ["/new"], "waiting deliveries are sent to the new address"
    finished_scan(home)
    assert Delivery.objects.count() == 1
    webhook.refresh_from_db()
    assert webhook.receiver == f"localhost:{receiver.port}"


def test_PATCH_enables_the_webhook(home: Member, webhook: Webhook, path: str) -> None:
    disabled = home.api.patch(path, {"enabled": False}).json()
    assert (disabled["enabled"], disabled["disabled_reason"]) == (False, "requested")
    assert disabled["disabled_at"] is not None
    assert home.api.patch(path, {"enabled": False}).json()["disabled_at"] == disabled["disabled_at"]
    enabled = home.api.patch(path, {"enabled": True}).json()
    assert (enabled["enabled"], enabled["disabled_at"], enabled["disabled_reason"]) == (True, None, None)


def test_unusual_port_needs_an_allowed_network(
    home: Member, settings: Settings, receiver: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any port is allowed only in SCAN_ALLOWED_NETWORKS.

    Public names must use one of the allowed ports.
    """
    monkeypatch.setattr(client, "SystemResolver", lambda _: Names({"hooks.example.com": (PUBLIC,)}))
    body = {"url": "https://hooks.example.com:9999/", "events": ALL_EVENTS}
    assert refusal(home.api.post("/api/webhooks", body)) == (400, "INVALID_URL")
    assert home.api.post("/api/webhooks", body | {"url": "https://hooks.example.com/"}).status_code == 201
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("93.184.215.0/24"),)
    assert home.api.post("/api/webhooks", body).status_code == 201


def test_test_event_is_sent_once(home: Member, webhook: Webhook, path: str, receiver: Site) -> None:
    answer = home.api.post(f"{path}/test", b"")
    assert answer.status_code == 202
    created = answer.json()
    assert set(created) == DELIVERY_FIELDS
    assert (created["event"], created["test"], created["scan_id"]) == ("scan.completed", True, None)
    assert (created["status"], created["attempts"]) == ("pending", [])
    receiver.routes["/hook"] = Answer("no", status=500)
    attempt_deliveries()
    body = json.loads(receiver.requests[0].body)
    assert (body["event"], body["test"]) == ("scan.completed", True)
    delivery = home.api.get(f"{path}/deliveries").json()["deliveries"][0]
    assert (delivery["id"], delivery["status"], len(delivery["attempts"])) == (created["id"], "failed", 1)


@pytest.mark.parametrize("kind", ALL_EVENTS)
def test_test_event_has_the_fields_of_a_real_one(home: Member, path: str, kind: str) -> None:
    finished_scan(home)
    event = json.loads(bytes(Event.objects.get().body))
    assert_described(event)
    assert home.api.post(f"{path}/test", {"event": kind}).status_code == 202
    example = json.loads(bytes(Event.objects.get(scan=None).body))
    assert example.pop("test") is True
    assert example["event"] == kind
    assert set(example) == set(event)
    assert set(example["data"]) - {"error"} == set(event["data"])
    assert ("error" in example["data"]) == (kind == "scan.failed")


def test_delivery_list_has_every_attempt(home: Member, path: str, receiver: Site) -> None:
    scan = finished_scan(home)
    receiver.routes["/hook"] = Answer("not now", status=503)
    attempt_deliveries()
    page = home.api.get(f"{path}/deliveries").json()
    assert set(page) == {"deliveries", "total", "limit", "offset"}
    assert (page["total"], page["limit"], page["offset"]) == (1, 20, 0)
    (delivery,) = page["deliveries"]
    assert set(delivery) == DELIVERY_FIELDS
    assert (delivery["scan_id"], delivery["event"], delivery["test"]) == (scan.id, "scan.completed", False)
    assert (delivery["status"], delivery["finished_at"]) == ("pending", None)
    assert delivery["next_attempt_at"] is not None
    (attempt,) = delivery["attempts"]
    assert isinstance(attempt.pop("latency_ms"), int)
    assert attempt.pop("at") is not None
    assert attempt == {
        "response_status": 503,
        "response_body": "not now",
        "error": {"code": "RECEIVER_STATUS", "message": "The receiver answered 503."},
        "blocked": False,
    }
    receiver.routes["/hook"] = Answer(status=204)
    make_due()
    attempt_deliveries()
    (delivery,) = home.api.get(f"{path}/deliveries").json()["deliveries"]
    assert (delivery["status"], delivery["next_attempt_at"]) == ("delivered", None)
    assert delivery["finished_at"] is not None
    assert [attempt["response_status"] for attempt in delivery["attempts"]] == [503, 204]
    assert delivery["attempts"][1]["error"] is None


def test_delivery_list_is_filtered(home: Member, webhook: Webhook, path: str, receiver: Site) -> None:
    register_webhook(home, f"{receiver.url}/other")
    for status in ("completed", "partial", "completed", "completed"):
        finished_scan(home, status)
    ids = list(webhook.deliveries.order_by("-created_at", "-id").values_list("id", flat=True))
    webhook.deliveries.filter(id=ids[0]).update(status="failed", finished_at=timezone.now())
    webhook.deliveries.filter(id=ids[3]).update(created_at=timezone.now() - timedelta(days=2))

    def listed_ids(query: str) -> list[str]:
        page = home.api.get(f"{path}/deliveries{query}").json()
        assert page["total"] >= len(page["deliveries"])
        return [delivery["id"] for delivery in page["deliveries"]]

    assert listed_ids("") == ids
    assert listed_ids("?limit=2") == ids[:2]
    assert listed_ids("?limit=2&offset=1") == ids[1:3]
    assert listed_ids("?status=failed") == ids[:1]
    assert listed_ids("?status=pending") == ids[1:]
    assert listed_ids("?event=scan.partial") == [ids[2]]
    since = (timezone.now() - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert listed_ids(f"?since={since}") == ids[:3]
    assert listed_ids(f"?since={since.replace('Z', '%2B00:00')}&status=pending&event=scan.completed") == [ids[1]]
    assert home.api.get(f"{path}/deliveries?limit=1&status=pending").json()["total"] == 3


@pytest.mark.parametrize(("before", "attempts_made"), [("delivered", 1), ("failed", 1), ("pending", 4)])
def test_replay_sends_the_same_body(home: Member, path: str, receiver: Site, before: str, attempts_made: int) -> None:
    finished_scan(home)
    receiver.routes["/hook"] = Answer(status=200 if before == "delivered" else 500)
    attempt_deliveries()
    Delivery.objects.exclude(status="delivered").update(attempts_made=8 if before == "failed" else 3)
    if before == "failed":
        Delivery.objects.update(status="failed", finished_at=timezone.now())
    id = Delivery.objects.get().id
    answer = home.api.post(f"{path}/deliveries/{id}/replay", b"")
    assert answer.status_code == 202
    body = answer.json()
    assert (set(body), body["id"], body["status"], body["finished_at"]) == (DELIVERY_FIELDS, id, "pending", None)
    receiver.routes["/hook"] = Answer(status=500)
    attempt_deliveries()
    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.attempts_made, delivery.attempts.count()) == ("pending", attempts_made, 2)
    first, second = receiver.requests
    assert first.body == second.body
    assert first.header("webhook-id") == second.header("webhook-id") == delivery.event_id


def test_replay_does_not_change_a_running_delivery(home: Member, path: str) -> None:
    finished_scan(home)
    lease = timezone.now() + timedelta(seconds=20)
    Delivery.objects.update(lease_expires_at=lease, attempts_made=3)
    id = Delivery.objects.get().id
    answer = home.api.post(f"{path}/deliveries/{id}/replay", b"")
    assert (answer.status_code, answer.json()["next_attempt_at"]) == (202, None)
    delivery = Delivery.objects.get()
    assert (delivery.lease_expires_at, delivery.attempts_made) == (lease, 3)


def test_recover_failed_resends_deliveries(home: Member, webhook: Webhook, path: str, receiver: Site) -> None:
    for _ in range(4):
        finished_scan(home)
    home.api.post(f"{path}/test", b"")
    Delivery.objects.update(status="failed", attempts_made=8, finished_at=timezone.now())
    old, delivered = Delivery.objects.filter(event__scan__isnull=False)[:2]
    Delivery.objects.filter(id=old.id).update(created_at=timezone.now() - timedelta(days=3))
    Delivery.objects.filter(id=delivered.id).update(status="delivered")
    since = timezone.now() - timedelta(days=1)
    arguments: dict[str, Any] = {"caller": key_caller(home.organization.id), "webhook_id": webhook.id}
    assert services.recover_failed(**arguments, since=since) == 2
    assert services.recover_failed(**arguments, since=since) == 0
    assert len(attempt_deliveries()) == 2
    assert Delivery.objects.filter(status="delivered").count() == 3
    webhook.refresh_from_db()
    home.api.patch(path, {"enabled": False})
    with pytest.raises(services.WebhookDisabled):
        services.recover_failed(**arguments, since=since)


def test_immediate_rotation_ends_old_secrets(home: Member, receiver: Site) -> None:
    webhook, _ = register_webhook(home, f"{receiver.url}/hook")
    path = f"/api/webhooks/{webhook.id}/rotate-secret"
    home.api.post(path, b"")
    body = home.api.post(path, {"immediately": True}).json()
    assert datetime.fromisoformat(body["previous_secret_expires_at"]) <= timezone.now()
    finished_scan(home)
    attempt_deliveries()
    headers = dict(receiver.requests[0].headers)
    StandardWebhook(body["secret"]).verify(receiver.requests[0].body, headers)
    assert " " not in headers["webhook-signature"]
    assert not FormerSecret.objects.exists()


def test_old_secret_is_valid_for_24_hours(home: Member, receiver: Site) -> None:
    webhook, old = register_webhook(home, f"{receiver.url}/hook")
    answer = home.api.post(f"/api/webhooks/{webhook.id}/rotate-secret", b"")
    assert answer.status_code == 200
    body = answer.json()
    assert set(body) == {"id", "secret", "previous_secret_expires_at"}
    new = body["secret"]
    assert new != old
    expires_at = FormerSecret.objects.get().expires_at
    assert timedelta(hours=23, minutes=59) < expires_at - timezone.now() <= timedelta(hours=24)
    finished_scan(home)
    attempt_deliveries()
    request = receiver.requests[0]
    headers = dict(request.headers)
    for secret in (old, new):
        StandardWebhook(secret).verify(request.body, headers)
    FormerSecret.objects.update(expires_at=timezone.now())
    finished_scan(home)
    attempt_deliveries()
    headers = dict(receiver.requests[1].headers)
    StandardWebhook(new).verify(receiver.requests[1].body, headers)
    assert "," in headers["webhook-signature"]
    assert " " not in headers["webhook-signature"]


def test_rotation_is_refused_for_many_secrets(home: Member, receiver: Site) -> None:
    webhook, first = register_webhook(home, f"{receiver.url}/hook")
    path = f"/api/webhooks/{webhook.id}/rotate-secret"
    secrets = [first, *(home.api.post(path, b"").json()["secret"] for _ in range(MAX_FORMER_SECRETS))]
    assert refusal(home.api.post(path, b"")) == (409, "ROTATION_LIMIT")
    finished_scan(home)
    attempt_deliveries()
    (request,) = receiver.requests
    for secret in secrets:
        StandardWebhook(secret).verify(request.body, dict(request.headers))
    FormerSecret.objects.filter(id=FormerSecret.objects.order_by("expires_at")[0].id).update(expires_at=timezone.now())
    assert home.api.post(path, b"").status_code == 200


def test_disabled_webhook_has_no_next_attempt(home: Member, path: str) -> None:
    finished_scan(home)
    home.api.patch(path, {"enabled": False})
    (delivery,) = home.api.get(f"{path}/deliveries").json()["deliveries"]
    assert (delivery["status"], delivery["next_attempt_at"]) == ("pending", None)


def test_webhook_deletion_deletes_deliveries(home: Member, webhook: Webhook, path: str) -> None:
    for _ in range(3):
        finished_scan(home)
    attempt_deliveries()
    assert home.api.delete(path).status_code == 204
    assert (Delivery.objects.count(), Event.objects.count()) == (0, 3)
