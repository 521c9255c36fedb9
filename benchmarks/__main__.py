"""Command `make bench`, which measures all parts or those in ARGS, such as `ARGS="pages queue --share 0.01"`.

The output ends with a summary of all goals and the measured figures.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor

from benchmarks.parts import PARTS, measure
from benchmarks.table import Goal, summary


def main() -> int:
    """Run the benchmarks.

    Return 1 if a figure misses its goal or a part fails, otherwise 0.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures what the documents claim.")
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--share", type=float, help="measure with this share of the rows, such as 0.01, or all with 1")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part is called {', '.join(sorted(unknown))}")
    names = options.parts or [name for name, part in PARTS.items() if part.is_in_bench]
    start = time.monotonic()
    goals: list[Goal] = []
    for name in names:
        part_start_s = time.monotonic()
        goals += _measure_part(name, PARTS[name].share if options.share is None else options.share)
        print(f"\n{name} took {time.monotonic() - part_start_s:,.0f} s", flush=True)
    print(f"\n{summary(goals)}, after {time.monotonic() - start:,.0f} s", flush=True)
    return int(not all(goal.is_met for goal in goals))


def _measure_part(name: str, share: float) -> list[Goal]:
    """Measure a part in a separate process, because Django can load the settings of only one part."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        future = pool.submit(measure, name, share)
        if (error := future.exception()) is None:
            return future.result()
        traceback.print_exception(error)
        return [Goal(name, "ends", ["time"], "≥", [1], [0])]


if __name__ == "__main__":
    sys.exit(main())
