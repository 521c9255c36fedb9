"""Benchmark a list of 1,500,000 sites with two snapshots: pages, API calls, exports, sizes and deletion.

Measures the processor time of the application together with that of its PostgreSQL process. The results are those of
the sample site, with other statuses and scores for each of `TEMPLATES` sites.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.http import HttpResponseBase
from django.test import Client
from django.utils import timezone
from msgspec import Struct

from accounts.models import Tier
from benchmarks.service import Service
from benchmarks.table import Table
from benchmarks.usage import scheduled_ms
from scans.models import Scan
from sites.lists import collecting
from sites.lists.comparisons import compare_ended_run
from sites.lists.not_judged import count_not_judged
from sites.models import ListResult, ListRun, SiteList
from tests.factories import Member, browser_of, member_of, person_of
from tests.populated import real_result
from website_scan.findings import ScanType
from website_scan.scoring import mean_grade

SITES, TEMPLATES = 1_500_000, 3_000
TAGS = ("registrar-a", "registrar-b", "north", "south", "rare")
# CPU milliseconds of the application and the database.
GOALS = (100.0,)
WARM_UP_REQUESTS, ROUNDS = 1, 5
# A request that takes longer is measured only once.
MAX_REQUEST_S = 5.0
SAMPLE_SEED = 49

ENTRIES = """
    INSERT INTO sites_listentry (
        id, site_list_id, url, host, tags, note, created_at, state, error_code, error_message, moved_to, judged_at,
        failing, outcomes, facts, history, security_score, security_change, security_grade, performance_grade,
        accessibility_grade, seo_grade, result_id
    )
    SELECT 'ent_' || substr(md5(%(list)s || n) || md5(n || %(list)s), 1, 22), %(list)s,
        'https://' || word || '.example/', word || '.example', ARRAY(
            SELECT tag FROM unnest(%(tags)s::text[]) WITH ORDINALITY AS t (tag, at)
            WHERE (tag = 'rare' AND n %% 50000 = 7) OR (tag <> 'rare' AND (n / at) %% 3 = 0)
        ), CASE WHEN n %% 97 = 0 THEN 'Checked by hand' ELSE '' END, %(now)s,
        CASE WHEN n %% 7 = 3 THEN 'failed' WHEN n %% 1009 = 0 THEN 'partial' ELSE 'judged' END,
        CASE WHEN n %% 7 = 3 THEN 'DNS_NOT_FOUND' ELSE '' END,
        CASE WHEN n %% 7 = 3 THEN 'The name does not exist.' ELSE '' END, '', %(now)s,
        template.failing, template.outcomes, template.facts, ARRAY[template.score, template.score],
        CASE WHEN n %% 7 <> 3 THEN template.score END, CASE WHEN n %% 7 <> 3 THEN n %% 9 - 4 END,
        CASE WHEN n %% 7 <> 3 THEN template.grade ELSE '' END, '', '', '', %(latest_result)s + n
    FROM (SELECT n, substr(md5('word' || n), 1, 12) AS word FROM generate_series(%(first)s, %(last)s) AS n) AS numbered
    JOIN benchmark_template AS template ON template.id = n %% %(templates)s
"""
RESULTS = """
    INSERT INTO sites_listresult (
        id, site_list_id, run_id, entry_id, position, starts_at, status, ended_at, url, tags, error_code, error_message,
        moved_to, is_partial, pages, severities, seen, statuses, findings, facts, security_score, security_grade,
        performance_grade, accessibility_grade, seo_grade
    )
    SELECT %(first_result)s + n, %(list)s, %(run)s, entry.id,
        %(first)s + row_number() OVER (ORDER BY entry.id) - 1, %(now)s,
        CASE entry.state WHEN 'failed' THEN 'failed' ELSE 'done' END, %(now)s, entry.url, entry.tags,
        entry.error_code, entry.error_message, '', false, 1, template.severities, '{}',
        CASE entry.state WHEN 'failed' THEN '' ELSE template.statuses END,
        CASE entry.state WHEN 'failed' THEN '[]' ELSE template.findings END, template.facts,
        CASE WHEN entry.state <> 'failed' THEN template.score END,
        CASE WHEN entry.state <> 'failed' THEN template.grade ELSE '' END, '', '', ''
    FROM generate_series(%(first)s, %(last)s) AS n
    JOIN sites_listentry AS entry
        ON entry.id = 'ent_' || substr(md5(%(list)s || n) || md5(n || %(list)s), 1, 22)
    JOIN benchmark_template AS template ON template.id = (n + %(shift)s) %% %(templates)s
