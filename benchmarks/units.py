"""Units of benchmark figures: which direction is better, how much runs vary, and how the machine's speed matters."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

LOWER, HIGHER, NEITHER = "lower", "higher", "neither"


class Unit(Struct, frozen=True):
    """Unit of a column or row.

    `better` is the better direction. Two runs of the same code may differ by the share `noise` of a figure, and by
    `resolution` in its unit. `speed` is 1 for times that are shorter on a faster machine, -1 for rates that are higher
    there, and 0 for figures that do not depend on it.
    """

    name: str
    better: str
    noise: float = 0.0
    resolution: float = 0.0
    speed: int = 0


CPU_S = Unit("CPU-s", LOWER, 0.08, 0.01, speed=1)
CPU_MS = Unit("CPU ms", LOWER, 0.1, 0.2, speed=1)
SECONDS = Unit("s", LOWER, 0.3, 0.1)
ELAPSED_MS = Unit("ms", LOWER, 0.3, 1.0, speed=1)
RATE = Unit("a second", HIGHER, 0.2, speed=-1)
MIB = Unit("MiB", LOWER, 0.06, 1.0)
KB = Unit("kB", LOWER, 0.01, 0.1)
BYTES = Unit("bytes", LOWER, 0.05)
RATIO = Unit("ratio", LOWER, 0.1, 0.01)
GAIN = Unit("ratio", HIGHER, 0.1, 0.01)
SHARE = Unit("share", HIGHER)
QUERIES = Unit("queries", LOWER)
COUNT = Unit("number", NEITHER)
REQUESTS = Unit("requests", LOWER, 0.03, 0.1)
PROCESSES = Unit("processes", LOWER)
COMMANDS = Unit("commands", LOWER, 0.05, 1.0)
ROWS = Unit("rows", LOWER, 0.1)

PEER_PAGES = ("tiny", "shop", "dashboard", "gallery")  # Names of the pages in peer_pages.py.

# Units by a column's heading.
UNITS: Mapping[str, Unit] = {
    "CPU-s": CPU_S,
    "CPU ms": CPU_MS,
    "least CPU ms": CPU_MS,
    "application": CPU_MS,
    "database ms": CPU_MS,
    "connections": REQUESTS,
    "DNS queries": REQUESTS,
    "seconds": SECONDS,
    "s to the page": SECONDS,
    "longest wait": SECONDS,
    "median wait": SECONDS,
    "ms": ELAPSED_MS,
    "ms before": ELAPSED_MS,
    "median ms": ELAPSED_MS,
    "p50 ms": ELAPSED_MS,
    "p50 of 1,000": ELAPSED_MS,
    "p95 ms": Unit("ms", LOWER, 0.6, 2.0, speed=1),
    "p99 ms": Unit("ms", LOWER, 0.6, 2.0, speed=1),
    "a second": RATE,
    "bare": RATE,
    "scans a minute": Unit("a minute", HIGHER, 0.1),
    "of one": GAIN,
    "of the bare": GAIN,
    "idle %": Unit("%", HIGHER, 0.3),
    "ratio": RATIO,
    "CPU ratio": RATIO,
    "time ratio": Unit("ratio", LOWER, 0.3),
    "request ratio": Unit("ratio", LOWER, 0.03),
    "MiB": MIB,
    "kB": KB,
    "kB each": KB,
    "received kB": KB,
    "table": BYTES,
    "indexes": BYTES,
    "queries": QUERIES,
    "requests": REQUESTS,
    "commits": Unit("commits", LOWER, 0.05),
    "rows read": ROWS,
    "Redis commands": COMMANDS,
    "processes": PROCESSES,
    "threads": PROCESSES,
    "descriptors": PROCESSES,
    "mib": MIB,
    "replaced": PROCESSES,
    "waiting": Unit("scans", NEITHER, 0.5),
    "sent twice": Unit("deliveries", LOWER),
    "precision": SHARE,
    "findings": COUNT,
    "static": COUNT,
    "in a browser": COUNT,
    "pages": COUNT,
    "scans": COUNT,
    **{f"{page} CPU-s": CPU_S for page in PEER_PAGES},
    **{f"{page} ratio": RATIO for page in PEER_PAGES},
    "exit status": Unit("status", LOWER),
    "security": Unit("score", HIGHER),
    "performance": Unit("score", HIGHER, resolution=1.0),
    "accessibility": Unit("score", HIGHER),
    "seo": Unit("score", HIGHER),
}
