"""Factories for organizations, API keys, scans, people and an API client."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from django.test import Client
from django.utils import timezone
from msgspec import Struct

from accounts.authentication import Caller
from accounts.keys.services import create_api_key
from accounts.models import ApiKey, Membership, Organization, User
from accounts.services import ensure_organization
from accounts.usage import month_of, tier_limits
from infrastructure.api.scopes import Scope
from scans.models import Scan
from scans.policy import scan_policy
from scans.visits.claims import claim_scan, finish_scan
from tests.responses import ClientResponse
from tests.results import Named, check_of
from webhooks.delivery.attempts import record
from webhooks.delivery.claims import claim
from webhooks.delivery.sending import AttemptResult, send
from webhooks.models import Delivery, Webhook
from website_scan.findings import HIGH, LOW, ScanType
from website_scan.net.resolver import Resolver
from website_scan.result import CategoryResult, ScanResult, SkippedCheck


class Api:
    """API client with or without a key.

    Its responses have `.json()`.
    """

    def __init__(self, key: str | None = None, address: str = "127.0.0.1") -> None:
        self._client = Client(raise_request_exception=False, REMOTE_ADDR=address)
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    def get(self, path: str, **headers: str) -> ClientResponse:
        return self._client.get(path, headers=self._with_key(headers))

    def delete(self, path: str, **headers: str) -> ClientResponse:
        return self._client.delete(path, headers=self._with_key(headers))

    def post(self, path: str, body: object, content_type: str = "application/json", **headers: str) -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self._client.post(path, data, content_type=content_type, headers=self._with_key(headers))

    def patch(self, path: str, body: object) -> Any:
        data = json.dumps(body).encode()
        return self._client.patch(path, data, content_type="application/json", headers=self._headers)

    def put(self, path: str, body: object) -> Any:
        data = json.dumps(body).encode()
        return self._client.put(path, data, content_type="application/json", headers=self._headers)

    def call(self, method: str, path: str, body: bytes = b"", content_type: str = "", **headers: str) -> ClientResponse:
        return self._client.generic(method, path, body, content_type, headers=self._with_key(headers))

    def _with_key(self, headers: dict[str, str]) -> dict[str, str]:
        return self._headers | {name.replace("_", "-"): value for name, value in headers.items()}


class Member(Struct):
    """Organization with one API key and a client that uses the key."""

    organization: Organization
    key: ApiKey
    plaintext: str
    api: Api


def member_of(name: str, tier: str = "free") -> Member:
    """Create an organization on a tier, with an API key."""
    organization = ensure_organization(name=name, tier=tier)
    key, plaintext = create_api_key(organization=organization, name="tests")
    return Member(organization, key, plaintext, Api(plaintext))


def key_caller(organization_id: int) -> Caller:
    """Return the caller of API requests with the organization's first key."""
    key = (
        ApiKey.objects.select_related("organization__tier").filter(organization=organization_id).earliest("created_at")
    )
    tier = key.organization.tier
    return Caller(
        key.id,
        organization_id,
        tier_limits(tier),
        tier.requests_per_minute,
        tier.webhooks,
        Scope(key.scope),
        key_name=key.name,
    )


def make_scan(member: Member, **columns: Any) -> Scan:
    """Create an accepted scan."""
    now = columns.pop("created_at", timezone.now())
    values = {"type": "security", "url": "https://example.com/", "created_at": now, "period": month_of(now)}
    return Scan.objects.create(organization=member.organization, api_key=member.key, **values | columns)


def make_result(scan: Scan, status: str = "completed", **columns: Any) -> ScanResult:
    """Return a result with a passed, a failed and a warned check.

    `partial` adds a skipped check.
    """
    now = datetime.now(UTC)
    checks = (
        check_of("good", "Good thing", "Good thing", "pass", None, HIGH, "All is well."),
        check_of(
            "bad",
            "Bad thing",
            "Bad thing found",
            "fail",
            HIGH,
            HIGH,
            "It is <b>bad</b>.",
            "Mend it.",
            [Named("=1+1")],
        ),
        check_of(
            "meh",
            "Meh thing",
            "Meh thing found",
            "warn",
            LOW,
            LOW,
            "It is so-so.",
            "Polish it.",
            (),
            ("RFC 9110",),
            1.5,
        ),
    )
    skipped = (SkippedCheck("gone", "Gone thing", "The site did not answer in time.", "timeout"),)
    values: dict[str, Any] = {
        "score": 71,
        "grade": "C",
        "categories": (CategoryResult("things", "Things", 10, checks, 71),),
        "skipped_checks": skipped if status == "partial" else (),
        "facts": {"final_url": scan.url},
    }
    return ScanResult(
        type=ScanType(scan.type),
        url=scan.url,
        status=status,  # type: ignore[arg-type]
        started_at=now,
        completed_at=now,
        catalogue_version="test",
        **values | columns,
    )


def finished_scan(member: Member, status: str = "completed", age: timedelta = timedelta(), **columns: Any) -> Scan:
    """Create, claim and finish a scan, as a worker does."""
    scan = make_scan(member, created_at=timezone.now() - age, **columns)
    claim = claim_scan(scan.id)
    assert claim is not None
    assert finish_scan(claim, make_result(scan, status))
    return Scan.objects.get(id=scan.id)


def person_of(member: Member, role: str, email: str) -> User:
    """Create a user with a role in the organization."""
    user = User.objects.create_user(email)
    Membership.objects.create(organization=member.organization, user=user, role=role)
    return user


def browser_of(user: User) -> Client:
    """Return a test client that is logged in as the person."""
    client = Client()
    client.force_login(user)
    return client


ALL_EVENTS = ["scan.completed", "scan.failed", "scan.partial"]


def register_webhook(member: Member, url: str, events: list[str] = ALL_EVENTS) -> tuple[Webhook, str]:
    """Register a webhook through the API.

    Returns the webhook and its secret.
    """
    webhook_json = member.api.post("/api/webhooks", {"url": url, "events": events}).json()
    return Webhook.objects.get(id=webhook_json["id"]), webhook_json["secret"]


def attempt_deliveries(resolver: Resolver | None = None) -> list[AttemptResult]:
    """Attempt every due delivery once, like one round of a worker."""
    claims = claim(limit=1000, failing_limit=1000, now=timezone.now())
    reports = [send(delivery_claim, scan_policy(), resolver=resolver) for delivery_claim in claims]
    if reports:
        record(reports)
    return reports


def make_due() -> None:
    """Make all pending deliveries due now."""
    Delivery.objects.filter(status="pending").update(next_attempt_at=timezone.now(), lease_expires_at=None)


@contextmanager
def listening() -> Iterator[int]:
    """Open a port on loopback that never responds.

    It accepts connections. Yields the port number.
    """
    with socket.create_server(("127.0.0.1", 0), backlog=128) as server:
        yield server.getsockname()[1]
