"""Processor time, size and database queries of each page and list, with 100,000 scans and all that hangs on them.

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
from typing import Any
from unittest.mock import patch

from benchmarks.service import installed
from benchmarks.table import Table

# The number of hosts is coprime to the four types, so that each host has scans of all types.
SCANS, HOSTS = 100_000, 997
WARM_UP, ROUNDS = 3, 20
TOKEN = "a-token-for-metrics-of-32-characters"
COLUMNS = ("CPU ms", "kB", "queries", "median ms", "p95 ms", "least CPU ms")
# Milliseconds of processor time, compressed kilobytes and queries; then milliseconds.
PAGE, LIST, METRICS = (15.0, 60.0, 12.0, 30.0), (30.0, 60.0, 6.0, 50.0), (50.0, 60.0, 15.0, 100.0)
# Pages that are longer than any real one, and a report that no process has rendered yet.
LONGEST, FIRST = (50.0, 60.0, 12.0, 100.0), (50.0, 60.0, 12.0, 100.0)

Requests = Mapping[str, Callable[[], Any]]


def measure(table: Table, share: float) -> None:
    with installed(METRICS_TOKEN=TOKEN):
        from benchmarks.seed import hang_on, organization_with
        from infrastructure.web.kept_html import KeptHtml
        from reports.page.kept import parts

        scans = max(1_000, round(SCANS * share))
        seeded = organization_with("Pages", scans, HOSTS)
        hung = hang_on(seeded, scans)
        pages = _pages(seeded, hung, scans)
        _rows(table, "pages of an organization", pages.usual, PAGE)
        _rows(table, "the longest pages", pages.longest, LONGEST)
        with patch.object(parts, "KEPT", KeptHtml(max_bytes=0, max_age_s=0)):
            _rows(table, "reports that are not cached", pages.reports, FIRST)
        _rows(table, "lists of the API", _lists(seeded.key, hung.audit_id, scans), LIST)
        _rows(table, "metrics", _operators(), METRICS)


def _rows(table: Table, title: str, requests: Requests, goals: tuple[float, ...]) -> None:
    from tests.queries import counted  # needs Django set up

    table.head(f"{title}, {ROUNDS} times each", *COLUMNS)
    for name, request in requests.items():
        for _ in range(WARM_UP):
            assert request().status_code == 200, name
        with counted() as asked:
            content = request().content
        took, cpu = [], []
        for _ in range(ROUNDS):
            began, cpu_began = time.perf_counter(), time.thread_time()
            request()
            took.append((time.perf_counter() - began) * 1000)
            cpu.append((time.thread_time() - cpu_began) * 1000)
        p95_ms = sorted(took)[int(ROUNDS * 0.95) - 1]
        table.row(
            name,
            statistics.median(cpu),
            len(gzip.compress(content, 6)) / 1000,
            len(asked),
            statistics.median(took),
            p95_ms,
            min(cpu),
            most=goals,
        )


@dataclass(frozen=True)
class Pages:
    """Requests of pages as organizations have them, of the longest ones, and of reports."""

    usual: Requests
    longest: Requests
    reports: Requests


def _pages(seeded: Any, hung: Any, scans: int) -> Pages:
    from django.test import Client

    from accounts.models import Membership, Organization, User
    from scans.models import Scan
    from tests.long_report import finished_long_scan

    organization = Organization.objects.get(id=seeded.organization_id)
    audit_id, scan_id = _page_of_all_types(seeded)
    _, long = (finished_long_scan(organization, seed) for seed in (1, 2))  # the second has a comparison
    person = User.objects.create_user("bench@people.test")
    Membership.objects.create(organization=organization, user=person, role="owner")
    member, stranger = Client(), Client()
    member.force_login(person)
    deep = Scan.objects.filter(organization=organization).order_by("created_at")[scans // 20]
    own = {
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
        "a webhook": f"webhooks/{hung.webhook_id}",
        "a webhook, failures": f"webhooks/{hung.webhook_id}?status=failed",
    }
    shared = {
        "an audit of a page": f"/audit/{audit_id}",
        "an audit of a site": f"/audit/{hung.usual_audit_id}",
        "its pages": f"/audit/{hung.usual_audit_id}?show=pages",
        "a report": f"/report/{scan_id}",
    }
    longest = {
        "an audit with a finding of every check": f"/audit/{hung.audit_id}",
        "its pages": f"/audit/{hung.audit_id}?show=pages",
        "a report of 250 checks": f"/report/{long.id}",
        "the same, failed only": f"/report/{long.id}?show=failed",
    }

    def gets(paths: Mapping[str, str]) -> Requests:
        return {name: partial(member.get, path) for name, path in paths.items()}

    return Pages(
        usual={
            **gets({name: f"/o/pages/{path}" for name, path in own.items()} | shared),
            **{name: partial(stranger.get, path) for name, path in {"login": "/login/", "landing": "/"}.items()},
        },
        longest=gets(longest),
        reports=gets({"a report": f"/report/{scan_id}", "a report of 250 checks": f"/report/{long.id}"}),
    )


def _page_of_all_types(seeded: Any) -> tuple[str, str]:
    """Scan a page for all types, twice. Return the IDs of the second audit and of its security scan."""
    from django.utils import timezone

    from accounts.models import ApiKey, Organization
    from benchmarks.seed import results_of
    from scans.models import Scan
    from tests.furnished_audits import SITE, look_at, make_audit, make_pages
    from tests.targets.sample import sample_site
    from tests.world import Api, Member
    from website_scan.findings import ScanType

    organization = Organization.objects.get(id=seeded.organization_id)
    member = Member(organization, ApiKey.objects.get(organization=organization), seeded.key, Api(seeded.key))
    with sample_site() as site:
        results = {str(each.type): each for each in results_of(site, list(ScanType))}
    for _ in range(2):
        audit = make_audit(member)
        (page,) = make_pages(audit, [SITE])
        look_at(page, timezone.now(), results)
    return audit.id, Scan.objects.get(audit_page=page, type="security").id


def _lists(key: str, audit_id: str, scans: int) -> Requests:
    from django.test import Client

    client = Client(headers={"Authorization": f"Bearer {key}"})
    audit = f"/v1/audits/{audit_id}"
    paths = {
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
    return {name: partial(client.get, path) for name, path in paths.items()}


def _operators() -> Requests:
    from django.test import Client

    from operations.metrics import endpoint
    from tests.responses import ClientResponse

    client = Client()

    def metrics_anew() -> ClientResponse:
        endpoint._latest.forget()
        return client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})

    return {"/metrics": metrics_anew}
