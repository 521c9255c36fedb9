"""Tests for the table of formats."""

from __future__ import annotations

import json
import re

import pytest

from sites.assessments.documents.formats import DOCUMENT_FORMATS
from sites.models import Assessment
from tests.factories import Member
from tests.sites.assessments.cast import assess, decide, museum_audit
from tests.sites.assessments.reports import ID, museum_report
from tests.sites.assessments.storing import stored, whole_report

pytestmark = pytest.mark.django_db


def text_of(name: str, assessment: Assessment) -> str:
    return "".join(DOCUMENT_FORMATS[name].write(assessment))


def test_downloads_have_distinct_file_names() -> None:
    assessment = stored(museum_report())
    downloads = [one.response(assessment)["Content-Disposition"] for one in DOCUMENT_FORMATS.values()]
    assert list(DOCUMENT_FORMATS) == ["json", "openacr", "earl", "csv", "statement"]
    assert len(set(downloads)) == len(downloads)
    assert all(re.fullmatch(rf'attachment; filename="{ID}[a-z-]*\.[a-z]+"', one) for one in downloads)


@pytest.mark.parametrize("name", DOCUMENT_FORMATS)
def test_documents_are_the_same_for_the_same_assessment(name: str) -> None:
    assessment = stored(museum_report())
    assert text_of(name, assessment) == text_of(name, assessment)


def test_json_is_the_whole_report() -> None:
    assessment = stored(museum_report())
    document = json.loads(text_of("json", assessment))
    assert document == json.loads(json.dumps(whole_report(assessment)))
    results = {row["number"]: row["results"] for row in document["criteria"]}
    assert [row["note"] for row in results["2.4.7"]] == ["Links have no visible focus."] * 4


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("openacr", "title:"),
        ("earl", '{"@context"'),
        ("csv", "\ufeffclause,"),
        ("statement", "# Accessibility statement"),
    ],
)
def test_document_begins_as_its_format_does(name: str, start: str) -> None:
    assert text_of(name, stored(museum_report())).startswith(start)


def test_new_note_is_in_each_format(home: Member) -> None:
    assessment = assess(home, museum_audit(home))
    decide(home, assessment, 1, "2.4.3", "failed", note="The menu comes last.")
    for name in DOCUMENT_FORMATS:
        assert "The menu comes last." in text_of(name, assessment)
