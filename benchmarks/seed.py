"""Test data for benchmarks: organizations with many scans, and with all rows that hang on them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

from django.db import connection
from django.utils import timezone

from accounts.keys.services import create_api_key
from accounts.models import ApiKey, Tier
from accounts.services import ensure_organization
from accounts.usage import month_of
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from sites.models import Audit
from sites.models.audit import TypeTotal
from tests.targets.sample import sample_site
from tests.targets.server import Site
from webhooks.models import Webhook
from website_scan.catalogue import Check, checks
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target
from website_scan.result import Budget, ScanResult
from website_scan.run import scan

# A limit that no benchmark reaches.
PLENTY = 100_000_000
AUDITS_SHARE, PAGES_SHARE, PLACES_SHARE = 0.01, 0.1, 0.2  # audits, and rows of the newest one, beside the scans
# Pages and findings of the second newest audit, as a real site has them. The newest has a finding of every check.
USUAL_PAGES, USUAL_FINDINGS = 100, 60

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
        FROM generate_series(1, %(scans)s) AS n
    ) AS numbered
"""
# What hangs on each scan. Bodies are shorter than real ones: only the number of rows matters.
OF_SCANS = (
    """
    INSERT INTO reports_report (id, scan_id, organization_id, body, export, facts, created_at, expires_at)
    SELECT 'rpt_' || substr(id, 6), id, organization_id, repeat(md5(id), 60), repeat(md5(id), 120), '{}', created_at,
        created_at + interval '30 days'
    FROM scans_scan WHERE organization_id = %(organization)s AND id NOT IN (SELECT scan_id FROM reports_report)
    """,
    """
    INSERT INTO webhooks_event (id, organization_id, scan_id, kind, body, request_id, created_at)
    SELECT 'evt_' || substr(id, 6), organization_id, id, 'scan.completed', '{}', '', created_at
    FROM scans_scan WHERE organization_id = %(organization)s
    """,
    """
    INSERT INTO webhooks_delivery (
        id, webhook_id, event_id, status, attempts_made, next_attempt_at, is_held, created_at, finished_at
    )
    SELECT 'dlv_' || substr(id, 5), %(webhook)s, id,
        CASE WHEN n %% 1000 = 0 THEN 'failed' WHEN n %% 20 = 1 THEN 'pending' ELSE 'delivered' END, 1,
        created_at + interval '2 years' * (n %% 20 = 1)::int, false, created_at,
        CASE WHEN n %% 20 <> 1 THEN created_at END
    FROM (SELECT *, row_number() OVER () AS n FROM webhooks_event WHERE organization_id = %(organization)s) AS event
    """,
    """
    INSERT INTO webhooks_attempt
        (delivery_id, at, latency_ms, response_status, response_body, error_code, error_message, blocked)
    SELECT id, created_at, 12, 200, repeat('x', 500), '', '', false FROM webhooks_delivery
    WHERE webhook_id = %(webhook)s
    """,
    """
    INSERT INTO accounts_activityevent (organization_id, actor_email, actor_key, action, target, details, created_at)
    SELECT organization_id, '', %(key)s, 'scan.created', url, jsonb_build_object('scan', id), created_at
    FROM scans_scan WHERE organization_id = %(organization)s
    """,
)
# Pages and findings of an audit. Each statement has its own numbers, so that any finding has places and pages.
OF_AUDIT = (
    """
    INSERT INTO sites_auditpage (audit_id, position, url, origin, status, results, worst_score)
    SELECT %(audit)s, n, 'https://example.com/page/' || n, 'https://example.com', 'done',
        (
            SELECT jsonb_object_agg(type, jsonb_build_object(
                'scan_id', 'scan_' || substr(md5(type || n), 1, 22), 'status', 'completed',
                'score', n %% 101, 'grade', 'B'
            )) FROM unnest(%(types)s::text[]) AS type
        ),
        n %% 101
    FROM generate_series(0, %(pages)s - 1) AS n
    """,
    """
    INSERT INTO sites_auditfinding (
        audit_id, type, check_id, status, severity, title, message, fix, pages_affected, critical_pages, held_pages,
        points, later, samples
    )
    SELECT %(audit)s, found.type, found.check_id,
        'fail', found.severity, found.title, repeat('Some words of a message. ', 8), found.fix,
        1 + n %% %(pages)s, 0, 0, n * 0.37, n * 0.37,
        (
            SELECT jsonb_agg(jsonb_build_object(
                'url', 'https://example.com/page/' || sample, 'scan_id', 'scan_' || substr(md5(n::text), 1, 22)
            )) FROM generate_series(1, 5) AS sample
        )
    FROM jsonb_to_recordset(%(findings)s::jsonb)
        AS found(n integer, type text, check_id text, severity text, title text, fix text)
    """,
    """
    INSERT INTO sites_auditplace (finding_id, fingerprint, place, pages_affected, samples)
    SELECT finding.id, substr(md5(n::text), 1, 16), repeat('div > ', 20), 1 + n %% %(pages)s, finding.samples
    FROM (
        SELECT id, samples, row_number() OVER (ORDER BY id) AS nth FROM sites_auditfinding WHERE audit_id = %(audit)s
    ) AS finding
    JOIN generate_series(1, %(places)s) AS n ON n %% jsonb_array_length(%(findings)s::jsonb) = finding.nth - 1
    """,
)
SCANS_OF_AUDIT = """
    UPDATE scans_scan SET audit_page_id = page.id, is_background = true
    FROM (SELECT id, row_number() OVER () AS n FROM sites_auditpage WHERE audit_id = %(audit)s) AS page,
        (SELECT id, row_number() OVER (ORDER BY created_at DESC) AS n FROM scans_scan
            WHERE organization_id = %(organization)s AND id <> %(real)s) AS numbered
    WHERE numbered.id = scans_scan.id AND (numbered.n + 3) / 4 = page.n
"""


