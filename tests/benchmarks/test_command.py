"""Tests for the command `make bench`: its exit status, and the files that it writes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import benchmarks.__main__ as command
from benchmarks import baseline
from benchmarks.table import Table

QUERIES = 12


def table(queries: int, goal: int) -> Table:
    result = Table()
    result.head("pages", "queries")
    result.row("overview", queries, most=(goal,))
    return result


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of a baseline, which the first run writes."""
    path = tmp_path / "baseline.json"
    monkeypatch.setattr(baseline, "BASELINE", path)
    monkeypatch.setattr(command, "_table_of_part", lambda name, share: table(QUERIES, QUERIES))
    assert run(monkeypatch, "pages", "--write-baseline") == 0
    return path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["benchmarks", *arguments])
    return command.main()


@pytest.mark.parametrize(
    ("queries", "goal", "arguments", "status"),
    [
        (QUERIES, QUERIES, ["--fail-on-worse"], 0),
        (QUERIES + 1, QUERIES + 1, [], 0),
        (QUERIES + 1, QUERIES + 1, ["--fail-on-worse"], command.WORSE),
        (QUERIES + 1, QUERIES, ["--fail-on-worse"], command.MISSED),
    ],
)
def test_exit_status_names_the_reason(
    stored: Path, monkeypatch: pytest.MonkeyPatch, queries: int, goal: int, arguments: list[str], status: int
) -> None:
    monkeypatch.setattr(command, "_table_of_part", lambda name, share: table(queries, goal))
    assert run(monkeypatch, "pages", *arguments) == status


def test_failed_part_is_a_missed_goal(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_table_of_part", lambda name, share: None)
    assert run(monkeypatch, "pages") == command.MISSED


def test_run_of_all_rows_is_stored_beside_the_default_one(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, "pages", "--share", "1", "--write-baseline") == 0
    parts = baseline.read(stored)
    assert list(parts) == ["pages", "pages --share 1"]
    assert parts["pages"]["figures"] == {
        "pages: overview: queries": {
            "unit": "queries",
            "median": 12,
            "noise": 0,
            "samples": 1,
            "most": 12,
            "least": None,
        }
    }


def test_figures_are_written_to_a_file(stored: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert run(monkeypatch, "pages", "--rounds", "2", "--json", str(tmp_path / "figures.json")) == 0
    (part,) = baseline.read(tmp_path / "figures.json").values()
    assert part["figures"]["pages: overview: queries"]["samples"] == 2


def test_unknown_part_is_refused(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit) as error:
        run(monkeypatch, "nothing")
    assert error.value.code == 2
