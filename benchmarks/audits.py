"""Cost of the audit of a whole site, without a browser: in one process for the site, and for a running service.

In this process, as in one process of a worker: requests by what they are for, and memory. With web, worker and
scheduler: processor time by process, and what a page costs PostgreSQL and Redis. "All other work" is everything but the
visits, which are the engine with the thread that renews the lease, the shared answers, and the processes that try large
markup."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

from benchmarks.load import body_of, request_of
from benchmarks.service import Service, installed
from benchmarks.sites import Templated, templated
from benchmarks.table import Table
from benchmarks.usage import MIB, cpu_s
from tests.operations.stack.processes import wait_until
from tests.targets.server import Certificate
from website_scan.memory import give_back, use_one_heap

if TYPE_CHECKING:
    from sites.models import Audit
    from tests.world import Member

PAGES = 200
SETTLED = 20  # pages, after which memory should not grow
GROWTH_MIB = 16.0
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
PER_PAGE, PER_FILE, OF_ORIGIN = 4.05, 2.0, 130
# The audit of a running service.
SERVED, WARMED = 100, 48
ANSWER_S = 0.1  # of the site
PROGRAMS = ("web", "worker", "scheduler")
PATIENCE_S = 600.0
POLL_S = 2.0  # the `Retry-After` of an unfinished audit
PAGE_CPU_MS, OVERHEAD, COMMITS = 350.0, 0.25, 20.0
MOST_OF_PAGE = 7  # four, and its probes: two to time it, and one as a foreign origin


def measure(table: Table, share: float) -> None:
    use_one_heap()  # like workers
    served = max(WARMED, round(SERVED * share))
    with (
        templated(served, Certificate.VALID, ANSWER_S) as site,
        installed(SCAN_BROWSER="off", SCAN_CA_BUNDLE=str(site.ca_file)) as service,
    ):
        _in_this_process(table, max(2 * SETTLED, round(PAGES * share)))
        _served(table, service, site, served)


def _in_this_process(table: Table, pages: int) -> None:
    from tests.sites.audits.cast import work_off

    with templated(pages) as site:
        audit_id = _order(_member("One process", pages), site, pages)
        held: dict[int, float] = {}

        def after_visit(visits: int) -> None:
            if visits % SETTLED == 0:
                give_back()
                held[visits] = psutil.Process().memory_info().rss / MIB

        began = time.monotonic()
        audit = work_off(audit_id, after_visit)
        table.head(f"an audit of {pages} pages for all types", "")
        table.row("seconds", time.monotonic() - began)
        table.row("pages", audit.pages_done, least=(pages,))
        table.row(f"MiB after {SETTLED} pages", held[SETTLED])
        table.row("MiB at most", max(held.values()), most=(held[SETTLED] + GROWTH_MIB,))
        table.row("findings", audit.findings.count())
        _requests(table, site.requests(), pages, PER_PAGE)


def _member(name: str, pages: int) -> Member:
    from accounts.models import Tier
    from tests.world import member_of

    Tier.objects.update(pages_per_audit=pages, scans_per_month=1_000_000)
    return member_of(name, "business")


def _order(owner: Member, site: Templated, pages: int) -> str:
    """Create an audit of the site and return its ID."""
    body = {"site": f"{site.base}/", "max_pages": pages}
    return str(owner.api.post("/v1/audits", body).json()["id"])


def _requests(table: Table, asked: Counter[str], pages: int, per_page: float) -> None:
    kinds, files = Counter[str](), 0
    for path, count in asked.items():
        kind = next(kind for kind, pattern in KINDS.items() if re.fullmatch(pattern, path))
        kinds[kind] += count
        files += kind == "shared files"
    table.head("requests", "in all")
    table.row("all", asked.total())
    for kind, count in kinds.most_common():
        table.row(kind, count)
    table.head("goals", "")
    table.row("requests for a page", kinds["pages"] / pages, most=(per_page,))
    table.row("requests for a shared file", kinds["shared files"] / files, most=(PER_FILE,))
    table.row("probes of the origin", kinds["probes of the origin"], most=(OF_ORIGIN,))


def _served(table: Table, service: Service, site: Templated, pages: int) -> None:
    """Measure audits of a running service with a client that polls as often as `Retry-After` tells it to."""
    with service.running(*PROGRAMS) as started:
        owner = _member("Served", pages)
        _work_off(service, owner, _order(owner, site, WARMED))  # each process imports its modules
        site.requests()
        before = Figures.now(service, started)
        audit = _work_off(service, owner, _order(owner, site, pages))
        spent = Figures.now(service, started).since(before)
        asked = site.requests()
    _print_cost(table, spent, audit)
    _requests(table, asked, pages, MOST_OF_PAGE)
    of_pages = [count for path, count in asked.items() if re.fullmatch(KINDS["pages"], path)]
    table.row("requests for the page with the most", max(of_pages), most=(MOST_OF_PAGE,))


@dataclass(frozen=True)
class Figures:
    """Counts since the servers' start: processor seconds by process, and work of PostgreSQL and Redis."""

    cpu_s: dict[str, float]
    visits_cpu_s: float
    commits: int
    tuples_read: int
    redis_commands: int

    @classmethod
    def now(cls, service: Service, started: Sequence[psutil.Process]) -> Figures:
        from django.db import connection

        from infrastructure.queue import _redis as redis
        from scans.visits.tallies import add_up, tallies

        add_up()
        postmaster = int((service.folder / "postgres" / "postmaster.pid").read_text().split()[0])
        told = redis.info()
        servers = {"PostgreSQL": psutil.Process(postmaster), "Redis": psutil.Process(told["process_id"])}
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
            told["total_commands_processed"],
        )

    def since(self, before: Figures) -> Figures:
        return Figures(
            {name: seconds - before.cpu_s[name] for name, seconds in self.cpu_s.items()},
            self.visits_cpu_s - before.visits_cpu_s,
            self.commits - before.commits,
            self.tuples_read - before.tuples_read,
            self.redis_commands - before.redis_commands,
        )


def _work_off(service: Service, owner: Member, audit_id: str) -> Audit:
    """Poll an audit like a client until it has ended."""
    from sites.models import Audit

    request = request_of("GET", f"/v1/audits/{audit_id}", owner.plaintext)

    def is_final() -> bool:
        return b'"completed_at":null' not in body_of(service.port, request).replace(b" ", b"")

    wait_until(is_final, PATIENCE_S, POLL_S)
    return Audit.objects.get(id=audit_id)


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
