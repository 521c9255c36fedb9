"""Tests for the Idempotency-Key of POST /v1/scan."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from accounts.models import Tier
from scans.models import IdempotencyRecord, Scan
from scans.retention import delete_idempotency_records
from tests.factories import Member


def test_repeated_request_gets_the_first_response(home: Member, target: str) -> None:
    Tier.objects.filter(name="free").update(scans_per_month=1)
    body = {"url": target, "type": "seo"}
    first = home.api.post("/v1/scan", body, Idempotency_Key="k")
    second = home.api.post("/v1/scan", {"type": "seo", "url": target}, Idempotency_Key="k")
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.content == second.content
    assert "Idempotent-Replayed" not in first.headers
    assert second["Idempotent-Replayed"] == "true"
    assert second["Location"] == first["Location"]
    assert Scan.objects.count() == 1


def test_keys_of_organizations_are_independent(home: Member, stranger: Member, target: str) -> None:
    body = {"url": target, "type": "seo"}
    first = home.api.post("/v1/scan", body, Idempotency_Key="k")
    second = stranger.api.post("/v1/scan", body, Idempotency_Key="k")
    assert second.status_code == 201
    assert first.json()["id"] != second.json()["id"]


def test_refused_request_does_not_use_its_key(home: Member, target: str) -> None:
    refusal = home.api.post("/v1/scan", {"url": "http://127.0.0.1:1/", "type": "seo"}, Idempotency_Key="k")
    assert refusal.status_code == 400
    assert home.api.post("/v1/scan", {"url": target, "type": "seo"}, Idempotency_Key="k").status_code == 201


def test_key_can_be_reused_after_24_hours(home: Member, target: str) -> None:
    body = {"url": target, "type": "seo"}
    first = home.api.post("/v1/scan", body, Idempotency_Key="k")
    IdempotencyRecord.objects.update(created_at=timezone.now() - timedelta(hours=24, seconds=1))
    second = home.api.post("/v1/scan", body, Idempotency_Key="k")
    assert first.json()["id"] != second.json()["id"]
    third = home.api.post("/v1/scan", body, Idempotency_Key="k")
    assert third.json()["id"] == second.json()["id"]


def test_old_idempotency_records_are_deleted(home: Member, target: str) -> None:
    for key in ("old", "new"):
        home.api.post("/v1/scan", {"url": target, "type": "seo"}, Idempotency_Key=key)
    IdempotencyRecord.objects.filter(key="old").update(created_at=timezone.now() - timedelta(hours=25))
    delete_idempotency_records()
    assert [record.key for record in IdempotencyRecord.objects.all()] == ["new"]
