"""Tests for deleting audits with their last report or their organization."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.authentication import member_caller
from accounts.closing import deletion
from accounts.closing.services import close_organization
from accounts.models import REPORTS_KEPT_DAYS, Membership, Organization, Tier, User
from infrastructure.postgresql import deletion as batches
from reports.models import Report
from scans.models import IdempotencyRecord, Scan
from sites.audits.services import cancel_audit, create_audit
from sites.models import Audit, AuditFinding, AuditPage, AuditPlace
from sites.retention import delete_audits
from tests.factories import Member, browser_of, person_of
from tests.queries import counted
from tests.sites.audits.cast import pages_audit_request
from tests.sites.audits.test_life import created, get_audit, page_urls, visit

RETENTION = timedelta(days=REPORTS_KEPT_DAYS)


@pytest.fixture
def ended_audit(home: Member) -> Audit:
    Tier.objects.update(pages_per_audit=100)
    audit = created(home, {"pages": page_urls(3), "types": ["seo", "security"]})
    while visit(home):
        pass
    return Audit.objects.get(id=audit["id"])


def make_older(audit: Audit, duration: timedelta) -> None:
    assert audit.released_at is not None
    Audit.objects.filter(id=audit.id).update(
        created_at=audit.created_at - duration, released_at=audit.released_at - duration
    )


def test_audit_expires_with_its_last_report(home: Member, ended_audit: Audit) -> None:
    newest = Report.objects.latest("expires_at")
    assert ended_audit.released_at is not None
    assert newest.expires_at == ended_audit.released_at + RETENTION
    make_older(ended_audit, RETENTION - timedelta(minutes=5))
    assert get_audit(home, {"id": ended_audit.id})["status"] == "completed"
    assert home.api.get("/v1/audits").json()["total"] == 1
    delete_audits()
    assert Audit.objects.count() == 1


def test_expired_audit_is_hidden_at_once(home: Member, ended_audit: Audit) -> None:
    make_older(ended_audit, RETENTION + timedelta(seconds=5))
    for what in ("", "/pages", "/findings", "/export"):
        assert home.api.get(f"/v1/audits/{ended_audit.id}{what}").status_code == 404
    listed = home.api.get("/v1/audits").json()
    assert (listed["audits"], listed["total"]) == ([], 0)
    delete_audits()
    for model in (Audit, AuditPage, AuditFinding, AuditPlace):
        assert not model.objects.exists()
    # Scans remain in the list of scans.
    assert Scan.objects.filter(audit_page=None).count() == 6
    assert home.api.get("/v1/scans").json()["total"] == 6


def test_running_audit_does_not_expire(home: Member) -> None:
    audit = created(home, {"pages": page_urls(3), "types": ["seo"]})
    Audit.objects.update(created_at=timezone.now() - 2 * RETENTION, released_at=timezone.now() - 2 * RETENTION)
    delete_audits()
    assert get_audit(home, audit)["status"] == "running"


def test_deletion_continues_after_its_time_limit(
    home: Member, ended_audit: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "BATCH", 1)
    make_older(ended_audit, 2 * RETENTION)
    moments = iter([True, True, False])
    assert delete_audits(lambda: next(moments)) is False
    assert Audit.objects.exists()
    assert delete_audits(lambda: True) is True
    assert not Audit.objects.exists()


def test_closed_organization_loses_its_audits(
    home: Member, ended_audit: Audit, stranger: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = home.api.post("/v1/audits", {"pages": page_urls(9), "types": ["seo"]}, Idempotency_Key="k").json()
    theirs = created(stranger, {"pages": page_urls(2), "types": ["seo"]})
    close_organization(home.organization)
    assert Audit.objects.get(id=running["id"]).status == "cancelled"
    assert not AuditPage.objects.filter(audit_id=running["id"], status="waiting").exists()
    assert IdempotencyRecord.objects.filter(audit_id=running["id"]).exists()
    monkeypatch.setattr(batches, "BATCH", 2)
    with counted() as queries:
        assert deletion.delete_closed(timezone.now() + timedelta(hours=1), 60)
    deleted = [query for query in queries if query.startswith('DELETE FROM "sites_auditpage"')]
    assert len(deleted) >= 6  # The organization has twelve pages, and a batch has two rows.
    assert not Organization.objects.filter(id=home.organization.id).exists()
    assert [audit.id for audit in Audit.objects.all()] == [theirs["id"]]
    assert get_audit(stranger, theirs)["status"] == "running"


def test_activity_log_names_who_cancelled_an_audit(home: Member) -> None:
    person = person_of(home, "owner", "owner@people.test")
    caller = member_caller(Membership.objects.select_related("organization__tier", "user").get(user=person))
    made = create_audit(caller=caller, request=pages_audit_request(page_urls(3), types=["seo"]))
    cancel_audit(caller=caller, audit_id=made.response["id"])
    page = " ".join(browser_of(person).get(f"/o/{home.organization.slug}/activity/").content.decode().split())
    for sentence in ("started a scan of", "cancelled the scan of"):
        assert sentence in page


@pytest.fixture
def operator(db: None) -> Client:
    return browser_of(User.objects.create_superuser("operator@people.test"))


def test_admin_finds_audits_by_id(operator: Client, ended_audit: Audit, stranger: Member) -> None:
    created(stranger, {"pages": page_urls(1), "types": ["seo"]})
    scan = Scan.objects.filter(organization=ended_audit.organization).first()
    assert scan
    for query in (ended_audit.id, scan.id, ended_audit.organization.slug):
        page = operator.get("/admin/sites/audit/", {"q": query}).content.decode()
        assert ended_audit.id in page
        assert stranger.organization.name not in page
    page = operator.get(f"/admin/sites/audit/{ended_audit.id.replace('_', '_5F')}/change/").content.decode()
    assert "3 done, 0 failed, of 3 planned and 3 found" in page
    listed = operator.get("/admin/scans/scan/", {"q": ended_audit.id}).content.decode()
    assert listed.count('name="_selected_action"') == 6
    change = operator.get(f"/admin/scans/scan/{scan.id.replace('_', '_5F')}/change/").content.decode()
    assert f">{ended_audit.id}</a>" in change


def test_metrics_count_running_audits(operator: Client, home: Member, ended_audit: Audit) -> None:
    created(home, {"pages": page_urls(4), "types": ["seo"]})
    page = " ".join(operator.get("/admin/operations/").content.decode().split())
    assert "Audits in progress</span><strong>1</strong> <span>3 pages waiting for a slot" in page
