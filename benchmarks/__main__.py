"""`make bench`: the API, then scans. `ARGS=api` or `ARGS=scans` for one of them."""

from __future__ import annotations

import sys

from benchmarks import api, scans

PARTS = {"scans": scans.main, "api": api.main}

chosen = sys.argv[1:] or list(PARTS)
sys.exit(max([PARTS[name]() for name in chosen]))
