"""Retention of audits: deleted with the last of their reports, or with their organization, in small transactions."""

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
from tests.sites.audits.cast import request_for
from tests.sites.audits.test_life import created, pages, shown, visit

RETENTION = timedelta(days=REPORTS_KEPT_DAYS)


@pytest.fixture
def ended(home: Member) -> Audit:
    Tier.objects.update(pages_per_audit=100)
    audit = created(home, {"pages": pages(3), "types": ["seo", "security"]})
    while visit(home):
        pass
    return Audit.objects.get(id=audit["id"])


def age(audit: Audit, by: timedelta) -> None:
    assert audit.released_at is not None
    Audit.objects.filter(id=audit.id).update(created_at=audit.created_at - by, released_at=audit.released_at - by)


def test_audit_expires_with_its_last_report(home: Member, ended: Audit) -> None:
    newest = Report.objects.latest("expires_at")
    assert ended.released_at is not None
    assert newest.expires_at == ended.released_at + RETENTION
    age(ended, RETENTION - timedelta(minutes=5))
    assert shown(home, {"id": ended.id})["status"] == "completed"
    assert home.api.get("/v1/audits").json()["total"] == 1
    delete_audits()
    assert Audit.objects.count() == 1


def test_expired_audit_is_hidden_at_once_and_deleted_at_night(home: Member, ended: Audit) -> None:
    age(ended, RETENTION + timedelta(seconds=5))
    for what in ("", "/pages", "/findings", "/export"):
        assert home.api.get(f"/v1/audits/{ended.id}{what}").status_code == 404
    listed = home.api.get("/v1/audits").json()
    assert (listed["audits"], listed["total"]) == ([], 0)
    delete_audits()
    for model in (Audit, AuditPage, AuditFinding, AuditPlace):
        assert not model.objects.exists()
    # Scans stay listed.
    assert Scan.objects.filter(audit_page=None).count() == 6
    assert home.api.get("/v1/scans").json()["total"] == 6


def test_running_audit_does_not_expire(home: Member) -> None:
    audit = created(home, {"pages": pages(3), "types": ["seo"]})
    Audit.objects.update(created_at=timezone.now() - 2 * RETENTION, released_at=timezone.now() - 2 * RETENTION)
    delete_audits()
    assert shown(home, audit)["status"] == "running"


def test_deletion_stops_at_its_time_limit_and_continues_later(
    home: Member, ended: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "BATCH", 1)
    age(ended, 2 * RETENTION)
    moments = iter([True, True, False])
    assert delete_audits(lambda: next(moments)) is False
    assert Audit.objects.exists()
    assert delete_audits(lambda: True) is True
    assert not Audit.objects.exists()


def test_audits_of_a_closed_organization_are_deleted_in_batches(
    home: Member, ended: Audit, stranger: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = home.api.post("/v1/audits", {"pages": pages(9), "types": ["seo"]}, Idempotency_Key="k").json()
    theirs = created(stranger, {"pages": pages(2), "types": ["seo"]})
    close_organization(home.organization)
    assert Audit.objects.get(id=running["id"]).status == "cancelled"
    assert not AuditPage.objects.filter(audit_id=running["id"], status="waiting").exists()
    assert IdempotencyRecord.objects.filter(audit_id=running["id"]).exists()
    monkeypatch.setattr(batches, "BATCH", 2)
    with counted() as queries:
        assert deletion.delete_closed(timezone.now() + timedelta(hours=1), 60)
    deleted = [each for each in queries if each.startswith('DELETE FROM "sites_auditpage"')]
    assert len(deleted) >= 6  # twelve pages
    assert not Organization.objects.filter(id=home.organization.id).exists()
    assert [each.id for each in Audit.objects.all()] == [theirs["id"]]
    assert shown(stranger, theirs)["status"] == "running"


def test_activity_log_names_who_started_and_cancelled_an_audit(home: Member) -> None:
    person = person_of(home, "owner", "owner@people.test")
    caller = member_caller(Membership.objects.select_related("organization__tier", "user").get(user=person))
    made = create_audit(caller=caller, request=request_for(pages(3), types=["seo"]))
    cancel_audit(caller=caller, audit_id=made.response["id"])
    page = " ".join(browser_of(person).get(f"/o/{home.organization.slug}/activity/").content.decode().split())
    for sentence in ("started a scan of", "cancelled the scan of"):
        assert sentence in page


@pytest.fixture
def operator(db: None) -> Client:
    return browser_of(User.objects.create_superuser("operator@people.test"))


def test_admin_finds_audits_by_id_and_by_scan(operator: Client, ended: Audit, stranger: Member) -> None:
    created(stranger, {"pages": pages(1), "types": ["seo"]})
    scan = Scan.objects.filter(organization=ended.organization).first()
    assert scan
    for query in (ended.id, scan.id, ended.organization.slug):
        page = operator.get("/admin/sites/audit/", {"q": query}).content.decode()
        assert ended.id in page
        assert stranger.organization.name not in page
    page = operator.get(f"/admin/sites/audit/{ended.id.replace('_', '_5F')}/change/").content.decode()
    assert "3 done, 0 failed, of 3 planned and 3 found" in page
    listed = operator.get("/admin/scans/scan/", {"q": ended.id}).content.decode()
    assert listed.count('name="_selected_action"') == 6
    change = operator.get(f"/admin/scans/scan/{scan.id.replace('_', '_5F')}/change/").content.decode()
    assert f">{ended.id}</a>" in change


def test_metrics_count_running_audits(operator: Client, home: Member, ended: Audit) -> None:
    created(home, {"pages": pages(4), "types": ["seo"]})
    page = " ".join(operator.get("/admin/operations/").content.decode().split())
    assert "Audits in progress</span><strong>1</strong> <span>3 pages waiting for a slot" in page
