"""Cost of the audit of a whole site by a running service, without a browser, with a client that polls.

Processor time by process, memory of the worker, requests by what they are for, and what a page costs PostgreSQL and
Redis. "All other work" is everything but the visits, which are the engine with the thread that renews the lease, the
shared answers, and the processes that try large markup.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import psutil
import requests
from django.db import connection

from accounts.models import Tier
from benchmarks.service import Service
from benchmarks.sites import Templated, templated
from benchmarks.table import Table
from benchmarks.usage import cpu_s, memory_mib, tree
from infrastructure.queue import _redis as redis
from scans.visits.tallies import add_up, tallies
from sites.models import Audit
from tests.factories import Member, member_of
from tests.operations.stack.processes import wait_until
from tests.targets.server import Certificate

# Pages, at least, and of a first audit in which each process imports its modules.
PAGES, LEAST, WARM_UP = 100, 48, 24
ANSWER_S = 0.1  # of the site
# Kinds of requests by their paths; the first match applies.
KINDS = {
    "pages": r"/|/(product|article|guide)/\w+",
    "shared files": r"/(js|css|images)/\d+\.\w+",
    "source maps": r".*\.map",
    "files of one page": r"/photos/.*",
    "robots.txt and sitemaps": r"/robots\.txt|/sitemap.*",
    "links elsewhere": r"/(zoom|film|basket)(\?.*)?",
    "probes of the origin": r".*",
}
# Requests for a page: one to read it, in its own visit or by a link to it; two to time it, and one as a foreign origin.
# The processes of a worker share what they have read, but two may ask at the same moment.
PER_PAGE, MOST_OF_PAGE, PER_FILE, OF_ORIGIN = 4.2, 7, 2.0, 130
PROGRAMS = ("web", "worker", "scheduler")
PATIENCE_S, REQUEST_S = 600.0, 10.0
POLL_S = 2.0  # the `Retry-After` of an unfinished audit
PAGE_CPU_MS, OVERHEAD, COMMITS = 350.0, 0.25, 20.0
GROWTH_MIB = 16.0  # of each process of the worker


@dataclass(frozen=True)
class Figures:
    """Counts since the servers' start: processor seconds by process, and work of PostgreSQL and Redis."""

    cpu_s: dict[str, float]
    visits_cpu_s: float
    commits: int
    tuples_read: int
    redis_commands: int

    @classmethod
    def now(cls, service: Service, started: list[psutil.Process]) -> Figures:
        add_up()
        postmaster = int((service.folder / "postgres" / "postmaster.pid").read_text().split()[0])
        info = redis.info()
        servers = {"PostgreSQL": psutil.Process(postmaster), "Redis": psutil.Process(info["process_id"])}
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT xact_commit, tup_returned + tup_fetched FROM pg_stat_database"
                " WHERE datname = current_database()"
            )
            commits, tuples = cursor.fetchone()
        return cls(
            {name: cpu_s(each) for name, each in (dict(zip(PROGRAMS, started, strict=True)) | servers).items()},
            sum(tallies().get("cpu_sum", {}).values()) / 1000,
            commits,
            tuples,
            info["total_commands_processed"],
        )

    def since(self, before: Figures) -> Figures:
        return Figures(
            {name: seconds - before.cpu_s[name] for name, seconds in self.cpu_s.items()},
            self.visits_cpu_s - before.visits_cpu_s,
            self.commits - before.commits,
            self.tuples_read - before.tuples_read,
            self.redis_commands - before.redis_commands,
        )


def measure(table: Table, share: float, service: Service) -> None:
    pages = max(LEAST, round(PAGES * share))
    Tier.objects.update(pages_per_audit=pages, scans_per_month=1_000_000)
    owner = member_of("Owner", "business")
    with (
        templated(pages, Certificate.VALID, ANSWER_S) as site,
        service.running(*PROGRAMS, env={"SCAN_CA_BUNDLE": str(site.ca_file)}) as started,
    ):
        worker = started[PROGRAMS.index("worker")]
        _audit(service, owner, site, WARM_UP)
        site.requests()
        before_mib = memory_mib(worker)
        before = Figures.now(service, started)
        audit = _audit(service, owner, site, pages)
        spent = Figures.now(service, started).since(before)
        after_mib, most_mib = memory_mib(worker), before_mib + GROWTH_MIB * len(list(tree(worker)))
        paths = site.requests()
    table.head(f"an audit of {pages} pages for all types", "")
    table.row("pages", audit.pages_done, least=(pages,))
    table.row("findings", audit.findings.count())
    table.row("MiB of the worker before it", before_mib)
    table.row("MiB of the worker after it", after_mib, most=(most_mib,))
    _print_requests(table, paths, pages)
    _print_cost(table, spent, audit)


def _audit(service: Service, owner: Member, site: Templated, pages: int) -> Audit:
    """Create an audit of the site, and poll it like a client until it has ended."""
    api = f"http://127.0.0.1:{service.port}/v1/audits"
    with requests.Session() as client:
        client.headers["Authorization"] = f"Bearer {owner.plaintext}"
        created = client.post(api, json={"site": f"{site.base}/", "max_pages": pages}, timeout=REQUEST_S)
        created.raise_for_status()
        audit_id = created.json()["id"]

        def is_final() -> bool:
            return client.get(f"{api}/{audit_id}", timeout=REQUEST_S).json()["completed_at"] is not None

        wait_until(is_final, PATIENCE_S, POLL_S)
    return Audit.objects.get(id=audit_id)


def _print_requests(table: Table, paths: Counter[str], pages: int) -> None:
    kind_of = {path: next(kind for kind, pattern in KINDS.items() if re.fullmatch(pattern, path)) for path in paths}
    kinds = Counter[str]()
    for path, count in paths.items():
        kinds[kind_of[path]] += count
    table.head("requests", "in all")
    table.row("all", paths.total())
    for kind, count in kinds.most_common():
        table.row(kind, count)
    files = list(kind_of.values()).count("shared files")
    table.head("goals", "")
    table.row("requests for a page", kinds["pages"] / pages, most=(PER_PAGE,))
    most = max(count for path, count in paths.items() if kind_of[path] == "pages")
    table.row("requests for the page with the most", most, most=(MOST_OF_PAGE,))
    table.row("requests for a shared file", kinds["shared files"] / files, most=(PER_FILE,))
    table.row("probes of the origin", kinds["probes of the origin"], most=(OF_ORIGIN,))


def _print_cost(table: Table, spent: Figures, audit: Audit) -> None:
    pages = audit.pages_done
    everything = sum(spent.cpu_s.values())
    table.head(f"an audit of {pages} pages, {len(PROGRAMS)} programs", "a page")
    assert audit.started_at
    assert audit.completed_at
    table.row("seconds", (audit.completed_at - audit.started_at).total_seconds() / pages)
    table.row("processor, ms", everything / pages * 1000, most=(PAGE_CPU_MS,))
    for name, seconds in spent.cpu_s.items():
        table.row(f"  {name}", seconds / pages * 1000)
    table.row("  of which visits", spent.visits_cpu_s / pages * 1000)
    table.row("all other work, part of the visits", everything / spent.visits_cpu_s - 1, most=(OVERHEAD,))
    table.row("commits", spent.commits / pages, most=(COMMITS,))
    table.row("rows that PostgreSQL has read", spent.tuples_read / pages)
    table.row("commands of Redis", spent.redis_commands / pages)
