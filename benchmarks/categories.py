"""Benchmark what a security scan of chosen categories costs.

Typical sites run on loopback, with their name servers. The processor time is that of the scan without the servers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from unittest import mock

from msgspec import Struct
from msgspec.structs import astuple

from benchmarks.table import Table
from tests.targets.typical import SITES, TypicalSite
from tests.website_scan.security.typical_scan import TypicalWorld, running_typical_site
from website_scan.catalogue import Probe
from website_scan.plan import run_probe
from website_scan.security_categories import Categories, SecurityCategory

MAX_SCANS = 20
CHOICES: tuple[Categories | None, ...] = (
    (SecurityCategory.MAIL,),
    (SecurityCategory.MAIL, SecurityCategory.NAMES),
    (SecurityCategory.TRANSPORT,),
    (SecurityCategory.HEADERS,),
    (SecurityCategory.TRANSPORT, SecurityCategory.HEADERS, SecurityCategory.MAIL, SecurityCategory.NAMES),
    None,
)


class Cost(Struct, frozen=True):
    """Cost of a scan: milliseconds of processor time, requests, connections, DNS queries and received kilobytes."""

    cpu_ms: float
    requests: float
    connections: float
    dns_queries: float
    received_kb: float


def measure(table: Table, share: float) -> None:
    columns = ("CPU ms", "requests", "connections", "DNS queries", "received kB")
    rounds = max(1, round(MAX_SCANS * share))
    costs: dict[Categories | None, list[Cost]] = {categories: [] for categories in CHOICES}
    for site in SITES:
        for categories, cost in _costs_of_site(site, rounds):
            costs[categories].append(cost)
    table.head(f"a scan of one of {len(SITES)} typical sites, mean", *columns)
    for categories, measured in costs.items():
        table.row(", ".join(categories or ["whole security"]), *_mean(measured))


def _costs_of_site(site: TypicalSite, rounds: int) -> Iterator[tuple[Categories | None, Cost]]:
    """Yield the cost of a warm scan of each choice, the mean of all rounds. The choices take turns."""
    costs: dict[Categories | None, list[Cost]] = {categories: [] for categories in CHOICES}
    with running_typical_site(site) as world:
        for categories in CHOICES:
            _scan(world, categories)
        for _ in range(rounds):
            for categories in CHOICES:
                costs[categories].append(_scan(world, categories))
    for categories, measured in costs.items():
        yield categories, Cost(*_mean(measured))


def _scan(world: TypicalWorld, categories: Categories | None) -> Cost:
    with world.open_network() as network, _measured_probes() as probe_times_s:
        start_s, dialed = time.thread_time(), len(world.dialed)
        result = world.scan(network, categories)
        cpu_ms = 1000 * (time.thread_time() - start_s + sum(probe_times_s))
        # Sites of a hosting service have no domain of their own, so no check of mail applies to them.
        assert result.error is None or result.error.code == "NO_CHECK_RAN", result.error
        connections = len(world.dialed) - dialed
        return Cost(cpu_ms, network.requests, connections, network.dns_queries, network.received_bytes / 1000)


@contextmanager
def _measured_probes() -> Iterator[list[float]]:
    """Yield a list that receives the processor time of each probe, in seconds.

    Probes run in threads of their own. The time of the whole process would contain that of the servers.
    """
    times_s: list[float] = []

    def run_measured(probe: Probe, values: Mapping[str, object], seconds: float) -> object:
        start_s = time.thread_time()
        try:
            return run_probe(probe, values, seconds)
        finally:
            times_s.append(time.thread_time() - start_s)

    with mock.patch("website_scan.gathering.run_probe", run_measured):
        yield times_s


def _mean(costs: list[Cost]) -> Iterator[float]:
    for figures in zip(*map(astuple, costs), strict=True):
        yield sum(figures) / len(figures)
