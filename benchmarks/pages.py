"""Time, size and database queries of each page and list, with 100,000 scans and all that hangs on them.

Measured with Django's test client: middleware, view and template. On a shared machine, processor time is a better
measure than elapsed time.
"""

from __future__ import annotations

import gzip
import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from benchmarks.service import installed
from benchmarks.table import Table

# The number of hosts is coprime to the four types, so that each host has scans of all types.
SCANS, HOSTS = 100_000, 997
WARM_UP, ROUNDS = 3, 20
TOKEN = "a-token-for-metrics-of-32-characters"
COLUMNS = ("median ms", "kB", "queries", "p95 ms", "CPU ms")
# Milliseconds, compressed kilobytes and queries.
PAGE, LIST, ADMIN = (30.0, 60.0, 12.0), (50.0, 60.0, 6.0), (100.0, 60.0, 15.0)

Requests = Mapping[str, Callable[[], Any]]


def measure(table: Table, share: float) -> None:
    with installed(METRICS_TOKEN=TOKEN):
        from benchmarks.seed import hang_on, organization_with

        scans = max(1_000, round(SCANS * share))
        seeded = organization_with("Pages", scans, HOSTS)
        hung = hang_on(seeded, scans)
        _rows(table, "pages of an organization", _pages(seeded, hung, scans), PAGE)
        _rows(table, "lists of the API", _lists(seeded.key, hung.audit_id, scans), LIST)
        _rows(table, "lists of the admin, and /metrics", _operators(seeded.scan_id, scans), ADMIN)


def _rows(table: Table, title: str, requests: Requests, goals: tuple[float, ...]) -> None:
    from tests.queries import counted  # needs Django set up

    table.head(f"{title}, {ROUNDS} times each", *COLUMNS)
    for name, request in requests.items():
        for _ in range(WARM_UP):
            assert request().status_code == 200, name
        with counted() as asked:
            content = request().content
        times = []
        for _ in range(ROUNDS):
            began, cpu_began = time.perf_counter(), time.thread_time()
            request()
            times.append((time.perf_counter() - began, time.thread_time() - cpu_began))
        took = sorted(each * 1000 for each, _ in times)
        cpu_ms = statistics.median(each for _, each in times) * 1000
        kilobytes = len(gzip.compress(content, 6)) / 1000
        p95_ms = took[int(ROUNDS * 0.95) - 1]
        table.row(name, statistics.median(took), kilobytes, len(asked), p95_ms, cpu_ms, most=goals)


def _pages(seeded: Any, hung: Any, scans: int) -> Requests:
    from django.test import Client

    from accounts.models import Membership, Organization, User
    from scans.models import Scan
    from tests.long_report import finished_long_scan

    organization = Organization.objects.get(id=seeded.organization_id)
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
    reports = {
        "a report": f"/report/{seeded.scan_id}",
        "a report of 250 checks": f"/report/{long.id}",
        "the same, failed only": f"/report/{long.id}?show=failed",
    }
    return {
        **{name: partial(member.get, f"/o/pages/{path}") for name, path in own.items()},
        **{name: partial(member.get, path) for name, path in reports.items()},
        **{name: partial(stranger.get, path) for name, path in {"login": "/login/", "landing": "/"}.items()},
    }


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


def _operators(scan_id: str, number: int) -> Requests:
    from django.contrib import admin
    from django.http import HttpResponse
    from django.test import Client
    from django.urls import reverse

    from accounts.models import User
    from operations import metrics

    client = Client()
    client.force_login(User.objects.create_superuser("staff@people.test"))
    lists = {
        str(each._meta.verbose_name_plural): reverse(f"admin:{each._meta.app_label}_{each._meta.model_name}_changelist")
        for each in admin.site._registry
    }
    scans, deliveries = lists["scans"], lists["deliveries"]
    paths = {
        "start": "/admin/",
        **lists,
        "failed scans": f"{scans}?status__exact=failed",
        "scans of an organization": f"{scans}?q=pages",
        "a scan by its ID": f"{scans}?q={scan_id}",
        "scans, deep": f"{scans}?p={number // 200}",
        "failed deliveries": f"{deliveries}?status__exact=failed",
    }

    def metrics_anew() -> HttpResponse:
        metrics._latest.forget()
        return client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})

    return {**{name: partial(client.get, path) for name, path in paths.items()}, "/metrics": metrics_anew}
