"""Benchmark a whole-site audit without a browser, while a client polls it.

The figures are processor time by process, memory of the worker, requests by purpose, and the work of PostgreSQL and
Redis per page. "All other work" is everything except the visits. A visit includes the scan engine, the thread that
renews the lease, the shared responses, and the processes that test large markup.
"""

from __future__ import annotations

import re
from collections import Counter

import psutil
import requests
from django.db import connection
from msgspec import Struct

from accounts.models import Tier
from benchmarks.service import Service
from benchmarks.sites import Templated, run_templated_site
from benchmarks.table import Table
from benchmarks.usage import cpu_s, memory_mib, process_tree
from infrastructure.redis_client import client as redis
from scans.visits.tallies import tallies, tally_ended_scans
from sites.models import Audit
from tests.factories import Member, member_of
from tests.operations.stack.processes import wait_until
from tests.targets.server import Certificate

# Pages in the full audit, the smallest audit, and the warm-up audit. During the warm-up, all processes import their
# modules.
PAGES, MIN_PAGES, WARM_UP_PAGES = 100, 48, 24
RESPONSE_DELAY_S = 0.1  # Delay of each response of the site in seconds.
# Kinds of requests, as regular expressions for paths. The first match applies.
KINDS = {
    "pages": r"/|/(product|article|guide)/\w+",
    "shared files": r"/(js|css|images)/\d+\.\w+",
    "source maps": r".*\.map",
    "files of one page": r"/photos/.*",
    "robots.txt and sitemaps": r"/robots\.txt|/sitemap.*",
    "links elsewhere": r"/(zoom|film|basket)(\?.*)?",
    "probes of the origin": r".*",
}
# Maximum requests per page: one for the visit or a link, two for the response time, and one with a foreign origin. A
# worker's processes share responses, but two of them may send the same request simultaneously.
MAX_REQUESTS_PER_PAGE, MAX_REQUESTS_OF_ONE_PAGE, MAX_REQUESTS_PER_FILE, MAX_ORIGIN_PROBES = 4.2, 7, 2.0, 130
PROGRAMS = ("web", "worker", "scheduler")
AUDIT_TIMEOUT_S, REQUEST_TIMEOUT_S = 600.0, 10.0
POLL_INTERVAL_S = 2.0  # Retry-After value in responses about an unfinished audit.
MAX_PAGE_CPU_MS, MAX_CPU_OVERHEAD, MAX_COMMITS_PER_PAGE = 350.0, 0.25, 20.0
MAX_GROWTH_MIB = 16.0  # Limit for the memory growth of each worker process.


class Figures(Struct, frozen=True):
    """Totals since the servers started: CPU seconds by process, and PostgreSQL's and Redis's work."""

    cpu_s: dict[str, float]
    visits_cpu_s: float
    commits: int
    tuples_read: int
    redis_commands: int

    @classmethod
    def current_totals(cls, service: Service, processes: list[psutil.Process]) -> Figures:
        tally_ended_scans()
        info = redis.info()
        programs = dict(zip(PROGRAMS, processes, strict=True)) | service.servers(info)
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT xact_commit, tup_returned + tup_fetched FROM pg_stat_database"
                " WHERE datname = current_database()"
            )
            commits, tuples = cursor.fetchone()
        return cls(
            {name: cpu_s(process) for name, process in programs.items()},
            sum(tallies().get("cpu_sum", {}).values()) / 1000,
            commits,
            tuples,
            info["total_commands_processed"],
        )

    def difference_since(self, before: Figures) -> Figures:
        return Figures(
            {name: seconds - before.cpu_s[name] for name, seconds in self.cpu_s.items()},
            self.visits_cpu_s - before.visits_cpu_s,
            self.commits - before.commits,
            self.tuples_read - before.tuples_read,
            self.redis_commands - before.redis_commands,
        )


