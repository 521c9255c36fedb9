"""Tests for creating scans with POST /v1/scan."""

from __future__ import annotations

from pytest_django import Settings

from accounts.models import MonthlyUsage, Tier
from scans.models import Scan
from tests.factories import Member, make_scan
from tests.responses import ClientResponse

FIELDS = {
    "id",
    "type",
    "url",
    "status",
    "score",
    "grade",
    "created_at",
    "started_at",
    "completed_at",
    "report_url",
    "progress",
    "error",
    "skipped_checks",
}


def used_quota(member: Member) -> int:
    row = MonthlyUsage.objects.filter(organization=member.organization).first()
    return row.used if row else 0


def refusal(response: ClientResponse) -> tuple[int, str]:
    body = response.json()
    assert set(body) == {"code", "error"}
    assert body["error"]
    return response.status_code, body["code"]


def test_created_scan_has_all_13_fields(home: Member, target: str) -> None:
    response = home.api.post("/v1/scan", {"url": target, "type": "seo"})
    assert response.status_code == 201
    body = response.json()
    assert set(body) == FIELDS
    assert body["status"] == "queued"
    assert body["url"] == target
    assert body["progress"] == {"percent": 0, "phase": "queued", "checks_done": 0, "checks_total": 0}
    assert response["Location"] == f"/v1/scan/{body['id']}"
    assert body["report_url"].endswith(f"/report/{body['id']}")
    assert home.api.get(response["Location"]).json() == body
    assert used_quota(home) == 1


def test_unreachable_target_is_refused(home: Member, target: str) -> None:
    # No server listens on port 1 of loopback, which is an allowed network.
    response = home.api.post("/v1/scan", {"url": "http://127.0.0.1:1/", "type": "seo"})
    assert refusal(response) == (400, "URL_NOT_REACHABLE")
    assert used_quota(home) == 0


def test_exceeded_quota_has_a_retry_after_header(home: Member, target: str) -> None:
    Tier.objects.filter(name="free").update(scans_per_month=1)
    assert home.api.post("/v1/scan", {"url": target, "type": "seo"}).status_code == 201
    response = home.api.post("/v1/scan", {"url": target, "type": "seo"})
    assert refusal(response) == (429, "QUOTA_EXCEEDED")
    assert int(response["Retry-After"]) >= 1
    assert {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} <= set(response.headers)
    assert used_quota(home) == 1


def test_earlier_scans_do_not_use_the_quota(home: Member, target: str) -> None:
    Tier.objects.filter(name="free").update(scans_per_month=1)
    MonthlyUsage.objects.create(organization=home.organization, period="2020-01-01", used=100)
    assert home.api.post("/v1/scan", {"url": target, "type": "seo"}).status_code == 201


def test_concurrency_limit_is_enforced(home: Member, target: str) -> None:
    make_scan(home, status="scanning")
    make_scan(home)
    response = home.api.post("/v1/scan", {"url": target, "type": "seo"})
    assert refusal(response) == (429, "CONCURRENT_LIMIT")
    assert "Retry-After" in response.headers


def test_long_queue_refuses_scans(home: Member, stranger: Member, target: str, settings: Settings) -> None:
    settings.SCAN_QUEUE_LIMIT = 2
    for _ in range(3):
        make_scan(stranger)
    response = home.api.post("/v1/scan", {"url": target, "type": "seo"})
    assert refusal(response) == (503, "SERVICE_UNAVAILABLE")
    assert int(response["Retry-After"]) >= 1


def test_maintenance_refuses_valid_keys(home: Member, settings: Settings) -> None:
    settings.MAINTENANCE_MODE = True
    assert refusal(home.api.get("/v1/scans")) == (503, "SERVICE_UNAVAILABLE")


def test_url_is_stored_in_canonical_form(home: Member, target: str) -> None:
    url = target.replace("127.0.0.1", "0x7F.0.0.1") + "a/../b?q=ü#fragment"
    body = home.api.post("/v1/scan", {"url": url, "type": "seo"}).json()
    assert body["url"] == f"{target}b?q=%C3%BC"
    assert Scan.objects.get(id=body["id"]).url == body["url"]
