"""Parts of `make bench`, `make soak` and `make dogfood`, and the service that each part needs.

A part is a module with `measure(table, share)`, or `measure(table, share, service)` if the part has variables for a
service. A part is not removed while a document cites its figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module

from benchmarks.service import installed
from benchmarks.table import Goal, Table


@dataclass(frozen=True)
class Part:
    """Settings of a part: the usual share of its rows or rounds (1 for all), and the variables of its service."""

    share: float
    variables: Mapping[str, str] | None = None
    is_in_bench: bool = True


QUICK_CLAIMS = {"SCAN_TIME_LIMIT": "30", "SCAN_VISITS_PER_DOMAIN": "100", "SCAN_GAP_PER_DOMAIN": "0"}
# No worker runs, so scans stay in the queue. These limits prevent the refusal of scans.
NO_OVERLOAD = {"SCAN_QUEUE_LIMIT": "100000000", "SCAN_QUEUE_AGE_LIMIT": "86400"}
PARTS = {
    "scans": Part(0.2),
    "verdicts": Part(0.1),
    "audits": Part(0.1, {"SCAN_BROWSER": "off"}),
    "queue": Part(0.02, {"SCAN_BROWSER": "off"} | QUICK_CLAIMS),
    "webhooks": Part(0.1, {}),
    "api": Part(0.01, {"DJANGO_SETTINGS_MODULE": "benchmarks.api_settings"} | NO_OVERLOAD),
    "pages": Part(0.1, {"METRICS_TOKEN": "a-token-for-metrics-of-32-characters"}),
    "idle": Part(0.1),
    # The time limit is long enough for quick pages and too short for slow ones.
    "soak": Part(1, {"SCAN_BROWSER": "off", "SCAN_TIME_LIMIT": "20"}, is_in_bench=False),
    "dogfood": Part(1, {}, is_in_bench=False),
}


def measure(name: str, share: float) -> list[Goal]:
    """Measure a part, print its tables, and return its goals. A process can measure only one part with a service."""
    part, table = PARTS[name], Table()
    arguments: list[object] = [table, share]
    with ExitStack() as cleanup:
        if part.variables is not None:
            arguments.append(cleanup.enter_context(installed(part.variables)))
        # Modules of parts import Django models, so they are imported after the service has set Django up.
        import_module(f"benchmarks.{name}").measure(*arguments)
    return table.goals
