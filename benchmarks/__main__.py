"""`make bench`: run all parts, or those that ARGS names, such as `ARGS="pages queue --share 0.01"`.

A part is a module with `measure(table, share)`, and is kept while a document cites its figures.

Several parts end with a summary: each goal, and the figure now.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from benchmarks.table import Goal, Table, summary

# The parts, with the share of their rows that `make bench` measures; 1 is the whole.
PARTS = {
    "scans": 0.4,
    "verdicts": 0.1,
    "audits": 0.1,
    "queue": 0.02,
    "webhooks": 0.1,
    "api": 0.01,
    "pages": 0.1,
    "idle": 0.1,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures what the documents claim.")
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--share", type=float, help="measure with this share of the rows, such as 0.01, or all with 1")
    parser.add_argument("--goals", type=Path, help="a file for the goals with their figures, as JSON")
    options = parser.parse_args()
    chosen = options.parts or list(PARTS)
    if unknown := set(chosen) - set(PARTS):
        parser.error(f"no part is called {', '.join(sorted(unknown))}")
    if len(chosen) > 1:
        return _all(chosen, options.share)
    return _one(chosen[0], options.share, options.goals)


def _one(part: str, share: float | None, path: Path | None) -> int:
    table = Table()
    import_module(f"benchmarks.{part}").measure(table, PARTS[part] if share is None else share)
    if path is not None:
        path.write_text(json.dumps([asdict(each) for each in table.goals]))
    return int(table.missed)


def _all(parts: list[str], share: float | None) -> int:
    """Run each part in its own process, because it sets up Django with its own settings, and print all goals."""
    began = time.monotonic()
    goals: list[Goal] = []
    failed = False
    for part in parts:
        with tempfile.NamedTemporaryFile(prefix="wss-goals-") as file:
            shared = () if share is None else ("--share", str(share))
            command = (sys.executable, "-m", "benchmarks", part, "--goals", file.name, *shared)
            part_began = time.monotonic()
            failed |= bool(subprocess.run(command, check=False).returncode)
            print(f"\n{part} took {time.monotonic() - part_began:,.0f} s", flush=True)
            told = Path(file.name).read_text()
        # A part that has crashed has told nothing.
        ended = Goal(part, "ends", ["time"], "≥", [1], [int(bool(told))])
        goals += [Goal(**each) for each in json.loads(told)] if told else [ended]
    print(f"\n{summary(goals)}, after {time.monotonic() - began:,.0f} s", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
