"""Tests for the explanations on the report page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tests.results import check_of, read_rows, stored
from website_scan.catalogue import checks
from website_scan.findings import HIGH, ScanType
from website_scan.json_types import GRADES as LETTERS
from website_scan.places import NO_ROWS
from website_scan.report.explanations import ADVICE, CATEGORIES, GRADES, advice, category_meaning, grade_meaning
from website_scan.report.metrics import METRICS, metrics
from website_scan.report_json import ExportedCheck, StoredTable
from website_scan.result import CheckStatus


def test_every_grade_has_an_explanation() -> None:
    assert set(GRADES) == set(ScanType)
    for meanings in GRADES.values():
        assert list(meanings) == list(LETTERS)
        assert len(set(meanings.values())) == len(meanings)
    assert grade_meaning("other", "A") == ""


def test_categories_with_explanations_exist() -> None:
    """Every explained category must exist.

    A new category needs no explanation.
    """
    for scan_type in ScanType:
        assert set(CATEGORIES[scan_type]) <= {check.category.name for check in checks(scan_type)}
    assert category_meaning("security", "Something new") == ""


def test_advice_names_existing_error_codes() -> None:
    source = "".join(path.read_text() for path in (Path(__file__).parents[3] / "website_scan").rglob("*.py"))
    assert [code for code in ADVICE if f'"{code}"' not in source] == []
    assert "scan ID" in advice("SOMETHING_NEW")


def test_metrics_belong_to_existing_checks() -> None:
    assert set(METRICS) <= {check.id for check in checks(ScanType.PERFORMANCE)}


def measured(status: CheckStatus = "pass", **figures: Any) -> ExportedCheck:
    """Return a check with one table that contains these figures."""
    severity = None if status == "pass" else HIGH
    check = check_of("check", "Check", "Check", status, severity, HIGH, "It is so.")
    return stored(replace(check, details=read_rows([table(figures)]) if figures else NO_ROWS))


def table(figures: Mapping[str, float | None]) -> StoredTable:
    return {
        "kind": "figures",
        "columns": [{"name": name, "label": name, "format": "number"} for name in figures],
        "rows": [list(figures.values())],
        "total": 1,
    }


def test_metrics_have_their_units() -> None:
    page_metrics = metrics(
        {
            "lcp": measured("warn", median=2.449),
            "tbt": measured("fail", median=1.2345),
            "cls": measured(median=0.1),
            "fcp": measured(median=None),
        }
    )
    assert [(metric.value, metric.unit, metric.verdict) for metric in page_metrics] == [
        ("2.4", "s", "Needs work"),
        ("1,234", "ms", "Poor"),
        ("0.1", "", "Good"),
    ]
    assert [metric.anchor for metric in page_metrics] == ["check-lcp", "check-tbt", "check-cls"]
    assert metrics({"lcp": measured()}) == ()


def test_unstable_metric_shows_its_range() -> None:
    figures: dict[str, Any] = {"median": 1.5, "least": 1.2, "largest": 1.94, "loads": 3}
    (metric,) = metrics({"fcp": measured(**figures, stable=False)})
    assert metric.spread == "1.2 to 1.9 s in 3 loads"
    (metric,) = metrics({"fcp": measured(**figures, stable=True)})
    assert metric.spread == ""
    # Older reports do not have the column `stable`.
    (older_metric,) = metrics({"fcp": measured(**figures)})
    assert older_metric.spread == ""
