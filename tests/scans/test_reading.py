"""Tests for reading scans and usage over the API."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from scans.models import Scan, ScanCount, report_path
from scans.schemas import scan_detail_of
from tests.factories import Member, finished_scan, make_scan
from tests.queries import counted

SUMMARY = ["id", "type", "url", "status", "score", "grade", "created_at", "completed_at", "audit"]


def test_unfinished_scan_has_a_retry_after_header(home: Member) -> None:
    running, final = make_scan(home, status="scanning", percent=40, phase="collecting"), finished_scan(home)
    response = home.api.get(f"/v1/scan/{running.id}")
    assert response["Retry-After"] == "2"
    assert response.json()["progress"] == {
        "percent": 40,
        "phase": "collecting",
        "checks_done": 0,
        "checks_total": 0,
    }
    assert "Retry-After" not in home.api.get(f"/v1/scan/{final.id}").headers


def test_partial_scan_lists_skipped_checks(home: Member) -> None:
    body = home.api.get(f"/v1/scan/{finished_scan(home, 'partial').id}").json()
    assert body["status"] == "partial"
    assert body["skipped_checks"] == [{"name": "Gone thing", "reason": "The site did not answer in time."}]
    assert body["error"] is None


def test_read_scan_equals_the_created_one(home: Member, stranger: Member) -> None:
    """The response must not lack a column.

    Regression test: GET /v1/scan/:id reads only some columns and could miss one that the response needs.
    """
    names = {"headers": ["X-Key"], "basic_auth": False, "cookies": []}
    scans = [
        make_scan(home, credential_names=names),
        make_scan(home, status="scanning", started_at=timezone.now(), percent=40, checks_done=3, checks_total=20),
        finished_scan(home, "partial"),
        make_scan(home, status="failed", error_code="TIMEOUT", error_message="It took too long."),
    ]
    for scan in scans:
        assert home.api.get(f"/v1/scan/{scan.id}").json() == scan_detail_of(Scan.objects.get(id=scan.id))
        assert stranger.api.get(f"/v1/scan/{scan.id}").status_code == 404


def test_report_path_leads_to_the_report_page(home: Member) -> None:
    scan = make_scan(home)
    assert report_path(scan.id) == reverse("report-page", args=[scan.id])


def test_polling_needs_few_queries(home: Member) -> None:
    scan = finished_scan(home)
    query_counts = []
    for path in (f"/v1/scan/{scan.id}", "/v1/scans"):
        home.api.get(path)
        with counted() as queries:
            home.api.get(path)
        query_counts.append(len(queries))
    assert query_counts == [2, 2]


def test_scan_list_has_the_documented_fields(home: Member) -> None:
    scan = finished_scan(home)
    body = home.api.get("/v1/scans").json()
    assert set(body) == {"scans", "total", "limit", "offset", "quota"}
    assert (body["total"], body["limit"], body["offset"]) == (1, 20, 0)
    assert body["quota"] == {"used": 0, "limit": 100, "remaining": 100, "tier": "free"}
    (item,) = body["scans"]
    assert list(item) == SUMMARY
    assert item["id"] == scan.id
    assert item["created_at"] == scan.created_at.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_scan_pages_do_not_overlap(home: Member, stranger: Member) -> None:
    now = timezone.now()
    own_ids = [make_scan(home, created_at=now - timedelta(minutes=n // 2)).id for n in range(7)]
    make_scan(stranger)
    pages = [home.api.get(f"/v1/scans?limit=3&offset={offset}").json() for offset in (0, 3, 6, 9)]
    listed_ids = [scan["id"] for page in pages for scan in page["scans"]]
    assert sorted(listed_ids) == sorted(own_ids)
    assert {page["total"] for page in pages} == {7}
    times = [scan["created_at"] for page in pages for scan in page["scans"]]
    assert times == sorted(times, reverse=True)


@pytest.mark.parametrize(
    ("query", "total"),
    [
        ("status=queued", 2),
        ("status=queued&type=seo", 1),
        ("type=seo", 2),
        ("status=failed", 0),
        ("status=scanning", 1),
        ("limit=1&type=seo", 2),
    ],
)
def test_filters_apply_to_rows_and_total(home: Member, query: str, total: int) -> None:
    make_scan(home, type="seo")
    make_scan(home, type="security")
    make_scan(home, type="seo", status="scanning")
    body = home.api.get(f"/v1/scans?{query}").json()
    assert body["total"] == total
    assert len(body["scans"]) == min(total, body["limit"])


def test_scan_total_stays_up_to_date(home: Member) -> None:
    finished_scan(home)
    queued = make_scan(home)
    Scan.objects.bulk_create(
        Scan(organization=home.organization, url="https://a.example.org/", type="seo", period=queued.period)
        for _ in range(5)
    )
    queued.delete()
    counts = {(row.type, row.status): row.count for row in ScanCount.objects.filter(count__gt=0)}
    assert counts == {("security", "completed"): 1, ("seo", "queued"): 5}
    Scan.objects.all().delete()
    assert home.api.get("/v1/scans").json()["total"] == 0


def test_organization_with_scans_can_be_deleted(home: Member) -> None:
    finished_scan(home)
    home.organization.delete()
    assert Scan.objects.count() == 0


def test_usage_counts_scans_by_type_and_status(home: Member, target: str) -> None:
    assert home.api.post("/v1/scan", {"url": target, "type": "seo"}).status_code == 201
    finished_scan(home)
    make_scan(home, type="performance", created_at=datetime(2020, 2, 3, tzinfo=UTC))
    body = home.api.get("/v1/usage").json()
    assert body["quota"] == {"used": 1, "limit": 100, "remaining": 99, "tier": "free"}
    assert body["by_type"] == {"security": 1, "performance": 0, "accessibility": 0, "seo": 1}
    assert body["by_status"] == {"queued": 1, "scanning": 0, "completed": 1, "partial": 0, "failed": 0}
    assert body["concurrent"] == {"running": 2, "limit": 2}
    assert body["rate_limit"]["window_seconds"] == 60
    assert body["rate_limit"]["remaining"] == 58
    now = timezone.now()
    assert body["period"]["start"] == now.strftime("%Y-%m-01T00:00:00Z")
    assert body["period"]["end"] > now.strftime("%Y-%m-%dT%H:%M:%SZ")
