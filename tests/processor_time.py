"""Processor time of calls, and how slow the machine is.

The same work takes more processor time on a slower processor, and if other processes share its cores and caches. Tests
multiply their limits by `slowness()`, so that they judge the code and not the machine.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

# Processor time of `_work` on the machine on which the limits were measured.
REFERENCE_S = 0.003


def least_cpu_s(call: Callable[[], object], times: int = 5) -> float:
    """Return the least processor time of several calls."""
    measured = []
    for _ in range(times):
        begin = time.process_time()
        call()
        measured.append(time.process_time() - begin)
    return min(measured)


def slowness() -> float:
    """Return how many times as long the machine computes now as the machine of the limits. At least 1."""
    return max(1.0, least_cpu_s(_work, times=10) / REFERENCE_S)


def _work() -> str:
    """Do what pages do: create objects, read and write JSON, sort, and format text."""
    rows = [{"name": f"page {n}", "number": n, "tags": [str(n % k) for k in range(1, 6)]} for n in range(1_500)]
    rows = json.loads(json.dumps(rows))
    rows.sort(key=lambda row: row["tags"])
    return "".join(f"<li>{row['name'].replace('e', 'E')}</li>" for row in rows)
