"""Server time, number of database queries and size of each page.

The organization has 100,000 scans, and its webhook as many deliveries. On a shared machine, processor time is a better
measure than elapsed time.
"""

from __future__ import annotations

import gzip
import statistics
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from benchmarks.installation import install, servers

if TYPE_CHECKING:
    from django.test import Client

# The number of hosts is coprime to the four types, so that each host has scans of all types.
SCANS, HOSTS = 100_000, 997
WARM_UP, ROUNDS = 3, 40
GOAL_MS, GOAL_QUERIES = 30, 12
GOAL_KB = 60  # compressed


def main() -> int:
    """Print the table; return 1 if a goal was missed."""
    with ExitStack() as cleanup:
        folder, stack = cleanup.enter_context(servers())
        install(folder, stack, ALLOWED_HOSTS="testserver")
        return report(_pages(), GOAL_MS, GOAL_QUERIES)


def _pages() -> list[tuple[str, Client, str]]:
    """Return name, client and path of each page."""
    from django.db import connection
    from django.test import Client

    from accounts.models import Membership, Organization, User
    from benchmarks.seed import organization_with
    from scans.models import Scan
    from tests.long_report import finished_long_scan

    seeded = organization_with("Pages", SCANS, HOSTS)
    organization = Organization.objects.get(id=seeded.organization_id)
    _, long = (finished_long_scan(organization, seed) for seed in (1, 2))  # the second has a comparison
    webhook_id = _webhook(seeded.organization_id, seeded.scan_id)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")  # as autovacuum would do
    person = User.objects.create_user("bench@people.test")
    Membership.objects.create(organization_id=seeded.organization_id, user=person, role="owner")
    member, stranger = Client(), Client()
    member.force_login(person)
    deep = Scan.objects.filter(organization=seeded.organization_id).order_by("created_at")[SCANS // 20]
    before = f"{int(deep.created_at.timestamp()) * 1_000_000}_{deep.id}"
    return [
        ("overview", member, "/o/pages/"),
        ("scans, first page", member, "/o/pages/scans/"),
        ("scans, deep page", member, f"/o/pages/scans/?before={before}"),
        ("scans of a type and status", member, "/o/pages/scans/?type=seo&status=completed"),
        ("scans, a text", member, "/o/pages/scans/?q=12.example.com"),
        ("scans, a text nowhere", member, "/o/pages/scans/?q=nowhere"),
        ("sites", member, "/o/pages/sites/"),
        ("sites, deep page", member, "/o/pages/sites/?after=7.example.com"),
        ("sites, a text nowhere", member, "/o/pages/sites/?q=nowhere"),
        ("a site", member, "/o/pages/sites/12.example.com"),
        ("webhooks", member, "/o/pages/webhooks/"),
        ("a webhook", member, f"/o/pages/webhooks/{webhook_id}"),
        ("a webhook, failures", member, f"/o/pages/webhooks/{webhook_id}?status=failed"),
        ("a report", member, f"/report/{seeded.scan_id}"),
        ("a report of 250 checks", member, f"/report/{long.id}"),
        ("the same, failed only", member, f"/report/{long.id}?show=failed"),
        ("login", stranger, "/login/"),
        ("landing", stranger, "/"),
    ]


def _webhook(organization_id: int, scan_id: str) -> str:
    """Create a webhook with its log: two attempts per delivery, and one delivery in a thousand has failed."""
    from django.db import connection
    from django.utils import timezone

    from webhooks.models import Event, Webhook

    webhook = Webhook.objects.create(
        organization_id=organization_id, url="https://example.com/", events=["scan.completed"], encrypted_secret=b""
    )
    event = Event.objects.create(organization_id=organization_id, scan_id=scan_id, kind="scan.completed", body=b"{}")
    values = {"webhook": webhook.id, "event": event.id, "count": SCANS, "now": timezone.now()}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO webhooks_delivery
                (id, webhook_id, event_id, status, attempts_made, next_attempt_at, created_at, finished_at)
            SELECT 'dlv_' || substr(md5(n::text), 1, 22), %(webhook)s, %(event)s,
                CASE WHEN n %% 1000 = 0 THEN 'failed' ELSE 'delivered' END, 2, moment, moment, moment
            FROM (
                SELECT n, %(now)s::timestamptz - n * interval '20 seconds' AS moment
                FROM generate_series(1, %(count)s) AS n
            ) AS numbered
            """,
            values,
        )
        cursor.execute(
            """
            INSERT INTO webhooks_attempt
                (delivery_id, at, latency_ms, response_status, response_body, error_code, error_message, blocked)
            SELECT id, created_at, 100, 503, repeat('x', 2048), 'RECEIVER_STATUS', 'The receiver answered 503.', false
            FROM webhooks_delivery CROSS JOIN generate_series(1, 2) WHERE webhook_id = %(webhook)s
            """,
            values,
        )
    return webhook.id


def report(pages: list[tuple[str, Client, str]], goal_ms: float, goal_queries: int) -> int:
    """Print name, times, size and queries of each (name, client, path); return 1 if a goal was missed."""
    from tests.queries import counted  # needs Django set up

    missed = 0
    print(f"{'':28}{'median ms':>10}{'p95 ms':>9}{'CPU ms':>9}{'kB':>7}{'queries':>9}", end="")
    print(f"   goals: {goal_ms:g} ms, {GOAL_KB} kB compressed, {goal_queries} queries")
    for name, client, path in pages:
        for _ in range(WARM_UP):
            assert client.get(path).status_code == 200, path
        with counted() as asked:
            content = client.get(path).content
        kilobytes = len(gzip.compress(content, 6)) / 1000
        timed = [_timed(client, path) for _ in range(ROUNDS)]
        took = sorted(each for each, _ in timed)
        median, p95 = statistics.median(took), took[int(ROUNDS * 0.95) - 1]
        cpu = statistics.median(each for _, each in timed)
        met = median <= goal_ms and kilobytes <= GOAL_KB and len(asked) <= goal_queries
        missed |= not met
        print(
            f"{name:28}{median:10.1f}{p95:9.1f}{cpu:9.1f}{kilobytes:7.1f}{len(asked):9}   {'met' if met else 'MISSED'}"
        )
    return int(missed)


def _timed(client: Client, path: str) -> tuple[float, float]:
    """Return the elapsed and processor milliseconds of a whole request, including middleware."""
    began, cpu_began = time.perf_counter(), time.thread_time()
    client.get(path)
    return (time.perf_counter() - began) * 1000, (time.thread_time() - cpu_began) * 1000
