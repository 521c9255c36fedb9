"""Benchmark pages and lists with 100,000 scans, as many deliveries, and many audits.

Measures CPU time, size and queries.

Measured with Django's test client: middleware, view and template, without PostgreSQL. The goals are for processor time,
because elapsed time depends on the other load of the machine.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Mapping
from functools import partial
from unittest.mock import patch

from django.conf import settings
from django.db import connection
from django.http import HttpResponseBase
from django.test import Client
from django.utils import timezone
from msgspec import Struct

from benchmarks.seed import Seeded, create_audits, create_ended_deliveries, create_organization, fill_audit
from benchmarks.service import Service
from benchmarks.table import Table
from infrastructure.web.html_cache import HtmlCache
from operations.metrics import endpoint
from reports.page.cached import parts
from scans.models import Scan
from tests.factories import Member, browser_of, person_of
from tests.long_report import finished_long_scan
from tests.populated import real_result
from tests.populated_audits import SITE, look_at, make_audit, make_pages
from tests.queries import counted
from website_scan.catalogue import checks
from website_scan.findings import ScanType

# The numbers of hosts and scan types are coprime, so that each host has scans of all types.
SCANS, HOSTS = 100_000, 997
WARM_UP_REQUESTS, ROUNDS = 3, 20
# Ratios to the number of scans: how many audits exist, and how many pages and places the longest audit has. The usual
# audit is as large as a real site's.
AUDITS_PER_SCAN, PAGES_PER_SCAN, PLACES_PER_SCAN = 0.01, 0.1, 0.2
USUAL_AUDIT_PAGES, USUAL_AUDIT_FINDINGS, USUAL_AUDIT_PLACES = 100, 60, 480
COLUMNS = ("CPU ms", "kB", "queries", "median ms", "p95 ms", "least CPU ms")
# Limits per row: CPU milliseconds, compressed kilobytes, queries, and median elapsed milliseconds.
PAGE_GOALS, LIST_GOALS, METRICS_GOALS = (15.0, 60.0, 12.0, 30.0), (30.0, 60.0, 6.0, 50.0), (50.0, 60.0, 15.0, 100.0)
# Limits for pages longer than any real page, and for uncached reports.
LONGEST_PAGE_GOALS, UNCACHED_REPORT_GOALS = (50.0, 60.0, 12.0, 100.0), (50.0, 60.0, 12.0, 100.0)

Requests = Mapping[str, Callable[[], HttpResponseBase]]


class World(Struct, frozen=True):
    """An organization with scans, deliveries and audits.

    Stores the IDs that occur in measured paths.
    """

    seeded: Seeded
    scans: int
    webhook_id: str
    longest_audit_id: str  # The longest audit has a finding of each check.
    usual_audit_id: str
    page_audit_id: str
    page_scan_id: str
    long_scan_id: str

    @property
    def member(self) -> Member:
        return self.seeded.member


def measure(table: Table, share: float, service: Service) -> None:
    world = _create_world(max(1_000, round(SCANS * share)))
    member = browser_of(person_of(world.member, "owner", "bench@people.test"))
    report, long_report = f"/report/{world.page_scan_id}", f"/report/{world.long_scan_id}"
    longest, usual = f"/audit/{world.longest_audit_id}", f"/audit/{world.usual_audit_id}"
    audits = {
        "an audit of a page": f"/audit/{world.page_audit_id}",
        "an audit of a site": usual,
        "its pages": f"{usual}?show=pages",
        "a report": report,
    }
    member_requests = _get_requests(member, _paths_of_organization(world) | audits)
    anonymous_requests = _get_requests(Client(), {"login": "/login/", "landing": "/"})
    _measure_rows(table, "pages of an organization", {**member_requests, **anonymous_requests}, PAGE_GOALS)
    longest_page_paths = {
        "an audit with a finding of every check": longest,
        "its pages": f"{longest}?show=pages",
        "a report of 250 checks": long_report,
        "the same, failed only": f"{long_report}?show=failed",
    }
    _measure_rows(table, "the longest pages", _get_requests(member, longest_page_paths), LONGEST_PAGE_GOALS)
    reports = {"a report": report, "a report of 250 checks": long_report}
    with patch.object(parts, "CACHE", HtmlCache(max_bytes=0, max_age_s=0)):
        _measure_rows(table, "reports that are not cached", _get_requests(member, reports), UNCACHED_REPORT_GOALS)
    api = Client(headers={"Authorization": f"Bearer {world.member.plaintext}"})
    _measure_rows(table, "lists of the API", _get_requests(api, _paths_of_api(world)), LIST_GOALS)
    _measure_rows(table, "metrics", _metrics_requests(), METRICS_GOALS)


def _measure_rows(table: Table, title: str, requests: Requests, goals: tuple[float, ...]) -> None:
    table.head(f"{title}, {ROUNDS} times each", *COLUMNS)
    for name, request in requests.items():
        for _ in range(WARM_UP_REQUESTS):
            assert request().status_code == 200, name
        with counted() as queries:
            content = b"".join(request())
        ms, cpu_ms = [], []
        for _ in range(ROUNDS):
            start, cpu_start_s = time.perf_counter(), time.thread_time()
            request()
            ms.append((time.perf_counter() - start) * 1000)
            cpu_ms.append((time.thread_time() - cpu_start_s) * 1000)
        p95_ms = sorted(ms)[int(ROUNDS * 0.95) - 1]
        table.row(
            name,
            cpu_ms,
            len(gzip.compress(content, 6)) / 1000,
            len(queries),
            ms,
            p95_ms,
            min(cpu_ms),
            most=goals,
        )


def _create_world(scans: int) -> World:
    seeded = create_organization("Pages", scans, HOSTS)
    organization = seeded.member.organization
    webhook = create_ended_deliveries(organization, scans)
    pages = round(scans * PAGES_PER_SCAN)
    longest, usual, *_ = create_audits(organization, max(2, round(scans * AUDITS_PER_SCAN)), pages)
    check_ids = [check for scan_type in ScanType for check in checks(scan_type)]
    usual_check_ids = check_ids[:: len(check_ids) // USUAL_AUDIT_FINDINGS][:USUAL_AUDIT_FINDINGS]
    fill_audit(longest, pages, check_ids, round(scans * PLACES_PER_SCAN))
    fill_audit(usual, min(pages, USUAL_AUDIT_PAGES), usual_check_ids, USUAL_AUDIT_PLACES)
    results = {str(scan_type): real_result(scan_type) for scan_type in ScanType}
    for seed in (1, 2):  # The second audit of the page is compared with the first one.
        page_audit = make_audit(seeded.member)
        (page,) = make_pages(page_audit, [SITE])
        look_at(page, timezone.now(), results)
        long_scan = finished_long_scan(organization, seed)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")  # Autovacuum would also update the statistics.
    page_scan = Scan.objects.get(audit_page=page, type="security")
    return World(seeded, scans, webhook.id, longest.id, usual.id, page_audit.id, page_scan.id, long_scan.id)


def _get_requests(client: Client, paths: Mapping[str, str]) -> Requests:
    return {name: partial(client.get, path) for name, path in paths.items()}


def _paths_of_organization(world: World) -> dict[str, str]:
    scans = Scan.objects.filter(organization=world.member.organization)
    old_scan = scans.order_by("created_at")[world.scans // 20]
    paths = {
        "overview": "",
        "scans, first page": "scans/",
        "scans, deep page": f"scans/?before={int(old_scan.created_at.timestamp()) * 1_000_000}_{old_scan.id}",
        "scans of a type and status": "scans/?type=seo&status=completed",
        "scans, a text": "scans/?q=12.example.com",
        "scans, a text nowhere": "scans/?q=nowhere",
        "sites": "sites/",
        "sites, deep page": "sites/?after=7.example.com",
        "sites, a text nowhere": "sites/?q=nowhere",
        "a site": "sites/12.example.com",
        "webhooks": "webhooks/",
        "a webhook": f"webhooks/{world.webhook_id}",
        "a webhook, failures": f"webhooks/{world.webhook_id}?status=failed",
    }
    return {name: f"/o/pages/{path}" for name, path in paths.items()}


def _paths_of_api(world: World) -> dict[str, str]:
    scans, audit = world.scans, f"/v1/audits/{world.longest_audit_id}"
    return {
        "scans": "/v1/scans",
        "scans of a type": "/v1/scans?type=seo&limit=100",
        "scans, deep": f"/v1/scans?limit=100&offset={scans * 9 // 10}",
        "audits": "/v1/audits",
        "audits of a status": "/v1/audits?status=failed&limit=100",
        "audits, deep": f"/v1/audits?limit=100&offset={scans * 9 // 1000}",
        "an audit": audit,
        "its pages": f"{audit}/pages",
        "its pages, deep": f"{audit}/pages?limit=100&offset={scans // 10 - 100}",
        "its findings": f"{audit}/findings",
        "its findings of a type": f"{audit}/findings?type=seo&limit=100",
        "its findings, deep": f"{audit}/findings?limit=100&offset=150",
    }


def _metrics_requests() -> Requests:
    client = Client(headers={"Authorization": f"Bearer {settings.METRICS_TOKEN}"})

    def new_figures() -> HttpResponseBase:
        endpoint._latest.forget()  # Without this step, the endpoint would return cached figures.
        return client.get("/metrics")

    return {"/metrics": new_figures}
