"""Create test data for benchmarks: organizations with many scans, webhook deliveries, and audits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from hashlib import md5

from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.utils import timezone
from msgspec import Struct

from accounts.models import Organization, Tier
from infrastructure import encryption
from sites.models import Audit, AuditFinding, AuditPage, AuditPlace
from sites.models.audit import PageResult, SamplePage, TypeTotal
from tests.factories import Member, member_of
from tests.populated import finish_with, real_result
from webhooks.delivery.signing import new_secret
from webhooks.examples import example
from webhooks.models import Delivery, Event, EventKind, Webhook
from website_scan.catalogue import Check
from website_scan.findings import ScanType

# Limit for tiers that is so high that no benchmark reaches it.
NO_LIMIT = 100_000_000
BATCH, SCANS_PER_STATEMENT = 1_000, 500_000
SITE = "https://example.com"

SCANS = """
    INSERT INTO scans_scan (
        id, organization_id, type, url, status, score, grade, created_at, started_at, completed_at,
        period, percent, phase, checks_done, checks_total, skipped_checks, error_code, error_message,
        enqueued_at, attempts
    )
    SELECT 'scan_' || substr(md5(%(name)s || n), 1, 22), %(organization)s,
        (ARRAY['security', 'performance', 'accessibility', 'seo'])[1 + n %% 4],
        'https://' || n %% %(hosts)s || '.example.com/page/' || n,
        CASE WHEN n %% 1000 = 0 THEN 'failed' ELSE 'completed' END,
        CASE WHEN n %% 1000 <> 0 THEN n %% 101 END, CASE WHEN n %% 1000 <> 0 THEN 'B' END, moment, moment, moment,
        date_trunc('month', moment)::date, 100, 'done', 20, 20, '[]',
        CASE WHEN n %% 1000 = 0 THEN 'TIMEOUT' ELSE '' END, '', moment, 1
    FROM (
        SELECT n, %(now)s::timestamptz - n * interval '1 year' / %(scans)s AS moment
        FROM generate_series(%(first)s::int, %(last)s) AS n
    ) AS numbered
"""
# Indexes that belong to no constraint.
INDEXES = """
    SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
    WHERE indrelid = 'scans_scan'::regclass
        AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
