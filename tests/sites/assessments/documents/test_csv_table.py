"""Tests for assessments as CSV."""

from __future__ import annotations

import codecs
import csv
import io

import pytest

from sites.assessments.documents.csv_table import COLUMNS, assessment_csv
from sites.assessments.schemas import AssessmentReport
from tests.sites.assessments.reports import (
    HOST,
    HOSTILE,
    TESTED_AT,
    TESTER,
    hostile_report,
    museum_report,
    page,
    report_of,
)
from tests.sites.assessments.storing import stored
from website_scan.accessibility.standards import Standard
from website_scan.report.spreadsheets import FORMULA_STARTS

pytestmark = pytest.mark.django_db


def rows_of(report: AssessmentReport) -> list[dict[str, str]]:
    data = "".join(assessment_csv(stored(report))).encode()
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def row_of(report: AssessmentReport, clause: str, page: int) -> dict[str, str]:
    (row,) = [row for row in rows_of(report) if (row["clause"], row["page"]) == (clause, str(page))]
    return row


def test_table_has_a_row_for_each_criterion_and_page() -> None:
    rows = rows_of(museum_report())
    assert len(rows) == 55 * 4
    assert tuple(rows[0]) == COLUMNS
    assert [row["page"] for row in rows[:5]] == ["1", "2", "3", "4", "1"]
    assert rows_of(report_of({}, sample=[])) == []


def test_spreadsheets_recognize_the_encoding_of_names() -> None:
    report = report_of({}, sample=[page(1, "/", "Führungen für Gehörlose")])
    data = "".join(assessment_csv(stored(report))).encode()
    assert data.startswith(codecs.BOM_UTF8)
    assert data.count(codecs.BOM_UTF8) == 1
    assert rows_of(report)[0]["page_title"] == "Führungen für Gehörlose"


def test_row_has_results_of_the_person_and_of_the_checks() -> None:
    assert row_of(museum_report(), "1.1.1", 1) == {
        "clause": "1.1.1",
        "criterion": "Non-text Content",
        "level": "A",
        "page": "1",
        "page_title": "Home",
        "url": f"{HOST}/",
        "state": "no",
        "result": "Failed",
        "person_result": "Failed",
        "note": "The map has no text.",
        "remedy": "Describe the map.",
        "tested_by": TESTER,
        "tested_at": TESTED_AT,
        "page_changed_since": "no",
        "automatic_result": "Fails",
        "findings": "2 images have no alternative text (2 places)",
        "disputed": "",
    }


def test_result_that_counts_differs_from_the_persons_result() -> None:
    row = row_of(museum_report(), "1.1.1", 2)
    assert (row["result"], row["person_result"], row["automatic_result"]) == ("Failed", "Passed", "Fails")


def test_disputed_findings_have_their_reason() -> None:
    row = row_of(museum_report(), "1.1.1", 3)
    assert (row["result"], row["findings"]) == ("Passed", "")
    assert row["automatic_result"] == "Fails, disputed"
    assert row["disputed"] == (
        "Automatic failure, disputed by Ada Ruiz, a member of the organization: 2 images have no alternative text. "
        "Reason: The logo is decoration. Without the dispute, the criterion fails."
    )


def test_undecided_rows_say_what_was_automatic() -> None:
    report = museum_report()
    automatic = {page: row_of(report, "1.4.3", page)["automatic_result"] for page in (1, 2, 4)}
    # On page 1 a check could not decide; the finding on page 2 is fixed; page 4 is a state.
    assert automatic == {1: "Needs review", 2: "No automatic failure", 4: "Not tested automatically"}
    assert row_of(report, "1.4.3", 2)["findings"] == ""
    # Only checks of journeys refer to 2.4.3.
    assert row_of(report, "2.4.3", 1)["automatic_result"] == "Not tested automatically"


def test_state_and_later_change_of_the_page_are_marked() -> None:
    report = museum_report()
    assert row_of(report, "2.1.1", 4)["state"] == "yes"
    assert row_of(report, "3.2.1", 2)["page_changed_since"] == "yes"


def test_clauses_are_those_of_the_standard() -> None:
    assert rows_of(museum_report(standard=Standard.EN_301_549))[0]["clause"] == "9.1.1.1"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_no_formula_and_adds_no_row(text: str) -> None:
    rows = rows_of(hostile_report(text))
    assert len(rows) == 55 * 3
    assert all(set(row) == set(COLUMNS) for row in rows)
    for row in rows:
        for value in row.values():
            assert not value.lstrip(" ").startswith(FORMULA_STARTS)
    visible = "".join(character for character in text if character.isalnum())
    assert visible in "".join(character for character in rows[0]["note"] if character.isalnum())
