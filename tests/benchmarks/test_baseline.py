"""Tests for the stored figures of `make bench` and the comparison with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import baseline
from benchmarks.baseline import StoredPart
from benchmarks.machine import Machine
from benchmarks.parts import PARTS
from benchmarks.table import Table
from benchmarks.units import CPU_MS, QUERIES, RATE

MACHINE: Machine = {"cores": 2, "processor": "A", "memory_gib": 8, "python": "3.11.7", "chromium": "157.0"}


def part(table: Table, machine: Machine = MACHINE, calibration_ms: float = 100) -> StoredPart:
    figures = {name: baseline.stored(figure) for name, figure in table.figures.items()}
    return {
        "share": 0.1,
        "date": "2026-11-29",
        "commit": "abc",
        "seconds": 9,
        "machine": machine,
        "calibration_ms": calibration_ms,
        "figures": figures,
    }


def pages(cpu_ms: list[float], queries: int, per_second: float = 100.0) -> Table:
    table = Table()
    table.head("pages", "CPU ms", "queries", "a second")
    table.row("overview", cpu_ms, queries, per_second, most=(15, 12))
    return table


def compared(before: StoredPart, now: StoredPart, table: Table) -> tuple[str, int]:
    units = {"pages": {name: figure.unit for name, figure in table.figures.items()}}
    return baseline.comparison({"pages": before}, {"pages": now}, units)


def test_figures_within_noise_have_not_moved() -> None:
    now = pages([10.4, 10.6, 10.9], 12)
    text, worse = compared(part(pages([9.8, 10.0, 10.1], 12)), part(now), now)
    assert text.splitlines()[-1] == "figures: 0 better, 0 worse, 0 changed, 3 within noise, 0 new, 0 missing"
    assert worse == 0


def test_one_more_query_is_worse() -> None:
    now = pages([10.0], 13)
    text, worse = compared(part(pages([10.0], 12)), part(now), now)
    (line,) = (line for line in text.splitlines() if line.endswith("worse"))
    assert line.split() == ["pages:", "pages:", "overview:", "queries", "(queries)", "12", "13", "0", "1.08", "worse"]
    assert worse == 1


@pytest.mark.parametrize(("per_second", "verdict"), [(200.0, "better"), (40.0, "worse")])
def test_higher_rates_are_better(per_second: float, verdict: str) -> None:
    now = pages([10.0], 12, per_second)
    text, _ = compared(part(pages([10.0], 12)), part(now), now)
    assert text.splitlines()[1].endswith(verdict)


def test_scattered_samples_have_more_noise() -> None:
    assert baseline.noise_of([10.0, 10.0, 10.0], CPU_MS) == pytest.approx(1.0)  # The noise of the unit.
    assert baseline.noise_of([8.0, 10.0, 12.0], CPU_MS) == pytest.approx(3 * 1.4826 * 2)
    assert baseline.noise_of([5, 5], QUERIES) == 0


def test_times_of_another_machine_are_scaled() -> None:
    """The calibration loop takes twice as long, so times are twice as long and rates are half as high."""
    now = pages([20.0], 12, 50.0)
    other: Machine = {**MACHINE, "processor": "B"}
    text, _ = compared(part(pages([10.0], 12)), part(now, other, 200), now)
    assert "another machine (processor). Times are scaled by 2.00" in text
    assert text.splitlines()[-1] == "figures: 0 better, 0 worse, 0 changed, 3 within noise, 0 new, 0 missing"


def test_new_and_missing_figures_are_counted() -> None:
    now = pages([10.0], 12)
    now.row("another page", 1.0, 2, 3.0)
    text, _ = compared(part(now), part(pages([10.0], 12)), now)
    assert text.splitlines()[-1].endswith("0 new, 3 missing")
    text, _ = baseline.comparison({}, {"pages": part(now)}, {})
    assert text.splitlines()[0] == "The baseline has no figures of `pages`."


def test_rounds_are_merged_to_their_medians() -> None:
    rounds = [pages(samples, 12).figures for samples in ([1.0, 2.0, 9.0], [3.0], [4.0])]
    merged = baseline.merged(rounds)
    assert merged["pages: overview: CPU ms"].samples == (2.0, 3.0, 4.0)
    assert merged["pages: overview: CPU ms"].most == 15
    assert merged["pages: overview: a second"].unit is RATE


def test_written_baseline_is_read_again(tmp_path: Path) -> None:
    parts = {"pages": part(pages([1.0, 2.0], 3)), "api --share 1": part(pages([4.0], 5))}
    baseline.write(parts, path := tmp_path / "baseline.json")
    assert baseline.read(path) == parts == json.loads(path.read_text())
    assert baseline.read(tmp_path / "none.json") == {}


def test_two_figures_with_one_name_are_refused() -> None:
    table = pages([1.0], 1)
    with pytest.raises(ValueError, match="two figures are called 'pages: overview: CPU ms'"):
        table.row("overview", 1.0)


def test_stored_baseline_has_all_default_parts() -> None:
    stored = baseline.read()
    assert {name for name, part in PARTS.items() if part.is_in_bench} <= stored.keys()
    for key, part in stored.items():
        name, _, share = key.partition(" --share ")
        assert part["share"] == (float(share) if share else PARTS[name].share)
        assert part["figures"]
