"""Tests for GET /v1/audits."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts import access
from sites.audits.schemas import audit_summary_of
from sites.models import Audit
from sites.models.audit import TypeTotal
from tests.factories import Member
from tests.queries import counted

TOTALS: dict[str, TypeTotal] = {"seo": {"pages": 2, "sum": 150, "flawless": 0, "gaps": 0, "cap": None, "caps": {}}}


def make_audit(member: Member, age_days: float = 0, **columns: Any) -> Audit:
    created_at = timezone.now() - timedelta(days=age_days)
    values = {"kind": "pages", "url": "https://example.com/", "types": ["seo"], "max_pages": 2, "totals": TOTALS}
    return Audit.objects.create(organization=member.organization, created_at=created_at, **values | columns)


def listed(member: Member, query: str = "") -> dict[str, Any]:
    response: dict[str, Any] = member.api.get(f"/v1/audits{query}").json()
    return response


def test_list_has_the_summary_of_each_audit(home: Member) -> None:
    audits = [
        make_audit(
            home, status="partial", error_code="TIMEOUT", error_message="Too slow.", completed_at=timezone.now()
        ),
        make_audit(home, 1, status="running", pages_planned=4, pages_found=9, pages_done=2, scans_done=2),
        make_audit(home, 2, kind="site", types=["seo", "security"], totals={}),
    ]
    assert listed(home)["audits"] == [audit_summary_of(audit) for audit in audits]


def test_list_has_unexpired_audits_only(home: Member, stranger: Member) -> None:
    make_audit(home, 40, status="completed")
    make_audit(home, 40, status="completed", released_at=timezone.now() - timedelta(days=31))
    make_audit(home, 1, status="completed", run_of="dry_run")
    make_audit(stranger, 1)
    make_audit(home, 40, status="completed", released_at=timezone.now() - timedelta(days=29))
    make_audit(home, 50, status="completed", kept_days=90)
    make_audit(home, 60, status="running")
    make_audit(home, 1, status="cancelled")
    audits = access.rows(Audit, home.organization.id).exclude(run_of="dry_run")
    unexpired = audits.exclude(id__in=audits.expired().values("id")).order_by("-created_at")  # type: ignore[attr-defined]
    response = listed(home)
    assert [audit["id"] for audit in response["audits"]] == [audit.id for audit in unexpired]
    assert response["total"] == 4


def test_list_can_be_filtered_and_paged(home: Member) -> None:
    running = [make_audit(home, days, status="running") for days in range(5)]
    make_audit(home, status="queued")
    page = listed(home, "?status=running&limit=2&offset=1")
    assert [audit["id"] for audit in page["audits"]] == [running[1].id, running[2].id]
    assert (page["total"], page["limit"], page["offset"]) == (5, 2, 1)
    assert listed(home, "?offset=7") == {"audits": [], "total": 6, "limit": 20, "offset": 7}
    assert listed(home, "?status=failed")["total"] == 0


def test_list_needs_as_many_statements_as_the_list_of_scans(home: Member) -> None:
    for days in range(30):
        make_audit(home, days, status="running")
    home.api.get("/v1/scans")  # The first request fills caches.
    with counted() as of_scans:
        home.api.get("/v1/scans")
    with counted() as of_audits:
        assert len(listed(home)["audits"]) == 20
    assert len(of_audits) == len(of_scans)
