"""Benchmark visits for one or all scan types, with and without a browser.

Measures CPU time, memory and requests.
"""

from __future__ import annotations

import functools
import operator
import time
from collections import Counter
from datetime import UTC, datetime

import psutil
from msgspec import Struct

from benchmarks.sites import Templated, run_templated_site
from benchmarks.table import Table
from benchmarks.usage import cpu_s, peak_mib
from tests.targets.server import Certificate
from tests.targets.templated import page_paths
from tests.website_scan.net.loopback import NETWORKS
from website_scan.browser.visit import Browser
from website_scan.browser.warm import WarmBrowser
from website_scan.catalogue import Probe
from website_scan.evidence_cache import Kept
from website_scan.findings import ScanType
from website_scan.memory import release_memory, use_one_heap
from website_scan.net.browser import find_browser
from website_scan.net.client import Network
from website_scan.net.http.answers import Answers
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target
from website_scan.result import Budget
from website_scan.run import scan

ROUNDS = 5
PAGES = 30
ALL_SCAN_TYPES = tuple(ScanType)
TIME_LIMIT_S = 60.0
MAX_STATIC_MEMORY_MIB, MAX_BROWSER_MEMORY_MIB = 200.0, 600.0
# Maximum ratios. The first compares a visit for all types with one visit per type, counting distinct requests. The
# second compares a later page of an audit with a visit for the most expensive type.
MAX_RATIO_TO_DISTINCT_REQUESTS, MAX_RATIO_TO_LARGEST_TYPE = 1.05, 1.2


class Evidence:
    """Substitute for `scans.visits.origin_evidence` that caches origin evidence in memory instead of Redis."""

    def __init__(self) -> None:
        self._evidence: dict[tuple[str, str], Kept] = {}

    def find(self, origin: str, probe: Probe) -> Kept | None:
        return self._evidence.get((origin, probe.name))

    def keep(self, origin: str, probe: Probe, evidence: object) -> None:
        self._evidence[origin, probe.name] = Kept(evidence, datetime.now(UTC))


class Cost(Struct, frozen=True):
    """A visit's cost: CPU seconds, elapsed seconds, and requests to the site by path."""

    cpu_s: float
    seconds: float
    requests: Counter[str]

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.cpu_s + other.cpu_s, self.seconds + other.seconds, self.requests + other.requests)


class Visits(Struct, frozen=True):
    """Visit a site repeatedly, with or without a browser."""

    site: Templated
    browser: Browser | None
    rounds: int

    def cost(self, types: tuple[ScanType, ...], *, is_audit: bool = False) -> Cost:
        """Return the lowest cost of several visits.

        Other load on the machine can only increase a cost.

        The first visit does not count. All visits are of the same page; with `is_audit`, they are of different pages
        and share responses and evidence like the visits of an audit.
        """
        response_cache, evidence = (Answers(), Evidence()) if is_audit else (None, None)
        policy = Policy(allowed_networks=NETWORKS, ca_bundle=self.site.ca_file)
        paths = page_paths(PAGES)[7:]
        costs = []
        for number in range(self.rounds + 1):
            start_cpu_s, start = cpu_s(psutil.Process()), time.monotonic()
            target = parse_target(f"{self.site.base}{paths[number if is_audit else 0]}", policy)
            with Network(policy, time_limit_s=TIME_LIMIT_S, answers=response_cache) as network:
                results = scan(target, types, network, Budget(TIME_LIMIT_S), browser=self.browser, shared=evidence)
            for result in results:
                assert result.score is not None, (result.type, result.error)
            release_memory()
            seconds = time.monotonic() - start
            costs.append(Cost(cpu_s(psutil.Process()) - start_cpu_s, seconds, self.site.requests()))
        later = costs[1:]
        min_cpu_s, min_elapsed_s = min(cost.cpu_s for cost in later), min(cost.seconds for cost in later)
        return Cost(min_cpu_s, min_elapsed_s, later[-1].requests)


def measure(table: Table, share: float) -> None:
    use_one_heap()  # Workers use a single malloc heap as well.
    rounds = max(1, round(ROUNDS * share))
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with run_templated_site(PAGES, Certificate.VALID) as site:
        _measure_visits(table, "a visit without a browser", Visits(site, None, rounds), MAX_STATIC_MEMORY_MIB)
        with WarmBrowser(program, ca_bundle=site.ca_file) as browser:
            _measure_visits(table, "a visit with a browser", Visits(site, browser, rounds), MAX_BROWSER_MEMORY_MIB)


def _measure_visits(table: Table, title: str, visits: Visits, goal_mib: float) -> None:
    alone = {scan_type: visits.cost((scan_type,)) for scan_type in ALL_SCAN_TYPES}
    separate = functools.reduce(operator.add, alone.values())
    together, later = visits.cost(ALL_SCAN_TYPES), visits.cost(ALL_SCAN_TYPES, is_audit=True)
    rows = {f"{name} alone": cost for name, cost in alone.items()}
    rows |= {"four separate scans": separate}
    rows |= {"all types": together, "all types, a later page of an audit": later}
    table.head(title, "CPU-s", "seconds", "requests")
    for name, cost in rows.items():
        table.row(name, cost.cpu_s, cost.seconds, cost.requests.total())
    table.head("  beside four separate scans", "CPU ratio", "time ratio", "request ratio")
    for name, cost in (("  all types", together), ("  a later page", later)):
        request_ratio = cost.requests.total() / separate.requests.total()
        table.row(name, cost.cpu_s / separate.cpu_s, cost.seconds / separate.seconds, request_ratio)
    distinct = functools.reduce(operator.or_, (cost.requests for cost in alone.values())).total()
    widest = max(cost.requests.total() for cost in alone.values())
    table.head("  requests, beside", "request ratio")
    table.row(
        "  all types, the types' distinct ones",
        together.requests.total() / distinct,
        most=(MAX_RATIO_TO_DISTINCT_REQUESTS,),
    )
    table.row("  a later page, the widest type's", later.requests.total() / widest, most=(MAX_RATIO_TO_LARGEST_TYPE,))
    table.head("  memory of all processes", "MiB")
    table.row("  all types", peak_mib(lambda: visits.cost(ALL_SCAN_TYPES)), most=(goal_mib,))
