"""Tests for the table of formats."""

from __future__ import annotations

import json
import re

import pytest

from sites.assessments.documents.formats import DOCUMENT_FORMATS
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
