"""Command `make bench`, which measures all parts or those in ARGS, such as `ARGS="pages queue --share 0.01"`.

The output ends with a comparison with the stored baseline, and a summary of all goals and the measured figures.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct, field

from benchmarks import baseline
from benchmarks.baseline import StoredPart
from benchmarks.machine import busy_sentence, calibration_ms, machine
from benchmarks.parts import PARTS, measure
from benchmarks.table import Figure, Goal, Table, summary
from benchmarks.units import Unit

EXIT_STATUS = """exit status:
  0  all goals are met
  1  a goal is missed or a part has failed
  2  the arguments are wrong
  3  as 0, but with --fail-on-worse, and a figure is worse than the baseline by more than noise"""
MISSED, WORSE = 1, 3


class Run(Struct):
    """Results of the measured parts, by their keys in the baseline."""

    goals: list[Goal] = field(default_factory=list)
    parts: dict[str, StoredPart] = field(default_factory=dict)
    units: dict[str, dict[str, Unit]] = field(default_factory=dict)


def main() -> int:
    """Run the benchmarks, and return the exit status."""
    parser = _parser()
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part is called {', '.join(sorted(unknown))}")
    if options.rounds < 1:
        parser.error("--rounds is at least 1")
    names = options.parts or [name for name, part in PARTS.items() if part.is_in_bench]
    os.environ["PATH"] = os.pathsep.join([*options.tools, os.environ["PATH"]])
    start = time.monotonic()
    if sentence := busy_sentence():
        print(sentence, flush=True)
    run = Run()
    for name in names:
        _measure_part(run, name, PARTS[name].share if options.share is None else options.share, options.rounds)
    if options.json is not None:
        baseline.write(run.parts, options.json)
    stored_parts = baseline.read()
    text, worse = baseline.comparison(stored_parts, run.parts, run.units)
    print(f"\n{text}")
    if options.write_baseline:
        baseline.write(stored_parts | run.parts)
    print(f"\n{summary(run.goals)}, after {time.monotonic() - start:,.0f} s", flush=True)
    if not all(goal.is_met for goal in run.goals):
        return MISSED
    return WORSE if worse and options.fail_on_worse else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measures what the documents claim.",
        epilog=EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--share", type=float, help="measure with this share of the rows, such as 0.01, or all with 1")
    parser.add_argument("--rounds", type=int, default=1, help="measure each part this often, and use the medians")
    parser.add_argument(
        "--tools", action="append", default=[], metavar="FOLDER", help="search here for the tools of the part `peers`"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file")
    parser.add_argument(
        "--write-baseline", action="store_true", help="store the figures of the measured parts as the new baseline"
    )
    parser.add_argument("--fail-on-worse", action="store_true", help="return 3 if a figure is worse than the baseline")
    return parser


def _measure_part(run: Run, name: str, share: float, rounds: int) -> None:
    """Measure a part, and add its goals and figures to `run`."""
    start, speed_ms = time.monotonic(), calibration_ms()
    figures: list[dict[str, Figure]] = []
    for _ in range(rounds):
        if (table := _table_of_part(name, share)) is None:
            run.goals.append(Goal(name, "ends", ["time"], "≥", [1], [0]))
            return
        run.goals += table.goals
        figures.append(table.figures)
    seconds = time.monotonic() - start
    print(f"\n{name} took {seconds:,.0f} s", flush=True)
    all_figures = baseline.merged(figures)
    key = baseline.key_of(name, share, PARTS[name].share)
    run.units[key] = {figure.name: figure.unit for figure in all_figures.values()}
    run.parts[key] = {
        "share": share,
        "date": datetime.now(UTC).date().isoformat(),
        "commit": baseline.current_commit(),
        "seconds": round(seconds / rounds),
        "machine": machine(),
        "calibration_ms": round((speed_ms + calibration_ms()) / 2, 1),
        "figures": {figure.name: baseline.stored(figure) for figure in all_figures.values()},
    }


def _table_of_part(name: str, share: float) -> Table | None:
    """Measure a part in a separate process, because Django can load the settings of only one part.

    Returns None, and prints the traceback, if the part fails.
    """
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        future = pool.submit(measure, name, share)
        if (error := future.exception()) is None:
            return future.result()
        traceback.print_exception(error)
        return None


if __name__ == "__main__":
    sys.exit(main())
