"""Tests for reading and exporting reports over the API."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from msgspec.structs import asdict

from reports.models import Report
from reports.retention import delete_reports
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from tests.factories import Member, browser_of, finished_scan, make_result, make_scan, person_of
from tests.responses import ClientResponse
from website_scan.report.storage import stored_text
from website_scan.result import OmittedCheck

LATER_KEYS = ("browser", "omitted_checks", "repeated_checks")  # Exports have these keys only since a later release.
REPORT_KEYS = [
    *("id", "type", "url", "final_url", "needs_log_in", "score", "grade"),
    *("created_at", "completed_at", "categories", "summary"),
]


def refusal(response: ClientResponse) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_report_has_the_documented_keys(home: Member) -> None:
    scan = finished_scan(home)
    response = home.api.get(f"/v1/report/{scan.id}")
    assert response.status_code == 200
    body = response.json()
    assert list(body) == REPORT_KEYS
    assert body["id"] == scan.id
    (category,) = body["categories"]
    assert set(category) == {"name", "score", "checks"}
    meh, bad, good = category["checks"]
    assert good == {"name": "Good thing", "status": "pass", "severity": None, "message": "All is well."}
    assert bad == {
        "name": "Bad thing",
        "status": "fail",
        "severity": "high",
        "message": "It is <b>bad</b>: =1+1.",
        "fix": "Mend it.",
    }
    assert meh["fix"] == "Polish it."
    assert body["summary"] == {
        "total_checks": 3,
        "passed": 1,
        "failed": 1,
        "warnings": 1,
        "critical": 0,
        "high": 1,
        "medium": 0,
        "low": 1,
    }


def test_report_may_be_cached_for_a_day(home: Member) -> None:
    scan = finished_scan(home)
    response = home.api.get(f"/v1/report/{scan.id}")
    assert response["ETag"] == f'"{scan.id}_v1"'
    assert response["Cache-Control"] == "public, max-age=86400"
    assert response["Vary"] == "Authorization"


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ('"{id}_v1"', 304),
        ('W/"{id}_v1"', 304),
        ('"other", "{id}_v1"', 304),
        ("*", 304),
        ('"{id}_v2"', 200),
        ("{id}_v1", 200),
        ("", 200),
    ],
)
def test_if_none_match_is_compared_weakly(home: Member, condition: str, status: int) -> None:
    scan = finished_scan(home)
    response = home.api.get(f"/v1/report/{scan.id}", If_None_Match=condition.format(id=scan.id))
    assert response.status_code == status
    assert response["ETag"] == f'"{scan.id}_v1"'
    assert response["Vary"] == "Authorization"
    assert response["Cache-Control"] == "public, max-age=86400"
    assert bool(response.content) == (status == 200)


def test_report_is_also_found_by_its_own_id(home: Member) -> None:
    scan = finished_scan(home)
    response_by_scan_id, response_by_report_id = (home.api.get(f"/v1/report/{id}") for id in (scan.id, scan.report.id))
    assert response_by_report_id.content == response_by_scan_id.content
    assert response_by_report_id["ETag"] == response_by_scan_id["ETag"]


def test_stored_report_never_changes(home: Member) -> None:
    scan = finished_scan(home)
    before = home.api.get(f"/v1/report/{scan.id}").content
    Scan.objects.update(score=1, grade="F", url="https://changed.example.org/")
    assert home.api.get(f"/v1/report/{scan.id}").content == before


def test_report_expires_at_the_exact_second(home: Member) -> None:
    young = finished_scan(home, age=timedelta(days=30) - timedelta(seconds=5))
    old = finished_scan(home, age=timedelta(days=30))
    assert home.api.get(f"/v1/report/{young.id}").status_code == 200
    for id in (old.id, old.report.id):
        assert refusal(home.api.get(f"/v1/report/{id}")) == (404, "SCAN_NOT_FOUND")
    failed = make_scan(home, status="failed", created_at=timezone.now() - timedelta(days=31))
    assert refusal(home.api.get(f"/v1/report/{failed.id}")) == (404, "SCAN_NOT_FOUND")
    delete_reports()
    assert [report.scan_id for report in Report.objects.all()] == [young.id]


def test_json_export_adds_fields_to_the_report(home: Member) -> None:
    scan = finished_scan(home, "partial")
    report = home.api.get(f"/v1/report/{scan.id}").json()
    export = home.api.get(f"/v1/report/{scan.id}/export").json()
    assert {name: export[name] for name in REPORT_KEYS if name != "categories"} == {
        name: report[name] for name in REPORT_KEYS if name != "categories"
    }
    assert set(export) - set(REPORT_KEYS) == {
        "report_id",
        "status",
        "skipped_checks",
        "browser",
        "omitted_checks",
        "repeated_checks",
        "caps",
        "held",
        "catalogue_version",
        "site_evidence_at",
    }
    assert (export["browser"], export["omitted_checks"]) == (None, [])
    assert export["report_id"] == scan.report.id
    assert export["status"] == "partial"
    assert export["skipped_checks"][0]["name"] == "Gone thing"
    check = export["categories"][0]["checks"][1]
    assert check["id"] == "bad"
    assert check["evidence"] == [{"value": "=1+1"}]
    assert (check["outcome"], check["summary"]) == ("faulty", "It is <b>bad</b>.")
    assert [table["rows"] for table in check["places"]] == [[["=1+1"]]]
    assert check["how_to_fix"] == {"text": "Mend it.", "snippets": []}
    assert {"references", "points", "later", "holds", "values", "details", "why", "includes"} <= set(check)


def test_sarif_export_has_a_rule_per_check(home: Member) -> None:
    scan = finished_scan(home)
    response = home.api.get(f"/v1/report/{scan.id}/export?format=sarif")
    assert response["Content-Type"] == "application/sarif+json"
    (run,) = response.json()["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["meh", "bad", "good"]
    assert [(result["ruleId"], result["ruleIndex"], result["level"]) for result in run["results"]] == [
        ("meh", 0, "note"),
        ("bad", 1, "error"),
    ]


def test_sarif_export_escapes_brackets(home: Member) -> None:
    scan = finished_scan(home)
    export: Any = scan.report.export_json
    for category in export["categories"]:
        for check in category["checks"]:
            check |= {"summary": r"The header says [x](javascript:alert(1)) and \[", "references": []}
    Report.objects.update(export=stored_text(export))
    (run,) = home.api.get(f"/v1/report/{scan.id}/export?format=sarif").json()["runs"]
    page = f"On [{scan.url}]({scan.url})."
    assert {result["message"]["text"] for result in run["results"]} == {
        rf"Bad thing found: The header says \[x\](javascript:alert(1)) and \\\[ At =1+1. {page}",
        rf"Meh thing found: The header says \[x\](javascript:alert(1)) and \\\[ {page}",
    }


def test_csv_export_escapes_formulas(home: Member) -> None:
    scan = finished_scan(home)
    export = scan.report.export_json
    export["categories"][0]["name"] = "=cmd()"
    Report.objects.update(export=stored_text(export))
    response = home.api.get(f"/v1/report/{scan.id}/export?format=csv")
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert [row["id"] for row in rows] == ["meh", "bad", "good"]
    assert rows[0]["category"] == "'=cmd()"
    assert response["Content-Disposition"] == f'attachment; filename="{scan.id}.csv"'


def test_exports_name_omitted_checks(home: Member) -> None:
    scan = make_scan(home, type="performance")
    claim = claim_scan(scan.id)
    assert claim is not None
    omitted = (OmittedCheck("lcp", "Largest contentful paint"), OmittedCheck("tbt", "Total blocking time"))
    assert finish_scan(claim, make_result(scan, omitted_checks=omitted))
    export = home.api.get(f"/v1/report/{scan.id}/export").json()
    assert export["status"] == "completed"
    assert export["browser"] is None
    assert export["omitted_checks"] == [asdict(check) for check in omitted]
    (run,) = home.api.get(f"/v1/report/{scan.id}/export?format=sarif").json()["runs"]
    assert run["properties"]["browser"] is None
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["level"] == "note"
    assert note["message"]["text"].startswith(
        "Judged without a browser: 2 checks were left out. The load was estimated"
    )
    assert note["message"]["text"].endswith("Left out: Largest contentful paint, Total blocking time.")
    rows = list(csv.DictReader(io.StringIO(home.api.get(f"/v1/report/{scan.id}/export?format=csv").content.decode())))
    assert [row["id"] for row in rows if row["status"] == "left out"] == ["lcp", "tbt"]


def test_exports_name_the_browser(home: Member) -> None:
    scan = make_scan(home, type="performance")
    claim = claim_scan(scan.id)
    assert claim is not None
    assert finish_scan(claim, make_result(scan, browser="Chromium 156.0"))
    assert home.api.get(f"/v1/report/{scan.id}/export").json()["browser"] == "Chromium 156.0"
    (run,) = home.api.get(f"/v1/report/{scan.id}/export?format=sarif").json()["runs"]
    assert run["properties"]["browser"] == "Chromium 156.0"
    assert "toolExecutionNotifications" not in run["invocations"][0]


def test_older_export_is_still_available(home: Member) -> None:
    scan = finished_scan(home)
    export: Any = {name: value for name, value in scan.report.export_json.items() if name not in LATER_KEYS}
    Report.objects.update(export=stored_text(export))
    for export_format in ("json", "sarif", "csv"):
        assert home.api.get(f"/v1/report/{scan.id}/export?format={export_format}").status_code == 200
    assert browser_of(person_of(home, "member", "a@example.com")).get(f"/report/{scan.id}").status_code == 200
