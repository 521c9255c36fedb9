"""Tests for conformance reports as OpenACR."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from sites.assessments.documents.openacr import CATALOGS, MAX_NOTES, openacr, openacr_yaml, yaml_of
from sites.assessments.documents.summaries import Summary, summary_of
from sites.assessments.schemas import AssessmentJson, AssessmentReport
from tests.sites.assessments.reports import (
    HOSTILE,
    TESTER,
    decided,
    finding,
    hostile_report,
    museum_report,
    page,
    report_of,
    result,
)
from tests.sites.assessments.storing import stored
from website_scan.accessibility.standards import LEVELS, Standard

pytestmark = pytest.mark.django_db
SCHEMA = json.loads(Path(__file__).with_name("openacr-0.1.0.json").read_text(encoding="utf-8"))
LEVELS_OF_VPAT = {"supports", "partially-supports", "does-not-support", "not-applicable", "not-evaluated"}


def written(report: AssessmentReport) -> str:
    return "".join(openacr_yaml(stored(report)))


def loaded(report: AssessmentReport) -> dict[str, Any]:
    """Return the YAML document after it has passed the published schema."""
    document = cast(dict[str, Any], yaml.safe_load(written(report)))
    jsonschema.validate(document, SCHEMA)
    return document


def adherences(document: dict[str, Any]) -> dict[str, dict[str, str]]:
    return {
        row["num"]: row["components"][0]["adherence"]
        for chapter in document["chapters"].values()
        for row in chapter.get("criteria", ())
    }


@pytest.mark.parametrize("standard", Standard)
@pytest.mark.parametrize("level", LEVELS)
def test_document_of_each_standard_is_valid_by_the_published_schema(standard: Standard, level: str) -> None:
    document = loaded(museum_report(standard=standard, level=level))
    assert document["catalog"] == CATALOGS[standard]
    rows = adherences(document)
    assert {row["level"] for row in rows.values()} <= LEVELS_OF_VPAT
    assert rows["1.1.1"]["level"] == "does-not-support"


def test_adherence_follows_the_pages() -> None:
    rows = adherences(loaded(museum_report()))
    levels = {number: row["level"] for number, row in rows.items()}
    expected = {
        "1.1.1": "does-not-support",  # fails on two pages, passes on one
        "2.1.1": "partially-supports",  # fails on one page of four
        "2.4.7": "does-not-support",  # fails everywhere
        "1.2.1": "not-applicable",
        "1.2.2": "supports",  # passes on one page, not applicable on the others
        "3.2.1": "not-evaluated",  # a page has changed since its test
        "3.3.1": "not-evaluated",  # the testers could not tell on a page
        "1.4.3": "not-evaluated",
    }
    assert {number: levels[number] for number in expected} == expected
    others = {level for number, level in levels.items() if number not in expected}
    assert others == {"not-evaluated"}


def test_one_failed_page_without_other_tests_is_not_partial_support() -> None:
    report = report_of({(1, "1.1.1"): result(1, "1.1.1", "untested", outcome="failed")})
    assert adherences(loaded(report))["1.1.1"]["level"] == "does-not-support"


def test_remarks_have_notes_remedies_and_open_findings() -> None:
    notes = adherences(loaded(museum_report()))["1.1.1"]["notes"]
    assert notes == (
        "Failed on 2 pages. Passed on 1 page. Not tested on 1 page. "
        "Automatic failure on Shop, disputed by Ada Ruiz, a member of the organization: 2 images have no "
        "alternative text. Reason: The logo is decoration. Without the dispute, the criterion fails there. "
        "Home: The map has no text. To do: Describe the map. Automatic check: 2 images have no alternative text. "
        "https://museum.example.com/visit: Automatic check: 2 images have no alternative text."
    )
    contrast = adherences(loaded(museum_report()))["1.4.3"]["notes"]
    assert contrast == "Not tested on 4 pages. Home: A person has to review: Text over a picture."


def test_half_of_the_pages_is_partial_support() -> None:
    decisions = {1: "failed", 2: "failed", 3: "passed", 4: "passed"}
    report = report_of({(number, "1.1.1"): result(number, "1.1.1", value) for number, value in decisions.items()})
    assert adherences(loaded(report))["1.1.1"]["level"] == "partially-supports"


def test_changed_page_is_to_be_tested_again() -> None:
    notes = adherences(loaded(museum_report()))["3.2.1"]["notes"]
    assert notes == "Passed on 3 pages. To be tested again, because of changes since the test, on 1 page."


def test_remarks_of_more_than_five_pages_are_counted() -> None:
    sample = [page(number, f"/{number}") for number in range(1, 8)]
    failed = {(number, "1.1.1"): result(number, "1.1.1", "failed", note="No text.") for number in range(1, 8)}
    notes = adherences(loaded(report_of(failed, sample=sample)))["1.1.1"]["notes"]
    assert notes.count("No text.") == 5
    assert notes.endswith("There are notes or automatic findings about 2 more pages in the assessment.")


def test_remarks_are_bounded() -> None:
    failed = {(number, "1.1.1"): result(number, "1.1.1", "failed", note="x" * 9_000) for number in (1, 2, 3, 4)}
    findings = {"1.1.1": [finding(1, f"check-{number}", "1.1.1", title="y" * 500) for number in range(30)]}
    notes = adherences(loaded(report_of(failed, findings)))["1.1.1"]["notes"]
    assert 1_000 < len(notes) <= MAX_NOTES


def test_chapters_that_nobody_evaluated_are_disabled() -> None:
    chapters = loaded(museum_report(standard=Standard.SECTION_508))["chapters"]
    assert {name for name, chapter in chapters.items() if chapter.get("disabled")} == {
        "success_criteria_level_aaa",
        "functional_performance_criteria",
        "hardware",
        "software",
        "support_documentation_and_services",
    }
    assert all(chapter["notes"] for chapter in chapters.values())
    only_a = loaded(museum_report(level="A"))["chapters"]
    assert only_a["success_criteria_level_aa"] == {
        "notes": "Not evaluated. The assessment covers level A.",
        "disabled": True,
    }


def test_levels_that_the_standard_lacks_are_not_covered() -> None:
    chapters = loaded(museum_report(standard=Standard.EN_301_549, level="AAA"))["chapters"]
    assert chapters["success_criteria_level_aaa"]["notes"] == "Not evaluated. The assessment covers levels A and AA."


def test_european_report_does_not_evaluate_criteria_that_are_new_in_wcag_22() -> None:
    document = loaded(report_of(decided("passed", standard=Standard.EN_301_549), standard=Standard.EN_301_549))
    rows = adherences(document)
    assert {number for number, row in rows.items() if row["level"] == "not-evaluated"} == {
        *("2.4.11", "2.5.7", "2.5.8", "3.2.6", "3.3.7", "3.3.8"),
    }
    assert document["chapters"]["en_301_549_hardware"]["disabled"]
    numbers = [row["num"] for row in document["chapters"]["success_criteria_level_aa"]["criteria"]]
    assert numbers.index("1.4.5") + 1 == numbers.index("1.4.10")


def test_report_says_that_it_is_incomplete() -> None:
    notes = loaded(museum_report())["notes"]
    assert "5 of 55 criteria decided, 49 untested, 1 cannot tell." in notes
    assert "Incomplete: 50 criteria are not evaluated" in notes
    assert "Incomplete" not in loaded(report_of(decided("passed")))["notes"]


def test_contacts_have_no_empty_fields() -> None:
    texts = {"contact_email": "", "contact_phone": "", "owner_name": "", "contact_url": ""}
    document = loaded(museum_report(**texts))
    assert document["author"] == {
        "name": TESTER,
        "email": "[e-mail address]",
        "website": "https://museum.example.com/",
    }
    assert "The e-mail address of the contact is missing." in document["notes"]
    assert "feedback" not in document


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(text: str) -> None:
    report = hostile_report(text)
    document = loaded(report)
    assert document == openacr(summary_of(stored(report)))
    assert set(document) <= set(SCHEMA["properties"])


@pytest.fixture
def summary(db: None) -> Summary:
    return summary_of(stored(museum_report()))


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60))
def test_any_text_survives_yaml(summary: Summary, text: str) -> None:
    texts = {**summary.assessment, "name": text, "method": text}
    document = openacr(replace(summary, assessment=cast(AssessmentJson, texts)))
    assert yaml.safe_load(yaml_of(document)) == document


def test_words_that_only_yaml_1_2_takes_for_numbers_are_quoted() -> None:
    text = written(museum_report(name="1e3", contact_phone="0o17"))
    assert '\n  name: "1e3"\n' in text
    assert '\n  phone: "0o17"\n' in text


def test_sample_without_pages_evaluates_nothing() -> None:
    rows = adherences(loaded(report_of({}, sample=[])))
    assert {row["level"] for row in rows.values()} == {"not-evaluated"}
