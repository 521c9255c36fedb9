"""Tests for the generated tables of docs/conformance.md."""

from __future__ import annotations

from documentation.criteria import axe_rules, checks, criteria, numbers
from tests.website_scan.accessibility.axe_rules import RULES


def test_table_has_all_criteria_of_wcag_2_2() -> None:
    header, *rows = criteria("")
    levels = [row[1] for row in rows]
    assert (len(rows), levels.count("A"), levels.count("AA")) == (86, 31, 24)
    assert not [row for row in rows if len(row) != len(header) or "4.1.1" in row[0]]


def test_european_clauses_are_those_of_wcag_2_1_without_level_aaa() -> None:
    clauses = [(level, since, clause) for _, level, clause, since, _ in list(criteria(""))[1:]]
    assert {(level != "AAA" and since != "2.2") == bool(clause) for level, since, clause in clauses} == {True}
    assert len([clause for *_, clause in clauses if clause]) == 49


def test_axe_rules_are_those_that_run_in_a_scan() -> None:
    rules = axe_rules()
    assert "image-alt" in rules["1.1.1"]
    # Off in axe-core, but switched on by the scanner.
    assert "target-size" in rules["2.5.8"]
    # Deprecated, experimental and switched off rules do not run.
    names = set().union(*rules.values())
    assert not names & {"duplicate-id", "p-as-heading", "color-contrast-enhanced"}
    assert len(names) > 60
    assert names <= set(RULES)


def test_checks_without_a_tag_are_marked() -> None:
    rows = {row[0]: row[2] for row in checks("")}
    assert rows["2.1.3 Keyboard (No Exception)"] == "`scrollable-region-focusable` (tagged in axe-core only)"
    assert "not tagged" not in "".join(rows.values())


def test_numbers_add_up() -> None:
    _, *levels, total = [[int(cell) for cell in row[1:]] if row[1].isdigit() else [] for row in numbers("")]
    assert [sum(column) for column in zip(*levels, strict=True)] == total
    assert all(count == checked + unchecked for count, checked, unchecked in [*levels, total])
