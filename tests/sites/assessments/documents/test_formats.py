"""Tests for the table of formats."""

from __future__ import annotations

import json
import re

import pytest

from sites.assessments.documents.formats import DOCUMENT_FORMATS
from sites.assessments.loading import report_of
from tests.factories import Member
from tests.sites.assessments.cast import assess, decide, museum_audit
from tests.sites.assessments.reports import ID, museum_report


def test_formats_have_distinct_file_names() -> None:
    report = museum_report()
    names = [one.file_name(report) for one in DOCUMENT_FORMATS.values()]
    assert list(DOCUMENT_FORMATS) == ["json", "openacr", "earl", "csv", "statement"]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(rf"{ID}[a-z-]*\.[a-z]+", name) for name in names)


@pytest.mark.parametrize("name", DOCUMENT_FORMATS)
def test_documents_are_the_same_for_the_same_report_and_leave_it_unchanged(name: str) -> None:
    report = museum_report()
    write = DOCUMENT_FORMATS[name].write
    assert write(report) == write(museum_report())
    assert report == museum_report()


def test_json_is_the_whole_report() -> None:
    report = museum_report()
    assert json.loads(DOCUMENT_FORMATS["json"].write(report)) == report


@pytest.mark.parametrize(
    ("name", "start"),
    [("openacr", "title:"), ("earl", '{"@context"'), ("csv", "clause,"), ("statement", "# Accessibility statement")],
)
def test_document_begins_as_its_format_does(name: str, start: str) -> None:
    assert DOCUMENT_FORMATS[name].write(museum_report()).startswith(start)


def test_stored_assessment_can_be_written_in_each_format(home: Member) -> None:
    assessment = assess(home, museum_audit(home))
    decide(home, assessment, 1, "2.4.3", "failed", note="The menu comes last.")
    report = report_of(assessment)
    for one in DOCUMENT_FORMATS.values():
        assert "The menu comes last." in one.write(report)
