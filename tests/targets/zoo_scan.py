"""Scan a hostile site as a worker does.

As a program, run many scans and measure their memory.

`python -m tests.targets.zoo_scan` reads lines of JSON (`url`, `type`, `ca_file`, `time_limit_s`) and answers each
with one line: the result's `status`, `code`, `message`, `reasons`, the `seconds` it took, and `peak_mib`, the
peak memory of the process during that scan.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from tests.website_scan.net.loopback import NETWORKS
from website_scan.findings import ScanType
from website_scan.memory import release_memory, use_one_heap
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target
from website_scan.result import Budget
from website_scan.run import scan


class Order(Struct, frozen=True):
    """One scan to run, read from a line of input."""

    url: str
    type: str
    ca_file: str | None
    time_limit_s: float


class Outcome(Struct, frozen=True):
    """Result of one scan, written to a line of output."""

    status: str
    code: str
    message: str
    reasons: tuple[str, ...]
    seconds: float
    peak_mib: int = 0


def run(order: Order) -> Outcome:
    """Run a scan like `scans.tasks`.

    The time limit applies to both the network and the engine.
    """
    started_at = time.monotonic()
    policy = Policy(allowed_networks=NETWORKS, ca_bundle=Path(order.ca_file) if order.ca_file else None)
    with Network(policy, time_limit_s=order.time_limit_s) as network:
        target = parse_target(order.url, policy)
        (result,) = scan(target, [ScanType(order.type)], network, Budget(time_limit_s=order.time_limit_s))
    return Outcome(
        result.status,
        result.error.code if result.error else "",
        result.error.message if result.error else "",
        tuple(check.reason for check in result.skipped_checks),
        time.monotonic() - started_at,
    )


def reset_peak_memory() -> None:
    """Reset the peak memory of this process (proc(5), clear_refs)."""
    Path("/proc/self/clear_refs").write_text("5")


def measure_peak_mib() -> int:
    """Return the peak memory of this process.

    A fork does not inherit the value (`VmHWM`).
    """
    match = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert match is not None
    return int(match[1]) // 1024


def main() -> None:
    import django

    django.setup()  # Workers also load Django, which needs memory.
    use_one_heap()  # Workers also use a single heap.
    for line in sys.stdin:
        reset_peak_memory()
        outcome = run(Order(**json.loads(line)))
        release_memory()  # Workers also release memory after a scan.
        sys.stdout.write(json.dumps(asdict(outcome) | {"peak_mib": measure_peak_mib()}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
