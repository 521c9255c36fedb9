"""Cost of the audit of a whole site for the site and the worker: requests by what they are for, and memory.

The audit runs in this process, as in one process of a worker, without a browser.
"""

from __future__ import annotations

import re
import time
from collections import Counter

import psutil

from benchmarks.service import installed
from benchmarks.sites import templated
from benchmarks.table import Table
from benchmarks.usage import MIB
from scanner.memory import give_back, use_one_heap

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


def measure(table: Table, share: float) -> None:
    use_one_heap()  # like workers
    pages = max(2 * SETTLED, round(PAGES * share))
    with templated(pages) as site, installed(SCAN_BROWSER="off"):
        from accounts.models import Tier
        from tests.sites.audits.cast import work_off
        from tests.world import member_of

        owner = member_of("Audits", "business")
        Tier.objects.update(pages_per_audit=pages, scans_per_month=1_000_000)
        audit_id = owner.api.post("/v1/audits", {"site": f"{site.base}/", "max_pages": pages}).json()["id"]
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
        _requests(table, site.requests(), pages)


def _requests(table: Table, asked: Counter[str], pages: int) -> None:
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
    table.row("requests for a page", kinds["pages"] / pages, most=(PER_PAGE,))
    table.row("requests for a shared file", kinds["shared files"] / files, most=(PER_FILE,))
    table.row("probes of the origin", kinds["probes of the origin"], most=(OF_ORIGIN,))
