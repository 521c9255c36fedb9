"""Cost of one visit for all types, compared with separate scans: processor time and requests to the site.

The site runs in a separate process, which does not count.
"""

from __future__ import annotations

import functools
import multiprocessing
import operator
import time
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.browser import POLICY, TIME_LIMIT_S, cpu_s
from scanner.browser.visit import Browser
from scanner.browser.warm import WarmBrowser
from scanner.catalogue import Probe
from scanner.findings import ScanType
from scanner.kept_evidence import Kept
from scanner.memory import give_back, use_one_heap
from scanner.net.browser import find_browser
from scanner.net.client import Network
from scanner.net.http.answers import Answers
from scanner.net.policy import Policy
from scanner.net.targets import parse_target
from scanner.result import Budget
from scanner.run import scan
from tests.targets.server import Certificate
from tests.targets.templated import page_paths, templated_site

ROUNDS = 5
PAGES = 30
PATH = page_paths(PAGES)[7]
ALL = tuple(ScanType)
OF_DEAREST, OF_SEPARATE, OF_DISTINCT, OF_WIDEST_LATER = 1.35, 0.5, 1.05, 1.2


@dataclass(frozen=True)
class Cost:
    """Cost of one visit: processor seconds, seconds, and the requests that the site received."""

    cpu_s: float
    seconds: float
    requests: Counter[str]


class Evidence:
    """In-memory substitute for `scans.visits.origin_evidence`, which keeps evidence of the origin in Redis."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Kept] = {}

    def find(self, origin: str, probe: Probe) -> Kept | None:
        return self._kept.get((origin, probe.name))

    def keep(self, origin: str, probe: Probe, evidence: object) -> None:
        self._kept[origin, probe.name] = Kept(evidence, datetime.now(UTC))


class Bench:
    """Site in its process, and visits of it."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self.base, ca_file = pipe.recv()
        self.policy: Policy = replace(POLICY, ca_bundle=Path(ca_file))

    def cost(self, types: tuple[ScanType, ...], browser: Browser | None) -> Cost:
        """Return the minimum cost of some visits after a warm-up: other work of the machine can only add to it."""
        return self._least([self._visit(types, browser) for _ in range(ROUNDS + 1)])

    def cost_in_audit(self, browser: Browser | None) -> Cost:
        """Return the minimum cost for pages of an audit, after its first, in one process."""
        answers, shared = Answers(), Evidence()
        paths = page_paths(PAGES)[7 : 8 + ROUNDS]
        return self._least([self._visit(ALL, browser, path, answers, shared) for path in paths])

    def _least(self, costs: list[Cost]) -> Cost:
        costs = costs[1:]
        return Cost(
            min(each.cpu_s for each in costs),
            min(each.seconds for each in costs),
            costs[-1].requests,
        )

    def _visit(
        self,
        types: tuple[ScanType, ...],
        browser: Browser | None,
        path: str = PATH,
        answers: Answers | None = None,
        shared: Evidence | None = None,
    ) -> Cost:
        began, before_s = time.monotonic(), cpu_s()
        with Network(self.policy, time_limit_s=TIME_LIMIT_S, answers=answers) as network:
            target = parse_target(f"{self.base}{path}", self.policy)
            for each in scan(target, types, network, Budget(TIME_LIMIT_S), browser=browser, shared=shared):
                assert each.status == "completed", (each.type, each.error, each.skipped_checks)
        give_back()
        cost = cpu_s() - before_s, time.monotonic() - began
        self._pipe.send("requests")
        return Cost(*cost, self._pipe.recv())


def main() -> int:
    """Print the table; return 1 if a goal was missed."""
    use_one_heap()  # like workers
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    site = context.Process(target=_serve, args=(theirs,), daemon=True)
    site.start()
    bench = Bench(ours)
    missed = _compare("without a browser", bench, None)
    with WarmBrowser(program) as browser:
        missed |= _compare("with a browser", bench, browser)
    ours.send("end")
    site.join()
    return int(missed)


def _compare(title: str, bench: Bench, browser: Browser | None) -> bool:
    print(f"{title:32}{'CPU-s':>8}{'s':>8}{'requests':>10}")
    alone = {each: bench.cost((each,), browser) for each in ALL}
    for each, cost in alone.items():
        _tell(f"  {each} alone", cost)
    together = bench.cost(ALL, browser)
    separate = sum(each.cpu_s for each in alone.values())
    widest = max(each.requests.total() for each in alone.values())
    distinct = functools.reduce(operator.or_, (each.requests for each in alone.values())).total()
    _tell("  all types in one visit", together)
    later = bench.cost_in_audit(browser)
    _tell("  the same, later in an audit", later)
    print(
        f"  {'four separate scans':30}{separate:8.2f}{'':8}{sum(each.requests.total() for each in alone.values()):10}"
    )
    ratios = (
        ("of the dearest type alone", together.cpu_s / max(each.cpu_s for each in alone.values()), OF_DEAREST),
        ("of four separate scans", together.cpu_s / separate, OF_SEPARATE),
        ("of the types' distinct requests", together.requests.total() / distinct, OF_DISTINCT),
        ("later: requests of the widest's", later.requests.total() / widest, OF_WIDEST_LATER),
    )
    for name, ratio, goal in ratios:
        print(f"  {name:30}{ratio:8.2f}  goal {goal:g}: {'met' if ratio <= goal else 'MISSED'}", flush=True)
    repeated = Counter({name: count for name, count in together.requests.items() if count > 1})
    print(f"  asked for more than once: {', '.join(f'{name} {count}x' for name, count in repeated.most_common(20))}")
    return any(ratio > goal for _, ratio, goal in ratios)


def _tell(name: str, cost: Cost) -> None:
    print(f"{name:32}{cost.cpu_s:8.2f}{cost.seconds:8.2f}{cost.requests.total():10}", flush=True)


def _serve(pipe: Connection) -> None:
    with templated_site(PAGES, certificate=Certificate.VALID) as site:
        pipe.send((site.url_as("localhost"), str(site.ca_file)))
        while pipe.recv() == "requests":
            pipe.send(Counter(f"{each.method} {each.path}" for each in site.requests))
            site.requests.clear()
