"""Tests for GET /v1/report/:id/diff, which compares two reports."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.utils import timezone
from msgspec.structs import replace

from reports.models import Report
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from tests.factories import Member, finished_scan, make_result, make_scan
from tests.results import check_of, elements
from website_scan.findings import HIGH, LOW, Severity
from website_scan.report.storage import stored_text
from website_scan.result import CategoryResult, CheckResult, CheckStatus

TOP = [
    *("from", "to", "score", "same_rules", "same_categories", "same_browser"),
    *("new", "fixed", "worse", "better", "not_compared", "muted", "same"),
]


def finding(
    id: str, status: CheckStatus = "fail", places: Iterable[str] = (), severity: Severity = HIGH
) -> CheckResult:
    name = id.capitalize()
    shown_severity = None if status == "pass" else severity
    return check_of(id, name, f"{name} found", status, shown_severity, severity, "So it is.", places=elements(*places))


def scan_with_report(member: Member, *checks: CheckResult, days: int = 0, score: int = 50, **columns: Any) -> Scan:
    """Create a finished scan that is `days` days old."""
    scan = make_scan(member, created_at=timezone.now() - timedelta(days=days, hours=1), **columns)
    claim = claim_scan(scan.id)
    assert claim is not None
    result = replace(make_result(scan, score=score), categories=(CategoryResult("things", "Things", 10, checks, 71),))
    assert finish_scan(claim, result)
    return Scan.objects.get(id=scan.id)


def refusal(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_diff_compares_all_findings(home: Member) -> None:
    before = scan_with_report(
        home,
        finding("mended"),
        finding("partly", places=["#a", "#b"]),
        finding("other", places=["#a"], severity=LOW),
        finding("same", "warn"),
        finding("broken", "pass"),
        days=2,
        score=60,
    )
    after = scan_with_report(
        home,
        finding("mended", "pass"),
        finding("partly", places=["#b"]),
        finding("other", places=["#a", "#c"], severity=LOW),
        finding("same", "warn"),
        finding("broken", places=["#d"]),
        days=1,
        score=66,
    )
    response = home.api.get(f"/v1/report/{after.id}/diff?with={before.id}")
    assert response.status_code == 200
    body = response.json()
    assert list(body) == TOP
    assert (body["from"]["id"], body["to"]["id"]) == (before.id, after.id)
    assert body["from"]["created_at"] == Report.objects.get(scan=before).export_json["created_at"]
    assert body["score"] == {"before": 60, "after": 66, "change": 6}
    assert (body["same_rules"], body["same_browser"], body["same"]) == (True, True, 1)
    assert {group: [change["id"] for change in body[group]] for group in TOP[6:-1]} == {
        "new": ["broken"],
        "fixed": ["mended"],
        "worse": ["other"],
        "better": ["partly"],
        "not_compared": [],
        "muted": [],
    }
    (worse,) = body["worse"]
    assert [place["text"] for place in worse["new_places"]] == ["#c"]
    assert worse["before"] == worse["after"] == {"status": "fail", "severity": "low"}
    (new,) = body["new"]
    assert (new["before"], new["after"]) == (None, {"status": "fail", "severity": "high"})
    assert new["title"] == "Broken found"
    assert [place["text"] for place in new["new_places"]] == ["#d"]


def test_previous_report_is_the_latest_earlier_one(home: Member, stranger: Member) -> None:
    first, second, third = (scan_with_report(home, finding("a"), days=days) for days in (5, 4, 3))
    scan_with_report(home, finding("a"), days=3, url="https://example.com/other")
    scan_with_report(home, finding("a"), days=3, type="seo")
    scan_with_report(stranger, finding("a"), days=3)
    make_scan(home, status="failed", created_at=timezone.now() - timedelta(days=3, minutes=90))
    for query in ("?with=previous", ""):
        assert home.api.get(f"/v1/report/{third.id}/diff{query}").json()["from"]["id"] == second.id
    assert home.api.get(f"/v1/report/{second.id}/diff?with=previous").json()["from"]["id"] == first.id
    assert refusal(home.api.get(f"/v1/report/{first.id}/diff?with=previous")) == (404, "NO_PREVIOUS_REPORT")


def test_expired_report_is_not_compared(home: Member) -> None:
    scan_with_report(home, finding("a"), days=31)
    scan = scan_with_report(home, finding("a"))
    assert refusal(home.api.get(f"/v1/report/{scan.id}/diff")) == (404, "NO_PREVIOUS_REPORT")


def test_older_report_is_compared_with_a_newer_one(home: Member) -> None:
    before, after = scan_with_report(home, finding("a"), days=2), scan_with_report(home, finding("a", "pass"), days=1)
    body = home.api.get(f"/v1/report/{before.id}/diff?with={after.id}").json()
    assert (body["from"]["id"], [change["id"] for change in body["new"]]) == (after.id, ["a"])


def test_diff_accepts_report_ids(home: Member) -> None:
    before, after = scan_with_report(home, finding("a"), days=2), scan_with_report(home, finding("a"), days=1)
    ids = [Report.objects.get(scan=scan).id for scan in (after, before)]
    body = home.api.get("/v1/report/{}/diff?with={}".format(*ids)).json()
    assert (body["from"]["id"], body["to"]["id"]) == (before.id, after.id)


def test_diff_with_a_foreign_report_is_not_found(home: Member, stranger: Member) -> None:
    ours, theirs = finished_scan(home), finished_scan(stranger)
    Report.objects.filter(scan=theirs).update(shared_at=timezone.now())
    for unknown in (theirs.id, Report.objects.get(scan=theirs).id, "scan_" + "0" * 22, "x", ""):
        assert refusal(home.api.get(f"/v1/report/{ours.id}/diff?with={unknown}")) == (404, "SCAN_NOT_FOUND")
    for unknown in (theirs.id, "x"):
        assert refusal(home.api.get(f"/v1/report/{unknown}/diff?with={ours.id}")) == (404, "SCAN_NOT_FOUND")


def test_diff_supports_conditional_requests(home: Member) -> None:
    before, after = scan_with_report(home, finding("a"), days=2), scan_with_report(home, finding("b"), days=1)
    path = f"/v1/report/{after.id}/diff?with=previous"
    first = home.api.get(path)
    assert first["ETag"] == f'"{before.id}_{after.id}_v1"'
    assert (first["Cache-Control"], first["Vary"]) == ("private, no-cache", "Authorization")
    again = home.api.get(path, If_None_Match=f'W/"x", {first["ETag"]}')
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert "Content-Type" not in again
    # The reverse diff has a different ETag.
    other = home.api.get(f"/v1/report/{before.id}/diff?with={after.id}", If_None_Match=first["ETag"])
    assert other.status_code == 200


def test_skipped_check_is_not_compared(home: Member) -> None:
    before = scan_with_report(home, finding("gone"), days=2)
    after = scan_with_report(home, finding("b", "pass"), days=1)
    report = Report.objects.get(scan=after)
    skipped = [{"id": "gone", "name": "Gone", "reason": "It took too long."}]
    export: Any = report.export_json | {"skipped_checks": skipped, "status": "partial"}
    Report.objects.filter(scan=after).update(export=stored_text(export))
    body = home.api.get(f"/v1/report/{after.id}/diff?with={before.id}").json()
    assert (body["to"]["status"], body["fixed"]) == ("partial", [])
    (not_compared,) = body["not_compared"]
    assert (not_compared["id"], not_compared["found_in"], not_compared["reason"]) == ("gone", "from", "could_not_run")
