"""Tests for the result tables of `make bench`."""

from __future__ import annotations

import ast

import pytest

from benchmarks.table import Table, summary
from benchmarks.units import UNITS
from tests.project import ROOT

# Columns with texts instead of figures.
TEXTS = {"agreed"}


def test_summary_shows_the_worst_figure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = Table()
    table.head("pages", "CPU ms", "queries", "ms")
    table.row("overview", 14.0, 12, 30.0, most=(15, 12))
    table.row("an audit", 9.0, 14, 20.0, most=(15, 12))
    table.row("landing", 1.0, 0, 1.0)
    table.head("beside a bare view", "ratio")
    table.row("GET scans", 0.5, least=(0.35,))
    assert not all(goal.is_met for goal in table.goals)
    assert "overview" in capsys.readouterr().out
    head, pages, ratio, last = (" ".join(line.split()) for line in summary(table.goals).splitlines())
    assert head == "measure goal now"
    assert pages == "pages (2) ≤ 15 CPU ms, 12 queries 14.0, 14 MISSED: an audit"
    assert ratio == "beside a bare view: GET scans ≥ 0.35 ratio 0.50 met"
    assert last == "3 figures with goals, 1 missed"


def test_figure_may_equal_its_goal() -> None:
    table = Table()
    table.head("an audit", "pages", "MiB")
    table.row("pages", 200, least=(200,))
    table.row("memory", 40.0, 40.0, most=(40,))
    assert all(goal.is_met for goal in table.goals)


def test_text_has_no_unit() -> None:
    table = Table()
    table.head("findings", "requests", "agreed")
    table.row("color-contrast", 5, "80%")
    assert [figure.name for figure in table.figures.values()] == ["findings: color-contrast: requests"]


def test_all_columns_of_figures_have_units() -> None:
    trees = [ast.parse(path.read_text("utf-8")) for path in (ROOT / "benchmarks").glob("*.py")]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    heads = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "head"]
    columns = {entry.value for call in heads for entry in call.args[1:] if isinstance(entry, ast.Constant)}
    assert len(columns) > 40
    assert columns - UNITS.keys() == TEXTS
