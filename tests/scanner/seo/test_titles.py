"""Titles of SEO findings."""

from __future__ import annotations

from scanner.findings import ScanType
from tests.scanner.titles import faults_of_titles


def test_titles_say_one_thing() -> None:
    assert faults_of_titles(ScanType.SEO) == []