@dataclass(frozen=True)
class Seeded:
    """Created organization, its API key, and its scan with a real report."""

    organization_id: int
    key: str
    scan_id: str


@dataclass(frozen=True)
class Hung:
    """Webhook of an organization, its newest audit, which has a finding of every check, and a usual one."""

    webhook_id: str
    audit_id: str
    usual_audit_id: str


def organization_with(name: str, scans: int, hosts: int = 1) -> Seeded:
    """Create an organization with `scans` scans spread over twelve months, types and hosts, and one real report."""
    Tier.objects.update(scans_per_month=PLENTY, concurrent_scans=PLENTY, requests_per_minute=PLENTY, webhooks=PLENTY)
    organization = ensure_organization(name=name)
    values: dict[str, Any] = {
        "name": name,
        "organization": organization.id,
        "scans": scans,
        "hosts": hosts,
        "now": timezone.now(),
    }
    with connection.cursor() as cursor:
        cursor.execute(SCANS, values)
        cursor.execute("ANALYZE scans_scan")
    _, key = create_api_key(organization=organization, name="bench")
    row = Scan.objects.create(
        organization_id=organization.id, type="security", url="https://example.com/", period=month_of(timezone.now())
    )
    claim = claim_scan(row.id)
    assert claim is not None
    with sample_site() as site:
        assert finish_scan(claim, *results_of(site, [ScanType.SECURITY]))
    return Seeded(organization.id, key, row.id)


def hang_on(seeded: Seeded, scans: int) -> Hung:
    """Create the rows that hang on an organization's scans: reports, deliveries, the activity log, and audits."""
    webhook = Webhook.objects.create(
        organization_id=seeded.organization_id,
        url="https://hooks.example.com/",
        receiver="hooks.example.com:443",
        events=["scan.completed"],
        encrypted_secret=b"",
    )
    pages, places = round(scans * PAGES_SHARE), round(scans * PLACES_SHARE)
    types = [str(each) for each in ScanType]
    now = timezone.now()
    total: TypeTotal = {"pages": pages, "sum": pages * 50, "flawless": 0, "gaps": 0, "cap": None, "caps": {}}
    audits = Audit.objects.bulk_create(
        Audit(
            organization_id=seeded.organization_id,
            kind=Audit.Kind.SITE,
            url="https://example.com/",
            types=types,
            max_pages=pages,
            status=Audit.Status.FAILED if number % 10 == 9 else Audit.Status.COMPLETED,
            created_at=now - timedelta(hours=number),
            completed_at=now,
            pages_found=pages,
            pages_planned=pages,
            pages_done=pages,
            scans_done=len(types) * pages,
            totals=dict.fromkeys(types, total),
        )
        for number in range(max(2, round(scans * AUDITS_SHARE)))
    )
    values: dict[str, Any] = {
        "organization": seeded.organization_id,
        "webhook": webhook.id,
        "key": ApiKey.objects.get(organization=seeded.organization_id).id,
        "audit": audits[0].id,
        "real": seeded.scan_id,
    }
    every = [check for each in ScanType for check in checks(each)]
    some = every[:: len(every) // USUAL_FINDINGS][:USUAL_FINDINGS]
    with connection.cursor() as cursor:
        for statement in OF_SCANS:
            cursor.execute(statement, values)
        for audit, its_pages, found, its_places in (
            (audits[0], pages, every, places),
            (audits[1], min(pages, USUAL_PAGES), some, USUAL_FINDINGS * 8),
        ):
            of_audit: dict[str, Any] = {
                "audit": audit.id,
                "types": types,
                "pages": its_pages,
                "findings": json.dumps([_finding(*each) for each in enumerate(found, 1)]),
                "places": its_places,
            }
            for statement in OF_AUDIT:
                cursor.execute(statement, of_audit)
        cursor.execute(SCANS_OF_AUDIT, values)
        cursor.execute("VACUUM ANALYZE")  # as autovacuum would do
    return Hung(webhook.id, audits[0].id, audits[1].id)


def _finding(number: int, check: Check) -> dict[str, Any]:
    return {
        "n": number,
        "type": check.type,
        "check_id": check.id,
        "severity": check.severity,
        "title": check.found,
        "fix": check.fix,
    }


def results_of(site: Site, types: list[ScanType]) -> tuple[ScanResult, ...]:
    """Scan a site on loopback in this process."""
    policy = Policy(allowed_networks=(ip_network("127.0.0.0/8"),), ca_bundle=site.ca_file)
    with Network(policy) as network:
        return scan(parse_target(site.url_as("localhost") + "/", policy), types, network, Budget())
