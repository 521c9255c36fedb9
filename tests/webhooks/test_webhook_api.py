"""Registration, listing and deletion of webhooks over the API."""

from __future__ import annotations

import base64
import re

import pytest

from tests.world import Member
from webhooks.models import Webhook

EVENTS = ["scan.completed", "scan.failed", "scan.partial"]


def refusal(response) -> tuple[int, str]:
    assert set(response.json()) == {"code", "error"}
    return response.status_code, response.json()["code"]


def test_a_webhook_is_registered_with_a_secret_that_is_shown_once(home: Member, target: str) -> None:
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


def test_a_receiver_that_does_not_answer_can_be_registered(home: Member, target: str) -> None:
    response = home.api.post("/api/webhooks", {"url": "http://127.0.0.1:1/", "events": EVENTS})
    assert response.status_code == 201


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ({"url": "ftp://example.com/", "events": EVENTS}, (400, "INVALID_URL")),
        ({"events": EVENTS}, (400, "INVALID_URL")),
        ({"url": "https://u:p@example.com/", "events": EVENTS}, (400, "INVALID_URL")),
        ({"url": "https://example.com/"}, (400, "INVALID_PARAMS")),
        ({"url": "https://example.com/", "events": []}, (400, "INVALID_PARAMS")),
        ({"url": "https://example.com/", "events": "scan.completed"}, (400, "INVALID_PARAMS")),
        ({"url": "https://example.com/", "events": ["scan.done"]}, (400, "INVALID_PARAMS")),
        ({"url": "https://example.com/", "events": [{}, []]}, (400, "INVALID_PARAMS")),
        ({"url": "http://127.0.0.1/", "events": EVENTS}, (403, "DOMAIN_BLOCKED")),
        ({"url": "https://hooks.internal/", "events": EVENTS}, (403, "DOMAIN_BLOCKED")),
    ],
)
def test_a_refused_registration_says_why(home: Member, body: object, answer: object) -> None:
    assert refusal(home.api.post("/api/webhooks", body)) == answer
    assert Webhook.objects.count() == 0


def test_the_tiers_number_of_webhooks_holds(home: Member, target: str) -> None:
    for _ in range(3):
        assert home.api.post("/api/webhooks", {"url": target, "events": EVENTS}).status_code == 201
    response = home.api.post("/api/webhooks", {"url": target, "events": EVENTS})
    assert refusal(response) == (409, "WEBHOOK_LIMIT")


def test_a_webhook_is_deleted_once(home: Member, target: str) -> None:
    id = home.api.post("/api/webhooks", {"url": target, "events": EVENTS}).json()["id"]
    response = home.api.delete(f"/api/webhooks/{id}")
    assert (response.status_code, response.content) == (204, b"")
    assert refusal(home.api.delete(f"/api/webhooks/{id}")) == (404, "WEBHOOK_NOT_FOUND")


@pytest.mark.parametrize("id", ["x", "wh_", "%00", "a/b", "wh_" + "0" * 22])
def test_an_unknown_webhook_is_WEBHOOK_NOT_FOUND(home: Member, id: str) -> None:
    assert refusal(home.api.delete(f"/api/webhooks/{id}")) == (404, "WEBHOOK_NOT_FOUND")


def test_organizations_see_only_their_own(home: Member, stranger: Member, target: str) -> None:
    id = home.api.post("/api/webhooks", {"url": target, "events": EVENTS}).json()["id"]
    assert stranger.api.get("/api/webhooks").json() == []
    assert refusal(stranger.api.delete(f"/api/webhooks/{id}")) == (404, "WEBHOOK_NOT_FOUND")
    assert Webhook.objects.count() == 1