"""
# Counts of a run, as `sites.lists.counting` writes them.
COUNTS = """
    INSERT INTO sites_listcount (run_id, tag, data)
    WITH tagged AS (
        SELECT tag, status, security_score, security_grade, statuses
        FROM sites_listresult, unnest(tags || ''::varchar) AS tag WHERE run_id = %(run)s
    ), scores AS (
        SELECT tag, jsonb_object_agg(score, number) AS data FROM (
            SELECT tag, security_score AS score, count(*) AS number FROM tagged WHERE status = 'done' GROUP BY 1, 2
        ) AS numbers GROUP BY tag
    ), grades AS (
        SELECT tag, jsonb_object_agg(grade, number) AS data FROM (
            SELECT tag, security_grade AS grade, count(*) AS number FROM tagged WHERE status = 'done' GROUP BY 1, 2
        ) AS numbers GROUP BY tag
    ), statuses AS (
        SELECT tag, statuses, count(*) AS number FROM tagged WHERE status = 'done' GROUP BY 1, 2
    ), checks AS (
        SELECT tag, jsonb_object_agg(name, numbers) AS data FROM (
            SELECT tag, name, jsonb_build_array(
                coalesce(sum(number) FILTER (WHERE substr(statuses, at::int, 1) = 'f'), 0),
                coalesce(sum(number) FILTER (WHERE substr(statuses, at::int, 1) = 'w'), 0),
                coalesce(sum(number) FILTER (WHERE substr(statuses, at::int, 1) = 'p'), 0)) AS numbers
            FROM statuses, unnest(%(checks)s::text[]) WITH ORDINALITY AS t (name, at) GROUP BY tag, name
        ) AS numbers GROUP BY tag
    )
    SELECT %(run)s, tag, jsonb_build_object('sites', count(*), 'judged', count(*) FILTER (WHERE status = 'done'),
        'scores', jsonb_build_object('security', min(scores.data::text)::jsonb),
        'grades', jsonb_build_object('security', min(grades.data::text)::jsonb),
        'checks', min(checks.data::text)::jsonb)
    FROM tagged LEFT JOIN scores USING (tag) LEFT JOIN grades USING (tag) LEFT JOIN checks USING (tag) GROUP BY tag
