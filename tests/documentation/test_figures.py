"""Tests for the tables of docs/benchmarks.md."""

from __future__ import annotations

import pytest

from documentation import figures
from documentation.figures import Figure, Part


def figure(median: float, noise: float = 0, most: float | None = None, least: float | None = None) -> Figure:
    return {"unit": "", "median": median, "noise": noise, "samples": 1, "most": most, "least": least}


@pytest.fixture(autouse=True)
def stored(monkeypatch: pytest.MonkeyPatch) -> None:
    part: Part = {
        "share": 1,
        "date": "2026-11-29",
        "commit": "abc",
        "seconds": 1234,
        "machine": {"cores": 2, "processor": "A", "python": "3.11", "chromium": "157"},
        "calibration_ms": 100,
        "figures": {
            "10 scans: overview: CPU ms": figure(14.26, 2),
            "10 scans: overview: queries": figure(12),
            "2,000 scans: overview: CPU ms": figure(0.634, 0.1),
            "2,000 scans: overview: queries": figure(13),
            "visit: all: CPU ms": figure(1253.4, 90, 1300),
            "visit: all: queries": figure(1253),
            "visit: beside: all: ratio": figure(0.5),
        },
    }
    monkeypatch.setattr(figures, "stored_parts", lambda: {"growth --share 1": part})


def test_table_has_rows_of_its_title_with_goals() -> None:
    rows = list(figures.section("growth", "visit", "CPU ms", "queries")(""))
    assert rows == [("visit", "processor time, ms", "queries", "goal"), ("all", "1,300", "1,253", "≤ 1,300")]
    assert list(figures.section("growth", "visit: beside", "ratio")(""))[1:] == [("all", "0.5")]


def test_growth_has_a_column_for_each_size() -> None:
    assert list(figures.growth("")) == [
        ("action", "10 scans, ms", "2,000 scans, ms", "queries"),
        ("overview", "14", "0.63", "12 or 13"),
    ]


def test_part_that_was_not_measured_has_no_rows() -> None:
    assert len(list(figures.section("peers", "commands", "CPU-s")(""))) == 1


def test_missed_goals_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    growth = figures.stored_parts()["growth --share 1"]
    growth["figures"] = {
        "visit: most exactly: ratio": figure(1.5, most=1.5),
        "visit: above: ratio": figure(1.58, most=1.5),
        "visit: least exactly: rate": figure(2, least=2),
        "visit: below: rate": figure(1234, least=2000),
        "visit: without a goal: rate": figure(0),
    }
    monkeypatch.setattr(figures, "stored_parts", lambda: {"growth --share 1": growth})
    assert list(figures.misses(""))[1:] == [
        ("`growth --share 1`", "visit: above: ratio", "1.58", "≤ 1.5"),
        ("`growth --share 1`", "visit: below: rate", "1,234", "≥ 2,000"),
    ]


def test_runs_name_their_machine() -> None:
    assert list(figures.runs(""))[1] == ("`growth --share 1`", "2026-11-29", "1,234 s", "A", "2", "3.11", "157")
