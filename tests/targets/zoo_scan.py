"""A scan of an animal as the worker runs it. As a program, it runs many in one process and measures its memory.

`python -m tests.targets.zoo_scan` reads lines of JSON (`url`, `type`, `ca_file`, `time_limit_s`) and answers each
with one line: the result's `status`, `code`, `message`, `reasons`, the `seconds` it took, and `peak_mib`, the
peak memory of the process during that scan.
"""

from __future__ import annotations

import json
import re
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.website_scan.net.loopback import NETWORKS
from website_scan.findings import ScanType
from website_scan.memory import release_memory, use_one_heap
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target
from website_scan.result import Budget
from website_scan.run import scan


@dataclass(frozen=True)
class Order:
    """A scan to run."""

    url: str
    type: str
    ca_file: str | None
    time_limit_s: float


@dataclass(frozen=True)
class Outcome:
    """The result of a scan."""

    status: str
    code: str
    message: str
    reasons: tuple[str, ...]
    seconds: float
    peak_mib: int = 0


def run(order: Order) -> Outcome:
    """Scan within the order's time limit for network and engine together (`scans.tasks` does the same)."""
    began = time.monotonic()
    policy = Policy(allowed_networks=NETWORKS, ca_bundle=Path(order.ca_file) if order.ca_file else None)
    with Network(policy, time_limit_s=order.time_limit_s) as network:
        target = parse_target(order.url, policy)
        (result,) = scan(target, [ScanType(order.type)], network, Budget(time_limit_s=order.time_limit_s))
    return Outcome(
        result.status,
        result.error.code if result.error else "",
        result.error.message if result.error else "",
        tuple(each.reason for each in result.skipped_checks),
        time.monotonic() - began,
    )


def forget_peak() -> None:
    """Reset the peak memory (proc(5), clear_refs)."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_mib() -> int:
    """Return the peak memory of this process (`VmHWM`, which a fork does not inherit)."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) // 1024


def main() -> None:
    import django

    django.setup()  # a worker has it in memory, too
    use_one_heap()  # as a worker does
    for line in sys.stdin:
        forget_peak()
        outcome = run(Order(**json.loads(line)))
        release_memory()  # as the task does
        sys.stdout.write(json.dumps(asdict(outcome) | {"peak_mib": peak_mib()}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
