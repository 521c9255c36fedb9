"""Tests for the retention periods of a tier."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from accounts import activity
from accounts import retention as of_events
from accounts.models import ActivityEvent, Tier, User
from accounts.retention import delete_events
from reports.models import Report
from reports.retention import delete_reports
from scans.credentials import forget
from scans.models import IdempotencyRecord, Scan, ScanCount
from scans.retention import delete_scans
from sites.models import Audit
from sites.retention import delete_audits
from tests.factories import Member, attempt_deliveries, browser_of, finished_scan, make_scan, member_of, person_of
from tests.factories import register_webhook as registered
from tests.queries import counted
from tests.sites.audits.test_life import created, visit
from tests.targets.server import Site
from tests.webhooks.conftest import receiver  # noqa: F401
from webhooks.models import Delivery, Event
from webhooks.retention import delete_deliveries


def set_retention(tier: str = "free", **days: int | None) -> None:
    Tier.objects.filter(name=tier).update(**days)


def make_older(scan: Scan, by: timedelta) -> None:
    created_at = scan.created_at - by
    Scan.objects.filter(id=scan.id).update(created_at=created_at)
    Report.objects.filter(scan=scan).update(created_at=created_at, expires_at=created_at + timedelta(scan.kept_days))


def run_scan(home: Member, target: str) -> Scan:
    answer = home.api.post("/v1/scan", {"url": target, "type": "security"})
    assert answer.status_code == 201
    assert visit(home)
    return Scan.objects.get(id=answer.json()["id"])


def test_reports_are_kept_for_30_days_by_default(db: None) -> None:
    assert set(Tier.objects.values_list("reports_kept_days", "scans_kept_days")) == {(30, None)}


@pytest.mark.parametrize("days", [7, 90])
def test_report_expires_after_the_retention_period(home: Member, target: str, days: int) -> None:
    set_retention(reports_kept_days=days)
    scan = run_scan(home, target)
    browser = browser_of(person_of(home, "owner", "ann@people.test"))
    assert Report.objects.get().expires_at == scan.created_at + timedelta(days=days)
    make_older(scan, timedelta(days=days, seconds=-60))
    assert home.api.get(f"/v1/report/{scan.id}").status_code == 200
    assert f'href="/report/{scan.id}"' in browser.get("/o/home/scans/").content.decode()
    make_older(scan, timedelta(days=days, seconds=5))
    assert home.api.get(f"/v1/report/{scan.id}").json()["code"] == "SCAN_NOT_FOUND"
    assert f"reports are kept for {days} days" in browser.get(f"/report/{scan.id}").content.decode()
    assert f'href="/report/{scan.id}"' not in browser.get("/o/home/scans/").content.decode()
    delete_reports()
    assert not Report.objects.exists()


def test_changed_retention_applies_to_new_scans(home: Member, target: str) -> None:
    before = run_scan(home, target)
    set_retention(reports_kept_days=2)
    after = run_scan(home, target)
    assert (before.kept_days, after.kept_days) == (30, 2)
    for scan in (before, after):
        make_older(scan, timedelta(days=3))
    assert home.api.get(f"/v1/report/{before.id}").status_code == 200
    assert home.api.get(f"/v1/report/{after.id}").status_code == 404


def test_audit_expires_with_its_reports(home: Member, target: str) -> None:
    set_retention(reports_kept_days=3)
    short = created(home, {"page": target, "types": ["seo"]})
    set_retention(reports_kept_days=60)
    long = created(home, {"page": target, "types": ["seo"]})
    while visit(home):
        pass
    assert set(Scan.objects.values_list("kept_days", "audit_page__audit_id")) == {(3, short["id"]), (60, long["id"])}
    moment = timezone.now() - timedelta(days=4)
    Audit.objects.update(created_at=moment, released_at=moment)
    assert home.api.get(f"/v1/audits/{short['id']}").status_code == 404
    assert home.api.get(f"/v1/audits/{long['id']}").status_code == 200
    assert [audit["id"] for audit in home.api.get("/v1/audits").json()["audits"]] == [long["id"]]
    delete_audits()
    assert [audit.id for audit in Audit.objects.all()] == [long["id"]]


def test_credentials_are_deleted_with_the_report(home: Member, target: str) -> None:
    set_retention(reports_kept_days=3)
    for days in (2, 4):
        body = {"url": target, "type": "security", "request": {"headers": {"X-Key": "secret"}}}
        scan = Scan.objects.get(id=home.api.post("/v1/scan", body).json()["id"])
        Scan.objects.filter(id=scan.id).update(created_at=scan.created_at - timedelta(days=days))
        Scan.objects.filter(id=scan.id).update(status="failed")
    forget(Scan)
    assert Scan.objects.filter(encrypted_credentials=None).count() == 1


def test_scans_without_age_limit_are_kept(home: Member) -> None:
    other = member_of("Paying", "pro")
    for member in (home, other):
        finished_scan(member, age=timedelta(days=400))
        finished_scan(member, age=timedelta(days=10))
        make_scan(member, created_at=timezone.now() - timedelta(days=400))
    delete_scans()
    assert Scan.objects.count() == 6
    set_retention(scans_kept_days=365)
    delete_scans()
    remaining = Scan.objects.filter(organization=home.organization)
    assert sorted(remaining.values_list("status", flat=True)) == ["completed", "queued"], "what has not ended stays"
    assert Scan.objects.filter(organization=other.organization).count() == 3
    listed = home.api.get("/v1/scans").json()
    assert (listed["total"], len(listed["scans"])) == (2, 2), "the counters follow"
    assert sum(count.count for count in ScanCount.objects.filter(organization_id=home.organization.id)) == 2


def test_deleted_scans_leave_no_references(
    home: Member,
    receiver: Site,  # noqa: F811
    target: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("infrastructure.postgresql.deletion.BATCH", 2)
    registered(home, f"{receiver.url}/hook")
    for number in range(5):
        home.api.post("/v1/scan", {"url": target, "type": "seo"}, Idempotency_Key=str(number))
        assert visit(home)
    attempt_deliveries()
    old = timezone.now() - timedelta(days=50)
    Scan.objects.update(created_at=old)
    set_retention(scans_kept_days=40)
    assert not delete_scans(lambda: False), "without time it says that something is left"
    delete_scans()
    for model in (Scan, Report, Event, Delivery, IdempotencyRecord):
        assert not model.objects.exists(), model


def test_audit_is_deleted_before_its_scans(home: Member, target: str) -> None:
    set_retention(scans_kept_days=30)
    audit_id = created(home, {"page": target, "types": ["seo", "security"]})["id"]
    while visit(home):
        pass
    old = timezone.now() - timedelta(days=31)
    Scan.objects.update(created_at=old)
    Audit.objects.update(created_at=old)  # The audit's last page was dispatched just now (`released_at`).
    delete_audits()
    delete_scans()
    assert home.api.get(f"/v1/audits/{audit_id}/pages").json()["pages"][0]["results"]["seo"]["status"] == "completed"
    assert Scan.objects.count() == 2
    Audit.objects.update(released_at=old)
    delete_audits()
    delete_scans()
    assert not Scan.objects.exists()


def test_activity_log_has_a_retention_period(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_events, "BATCH", 2)
    other = member_of("Paying", "pro")
    set_retention(activity_kept_days=30)
    set_retention("pro", activity_kept_days=None)
    ActivityEvent.objects.all().delete()
    for member in (home, other):
        for days in (900, 400, 31, 31, 31, 29, 0):
            event = activity.record(member.organization, None, "scan.created", str(days))
            ActivityEvent.objects.filter(id=event.pk).update(created_at=timezone.now() - timedelta(days=days))
    delete_events()
    remaining = ActivityEvent.objects.filter(organization=home.organization).order_by("id")
    assert [event.object_name for event in remaining] == ["29", "0"]
    assert ActivityEvent.objects.filter(organization=other.organization).count() == 7


def test_deliveries_have_a_retention_period(home: Member, receiver: Site) -> None:  # noqa: F811
    other = member_of("Paying", "pro")
    set_retention(deliveries_kept_days=5)
    for member in (home, other):
        registered(member, f"{receiver.url}/hook")
        for _ in range(2):
            finished_scan(member)
    attempt_deliveries()
    old = timezone.now() - timedelta(days=6)
    for member in (home, other):
        first = Delivery.objects.filter(webhook__organization=member.organization).earliest("created_at")
        Delivery.objects.filter(id=first.id).update(created_at=old, finished_at=old)
    delete_deliveries()
    remaining = Delivery.objects.values_list("webhook__organization__slug", flat=True)
    assert sorted(remaining) == ["home", "paying", "paying"]
    assert Event.objects.count() == 3


@pytest.mark.parametrize("task", [delete_scans, delete_events, delete_deliveries])
def test_retention_runs_few_queries(home: Member, task: Callable[[], Any]) -> None:
    """The number of queries must not grow with organizations or rows."""
    set_retention(scans_kept_days=30)
    for number in range(3):
        member_of(f"Another {number}")
    finished_scan(home)
    with counted() as queries:
        task()
    assert len(queries) <= 5


def test_reports_are_not_kept_longer_than_scans(db: None) -> None:
    tier = Tier.objects.get(name="free")
    tier.scans_kept_days = 10
    with pytest.raises(ValidationError, match="at least as long as their reports"):
        tier.full_clean()
    tier.scans_kept_days, tier.reports_kept_days = 30, 0
    with pytest.raises(ValidationError):
        tier.full_clean()


def test_admin_can_edit_the_retention(db: None) -> None:
    operator = browser_of(User.objects.create_superuser("operator@people.test"))
    page = operator.get("/admin/accounts/tier/free/change/").content.decode()
    for name in ("reports_kept_days", "scans_kept_days", "deliveries_kept_days", "activity_kept_days"):
        assert f'name="{name}"' in page
