"""Tests for audits with credentials.

Credentials are sent only to the audit's own origin.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_network

import pytest
from django.utils import timezone
from pytest_django import Settings

from accounts.models import REPORTS_KEPT_DAYS
from scans.credentials import forget
from scans.models import Scan
from scans.visits.queue import Worker
from sites.audits.discovering import discover_pages
from sites.models import Audit, AuditPage
from tests.factories import Member
from tests.sites.audits.test_life import created, get_audit, page_urls, visit
from tests.targets.server import Answer, Request, Site

SECRET = "canary-3f9c1d7be2"
REQUEST = {"headers": {"X-Preview": SECRET}, "cookies": {"sid": SECRET}}
NAMES = {"headers": ["X-Preview"], "basic_auth": False, "cookies": ["sid"]}


@pytest.fixture
def site(settings: Settings) -> Iterator[Site]:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)

    def serve_page(request: Request) -> Answer:
        if SECRET not in str(request.headers):
            return Answer("No", status=401)
        return Answer("<!doctype html><title>Home</title><a href='/b'>B</a><a href='/c'>C</a>")

    with Site({"/": serve_page, "/b": serve_page, "/c": serve_page}) as site:
        yield site


def test_values_of_credentials_are_not_displayed(home: Member) -> None:
    audit = created(home, {"pages": page_urls(2), "types": ["seo"], "request": REQUEST})
    assert audit["request"] == NAMES
    assert get_audit(home, audit)["request"] == NAMES
    stored_audit = Audit.objects.get()
    assert stored_audit.credentials is not None
    assert SECRET not in str(stored_audit.__dict__)
    assert stored_audit.credentials.request["headers"] == REQUEST["headers"]
    assert "request" not in created(home, {"pages": page_urls(1), "types": ["seo"]})


def test_credentials_are_deleted_with_the_reports(home: Member) -> None:
    expired, recent = (
        created(home, {"pages": page_urls(2), "types": ["seo"], "request": REQUEST})["id"] for _ in range(2)
    )
    edge = timezone.now() - timedelta(days=REPORTS_KEPT_DAYS)
    for audit, offset_minutes in ((expired, -1), (recent, 1)):
        Audit.objects.filter(id=audit).update(created_at=edge + timedelta(minutes=offset_minutes))
    forget(Audit)
    assert Audit.objects.get(id=expired).encrypted_credentials is None
    assert Audit.objects.get(id=recent).encrypted_credentials is not None


def test_other_origins_get_no_credentials(home: Member) -> None:
    audit = created(home, {"pages": page_urls(2), "types": ["seo", "security"], "request": REQUEST})
    AuditPage.objects.filter(position=1).update(origin="https://www.example.com", url="https://www.example.com/1")
    assert visit(home)
    assert visit(home)
    has_credentials_by_url = {(scan.url, scan.credentials is not None) for scan in Scan.objects.all()}
    assert has_credentials_by_url == {("https://example.com/0", True), ("https://www.example.com/1", False)}
    assert get_audit(home, audit)["status"] == "completed"


def test_credentials_need_a_single_origin(home: Member) -> None:
    body = {"pages": ["https://example.com/", "https://www.example.com/"], "request": REQUEST}
    response = home.api.post("/v1/audits", body)
    assert (response.status_code, response.json()["code"]) == (400, "INVALID_REQUEST_FIELD")
    assert SECRET not in response.content.decode()


def test_discovery_sends_the_credentials(home: Member, site: Site) -> None:
    audit = created(home, {"site": f"{site.url}/", "types": ["seo"], "discover": ["links"], "request": REQUEST})
    discover_pages(Worker("one", 4))
    assert get_audit(home, audit)["pages"]["found"] == 3
    audit_without_credentials = created(home, {"site": f"{site.url}/", "types": ["seo"], "discover": ["links"]})
    discover_pages(Worker("one", 4))
    assert get_audit(home, audit_without_credentials)["pages"]["found"] == 1


def test_other_credentials_conflict(home: Member) -> None:
    body = {"pages": page_urls(1), "types": ["seo"], "request": REQUEST}
    headers = {"Idempotency_Key": "one"}
    first = home.api.post("/v1/audits", body, **headers)
    again = home.api.post("/v1/audits", body, **headers)
    assert (again.status_code, again.json(), again["Idempotent-Replayed"]) == (202, first.json(), "true")
    other = home.api.post("/v1/audits", body | {"request": {"headers": {"X-Preview": "other"}}}, **headers)
    assert (other.status_code, other.json()["code"]) == (422, "IDEMPOTENCY_MISMATCH")
