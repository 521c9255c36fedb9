"""Server time and number of database queries of the API's lists of scans and audits.

The organization has 100,000 scans and 1,000 audits, one of them of 10,000 pages with 20,000 findings.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from benchmarks.installation import install, servers
from benchmarks.pages import report

if TYPE_CHECKING:
    from django.test import Client

SCANS, HOSTS, AUDITS, PAGES, FINDINGS = 100_000, 997, 1_000, 10_000, 20_000
GOAL_MS, GOAL_QUERIES = 50, 6

AUDIT_PAGES = """
    INSERT INTO sites_auditpage (audit_id, position, url, origin, status, results, worst_score)
    SELECT %(audit)s, n, 'https://example.com/page/' || n, 'https://example.com', 'done',
        (
            SELECT jsonb_object_agg(type, jsonb_build_object(
                'scan', 'scan_' || substr(md5(type || n), 1, 22), 'status', 'completed', 'score', n %% 101, 'grade', 'B'
            )) FROM unnest(%(types)s::text[]) AS type
        ),
        n %% 101
    FROM generate_series(0, %(pages)s - 1) AS n
"""
AUDIT_FINDINGS = """
    INSERT INTO sites_auditfinding (
        audit_id, type, check_id, fingerprint, status, severity, title, message, fix, pages_affected, points, samples
    )
    SELECT %(audit)s, (%(types)s::text[])[1 + n %% 4], 'check-' || n %% 100, substr(md5(n::text), 1, 16),
        'fail', 'medium', 'A title', repeat('Some words of a message. ', 8), repeat('How to mend it. ', 20),
        1 + n %% 10000, n * 0.37,
        (
            SELECT jsonb_agg(jsonb_build_object(
                'url', 'https://example.com/page/' || sample, 'scan', 'scan_' || substr(md5(n::text), 1, 22),
                'place', repeat('div > ', 20)
            )) FROM generate_series(1, 5) AS sample
        )
    FROM generate_series(1, %(findings)s) AS n
"""
OF_AUDIT = """
    UPDATE scans_scan SET audit_page_id = page.id, is_background = true
    FROM (SELECT id, row_number() OVER () AS n FROM sites_auditpage) AS page,
        (SELECT id, row_number() OVER (ORDER BY created_at DESC) AS n FROM scans_scan) AS numbered
    WHERE numbered.id = scans_scan.id AND (numbered.n + 3) / 4 = page.n
"""


def main() -> int:
    """Print the table; return 1 if a goal was missed."""
    with ExitStack() as cleanup:
        folder, stack = cleanup.enter_context(servers())
        install(folder, stack, ALLOWED_HOSTS="testserver")
        return report(_lists(), GOAL_MS, GOAL_QUERIES)


def _lists() -> list[tuple[str, Client, str]]:
    from django.db import connection
    from django.test import Client

    from benchmarks.seed import organization_with

    seeded = organization_with("Lists", SCANS, HOSTS)
    audit_id = _audits(seeded.organization_id)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")  # as autovacuum would do
    client = Client(headers={"Authorization": f"Bearer {seeded.key}"})
    audit = f"/v1/audits/{audit_id}"
    paths = {
        "scans": "/v1/scans",
        "scans of a type": "/v1/scans?type=seo&limit=100",
        "scans, deep": "/v1/scans?limit=100&offset=90000",
        "audits": "/v1/audits",
        "audits, most": "/v1/audits?limit=100",
        "audits, deep": "/v1/audits?limit=100&offset=900",
        "audits of a status": "/v1/audits?status=failed&limit=100",
        "an audit": audit,
        "its pages": f"{audit}/pages",
        "its pages, most, deep": f"{audit}/pages?limit=100&offset=9900",
        "its pages of a status": f"{audit}/pages?status=done&limit=100&offset=9000",
        "its findings": f"{audit}/findings",
        "its findings, most, deep": f"{audit}/findings?limit=100&offset=19900",
        "its findings of a type": f"{audit}/findings?type=seo&limit=100",
    }
    return [(name, client, path) for name, path in paths.items()]


def _audits(organization_id: int) -> str:
    """Create the audits; return the ID of the one with many pages, which is the newest."""
    from datetime import timedelta

    from django.db import connection
    from django.utils import timezone

    from scans.models import Scan
    from sites.models import Audit

    now = timezone.now()
    types = [str(each) for each in Scan.Type]
    totals = {each: {"pages": PAGES, "sum": PAGES * 50, "flawless": 0, "gaps": 0, "cap": None} for each in types}
    statuses = (Audit.Status.COMPLETED, Audit.Status.FAILED)
    audits = [
        Audit(
            organization_id=organization_id,
            kind=Audit.Kind.SITE,
            url="https://example.com/",
            types=types,
            max_pages=PAGES,
            status=statuses[bool(number) and number % 10 == 0],
            created_at=now - timedelta(hours=number),
            completed_at=now,
            pages_found=PAGES,
            pages_planned=PAGES,
            pages_done=PAGES,
            scans_done=4 * PAGES,
            findings_count=FINDINGS,
            totals=totals,
        )
        for number in range(AUDITS)
    ]
    Audit.objects.bulk_create(audits)
    with connection.cursor() as cursor:
        values = {"audit": audits[0].id, "types": types, "pages": PAGES, "findings": FINDINGS}
        cursor.execute(AUDIT_PAGES, values)
        cursor.execute(AUDIT_FINDINGS, values)
        cursor.execute(OF_AUDIT)
    return audits[0].id
