"""Cost of the audit of a whole site: requests to the site, memory of the worker, findings; with the real services.

The site runs in a separate process. The audit runs in this process, as in one process of a worker, without a browser.
"""

from __future__ import annotations

import multiprocessing
import re
import time
from collections import Counter
from contextlib import ExitStack
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import psutil

from benchmarks.installation import install, servers
from scanner.memory import give_back, use_one_heap
from tests.targets.templated import FAULTS, TEMPLATES, page_paths, templated_site

if TYPE_CHECKING:
    from sites.models import Audit

MIB = 1024 * 1024
PAGES = 200
SETTLED = 20  # pages, after which memory should not grow
# Requests for a page in its own visit: one to read it, two to time it, two from foreign origins; and one from a page
# that links to it. OF_ORIGIN: requests of the probes of the origin.
PER_PAGE, OF_ORIGIN = 6.2, 130
GROWTH_MIB = 16
# Kinds of requests by their paths; the first match applies.
KINDS = (
    ("pages", r"/|/(product|article|guide)/\w+"),
    ("shared files", r"/(js|css|images)/\d+\.\w+"),
    ("source maps", r".*\.map"),
    ("files of one page", r"/photos/.*"),
    ("robots.txt and sitemaps", r"/robots\.txt|/sitemap.*"),
    ("links elsewhere", r"/(zoom|film|basket)(\?.*)?"),
    ("probes of the origin", r".*"),
)


def main() -> int:
    """Print the table; return 1 if a goal was missed."""
    use_one_heap()  # like workers
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    with ExitStack() as cleanup:
        folder, stack = cleanup.enter_context(servers(durable=False))
        install(folder, stack, SCAN_ALLOWED_NETWORKS="127.0.0.0/8", SCAN_BROWSER="off", ALLOWED_HOSTS="testserver")
        missed = _audit(ours.recv())
        ours.send("requests")
        missed |= _requests(ours.recv())
    process.join()
    return int(missed)


def _audit(base: str) -> bool:
    from accounts.models import Tier
    from tests.sites.audits.cast import work_off
    from tests.world import member_of

    owner = member_of("Audits", "business")
    Tier.objects.update(pages_per_audit=PAGES, scans_per_month=1_000_000)
    answer: dict[str, Any] = owner.api.post("/v1/audits", {"site": f"{base}/", "max_pages": PAGES}).json()
    held: dict[int, float] = {}

    def after_visit(visits: int) -> None:
        if visits % SETTLED == 0:
            give_back()
            held[visits] = psutil.Process().memory_info().rss / MIB

    began = time.monotonic()
    audit = work_off(answer["id"], after_visit)
    seconds = time.monotonic() - began
    print(f"{audit.pages_done} pages, {audit.scans_done} scans: {audit.status} in {seconds:.0f} s")
    print("memory after pages: " + ", ".join(f"{number}: {mib:.0f} MiB" for number, mib in held.items()))
    missed = _tell("growth in MiB behind the first", max(held.values()) - held[SETTLED], GROWTH_MIB)
    missed |= _tell("pages not judged", PAGES - audit.pages_done, 0)
    return missed | _findings(audit)


def _findings(audit: Audit) -> bool:
    from tests.sites.audits.cast import groups_of

    missed = False
    for template in TEMPLATES:
        groups = {check: [each.pages_affected for each in groups_of(audit, check)] for check in FAULTS[template]}
        print(f"  {template}: " + ", ".join(f"{check} on {pages} pages" for check, pages in groups.items()))
        missed |= _tell(f"  groups for the faults of {template}", sum(map(len, groups.values())), len(groups))
    counts = list(audit.findings.values_list("pages_affected", flat=True))
    return _tell("groups of findings in all", len(counts), 100) or missed


def _requests(asked: Counter[str]) -> bool:
    kinds: Counter[str] = Counter()
    for path, count in asked.items():
        kinds[next(kind for kind, pattern in KINDS if re.fullmatch(pattern, path))] += count
    for kind, count in kinds.most_common():
        print(f"  {kind:32}{count:6} requests")
    missed = _tell("requests for pages, by page", kinds["pages"] / PAGES, PER_PAGE)
    missed |= _tell("requests for shared files, by file", kinds["shared files"] / _files(asked), 2.0)
    return _tell("probes of the origin", kinds["probes of the origin"], OF_ORIGIN) or missed


def _files(asked: Counter[str]) -> int:
    return sum(bool(re.fullmatch(KINDS[1][1], path)) for path in asked)


def _tell(what: str, value: float, goal: float) -> bool:
    print(f"{what:40}{value:8.1f}  goal {goal:g}: {'met' if value <= goal else 'MISSED'}", flush=True)
    return value > goal


def _serve(pipe: Connection) -> None:
    with templated_site(PAGES) as site:
        assert len(page_paths(PAGES)) == PAGES
        pipe.send(site.url_as("localhost"))
        pipe.recv()
        pipe.send(Counter(each.path for each in site.requests))
