"""Test the table of WCAG success criteria and its instructions for people who test a page."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from typing import Any

import pytest

from tests.project import ROOT
from website_scan.accessibility.standards import Standard
from website_scan.catalogue import checks
from website_scan.findings import ScanType
from website_scan.plan import judges_journeys_only

CRITERIA: dict[str, dict[str, Any]] = tomllib.loads(
    (ROOT / "website_scan/accessibility/standards.toml").read_text(encoding="utf-8")
)
NUMBERS = sorted(CRITERIA, key=lambda number: [int(part) for part in number.split(".")])
VERSIONS = ("2.0", "2.1", "2.2")
REQUIRED_FIELDS = {"name", "level", "since", "page", "asks", "machine", "procedure"}
OPTIONAL_FIELDS = {"until", "applies"}
# Longest texts in characters. The table of an assessment shows them in one or two lines.
LENGTHS = {"asks": 140, "applies": 80, "machine": 160}
STEP_LENGTH = 160
STEPS = range(2, 6)
LAST_STEP = "It fails if "
UNTESTED = "No check "


def versions(criterion: dict[str, Any]) -> list[str]:
    """Return the versions of WCAG that have the criterion."""
    return [version for version in VERSIONS if criterion["since"] <= version <= criterion.get("until", VERSIONS[-1])]


def referenced_criteria() -> set[str]:
    """Return the numbers of the criteria that an accessibility check of pages refers to."""
    of_pages = (check for check in checks(ScanType.ACCESSIBILITY) if not judges_journeys_only(check))
    references = (reference for check in of_pages for reference in check.references)
    return set(re.findall(r"WCAG (\d\.\d\.\d+) ", " ".join(references)))


# Counted in @siteimprove/alfa-wcag 0.114.0 on npm, which is generated from the W3C's documents. Its numbers, names,
# levels and versions were the same as in standards.toml.
@pytest.mark.parametrize(
    ("version", "counts"),
    [
        ("2.0", {"A": 25, "AA": 13, "AAA": 23}),
        ("2.1", {"A": 30, "AA": 20, "AAA": 28}),
        ("2.2", {"A": 31, "AA": 24, "AAA": 31}),
    ],
)
def test_wcag_version_has_all_its_criteria(version: str, counts: dict[str, int]) -> None:
    assert Counter(row["level"] for row in CRITERIA.values() if version in versions(row)) == counts


def test_parsing_is_the_only_removed_criterion() -> None:
    assert {number: row["until"] for number, row in CRITERIA.items() if "until" in row} == {"4.1.1": "2.1"}


@pytest.mark.parametrize(
    ("standard", "level", "words"),
    [
        (Standard.WCAG_21, "AAA", "WCAG 2.1, level AAA"),
        # Neither EN 301 549 nor Section 508 has levels.
        (Standard.EN_301_549, "A", "EN 301 549 V3.2.1, clause 9 (WCAG 2.1 level A)"),
        (Standard.EN_301_549, "AA", "EN 301 549 V3.2.1, clause 9 (WCAG 2.1 levels A and AA)"),
        (Standard.SECTION_508, "AAA", "Section 508 (WCAG 2.0 levels A and AA)"),
    ],
)
def test_only_wcag_is_at_a_level(standard: Standard, level: str, words: str) -> None:
    assert standard.at_level(level) == words


def test_parsing_has_one_result_for_pages_in_html() -> None:
    parsing = CRITERIA["4.1.1"]
    # Otherwise, the page of the criterion would say that it is not applicable to HTML.
    assert "applies" not in parsing
    assert parsing["procedure"][0].startswith("Choose “Passed” for pages in HTML:")
    assert "HTML" not in parsing["asks"]


def test_criteria_are_in_order_of_number() -> None:
    assert list(CRITERIA) == NUMBERS


@pytest.mark.parametrize("number", NUMBERS)
def test_criterion_has_short_complete_texts(number: str) -> None:
    row = CRITERIA[number]
    assert set(row) >= REQUIRED_FIELDS
    assert set(row) <= REQUIRED_FIELDS | OPTIONAL_FIELDS
    assert {name: len(row[name]) for name in LENGTHS if len(row.get(name, "")) > LENGTHS[name]} == {}
    sentences = (row["asks"], row["machine"], *row["procedure"])
    assert [text for text in sentences if not re.fullmatch(r"[A-Z].+[^ .][.?]", text)] == []
    # `applies` is a noun phrase, which follows other words in a sentence.
    assert re.fullmatch(r"[a-z].+[^ .]", row.get("applies", "none"))


@pytest.mark.parametrize("number", NUMBERS)
def test_procedure_ends_with_the_failure(number: str) -> None:
    procedure = CRITERIA[number]["procedure"]
    assert len(procedure) in STEPS
    assert [step for step in procedure if len(step) > STEP_LENGTH] == []
    assert [step.startswith(LAST_STEP) for step in procedure] == [*[False] * (len(procedure) - 1), True]


def test_texts_name_criteria_without_checks() -> None:
    untested = {number for number, row in CRITERIA.items() if row["machine"].startswith(UNTESTED)}
    assert untested == set(CRITERIA) - referenced_criteria()


def test_texts_refer_to_existing_criteria() -> None:
    texts = " ".join(text for row in CRITERIA.values() for text in (row["asks"], row["machine"], *row["procedure"]))
    assert set(re.findall(r"\b\d\.\d\.\d+\b", texts)) <= set(CRITERIA)