"""
BATCH = 100_000


class Zone(Struct, frozen=True):
    """A list with two snapshots. `run` is the latest one."""

    member: Member
    site_list: SiteList
    run: ListRun
    before: ListRun
    entry_id: str


def measure(table: Table, share: float, _service: Service) -> None:
    zone = create_zone(max(1_000, round(SITES * share)))
    measure_requests(table, zone)
    measure_sizes(table, zone)


def create_zone(sites: int) -> Zone:
    """Create a list with this number of sites and two snapshots."""
    Tier.objects.update(list_entries=10 * SITES, lists=1_000, requests_per_minute=100_000_000)
    member, now = member_of("Registry"), timezone.now()
    site_list = SiteList.objects.create(
        organization=member.organization, name="Zone", types=["security"], entries_count=sites
    )
    checks = _create_templates()
    with connection.cursor() as cursor:
        # Without this setting, PostgreSQL would refuse entries that refer to results before these are created.
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("SELECT setval('sites_listresult_id_seq', nextval('sites_listresult_id_seq') + %s)", [2 * sites])
        first_result = cursor.fetchone()[0] - 2 * sites
        for first, last in _batches(sites):
            values: dict[str, Any] = {"list": site_list.id, "first": first, "last": last, "now": now}
            values |= {"tags": list(TAGS), "templates": TEMPLATES, "latest_result": first_result + sites}
            cursor.execute(ENTRIES, values)
        before = _create_run(site_list, sites, now - timedelta(days=8), checks, shift=1, first_result=first_result)
        run = _create_run(site_list, sites, now - timedelta(days=1), checks, shift=0, first_result=first_result + sites)
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("VACUUM ANALYZE")
    entry = site_list.entries.order_by("id").values_list("id", flat=True)[0]
    return Zone(member, site_list, run, before, entry)


def _batches(sites: int) -> Iterator[tuple[int, int]]:
    return ((first, min(first + BATCH, sites) - 1) for first in range(0, sites, BATCH))


def _create_templates() -> list[str]:
    """Create results of `TEMPLATES` sites in a temporary table, and return the IDs of the checks."""
    result = ListResult()
    scan = Scan(type="security", url="https://example.com/")
    real = real_result(ScanType.SECURITY)
    collecting._add_findings(result, scan, real)
    checks, rng = list(result.seen), random.Random(SAMPLE_SEED)
    findings = {finding["check"]: finding for finding in result.findings}
    example = next(iter(findings.values()))
    rows = []
    for number in range(TEMPLATES):
        letters = "".join(rng.choices("fwp-", (15 + at % 20, 8, 70, 7))[0] for at in range(len(checks)))
        failing = [check for check, letter in zip(checks, letters, strict=True) if letter == "f"]
        bad = [check for check, letter in zip(checks, letters, strict=True) if letter in "fw"]
        found = [findings.get(check, example) | {"check": check} for check in bad]
        score = rng.randint(20, 100)
        facts = collecting.facts_of(real) | {
            "hsts": number % 3 == 0,
            "status": 404 if number % 50 == 0 else 503 if number == 7 else 200,
            "generator": "WordPress 6.9" if number % 4 == 0 else "TYPO3" if number == 8 else "",
            "language": "sv-SE" if number % 5 else "en",
            "title": f"Title of the site number {number}",
        }
        rows.append(
            {
                "id": number,
                "score": score,
                "grade": mean_grade(score, is_flawless=False),
                "statuses": letters,
                "failing": sorted(failing),
                "outcomes": sorted(f"{finding['check']}.{finding['outcome']}" for finding in found),
                "findings": found,
                "facts": facts,
                "severities": {"high": len(failing), "medium": len(bad) - len(failing)},
            }
        )
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE IF NOT EXISTS benchmark_template (id int PRIMARY KEY, score int, grade text, statuses text,"
            " failing text[], outcomes text[], findings jsonb, facts jsonb, severities jsonb)"
        )
        cursor.execute("TRUNCATE benchmark_template")
        cursor.execute(
            "INSERT INTO benchmark_template SELECT * FROM jsonb_populate_recordset(NULL::benchmark_template, %s)",
            [json.dumps(rows)],
        )
    return checks


def _create_run(
    site_list: SiteList, sites: int, at: datetime, checks: list[str], *, shift: int, first_result: int
) -> ListRun:
    failed = sum(n % 7 == 3 for n in range(sites))
    run = ListRun.objects.create(
        site_list=site_list, status="completed", started_at=at, ended_at=at + timedelta(hours=20), kept_days=365,
        types=["security"], pages_per_entry=1, window_hours=24, entries=sites, done=sites - failed, failed=failed,
        checks=checks,
    )  # fmt: skip
    with connection.cursor() as cursor:
        for first, last in _batches(sites):
            values: dict[str, Any] = {"list": site_list.id, "run": run.id, "first": first, "last": last}
            values |= {"now": at, "shift": shift, "templates": TEMPLATES, "first_result": first_result}
            cursor.execute(RESULTS, values)
        cursor.execute("ANALYZE sites_listresult")
        cursor.execute(COUNTS, {"run": run.id, "checks": checks})
    count_not_judged(run)
    return run


def measure_requests(table: Table, zone: Zone, only: str = "") -> None:
    compare_ended_run(zone.run, zone.before, limit=10)  # A worker would do so when the run ends.
    client = browser_of(person_of(zone.member, "owner", f"{zone.site_list.id}@people.test"))
    api = Client(headers={"Authorization": f"Bearer {zone.member.plaintext}"})
    for title, browser, paths in (
        ("pages of a list", client, _paths_of_pages(zone)),
        ("API calls of a list", api, _paths_of_api(zone)),
    ):
        table.head(title, "CPU ms", "application", "database ms", "median ms")
        for name, path in paths.items():
            if only in f"{title}: {name}":
                _measure_row(table, name, lambda browser=browser, path=path: browser.get(path))  # type: ignore[misc]


def _measure_row(table: Table, name: str, request: Callable[[], HttpResponseBase]) -> None:
    with connection.cursor() as cursor:
        # Other processes' time would be missing.
        cursor.execute("SET max_parallel_workers_per_gather = 0")
        cursor.execute("SET statement_timeout = 0")
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    figures = []
    for number in range(WARM_UP_REQUESTS + ROUNDS):
        start, cpu_start, database_start_ms = time.perf_counter(), time.thread_time(), scheduled_ms(pid)
        response = request()
        assert response.status_code == 200, (name, response.status_code)
        application_ms = (time.thread_time() - cpu_start) * 1000
        database_ms = scheduled_ms(pid) - database_start_ms
        elapsed = time.perf_counter() - start
        if number >= WARM_UP_REQUESTS:
            figures.append((application_ms + database_ms, application_ms, database_ms, elapsed * 1000))
            if elapsed > MAX_REQUEST_S:
                break
    table.row(name, *(list(column) for column in zip(*figures, strict=True)), most=GOALS)


def _filters(zone: Zone) -> dict[str, str]:
    return {
        "rare tag": "tag=rare",
        "frequent tag": "tag=north",
        "frequent check": f"check={zone.run.checks[3]}",
        "check and tag": f"check={zone.run.checks[5]}&tag=rare",
        "state": "state=partial",
        "text without matches": "text=nothing-has-this-text",
        "HTTP status": "http_status=503",
        "generator": "generator=typo3",
        "generator without matches": "generator=nothing",
        "language": "language=en",
        "HSTS": "hsts=no&state=failed",
        "grade": "grade=F&type=security",
        "scores": "least=98&type=security",
        "scores of any type": "least=99",
        "everything": f"tag=south&check={zone.run.checks[4]}&least=20&most=90&text=a&hsts=no&http_status=404",
    }


def _paths_of_pages(zone: Zone) -> Mapping[str, str]:
    home = f"/o/{zone.member.organization.slug}/lists"
    page, run = f"{home}/{zone.site_list.id}", zone.run.id
    check = zone.run.checks[3]
    return {
        "lists": f"{home}/",
        "a list": page,
        **{f"a list: {name}": f"{page}?{query}" for name, query in _filters(zone).items()},
        "a list, by score": f"{page}?sort=-security",
        "a site": f"{page}/entries/{zone.entry_id}",
        "its settings": f"{page}/edit",
        "import": f"{page}/import",
        "runs": f"{page}/runs",
        "latest snapshot": f"{page}/snapshot",
        "latest snapshot, one tag": f"{page}/snapshot?tag=rare",
        "sites that fail a check": f"{page}/runs/{run}/sites?check={check}",
        "sites with a tag that fail a check": f"{page}/runs/{run}/sites?check={check}&tag=rare",
        "two snapshots compared": f"{page}/runs/{run}/compare",
        "over time": f"{page}/adoption",
        "sharing": f"{page}/sharing",
    }


def _paths_of_api(zone: Zone) -> Mapping[str, str]:
    item = f"/v1/lists/{zone.site_list.id}"
    snapshot = f"{item}/snapshots/{zone.run.id}"
    sorts = ("url", "-url", "security", "-security", "security_change", "-security_change", "seo", "-seo")
    return {
        "lists": "/v1/lists",
        "a list": item,
        **{f"entries by {sort}": f"{item}/entries?limit=100&sort={sort}" for sort in sorts},
        **{
            f"entries by {sort}, {name}": f"{item}/entries?limit=100&sort={sort}&{query}"
            for sort in ("url", "-security", "seo")
            for name, query in _filters(zone).items()
        },
        "runs": f"{item}/runs",
        "a snapshot": snapshot,
        "a snapshot, one tag": f"{snapshot}?tag=rare",
        "two snapshots compared": f"{snapshot}/diff?with={zone.before.id}",
        "adoption": f"{item}/adoption?check={zone.run.checks[3]}",
    }


def measure_sizes(table: Table, zone: Zone) -> None:
    table.head("bytes of a site", "table", "indexes")
    for name, model in (("its entry", zone.site_list.entries.model), ("its result in a run", ListResult)):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_table_size(%s::regclass), pg_indexes_size(%s::regclass)", [model._meta.db_table] * 2
            )
            sizes = cursor.fetchone()
        rows = model.objects.count()
        table.row(name, *(size / rows for size in sizes))
