"""Audits of pages that need credentials, which are sent only to the audit's own origin."""

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
from tests.sites.audits.test_life import created, pages, shown, visit
from tests.targets.server import Answer, Request, Site

SECRET = "canary-3f9c1d7be2"
REQUEST = {"headers": {"X-Preview": SECRET}, "cookies": {"sid": SECRET}}
NAMES = {"headers": ["X-Preview"], "basic_auth": False, "cookies": ["sid"]}


@pytest.fixture
def site(settings: Settings) -> Iterator[Site]:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)

    def page(request: Request) -> Answer:
        if SECRET not in str(request.headers):
            return Answer("No", status=401)
        return Answer("<!doctype html><title>Home</title><a href='/b'>B</a><a href='/c'>C</a>")

    with Site({"/": page, "/b": page, "/c": page}) as site:
        yield site


def test_credential_names_are_displayed_but_never_values(home: Member) -> None:
    audit = created(home, {"pages": pages(2), "types": ["seo"], "request": REQUEST})
    assert audit["request"] == NAMES
    assert shown(home, audit)["request"] == NAMES
    kept = Audit.objects.get()
    assert kept.credentials is not None
    assert SECRET not in str(kept.__dict__)
    assert kept.credentials.request["headers"] == REQUEST["headers"]
    assert "request" not in created(home, {"pages": pages(1), "types": ["seo"]})


def test_credentials_are_deleted_with_the_reports(home: Member) -> None:
    old, kept = (created(home, {"pages": pages(2), "types": ["seo"], "request": REQUEST})["id"] for _ in range(2))
    edge = timezone.now() - timedelta(days=REPORTS_KEPT_DAYS)
    for audit, by in ((old, -1), (kept, 1)):
        Audit.objects.filter(id=audit).update(created_at=edge + timedelta(minutes=by))
    forget(Audit)
    assert Audit.objects.get(id=old).encrypted_credentials is None
    assert Audit.objects.get(id=kept).encrypted_credentials is not None


def test_scans_of_the_origin_send_credentials_and_others_do_not(home: Member) -> None:
    audit = created(home, {"pages": pages(2), "types": ["seo", "security"], "request": REQUEST})
    AuditPage.objects.filter(position=1).update(origin="https://www.example.com", url="https://www.example.com/1")
    assert visit(home)
    assert visit(home)
    found = {(scan.url, scan.credentials is not None) for scan in Scan.objects.all()}
    assert found == {("https://example.com/0", True), ("https://www.example.com/1", False)}
    assert shown(home, audit)["status"] == "completed"


def test_pages_of_several_origins_cannot_share_credentials(home: Member) -> None:
    body = {"pages": ["https://example.com/", "https://www.example.com/"], "request": REQUEST}
    response = home.api.post("/v1/audits", body)
    assert (response.status_code, response.json()["code"]) == (400, "INVALID_REQUEST_FIELD")
    assert SECRET not in response.content.decode()


def test_discovery_sends_the_credentials(home: Member, site: Site) -> None:
    audit = created(home, {"site": f"{site.url}/", "types": ["seo"], "discover": ["links"], "request": REQUEST})
    discover_pages(Worker("one", 4))
    assert shown(home, audit)["pages"]["found"] == 3
    without = created(home, {"site": f"{site.url}/", "types": ["seo"], "discover": ["links"]})
    discover_pages(Worker("one", 4))
    assert shown(home, without)["pages"]["found"] == 1


def test_idempotency_key_with_other_credentials_conflicts(home: Member) -> None:
    body = {"pages": pages(1), "types": ["seo"], "request": REQUEST}
    headers = {"Idempotency_Key": "one"}
    first = home.api.post("/v1/audits", body, **headers)
    again = home.api.post("/v1/audits", body, **headers)
    assert (again.status_code, again.json(), again["Idempotent-Replayed"]) == (202, first.json(), "true")
    other = home.api.post("/v1/audits", body | {"request": {"headers": {"X-Preview": "other"}}}, **headers)
    assert (other.status_code, other.json()["code"]) == (422, "IDEMPOTENCY_MISMATCH")
