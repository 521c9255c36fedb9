"""Processor time, size and queries of each page and list, with 100,000 scans, as many deliveries, and many audits.

Measured with Django's test client: middleware, view and template, without PostgreSQL. The goals are for processor time,
because elapsed time depends on the other load of the machine.
"""

from __future__ import annotations

import gzip
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from unittest.mock import patch

from django.conf import settings
from django.db import connection
from django.http import HttpResponseBase
from django.test import Client
from django.utils import timezone

from benchmarks.seed import Seeded, audits_of, ended_deliveries, fill_audit, organization_with
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

# The number of hosts and the number of scan types are coprime, so that each host has scans of all types.
SCANS, HOSTS = 100_000, 997
WARM_UP, ROUNDS = 3, 20
# Numbers of audits, and of pages and places of the longest audit, as shares of the number of scans. The usual audit has
# the size of an audit of a real site.
AUDITS_SHARE, PAGES_SHARE, PLACES_SHARE = 0.01, 0.1, 0.2
USUAL_PAGES, USUAL_FINDINGS, USUAL_PLACES = 100, 60, 480
COLUMNS = ("CPU ms", "kB", "queries", "median ms", "p95 ms", "least CPU ms")
# Goals of each row: milliseconds of processor time, compressed kilobytes, queries, and milliseconds in all (median).
PAGE_GOALS, LIST_GOALS, METRICS_GOALS = (15.0, 60.0, 12.0, 30.0), (30.0, 60.0, 6.0, 50.0), (50.0, 60.0, 15.0, 100.0)
# Goals of pages that are longer than any real page, and of reports that are not in the cache.
LONGEST_GOALS, UNCACHED_GOALS = (50.0, 60.0, 12.0, 100.0), (50.0, 60.0, 12.0, 100.0)

Requests = Mapping[str, Callable[[], HttpResponseBase]]


@dataclass(frozen=True)
class World:
    """Organization with scans, deliveries and audits, and the IDs in the paths of its measured pages."""

    seeded: Seeded
    scans: int
    webhook_id: str
    longest_audit_id: str  # The longest audit has a finding of every check.
    usual_audit_id: str
    page_audit_id: str
    page_scan_id: str
    long_scan_id: str

    @property
    def member(self) -> Member:
        return self.seeded.member


def measure(table: Table, share: float, service: Service) -> None:
    world = _world(max(1_000, round(SCANS * share)))
    member = browser_of(person_of(world.member, "owner", "bench@people.test"))
    report, long_report = f"/report/{world.page_scan_id}", f"/report/{world.long_scan_id}"
    longest, usual = f"/audit/{world.longest_audit_id}", f"/audit/{world.usual_audit_id}"
    audits = {
        "an audit of a page": f"/audit/{world.page_audit_id}",
        "an audit of a site": usual,
        "its pages": f"{usual}?show=pages",
        "a report": report,
    }
    of_member = _gets(member, _paths_of_organization(world) | audits)
    of_stranger = _gets(Client(), {"login": "/login/", "landing": "/"})
    _rows(table, "pages of an organization", {**of_member, **of_stranger}, PAGE_GOALS)
    longest_pages = {
        "an audit with a finding of every check": longest,
        "its pages": f"{longest}?show=pages",
        "a report of 250 checks": long_report,
        "the same, failed only": f"{long_report}?show=failed",
    }
    _rows(table, "the longest pages", _gets(member, longest_pages), LONGEST_GOALS)
    reports = {"a report": report, "a report of 250 checks": long_report}
    with patch.object(parts, "CACHE", HtmlCache(max_bytes=0, max_age_s=0)):
        _rows(table, "reports that are not cached", _gets(member, reports), UNCACHED_GOALS)
    api = Client(headers={"Authorization": f"Bearer {world.member.plaintext}"})
    _rows(table, "lists of the API", _gets(api, _paths_of_api(world)), LIST_GOALS)
    _rows(table, "metrics", _metrics(), METRICS_GOALS)


def _rows(table: Table, title: str, requests: Requests, goals: tuple[float, ...]) -> None:
    table.head(f"{title}, {ROUNDS} times each", *COLUMNS)
    for name, request in requests.items():
        for _ in range(WARM_UP):
            assert request().status_code == 200, name
        with counted() as queries:
            content = b"".join(request())
        ms, cpu_ms = [], []
        for _ in range(ROUNDS):
            start, cpu_start = time.perf_counter(), time.thread_time()
            request()
            ms.append((time.perf_counter() - start) * 1000)
            cpu_ms.append((time.thread_time() - cpu_start) * 1000)
        p95_ms = sorted(ms)[int(ROUNDS * 0.95) - 1]
        table.row(
            name,
            statistics.median(cpu_ms),
            len(gzip.compress(content, 6)) / 1000,
            len(queries),
            statistics.median(ms),
            p95_ms,
            min(cpu_ms),
            most=goals,
        )


def _world(scans: int) -> World:
    seeded = organization_with("Pages", scans, HOSTS)
    organization = seeded.member.organization
    webhook = ended_deliveries(organization, scans)
    pages = round(scans * PAGES_SHARE)
    longest, usual, *_ = audits_of(organization, max(2, round(scans * AUDITS_SHARE)), pages)
    every_check = [check for scan_type in ScanType for check in checks(scan_type)]
    some_checks = every_check[:: len(every_check) // USUAL_FINDINGS][:USUAL_FINDINGS]
    fill_audit(longest, pages, every_check, round(scans * PLACES_SHARE))
    fill_audit(usual, min(pages, USUAL_PAGES), some_checks, USUAL_PLACES)
    results = {str(scan_type): real_result(scan_type) for scan_type in ScanType}
    for seed in (1, 2):  # The second audit of the page has a comparison with the first one.
        page_audit = make_audit(seeded.member)
        (page,) = make_pages(page_audit, [SITE])
        look_at(page, timezone.now(), results)
        long_scan = finished_long_scan(organization, seed)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")  # As autovacuum would do.
    page_scan = Scan.objects.get(audit_page=page, type="security")
    return World(seeded, scans, webhook.id, longest.id, usual.id, page_audit.id, page_scan.id, long_scan.id)


def _gets(client: Client, paths: Mapping[str, str]) -> Requests:
    return {name: partial(client.get, path) for name, path in paths.items()}


def _paths_of_organization(world: World) -> dict[str, str]:
    scans = Scan.objects.filter(organization=world.member.organization)
    deep_scan = scans.order_by("created_at")[world.scans // 20]
    paths = {
        "overview": "",
        "scans, first page": "scans/",
        "scans, deep page": f"scans/?before={int(deep_scan.created_at.timestamp()) * 1_000_000}_{deep_scan.id}",
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


def _metrics() -> Requests:
    client = Client(headers={"Authorization": f"Bearer {settings.METRICS_TOKEN}"})

    def new_figures() -> HttpResponseBase:
        endpoint._latest.forget()  # The endpoint would serve the cached figures of the last seconds.
        return client.get("/metrics")

    return {"/metrics": new_figures}
