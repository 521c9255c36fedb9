"""Tests for the results of a report by success criterion over the API."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from tests.factories import Member, finished_scan, make_result, make_scan, member_of
from tests.results import check_of
from website_scan.findings import HIGH
from website_scan.result import CategoryResult

FINDINGS = (
    check_of(
        "image-alt",
        "Images have a text alternative",
        "Images without a text alternative",
        "fail",
        HIGH,
        HIGH,
        "=1+1 images have none.",
        references=("WCAG 1.1.1 Non-text Content (A)", "axe-core: image-alt"),
    ),
    check_of(
        "html-has-lang",
        "Page declares its language",
        "",
        "pass",
        None,
        HIGH,
        "The html element has a language.",
        references=("WCAG 3.1.1 Language of Page (A)",),
    ),
)


def accessibility_scan(member: Member) -> Scan:
    """Create a finished scan with a failure of criterion 1.1.1 and a passed check of 3.1.1."""
    scan = make_scan(member, type="accessibility")
    claim = claim_scan(scan.id)
    assert claim is not None
    assert finish_scan(claim, make_result(scan, categories=(CategoryResult("things", "Things", 10, FINDINGS, 71),)))
    return Scan.objects.get(id=scan.id)


@pytest.fixture
def scan(home: Member) -> Scan:
    return accessibility_scan(home)


def conformance(home: Member, scan: Scan, query: str = "") -> Any:
    response = home.api.get(f"/v1/report/{scan.id}/conformance{query}")
    assert response.status_code == 200, response.content
    return response


def test_results_are_of_wcag_by_default(home: Member, scan: Scan) -> None:
    body = conformance(home, scan).json()
    assert (body["standard"], body["standard_name"], body["level"], body["pages"]) == ("wcag22", "WCAG 2.2", "AA", 1)
    assert body["failed_criteria"] == {"A": ["1.1.1"], "AA": []}
    assert body["statement"].startswith("Fails WCAG 2.2, level A: 1.1.1.")
    rows = {row["number"]: row for row in body["criteria"]}
    assert len(rows) == 55
    assert rows["1.1.1"]["result"] == "fails"
    assert rows["1.1.1"]["failed"][0]["id"] == "image-alt"
    assert rows["3.1.1"] | {"url": ""} == {
        "number": "3.1.1",
        "name": "Language of Page",
        "level": "A",
        "clause": "3.1.1",
        "url": "",
        "result": "no-automatic-failure",
        "failed": [],
        "needs_review": [],
        "passed": ["html-has-lang"],
        "could_not_run": [],
    }


@pytest.mark.parametrize(
    ("query", "criteria", "clause"),
    [
        ("?standard=en301549", 50, "9.1.1.1"),
        ("?standard=section508&level=AAA", 38, "1.1.1"),
        ("?standard=wcag20&level=A", 25, "1.1.1"),
        ("?level=AAA", 86, "1.1.1"),
    ],
)
def test_standard_and_level_can_be_chosen(home: Member, scan: Scan, query: str, criteria: int, clause: str) -> None:
    body = conformance(home, scan, query).json()
    assert len(body["criteria"]) == criteria
    assert body["criteria"][0]["clause"] == clause


def test_csv_has_a_line_for_each_criterion(home: Member, scan: Scan) -> None:
    response = conformance(home, scan, "?format=csv")
    assert response["Content-Disposition"] == f'attachment; filename="{scan.id}-wcag22.csv"'
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert len(rows) == 55
    assert (rows[0]["clause"], rows[0]["result"]) == ("1.1.1", "Fails")
    assert rows[0]["checks"] == "Images without a text alternative: =1+1 images have none."
    assert {row["result"] for row in rows} == {"Fails", "No automatic failure", "Not tested automatically"}


def test_earl_never_says_that_a_criterion_passed(home: Member, scan: Scan) -> None:
    response = conformance(home, scan, "?format=earl")
    assert response["Content-Type"] == "application/ld+json"
    graph = json.loads(response.content)["@graph"]
    assertions = [node for node in graph if node["@type"] == "earl:Assertion"]
    outcomes = {node["earl:result"]["earl:outcome"] for node in assertions}
    assert len(assertions) == 55
    assert outcomes == {"earl:failed", "earl:cantTell", "earl:untested"}
    assert {node["earl:subject"] for node in assertions} == {scan.url}


def test_reports_of_other_types_have_no_criteria(home: Member) -> None:
    response = home.api.get(f"/v1/report/{finished_scan(home).id}/conformance")
    assert (response.status_code, response.json()["code"]) == (409, "NOT_ACCESSIBILITY")


def test_results_of_another_organization_are_not_found(scan: Scan) -> None:
    response = member_of("Other").api.get(f"/v1/report/{scan.id}/conformance")
    assert (response.status_code, response.json()["code"]) == (404, "SCAN_NOT_FOUND")
