"""Tests for automatic results by success criterion."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, cast

import pytest
from rdflib import RDF, Graph, Namespace, Node, URIRef

from tests.results import check_of
from website_scan.accessibility.standards import Standard, required_criteria, success_criteria
from website_scan.catalogue import checks
from website_scan.findings import HIGH, ScanType
from website_scan.report.conformance import (
    RESULT_LABELS,
    Conformance,
    Result,
    checks_by_criterion,
    conformance_of_reports,
    failure_of,
)
from website_scan.report.earl import earl
from website_scan.report.references import criterion
from website_scan.report.serialization import exported_check
from website_scan.report_json import ExportJson
from website_scan.result import CheckResult, CheckStatus

# Numbers of criteria by level: https://www.w3.org/TR/WCAG20/, /WCAG21/ and /WCAG22/.
COUNTS = {
    (Standard.WCAG_20, "A"): 25,
    (Standard.WCAG_20, "AA"): 38,
    (Standard.WCAG_20, "AAA"): 61,
    (Standard.WCAG_21, "A"): 30,
    (Standard.WCAG_21, "AA"): 50,
    (Standard.WCAG_21, "AAA"): 78,
    (Standard.WCAG_22, "A"): 31,
    (Standard.WCAG_22, "AA"): 55,
    (Standard.WCAG_22, "AAA"): 86,
    (Standard.EN_301_549, "AA"): 50,
    (Standard.EN_301_549, "AAA"): 50,
    (Standard.SECTION_508, "AA"): 38,
}
REFERENCES = {check.id: check.references for check in checks(ScanType.ACCESSIBILITY)}
EARL = Namespace("http://www.w3.org/ns/earl#")
CLAIMS = re.compile(r"\b(?:conforms?|passes|passed|compliant|accessible)\b", re.IGNORECASE)


def make_check(id: str, status: CheckStatus) -> CheckResult:
    severity = None if status == "pass" else HIGH
    return check_of(id, id, id, status, severity, HIGH, "So.", references=REFERENCES[id])


def report(url: str = "https://example.com/", skipped: tuple[str, ...] = (), **statuses: str) -> ExportJson:
    """Return an accessibility report whose checks have these statuses."""
    exported = [
        exported_check(make_check(id, cast(CheckStatus, status)), url)
        for name, status in statuses.items()
        for id in [name.replace("_", "-")]
    ]
    skipped_checks = [{"id": id, "name": id, "reason": "The browser failed.", "code": "browser"} for id in skipped]
    fields: dict[str, Any] = {
        "type": "accessibility",
        "url": url,
        "categories": [{"name": "All", "score": 50, "checks": exported}],
        "skipped_checks": skipped_checks,
    }
    return cast(ExportJson, fields)


def results(conformance: Conformance) -> dict[str, str]:
    return {row["number"]: row["result"] for row in conformance["criteria"]}


@pytest.mark.parametrize(("standard", "level"), COUNTS)
def test_standard_requires_the_published_number_of_criteria(standard: Standard, level: str) -> None:
    assert len(required_criteria(standard, level)) == COUNTS[standard, level]


def test_criteria_are_in_the_order_of_the_standard() -> None:
    numbers = list(success_criteria())
    assert numbers.index("1.4.9") + 1 == numbers.index("1.4.10")
    assert not success_criteria()["4.1.1"].is_in("2.2")


def test_clauses_of_the_european_standard_have_its_numbers() -> None:
    (first, *_) = required_criteria(Standard.EN_301_549, "A")
    assert (first.clause(Standard.EN_301_549), first.clause(Standard.WCAG_22)) == ("9.1.1.1", "1.1.1")


@pytest.mark.parametrize("check", checks(ScanType.ACCESSIBILITY), ids=lambda check: check.id)
def test_references_of_checks_agree_with_the_standard(check: Any) -> None:
    for text in check.references:
        if text.startswith("WCAG"):
            link = criterion(text)
            assert link is not None
            expected = success_criteria()[link.number]
            assert (link.name, link.level, link.url) == (expected.name, expected.level, expected.url)


def test_failed_check_fails_all_its_criteria() -> None:
    conformance = conformance_of_reports([report(link_name="fail", html_has_lang="pass", image_alt="warn")])
    assert conformance["failed_criteria"] == {"A": ["2.4.4", "4.1.2"], "AA": []}
    by_number = results(conformance)
    assert by_number["2.4.4"] == by_number["4.1.2"] == Result.FAILS
    assert by_number["1.1.1"] == Result.NEEDS_REVIEW
    assert by_number["3.1.1"] == Result.NO_FAILURE
    assert by_number["2.4.3"] == Result.NOT_TESTED


def test_pages_are_joined_by_criterion() -> None:
    first = report("https://example.com/", image_alt="fail", html_has_lang="pass")
    second = report("https://example.com/a", image_alt="pass", html_has_lang="fail")
    third = report("https://example.com/b", image_alt="fail", html_has_lang="pass", skipped=("color-contrast",))
    conformance = conformance_of_reports([first, second, third])
    rows = {row["number"]: row for row in conformance["criteria"]}
    assert conformance["pages"] == 3
    (failed,) = rows["1.1.1"]["failed"]
    assert (failed["id"], failed["pages_affected"]) == ("image-alt", 2)
    assert failed["pages"] == ["https://example.com/", "https://example.com/b"]
    assert rows["3.1.1"]["failed"][0]["pages"] == ["https://example.com/a"]
    assert rows["1.4.3"]["could_not_run"] == ["color-contrast"]
    assert rows["1.4.3"]["result"] == Result.NOT_TESTED


@pytest.mark.parametrize(
    ("standard", "level", "statuses", "statement"),
    [
        (
            Standard.WCAG_22,
            "AA",
            {"image_alt": "fail", "color_contrast": "fail"},
            "Fails WCAG 2.2, level A: 1.1.1; level AA: 1.4.3. 53 criteria of 55 still need a person's test.",
        ),
        (
            Standard.EN_301_549,
            "AA",
            {"color_contrast": "fail"},
            "Fails EN 301 549 V3.2.1, level AA: 1.4.3. 49 criteria of 50 still need a person's test.",
        ),
        (
            Standard.WCAG_22,
            "A",
            {"color_contrast": "fail"},
            "No automatic check found a failure of WCAG 2.2, level A. 31 criteria of 31 still need a person's test.",
        ),
        (
            Standard.SECTION_508,
            "AAA",
            {"target_size": "fail"},
            "No automatic check found a failure of Section 508 (WCAG 2.0 levels A and AA). "
            "38 criteria of 38 still need a person's test.",
        ),
    ],
)
def test_statement_names_the_lowest_failed_level(
    standard: Standard, level: str, statuses: dict[str, str], statement: str
) -> None:
    conformance = conformance_of_reports([report(**cast(Any, statuses))], standard, level)
    assert conformance["statement"] == statement


def test_no_text_claims_that_a_page_conforms() -> None:
    """Automatic checks prove failures only."""
    passed = {check.id.replace("-", "_"): "pass" for check in checks(ScanType.ACCESSIBILITY)}
    conformance = conformance_of_reports([report(**cast(Any, passed))])
    assert set(results(conformance).values()) == {Result.NO_FAILURE, Result.NOT_TESTED}
    for text in (conformance["statement"], *RESULT_LABELS.values()):
        assert not CLAIMS.search(text)


def test_criterion_lists_the_checks_that_concern_it() -> None:
    assert "color-contrast" in checks_by_criterion()["1.4.3"]
    assert set(checks_by_criterion()) <= set(success_criteria())


@pytest.mark.parametrize(
    ("statuses", "failure"),
    [
        ({"image_alt": "fail", "color_contrast": "fail"}, "Fails WCAG 2.2, level A: 1.1.1; level AA: 1.4.3."),
        ({"image_alt": "warn", "color_contrast": "pass"}, ""),
        ({"identical_links_same_purpose": "fail"}, ""),
    ],
)
def test_failure_of_a_report_names_levels_a_and_aa(statuses: dict[str, str], failure: str) -> None:
    assert failure_of(report(**cast(Any, statuses))) == failure


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated")  # rdflib uses it itself
def test_earl_is_valid_rdf() -> None:
    """rdflib reads the JSON-LD, and finds a complete assertion for each criterion."""
    conformance = conformance_of_reports([report(image_alt="fail", color_contrast="warn")])
    document = earl("https://example.com/home", "2026-11-29T10:00:00Z", conformance)
    graph = Graph().parse(data=json.dumps(document), format="json-ld")
    assertions = list(graph.subjects(RDF.type, EARL.Assertion))
    assert len(assertions) == 55
    outcomes: Counter[Node | None] = Counter()
    for assertion in assertions:
        assert (assertion, EARL.subject, URIRef("https://example.com/home")) in graph
        assert (assertion, EARL.mode, EARL.automatic) in graph
        assert graph.value(assertion, EARL.assertedBy) is not None
        assert str(graph.value(assertion, EARL.test)).startswith("https://www.w3.org/WAI/")
        result = graph.value(assertion, EARL.result)
        assert (result, RDF.type, EARL.TestResult) in graph
        outcomes[graph.value(result, EARL.outcome)] += 1
    assert outcomes == {EARL.failed: 1, EARL.cantTell: 1, EARL.untested: 53}
