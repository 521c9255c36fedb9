"""Tests for API operations to register, list and delete webhooks."""

from __future__ import annotations

import base64
import re

import pytest

from tests.factories import Member
from tests.responses import ClientResponse
from webhooks.models import Webhook

EVENTS = ["scan.completed", "scan.failed", "scan.partial"]


def refusal(response: ClientResponse) -> tuple[int, str]:
    assert set(response.json()) == {"code", "error"}
    return response.status_code, response.json()["code"]


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ({}, "hooks.example.com"),
        ({"format": "slack"}, "Slack"),
        ({"format": "teams"}, "Microsoft Teams"),
        ({"format": "slack", "name": "  Ops \u00a0 channel "}, "Ops channel"),
        ({"name": "x" * 100}, "x" * 100),
    ],
)
def test_webhook_has_a_name(home: Member, sent: dict[str, str], name: str) -> None:
    body = {"url": "https://hooks.example.com:8443/a", "events": ["scan.failed"], **sent}
    path = f"/api/webhooks/{home.api.post('/api/webhooks', body).json()['id']}"
    assert home.api.get(path).json()["name"] == name
    assert home.api.patch(path, {"url": "https://example.org/"}).json()["name"] == name
    assert home.api.patch(path, {"name": "On call"}).json()["name"] == "On call"
    for invalid in ("", " ", "x" * 101, "a\u202eb", None, 1):
        refused = home.api.patch(path, {"name": invalid})
        assert refused.json()["error"] == "name must have 1 to 100 printable characters."


def test_registration_returns_the_secret_once(home: Member, target: str) -> None:
    response = home.api.post("/api/webhooks", {"url": target, "events": EVENTS[:2]})
    assert response.status_code == 201
    body = response.json()
    assert set(body) == {"id", "url", "events", "secret", "created_at"}
    assert re.fullmatch(r"wh_[0-9A-Za-z]{22}", body["id"])
    assert len(base64.b64decode(body["secret"].removeprefix("whsec_"), validate=True)) == 32
    assert home.api.get("/api/webhooks").json() == [{"id": body["id"], "url": target, "events": EVENTS[:2]}]
    stored = Webhook.objects.get()
    assert body["secret"].encode() not in bytes(stored.encrypted_secret)


def test_duplicate_events_are_dropped(home: Member, target: str) -> None:
    body = home.api.post("/api/webhooks", {"url": target, "events": [EVENTS[1], EVENTS[0], EVENTS[1]]}).json()
    assert body["events"] == [EVENTS[1], EVENTS[0]]


def test_unreachable_receiver_can_be_registered(home: Member, target: str) -> None:
    response = home.api.post("/api/webhooks", {"url": "http://127.0.0.1:1/", "events": EVENTS})
    assert response.status_code == 201


def test_webhook_cannot_be_deleted_twice(home: Member, target: str) -> None:
    id = home.api.post("/api/webhooks", {"url": target, "events": EVENTS}).json()["id"]
    response = home.api.delete(f"/api/webhooks/{id}")
    assert (response.status_code, response.content) == (204, b"")
    assert refusal(home.api.delete(f"/api/webhooks/{id}")) == (404, "WEBHOOK_NOT_FOUND")
