"""Tests that audit exports are streamed in bounded memory."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Tier
from sites.audits import exports
from sites.audits.muting import AuditMutes
from sites.models import Audit, AuditFinding, AuditPage, AuditPlace
from sites.models.audit import PageResult, SamplePage
from tests.factories import Member
from tests.reports.sarif import assert_sarif
from tests.results import check_of, elements
from tests.sites.audits.test_life import created, get_audit, page_urls, visit
from website_scan.findings import HIGH, LOW, Severity
from website_scan.report import sarif
from website_scan.result import CategoryResult, CheckResult, ScanError

FAILED = ScanError("TARGET_STATUS", "The page answers with status 404.")


def export_audit(member: Member, audit: dict[str, Any], export_format: str = "json") -> str:
    response: Any = member.api.get(f"/v1/audits/{audit['id']}/export?format={export_format}")
    assert response.status_code == 200
    assert response["Content-Disposition"] == f'attachment; filename="{audit["id"]}.{export_format}"'
    assert "X-RateLimit-Limit" in response.headers
    return str(response.getvalue().decode())


def make_categories(*checks: CheckResult) -> tuple[CategoryResult, ...]:
    return (CategoryResult("things", "Things", 10, checks, 71),)


def failed_check(check_id: str, severity: Severity, points: float, message: str, *selectors: str) -> CheckResult:
    return check_of(
        check_id, "Name", "Found", "fail", severity, severity, message, "Mend it.", elements(*selectors), (), points
    )


@pytest.fixture
def audit(home: Member) -> dict[str, Any]:
    """Finished audit of three pages for two types.

    All scans of the last page failed.
    """
    Tier.objects.update(pages_per_audit=100)
    audit = created(home, {"pages": page_urls(3), "types": ["seo", "security"]})
    categories = make_categories(
        failed_check("one", LOW, 1.0, "=1+1 [a link](https://evil.example)", "main > \0p"),
        failed_check("two", HIGH, 6.0, "It is “high”.", "#a", "#b"),
    )
    for _ in range(2):
        assert visit(home, categories=categories)
    assert visit(home, status="failed", score=None, grade=None, categories=(), error=FAILED)
    return audit


def test_json_export_combines_the_api_responses(home: Member, audit: dict[str, Any]) -> None:
    document = json.loads(export_audit(home, audit))
    assert document["audit"] == get_audit(home, audit)
    assert document["findings"] == get_audit(home, audit, "/findings?limit=100")["findings"]
    assert document["pages"] == get_audit(home, audit, "/pages?limit=100")["pages"]
    assert [page["status"] for page in document["pages"]] == ["done", "done", "failed"]
    assert len(document["findings"]) == 4
    assert {place["place"] for place in document["findings"][0]["places"]} == {"#a", "#b"}


def test_csv_export_contains_no_formulas(home: Member, audit: dict[str, Any]) -> None:
    rows = list(csv.DictReader(io.StringIO(export_audit(home, audit, "csv"))))
    assert [row["check"] for row in rows] == ["two", "two", "one", "one"]
    assert tuple(rows[0]) == exports.CSV_COLUMNS
    formulas = [row for row in rows if row["check"] == "one"]
    assert {row["message"] for row in formulas} == {"'=1+1 [a link](https://evil.example)"}
    assert formulas[0]["sample_pages"].split() == page_urls(2)
    assert (formulas[0]["pages_affected"], formulas[0]["places"]) == ("2", "main > \ufffdp")
    assert sorted(rows[0]["places"].split("\n")) == ["#a", "#b"]
    assert {row["outcome"] for row in rows} == {"faulty"}
    assert (rows[0]["places_total"], len(rows[0]["fingerprints"].split())) == ("2", 2)


def test_sarif_export_has_a_run_per_scan_type(home: Member, audit: dict[str, Any]) -> None:
    document = json.loads(export_audit(home, audit, "sarif"))
    assert_sarif(document)
    tags = [run["tool"]["driver"]["rules"][0]["properties"]["tags"] for run in document["runs"]]
    assert tags == [["security"], ["seo"]]
    for run in document["runs"]:
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        assert rules == ["one", "two"]
        assert [result["ruleId"] for result in run["results"]] == ["two", "two", "one"]
        for result in run["results"]:
            assert rules[result["ruleIndex"]] == result["ruleId"]
            assert result["properties"]["outcome"] == "faulty"
            assert result["occurrenceCount"] == len(result["locations"]) + len(result["relatedLocations"]) == 2
        message = run["results"][-1]["message"]["text"]
        assert message.startswith(r"Found: =1+1 \[a link\](https://evil.example) At main > �p. On [https://")
        assert run["invocations"][0]["executionSuccessful"] is True
    assert len({result["partialFingerprints"]["place/v1"] for result in document["runs"][0]["results"]}) == 3


def test_sarif_export_respects_github_limits(
    home: Member, audit: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sarif, "MAX_RESULTS_PER_RUN", 2)
    document = json.loads(export_audit(home, audit, "sarif"))
    assert_sarif(document)
    for run in document["runs"]:
        assert [result["ruleId"] for result in run["results"]] == ["two", "two"]
        notification, *_ = run["invocations"][0]["toolExecutionNotifications"]
        assert notification["message"]["text"].startswith("Only the first 2 of 3 results are in this log")


def test_sarif_export_names_the_service(home: Member, audit: dict[str, Any], settings: Any) -> None:
    for run in json.loads(export_audit(home, audit, "sarif"))["runs"]:
        assert run["tool"]["driver"]["informationUri"] == f"{settings.BASE_URL}/docs/checks/"


def test_sarif_export_has_the_reason_of_a_failure(home: Member) -> None:
    audit = created(home, {"pages": page_urls(1), "types": ["seo"]})
    assert visit(home, status="failed", score=None, grade=None, categories=(), error=FAILED)
    document = json.loads(export_audit(home, audit, "sarif"))
    assert_sarif(document)
    (run,) = document["runs"]
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is False
    assert "TARGET_STATUS" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert export_audit(home, audit, "csv").splitlines() == [",".join(exports.CSV_COLUMNS)]


def test_running_audit_cannot_be_exported(home: Member) -> None:
    audit = created(home, {"pages": page_urls(2), "types": ["seo"]})
    for export_format, expected in (("csv", (409, "AUDIT_NOT_COMPLETE")), ("xml", (400, "INVALID_PARAMS"))):
        response = home.api.get(f"/v1/audits/{audit['id']}/export?format={export_format}")
        assert (response.status_code, response.json()["code"]) == expected
    assert home.api.delete(f"/v1/audits/{audit['id']}").status_code == 200
    assert json.loads(export_audit(home, audit))["audit"]["status"] == "cancelled"


PAGES = 2_000
FINDINGS = 200


@pytest.fixture
def huge_audit(home: Member) -> Audit:
    """Audit with 2,000 pages and 200 findings.

    Each finding has 20 places with five sample pages each.
    """
    audit = Audit.objects.create(
        organization=home.organization,
        kind="site",
        url="https://example.com/",
        types=["seo"],
        max_pages=PAGES,
        status="completed",
        completed_at=timezone.now(),
        totals={"seo": {"pages": PAGES, "sum": 70 * PAGES, "flawless": 0, "gaps": 0, "cap": None, "caps": {}}},
    )
    seo_result: PageResult = {"scan_id": "scan_" + "a" * 22, "status": "completed", "score": 70, "grade": "C"}
    url = "https://example.com/" + "path/" * 15
    AuditPage.objects.bulk_create(
        (
            AuditPage(
                audit=audit,
                position=number,
                url=f"{url}{number}",
                origin="o",
                status="done",
                results={"seo": seo_result},
            )
            for number in range(PAGES)
        ),
        1000,
    )
    samples: list[SamplePage] = [{"url": f"{url}{number}", "scan_id": "scan_" + "a" * 22} for number in range(5)]
    findings = AuditFinding.objects.bulk_create(
        (
            AuditFinding(
                audit=audit,
                type="seo",
                check_id=f"check-{number}",
                status="fail",
                severity="high",
                title="Found",
                message="It is not as it should be. " * 5,
                fix="Mend it.",
                pages_affected=PAGES,
                points=float(number % 7),
                samples=samples,
            )
            for number in range(FINDINGS)
        ),
        1000,
    )
    AuditPlace.objects.bulk_create(
        (
            AuditPlace(
                finding=finding,
                fingerprint=f"{finding.id:08x}{number:08x}",
                place="main > p",
                pages_affected=PAGES,
                samples=samples,
            )
            for finding in findings
            for number in range(20)
        ),
        1000,
    )
    return audit


def test_export_memory_is_independent_of_length(huge_audit: Audit) -> None:
    tracemalloc.start()
    try:
        peaks = [tracemalloc.get_traced_memory()[1] for _ in exports.export(huge_audit, "json", AuditMutes(huge_audit))]
    finally:
        tracemalloc.stop()
    assert len(peaks) > 20
    assert peaks[-1] < 1.3 * peaks[len(peaks) // 4]


def test_long_export_has_every_finding_once(huge_audit: Audit) -> None:
    document = json.loads(b"".join(exports.export(huge_audit, "json", AuditMutes(huge_audit))))
    assert [page["url"].rsplit("/", 1)[1] for page in document["pages"]] == [str(number) for number in range(PAGES)]
    assert len({finding["check"] for finding in document["findings"]}) == len(document["findings"]) == FINDINGS
    assert {len(finding["places"]) for finding in document["findings"]} == {10}
