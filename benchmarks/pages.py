"""Processor time, size and database queries of each page and list, with 100,000 scans, deliveries and many audits.

Measured with Django's test client: middleware, view and template, without PostgreSQL. The goals are for the processor
time, because elapsed time says little on a shared machine.
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
from infrastructure.web.kept_html import KeptHtml
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

# The number of hosts is coprime to the four types, so that each host has scans of all types.
SCANS, HOSTS = 100_000, 997
WARM_UP, ROUNDS = 3, 20
# Audits, and pages and places of the longest one, beside the scans. The usual one is as a real site has it.
AUDITS_SHARE, PAGES_SHARE, PLACES_SHARE = 0.01, 0.1, 0.2
USUAL_PAGES, USUAL_FINDINGS, USUAL_PLACES = 100, 60, 480
COLUMNS = ("CPU ms", "kB", "queries", "median ms", "p95 ms", "least CPU ms")
# Milliseconds of processor time, compressed kilobytes and queries; then milliseconds.
PAGE, LIST, METRICS = (15.0, 60.0, 12.0, 30.0), (30.0, 60.0, 6.0, 50.0), (50.0, 60.0, 15.0, 100.0)
# Pages that are longer than any real one, and a report that no process has rendered yet.
LONGEST, FIRST = (50.0, 60.0, 12.0, 100.0), (50.0, 60.0, 12.0, 100.0)

Requests = Mapping[str, Callable[[], HttpResponseBase]]


@dataclass(frozen=True)
class World:
    """Organization with its scans, deliveries and audits. IDs are those of the paths."""

    seeded: Seeded
    scans: int
    webhook_id: str
    longest_audit_id: str  # with a finding of every check
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
    _rows(table, "pages of an organization", {**of_member, **of_stranger}, PAGE)
    longest_pages = {
        "an audit with a finding of every check": longest,
        "its pages": f"{longest}?show=pages",
        "a report of 250 checks": long_report,
        "the same, failed only": f"{long_report}?show=failed",
    }
    _rows(table, "the longest pages", _gets(member, longest_pages), LONGEST)
    reports = {"a report": report, "a report of 250 checks": long_report}
    with patch.object(parts, "CACHE", KeptHtml(max_bytes=0, max_age_s=0)):
        _rows(table, "reports that are not cached", _gets(member, reports), FIRST)
    api = Client(headers={"Authorization": f"Bearer {world.member.plaintext}"})
    _rows(table, "lists of the API", _gets(api, _paths_of_api(world)), LIST)
    _rows(table, "metrics", _metrics(), METRICS)


def _rows(table: Table, title: str, requests: Requests, goals: tuple[float, ...]) -> None:
    table.head(f"{title}, {ROUNDS} times each", *COLUMNS)
    for name, request in requests.items():
        for _ in range(WARM_UP):
            assert request().status_code == 200, name
        with counted() as queries:
            content = b"".join(request())
        ms, cpu_ms = [], []
        for _ in range(ROUNDS):
            began, cpu_began = time.perf_counter(), time.thread_time()
            request()
            ms.append((time.perf_counter() - began) * 1000)
            cpu_ms.append((time.thread_time() - cpu_began) * 1000)
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
    for seed in (1, 2):  # the second has a comparison
        page_audit = make_audit(seeded.member)
        (page,) = make_pages(page_audit, [SITE])
        look_at(page, timezone.now(), results)
        long_scan = finished_long_scan(organization, seed)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")  # as autovacuum would do
    page_scan = Scan.objects.get(audit_page=page, type="security")
    return World(seeded, scans, webhook.id, longest.id, usual.id, page_audit.id, page_scan.id, long_scan.id)


def _gets(client: Client, paths: Mapping[str, str]) -> Requests:
    return {name: partial(client.get, path) for name, path in paths.items()}


def _paths_of_organization(world: World) -> dict[str, str]:
    scans = Scan.objects.filter(organization=world.member.organization)
    deep = scans.order_by("created_at")[world.scans // 20]
    paths = {
        "overview": "",
        "scans, first page": "scans/",
        "scans, deep page": f"scans/?before={int(deep.created_at.timestamp()) * 1_000_000}_{deep.id}",
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
        endpoint._latest.forget()  # it would serve those of the last seconds
        return client.get("/metrics")

    return {"/metrics": new_figures}