"""
# SQL statements that end most deliveries after one attempt and leave the others pending.
END_DELIVERIES = (
    """
    UPDATE webhooks_delivery SET attempts_made = 1, status = ended.status, finished_at = created_at
    FROM (
        SELECT id, CASE WHEN n %% 1000 = 0 THEN 'failed' ELSE 'delivered' END AS status
        FROM (SELECT id, row_number() OVER () AS n FROM webhooks_delivery WHERE webhook_id = %(webhook)s) AS numbered
        WHERE n %% 20 <> 1
    ) AS ended WHERE ended.id = webhooks_delivery.id
    """,
    """
    INSERT INTO webhooks_attempt
        (delivery_id, at, latency_ms, response_status, response_body, error_code, error_message, blocked)
    SELECT id, created_at, 12, 200, repeat('x', 500), '', '', false FROM webhooks_delivery
    WHERE webhook_id = %(webhook)s AND finished_at IS NOT NULL
    """,
)


class Seeded(Struct, frozen=True):
    """The new organization, its API key, and the ID of a scan with a real report."""

    member: Member
    scan_id: str


def create_organization(name: str, scans: int, hosts: int = 1) -> Seeded:
    """Create an organization with twelve months of scans, covering all types and `hosts` hosts.

    One scan has a real report.
    """
    Tier.objects.update(
        scans_per_month=NO_LIMIT, concurrent_scans=NO_LIMIT, requests_per_minute=NO_LIMIT, webhooks=NO_LIMIT
    )
    member, now = member_of(name), timezone.now()
    values: dict[str, str | int | datetime] = {
        "name": name,
        "organization": member.organization.id,
        "scans": scans,
        "hosts": hosts,
        "now": now,
    }
    with connection.cursor() as cursor, _indexes_rebuilt_after(cursor, is_needed=scans > SCANS_PER_STATEMENT):
        for first in range(1, scans + 1, SCANS_PER_STATEMENT):
            cursor.execute(SCANS, values | {"first": first, "last": min(first + SCANS_PER_STATEMENT - 1, scans)})
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE scans_scan")
    return Seeded(member, finish_with(member, real_result(ScanType.SECURITY), now).id)


@contextmanager
def _indexes_rebuilt_after(cursor: CursorWrapper, *, is_needed: bool) -> Iterator[None]:
    """Drop the indexes of scans during a block, and create them again, because that is faster for millions of rows."""
    cursor.execute("SET maintenance_work_mem = '512MB'")
    cursor.execute(INDEXES)
    indexes = cursor.fetchall() if is_needed else []
    for name, _ in indexes:
        cursor.execute(f"DROP INDEX {name}")
    yield
    for _, definition in indexes:
        cursor.execute(definition)


def create_pending_deliveries(organization: Organization, urls: Sequence[str], number: int) -> list[Webhook]:
    """Create a webhook for every URL on loopback, and events with one delivery per event."""
    webhooks = Webhook.objects.bulk_create(
        Webhook(
            organization=organization,
            url=url,
            receiver=url.split("/")[2],
            events=[EventKind.SCAN_COMPLETED],
            encrypted_secret=encryption.encrypt(new_secret()),
        )
        for url in urls
    )
    body = example(EventKind.SCAN_COMPLETED, timezone.now())
    events = Event.objects.bulk_create(
        (Event(organization=organization, kind=EventKind.SCAN_COMPLETED, body=body) for _ in range(number)), BATCH
    )
    Delivery.objects.bulk_create(
        (Delivery(webhook=webhooks[at % len(webhooks)], event=event) for at, event in enumerate(events)), BATCH
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE webhooks_delivery, webhooks_event, webhooks_webhook")
    return webhooks


def create_ended_deliveries(organization: Organization, number: int) -> Webhook:
    """Create a webhook and its deliveries.

    One in 20 is pending, and one in 1,000 has failed.
    """
    (webhook,) = create_pending_deliveries(organization, ["https://hooks.example.com/"], number)
    with connection.cursor() as cursor:
        for statement in END_DELIVERIES:
            cursor.execute(statement, {"webhook": webhook.id})
        cursor.execute("ANALYZE webhooks_delivery, webhooks_attempt")
    return webhook


def create_audits(organization: Organization, number: int, pages: int) -> list[Audit]:
    """Create a site's ended audits, newest first, without pages and findings.

    One in ten has failed.
    """
    now = timezone.now()
    types = [str(scan_type) for scan_type in ScanType]
    total: TypeTotal = {"pages": pages, "sum": pages * 50, "flawless": 0, "gaps": 0, "cap": None, "caps": {}}
    return Audit.objects.bulk_create(
        Audit(
            organization=organization,
            kind=Audit.Kind.SITE,
            url=f"{SITE}/",
            types=types,
            max_pages=pages,
            status=Audit.Status.FAILED if hours % 10 == 9 else Audit.Status.COMPLETED,
            created_at=now - timedelta(hours=hours),
            completed_at=now,
            pages_found=pages,
            pages_planned=pages,
            pages_done=pages,
            scans_done=len(types) * pages,
            totals=dict.fromkeys(types, total),
        )
        for hours in range(number)
    )


def fill_audit(audit: Audit, pages: int, checks: Sequence[Check], places: int) -> None:
    """Create an audit's pages and one finding per check.

    Places are distributed evenly over the findings.
    """
    AuditPage.objects.bulk_create((_page(audit, number) for number in range(pages)), BATCH)
    samples = [SamplePage(url=f"{SITE}/page/{number}", scan_id=_scan_id(str(number))) for number in range(5)]
    findings = AuditFinding.objects.bulk_create(
        AuditFinding(
            audit=audit,
            type=check.type,
            check_id=check.id,
            status="fail",
            severity=check.severity,
            title=check.found,
            message="Some words of a message. " * 8,
            fix=check.own_fix.text,
            pages_affected=1 + number % pages,
            points=number * 0.37,
            later=number * 0.37,
            samples=samples,
        )
        for number, check in enumerate(checks)
    )
    AuditPlace.objects.bulk_create(
        (
            AuditPlace(
                finding=findings[number % len(findings)],
                fingerprint=f"{number:016x}",
                place="div > " * 20,
                pages_affected=1 + number % pages,
                samples=samples,
            )
            for number in range(places)
        ),
        BATCH,
    )


def _page(audit: Audit, number: int) -> AuditPage:
    score = number % 101
    results = {
        scan_type: PageResult(scan_id=_scan_id(f"{scan_type} {number}"), status="completed", score=score, grade="B")
        for scan_type in audit.types
    }
    return AuditPage(
        audit=audit,
        position=number,
        url=f"{SITE}/page/{number}",
        origin=SITE,
        status=AuditPage.Status.DONE,
        results=results,
        worst_score=score,
    )


def _scan_id(text: str) -> str:
    return f"scan_{md5(text.encode()).hexdigest()[:22]}"
