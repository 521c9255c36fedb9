"""Imports, tables, snapshots, differences and exports of lists with 10,000 and 100,000 sites."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from benchmarks.service import installed
from benchmarks.table import Table
from benchmarks.usage import peak_mib

if TYPE_CHECKING:
    from sites.models import SiteList
    from sites.models.site_list import ListCounts
    from tests.world import Member

# Sites of a list, with the goals in seconds for its import, and in milliseconds for a page of its table.
SIZES = {10_000: (3.0, 50.0), 100_000: (30.0, 100.0)}
SNAPSHOT_MS, EXPORT_MIB = 300.0, 30.0
ROUNDS = 5
FILTERS = (
    "", "tag=north", "tag=g7", "type=seo", "grade=A%2B", "grade=C&type=seo", "least=80", "most=5&type=security",
    "check={check}", "check={check}&tag=north&least=50", "state=failed", "state=judged", "text=town-00", "text=nowhere",
)  # fmt: skip
SCORE = "(('x' || substr(md5(url || {salt}), 1, 6))::bit(24)::int %% 101)"
ENTRIES = """
    UPDATE sites_listentry SET state = 'judged', judged_at = now(), history = ARRAY[50, 60, 70], failing = %(failing)s,
        {columns}
    WHERE site_list_id = %(list)s
"""
RESULTS = """
    INSERT INTO sites_listresult (
        site_list_id, run_id, entry_id, position, starts_at, ended_at, status, url, tags, error_code, error_message,
        moved_to, is_partial, pages, severities, seen, statuses, findings, facts,
        security_score, performance_score, accessibility_score, seo_score,
        security_grade, performance_grade, accessibility_grade, seo_grade
    )
    SELECT site_list_id, %(run)s, id, row_number() OVER (ORDER BY id), now(), now(), 'done', url, tags, '', '', '',
        false, 1, '{{"high": 10}}', '{{}}', repeat(substr('ffwppppppp', 1 + length(url) %% 3, 7), %(checks)s / 7),
        %(findings)s, '{{"https": true, "title": "An office"}}', {scores}, 'B', 'B', 'B', 'B'
    FROM sites_listentry WHERE site_list_id = %(list)s
