"""Cost of scans without and with a browser: time beside the shortest possible one, processor, memory, requests."""

from __future__ import annotations

import concurrent.futures
import functools
import operator
import socket
import ssl
import statistics
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import psutil

from benchmarks.sites import Templated, slow, templated
from benchmarks.table import Table
from benchmarks.usage import cpu_s, peak_mib
from tests.targets.sample import PAGE
from tests.targets.server import Certificate
from tests.targets.templated import page_paths
from tests.website_scan.net.loopback import NETWORKS
from website_scan.browser.visit import Browser
from website_scan.browser.warm import WarmBrowser
from website_scan.catalogue import Probe
from website_scan.findings import ScanType
from website_scan.kept_evidence import Kept
from website_scan.memory import give_back, use_one_heap
from website_scan.net.browser import find_browser
from website_scan.net.client import Network
from website_scan.net.http.answers import Answers
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target
from website_scan.result import Budget
from website_scan.run import scan

ROUNDS = 5
LATENCY_S, LINKS, PROBES = 0.1, 25, 8
GOALS_S = {ScanType.SECURITY: 2.5, ScanType.SEO: 2.0}
PAGES = 30
ALL = tuple(ScanType)
TIME_LIMIT_S = 60.0
STATIC_MIB, BROWSER_MIB = 200.0, 600.0
# Requests of a visit for all types beside the distinct ones of its types, and those of a later page of an audit beside
# those of the type that asks for most.
OF_DISTINCT, OF_WIDEST = 1.05, 1.2


class Evidence:
    """In-memory substitute for `scans.visits.origin_evidence`, which keeps evidence of the origin in Redis."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Kept] = {}

    def find(self, origin: str, probe: Probe) -> Kept | None:
        return self._kept.get((origin, probe.name))

    def keep(self, origin: str, probe: Probe, evidence: object) -> None:
        self._kept[origin, probe.name] = Kept(evidence, datetime.now(UTC))


@dataclass(frozen=True)
class Cost:
    """Cost of a visit: processor seconds, seconds, and the paths that the site was asked for."""

    cpu_s: float
    seconds: float
    requests: Counter[str]

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.cpu_s + other.cpu_s, self.seconds + other.seconds, self.requests + other.requests)


@dataclass(frozen=True)
class Visits:
    """Visits of a site, with a browser or without."""

    site: Templated
    browser: Browser | None
    rounds: int

    def cost(self, types: tuple[ScanType, ...], *, is_audit: bool = False) -> Cost:
        """Return the least cost of some visits after the first: other work of the machine can only add to it.

        They are of one page, or for an audit of one page after the other.
        """
        answers, shared = (Answers(), Evidence()) if is_audit else (None, None)
        policy = Policy(allowed_networks=NETWORKS, ca_bundle=self.site.ca_file)
        paths = page_paths(PAGES)[7:]
        costs = []
        for number in range(self.rounds + 1):
            before, began = cpu_s(psutil.Process()), time.monotonic()
            url = f"{self.site.base}{paths[number if is_audit else 0]}"
            _scan(url, policy, types, self.browser, answers, shared)
            seconds = time.monotonic() - began
            costs.append(Cost(cpu_s(psutil.Process()) - before, seconds, self.site.requests()))
        later = costs[1:]
        return Cost(min(each.cpu_s for each in later), min(each.seconds for each in later), later[-1].requests)


def measure(table: Table, share: float) -> None:
    use_one_heap()  # like workers
    rounds = max(1, round(ROUNDS * share))
    _beside_the_floor(table, rounds)
    with templated(PAGES, Certificate.VALID) as site:
        _visits(table, "a visit without a browser", Visits(site, None, rounds), STATIC_MIB)
        if program := find_browser("auto"):
            with WarmBrowser(program, ca_bundle=site.ca_file) as browser:
                _visits(table, "a visit with a browser", Visits(site, browser, rounds), BROWSER_MIB)
        else:
            print("No browser is installed; `make browser` installs one.")


def _beside_the_floor(table: Table, rounds: int) -> None:
    """Compare scans of a slow site with a lower bound: the chain of requests that no scanner can shorten."""
    links = "".join(f"<p><a href=/link/{number}>The page with number {number}</a>" for number in range(LINKS))
    table.head(f"each answer after {LATENCY_S * 1000:.0f} ms", "seconds", "floor", "ratio")
    page = PAGE.replace("</body>", f"{links}</body>")
    with slow(LATENCY_S, page, LATENCY_S, Certificate.VALID) as (url, ca_file):
        policy = Policy(allowed_networks=NETWORKS, ca_bundle=ca_file)
        for scan_type, goal_s in GOALS_S.items():
            seconds = _median_s(rounds, partial(_scan, url, policy, (scan_type,)))
            floor_s = _median_s(rounds, lambda: _floor(url, ca_file))
            table.row(scan_type, seconds, floor_s, seconds / floor_s, most=(goal_s,))


def _median_s(rounds: int, work: Callable[[], object]) -> float:
    """Return the median seconds of some rounds after a first one that warms up."""
    times = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times[1:])


def _floor(url: str, ca_file: Path | None) -> None:
    """Connection, TLS and page; then the probes at once, each on a connection of its own."""
    host, _, port = url.removeprefix("https://").rstrip("/").rpartition(":")

    def ask(_: object = None) -> None:
        context = ssl.create_default_context(cafile=ca_file)
        with context.wrap_socket(socket.create_connection((host, int(port))), server_hostname=host) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")

    ask()
    with concurrent.futures.ThreadPoolExecutor(PROBES) as pool:
        list(pool.map(ask, range(PROBES)))


def _visits(table: Table, title: str, visits: Visits, goal_mib: float) -> None:
    alone = {each: visits.cost((each,)) for each in ALL}
    separate = functools.reduce(operator.add, alone.values())
    together, later = visits.cost(ALL), visits.cost(ALL, is_audit=True)
    rows = {f"{name} alone": cost for name, cost in alone.items()}
    rows |= {"four separate scans": separate}
    rows |= {"all types": together, "all types, a later page of an audit": later}
    table.head(title, "CPU-s", "seconds", "requests")
    for name, cost in rows.items():
        table.row(name, cost.cpu_s, cost.seconds, cost.requests.total())
    table.head("  beside four separate scans", "CPU-s", "seconds", "requests")
    for name, cost in (("  all types", together), ("  a later page", later)):
        of_requests = cost.requests.total() / separate.requests.total()
        table.row(name, cost.cpu_s / separate.cpu_s, cost.seconds / separate.seconds, of_requests)
    distinct = functools.reduce(operator.or_, (each.requests for each in alone.values())).total()
    widest = max(each.requests.total() for each in alone.values())
    table.head("  requests, beside", "ratio")
    table.row("  all types, the types' distinct ones", together.requests.total() / distinct, most=(OF_DISTINCT,))
    table.row("  a later page, the widest type's", later.requests.total() / widest, most=(OF_WIDEST,))
    table.head("  memory of all processes", "MiB")
    table.row("  all types", peak_mib(lambda: visits.cost(ALL)), most=(goal_mib,))


def _scan(
    url: str,
    policy: Policy,
    types: tuple[ScanType, ...],
    browser: Browser | None = None,
    answers: Answers | None = None,
    shared: Evidence | None = None,
) -> None:
    with Network(policy, time_limit_s=TIME_LIMIT_S, answers=answers) as network:
        target = parse_target(url, policy)
        for each in scan(target, types, network, Budget(TIME_LIMIT_S), browser=browser, shared=shared):
            assert each.score is not None, (each.type, each.error)
    give_back()
