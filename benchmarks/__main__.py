"""`make bench`: run all parts, or those that ARGS names, such as `ARGS="pages queue --share 0.01"`."""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib import import_module

from benchmarks.table import Table

PARTS = (
    "scans",
    "vitals",
    "verdicts",
    "audits",
    "queue",
    "webhooks",
    "api",
    "pages",
    "length",
    "growth",
    "install",
    "idle",
)

parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures what the documents claim.")
parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
parser.add_argument("--share", default="1", help="measure with this share of the rows, such as 0.01")
options = parser.parse_args()
chosen = options.parts or PARTS
if unknown := set(chosen) - set(PARTS):
    parser.error(f"no part is called {', '.join(sorted(unknown))}")
if len(chosen) > 1:
    # Each part needs its own process, because it sets up Django with its own settings.
    command = [sys.executable, "-m", "benchmarks", "--share", options.share]
    ended = [subprocess.run([*command, part], check=False).returncode for part in chosen]
    sys.exit(int(any(ended)))
table = Table()
import_module(f"benchmarks.{chosen[0]}").measure(table, float(options.share))
sys.exit(int(table.missed))
