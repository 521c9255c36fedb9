"""Parts of `make bench`, `make soak` and `make dogfood`, and the services that they need.

A part is a module with `measure(table, share)`, or `measure(table, share, service)` if the part has variables for a
service. A part is not removed while a document cites its figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from importlib import import_module

from msgspec import Struct

from benchmarks.namespace import enter_namespace
from benchmarks.service import installed_service
from benchmarks.table import Table


class Part(Struct, frozen=True):
    """Part of the benchmarks.

    `share` scales its rows or rounds, and is 1 for a full run. `needs_namespace` is True if the part has its own
    internet (`benchmarks/registry.py`).
    """

    share: float
    variables: Mapping[str, str] | None = None
    is_in_bench: bool = True
    needs_namespace: bool = False


FAST_CLAIM_SETTINGS = {"SCAN_TIME_LIMIT": "30", "SCAN_VISITS_PER_DOMAIN": "100", "SCAN_GAP_PER_DOMAIN": "0"}
# No worker runs, so scans stay in the queue. These limits are so high that no scan is refused.
OVERLOAD_LIMITS = {"SCAN_QUEUE_LIMIT": "100000000", "SCAN_QUEUE_AGE_LIMIT": "86400"}
PARTS = {
    "scans": Part(0.2),
    "verdicts": Part(0.1),
    "categories": Part(0.1),
    "audits": Part(0.1, {"SCAN_BROWSER": "off"}),
    "queue": Part(0.02, {"SCAN_BROWSER": "off"} | FAST_CLAIM_SETTINGS),
    "webhooks": Part(0.1, {}),
    "api": Part(0.01, {"DJANGO_SETTINGS_MODULE": "benchmarks.api_settings"} | OVERLOAD_LIMITS),
    "pages": Part(0.1, {"METRICS_TOKEN": "a-token-for-metrics-of-32-characters"}),
    "lists": Part(0.02, {}),
    "growth": Part(0.01, FAST_CLAIM_SETTINGS | OVERLOAD_LIMITS),
    "idle": Part(0.1),
    # This part needs root, and 40 minutes for all sites.
    "list_run": Part(
        0.1,
        {"DJANGO_SETTINGS_MODULE": "benchmarks.list_run_settings", "SCAN_BROWSER": "off"},
        is_in_bench=False,
        needs_namespace=True,
    ),
    # The other tools are rarely installed. This part needs root.
    "peers": Part(1, is_in_bench=False),
    # The time limit is sufficient for fast pages, but too short for slow pages.
    "soak": Part(1, {"SCAN_BROWSER": "off", "SCAN_TIME_LIMIT": "20"}, is_in_bench=False),
    "dogfood": Part(1, {}, is_in_bench=False),
}


def measure(name: str, share: float) -> Table:
    """Measure a part, print its tables, and return the table with its goals and figures.

    A process can measure only one part that needs a service.
    """
    part, table = PARTS[name], Table()
    arguments: list[object] = [table, share]
    with ExitStack() as cleanup:
        if part.needs_namespace:
            enter_namespace()
        if part.variables is not None:
            arguments.append(cleanup.enter_context(installed_service(part.variables)))
        # Modules of parts import Django models, so they are imported after the service has set up Django.
        import_module(f"benchmarks.{name}").measure(*arguments)
    return table