def measure(table: Table, share: float, service: Service) -> None:
    pages = max(MIN_PAGES, round(PAGES * share))
    Tier.objects.update(pages_per_audit=pages, scans_per_month=1_000_000)
    owner = member_of("Owner", "business")
    with (
        run_templated_site(pages, Certificate.VALID, RESPONSE_DELAY_S) as site,
        service.running(*PROGRAMS, env={"SCAN_CA_BUNDLE": str(site.ca_file)}) as started,
    ):
        worker = started[PROGRAMS.index("worker")]
        _run_audit(service, owner, site, WARM_UP_PAGES)
        site.requests()
        memory_before_mib = memory_mib(worker)
        before = Figures.current_totals(service, started)
        audit = _run_audit(service, owner, site, pages)
        cost = Figures.current_totals(service, started).difference_since(before)
        memory_after_mib, memory_goal_mib = (
            memory_mib(worker),
            memory_before_mib + MAX_GROWTH_MIB * len(list(process_tree(worker))),
        )
        paths = site.requests()
    table.head(f"an audit of {pages} pages for all types", "pages", "findings")
    table.row("all", audit.pages_done, audit.findings.count(), least=(pages,))
    table.head("  memory of the worker", "MiB")
    table.row("before it", memory_before_mib)
    table.row("after it", memory_after_mib, most=(memory_goal_mib,))
    _print_requests(table, paths, pages)
    _print_cost(table, cost, audit)


def _run_audit(service: Service, owner: Member, site: Templated, pages: int) -> Audit:
    """Create an audit of the site, and poll the audit like an API client until it ends."""
    api = f"http://127.0.0.1:{service.port}/v1/audits"
    with requests.Session() as client:
        client.headers["Authorization"] = f"Bearer {owner.plaintext}"
        response = client.post(api, json={"site": f"{site.base}/", "max_pages": pages}, timeout=REQUEST_TIMEOUT_S)
        response.raise_for_status()
        audit_id = response.json()["id"]

        def is_final() -> bool:
            return client.get(f"{api}/{audit_id}", timeout=REQUEST_TIMEOUT_S).json()["completed_at"] is not None

        wait_until(is_final, AUDIT_TIMEOUT_S, POLL_INTERVAL_S)
    return Audit.objects.get(id=audit_id)


def _print_requests(table: Table, paths: Counter[str], pages: int) -> None:
    kind_by_path = {
        path: next(kind for kind, pattern in KINDS.items() if re.fullmatch(pattern, path)) for path in paths
    }
    kinds = Counter[str]()
    for path, count in paths.items():
        kinds[kind_by_path[path]] += count
    table.head("requests of an audit", "requests")
    table.row("all", paths.total())
    for kind, count in kinds.most_common():
        table.row(kind, count)
    files = list(kind_by_path.values()).count("shared files")
    table.head("  in proportion", "requests")
    table.row("for a page", kinds["pages"] / pages, most=(MAX_REQUESTS_PER_PAGE,))
    max_request_count = max(count for path, count in paths.items() if kind_by_path[path] == "pages")
    table.row("for the page with the most", max_request_count, most=(MAX_REQUESTS_OF_ONE_PAGE,))
    table.row("for a shared file", kinds["shared files"] / files, most=(MAX_REQUESTS_PER_FILE,))
    table.row("probes of the origin", kinds["probes of the origin"], most=(MAX_ORIGIN_PROBES,))


def _print_cost(table: Table, cost: Figures, audit: Audit) -> None:
    pages = audit.pages_done
    total_cpu_s = sum(cost.cpu_s.values())
    table.head("a page of an audit", "CPU ms")
    assert audit.started_at
    assert audit.completed_at
    table.row("all programs", total_cpu_s / pages * 1000, most=(MAX_PAGE_CPU_MS,))
    for name, seconds in cost.cpu_s.items():
        table.row(f"  {name}", seconds / pages * 1000)
    table.row("  of which visits", cost.visits_cpu_s / pages * 1000)
    table.head("  all other work", "ratio")
    table.row("to the visits", total_cpu_s / cost.visits_cpu_s - 1, most=(MAX_CPU_OVERHEAD,))
    table.head("  servers", "commits", "rows read", "Redis commands")
    table.row(
        "work for a page",
        cost.commits / pages,
        cost.tuples_read / pages,
        cost.redis_commands / pages,
        most=(MAX_COMMITS_PER_PAGE,),
    )
    table.head("  duration", "seconds")
    table.row("a page", (audit.completed_at - audit.started_at).total_seconds() / pages)