"""


def measure(table: Table, share: float) -> None:
    with installed(SCAN_BROWSER="off"):
        from accounts.models import Tier
        from tests.world import member_of

        Tier.objects.update(list_entries=1_000_000, lists=100, requests_per_minute=1_000_000)
        owner = member_of("Owner", "enterprise")
        for full, (import_s, page_ms) in SIZES.items():
            number = max(200, round(full * share))
            site_list = _imported(table, owner, number, import_s)
            table.head(f"{number:,} sites: the API's table, {ROUNDS} times each", "median ms", "worst ms")
            _tables(table, owner, site_list, page_ms)
            if full == min(SIZES):
                _snapshots(table, owner, site_list, number)


def _imported(table: Table, owner: Member, number: int, most_s: float) -> SiteList:
    from sites.models import SiteList

    made = owner.api.post("/v1/lists", {"name": f"{number} towns"}).json()
    lines = "".join(
        f"town-{each:06}.example.com,{('north', 'south')[each % 2]};g{each % 50},Note {each}\n"
        for each in range(number)
    )
    table.head(f"{number:,} lines", "s")
    path = f"/v1/lists/{made['id']}/entries"
    for title, body in (("new", lines), ("the same again", lines), ("all changed", lines.replace("Note", "Memo"))):
        began = time.monotonic()
        answer = owner.api.call("PUT", path, body.encode(), "text/csv")
        assert answer.status_code == 200, answer.content[:500]
        table.row(title, time.monotonic() - began, most=(most_s,))
    return SiteList.objects.get(id=made["id"])


def _check_ids() -> list[str]:
    from website_scan.catalogue import checks
    from website_scan.findings import ScanType

    return [each.id for scan_type in ScanType for each in checks(scan_type)]


def _tables(table: Table, owner: Member, site_list: SiteList, most_ms: float) -> None:
    from sites.lists.entries import ORDERS, TYPES

    ids = _check_ids()
    grade = "(ARRAY['A+', 'A', 'B', 'C', 'D', 'F'])[1 + {score} %% 6]"
    columns = []
    for each in TYPES:
        score = SCORE.format(salt=f"'{each}'")
        columns += [f"{each}_score = {score}", f"{each}_grade = {grade.format(score=score)}"]
        columns.append(f"{each}_change = {score} %% 21 - 10")
    _execute(ENTRIES.format(columns=", ".join(columns)), {"list": site_list.id, "failing": ids[::6]})
    _execute("VACUUM ANALYZE sites_listentry", {})  # as autovacuum does after so many changes
    path = f"/v1/lists/{site_list.id}/entries"
    medians = {}
    for sort, query in product(ORDERS, FILTERS):
        address = f"{path}?sort={sort}&limit=50&{query.format(check=ids[0])}"
        medians[address] = _median_ms(partial(owner.api.get, address))
    worst = max(medians, key=lambda each: medians[each])
    table.row(
        f"{len(medians)} filters and orders", statistics.median(medians.values()), medians[worst], most=(most_ms,)
    )
    table.row("  over the goal", sum(each > most_ms for each in medians.values()))
    print(f"  worst: {worst.partition('?')[2]}", flush=True)


def _snapshots(table: Table, owner: Member, site_list: SiteList, number: int) -> None:
    from sites.lists.exports import csv_rows, json_lines

    runs = [_run(site_list, number, salt) for salt in ("before", "after")]
    _execute("ANALYZE sites_listresult", {})
    base = f"/v1/lists/{site_list.id}/snapshots/{runs[1].id}"
    table.head(f"snapshot of {number:,} sites, {ROUNDS} times each", "median ms")
    for name, path in (("snapshot", base), ("difference", f"{base}/diff?with={runs[0].id}")):
        table.row(name, _median_ms(partial(owner.api.get, path)), most=(SNAPSHOT_MS,))
    table.head(f"export of {number:,} sites", "MiB more", "s", "MB")
    for name, rows in (("CSV", csv_rows), ("JSON Lines", json_lines)):
        table.row(name, *_export(partial(rows, runs[1])), most=(EXPORT_MIB,))


def _export(rows: Callable[[], Iterator[str]]) -> tuple[float, float, float]:
    """Return the MiB that an export takes beside what the process holds, its seconds, and its megabytes."""
    written = [0]

    def drain() -> None:
        written[0] = sum(len(each) for each in rows())

    held = peak_mib(lambda: time.sleep(0.3))
    began = time.monotonic()
    most = peak_mib(drain)
    return max(0.0, most - held), time.monotonic() - began, written[0] / 1e6


def _run(site_list: SiteList, number: int, salt: str) -> Any:
    from sites.lists.entries import TYPES
    from sites.models import ListCount, ListRun

    ids = _check_ids()
    run = ListRun.objects.create(
        site_list=site_list,
        status="completed",
        types=site_list.types,
        pages_per_entry=1,
        window_hours=24,
        entries=number,
        done=number,
        checks=ids,
    )
    run.ended_at = run.started_at
    run.save()
    found = [
        {
            "type": "security",
            "check": each,
            "status": "fail",
            "severity": "high",
            "title": "A title",
            "message": "y" * 200,
        }
        for each in ids[:30]
    ]
    scores = ", ".join(SCORE.format(salt=f"'{each}{salt}'") for each in TYPES)
    _execute(
        RESULTS.format(scores=scores),
        {"run": run.id, "list": site_list.id, "checks": len(ids), "findings": json.dumps(found)},
    )
    scores_of = {str(score): number // 101 + 1 for score in range(101)}
    counts: ListCounts = {
        "sites": number,
        "judged": number,
        "scores": dict.fromkeys(TYPES, scores_of),
        "grades": {each: {"B": number} for each in TYPES},
        "checks": {each: [number // 5, number // 10, number // 2] for each in ids},
    }
    ListCount.objects.create(run=run, data=counts)
    return run


def _execute(sql: str, parameters: dict[str, Any]) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)


def _median_ms(request: Callable[[], Any]) -> float:
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        answer = request()
        times.append(1000 * (time.perf_counter() - began))
        assert answer.status_code == 200, answer.content[:300]
    return statistics.median(times)
