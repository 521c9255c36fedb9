"""Test data for benchmarks: organizations with many scans and one real report."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_network

from django.db import connection
from django.utils import timezone

from accounts.keys.services import create_api_key
from accounts.models import Tier
from accounts.services import ensure_organization
from accounts.usage import month_of
from scanner.findings import ScanType
from scanner.net.client import Network
from scanner.net.policy import Policy
from scanner.net.targets import parse_target
from scanner.result import Budget
from scanner.run import scan
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from tests.targets.sample import sample_site

# A limit that no benchmark reaches.
PLENTY = 100_000_000


@dataclass(frozen=True)
class Seeded:
    """Created organization, its API key, and its scan with a report."""

    organization_id: int
    key: str
    scan_id: str


def organization_with(name: str, scans: int, hosts: int = 1) -> Seeded:
    """Create an organization with `scans` scans spread over twelve months, types and hosts, and one real report."""
    Tier.objects.update(scans_per_month=PLENTY, concurrent_scans=PLENTY, requests_per_minute=PLENTY, webhooks=PLENTY)
    organization = ensure_organization(name=name)
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO scans_scan (
                id, organization_id, type, url, status, score, grade, created_at, started_at, completed_at,
                period, percent, phase, checks_done, checks_total, skipped_checks, error_code, error_message,
                enqueued_at, attempts
            )
            SELECT 'scan_' || substr(md5(%(name)s || n), 1, 22), %(organization)s,
                (ARRAY['security', 'performance', 'accessibility', 'seo'])[1 + n %% 4],
                'https://' || n %% %(hosts)s || '.example.com/page/' || n, 'completed',
                n %% 101, 'B', moment, moment, moment,
                date_trunc('month', moment)::date, 100, 'done', 20, 20, '[]', '', '', moment, 1
            FROM (
                SELECT n, %(now)s::timestamptz - n * interval '1 year' / %(scans)s AS moment
                FROM generate_series(1, %(scans)s) AS n
            ) AS numbered
            """,
            {"name": name, "organization": organization.id, "scans": scans, "hosts": hosts, "now": timezone.now()},
        )
        cursor.execute("ANALYZE scans_scan")
    _, key = create_api_key(organization=organization, name="bench")
    return Seeded(organization.id, key, _real_report(organization.id))


def _real_report(organization_id: int) -> str:
    policy_networks = (ip_network("127.0.0.0/8"),)
    with sample_site() as site:
        policy = Policy(allowed_networks=policy_networks, ca_bundle=site.ca_file)
        target = parse_target(site.url_as("localhost") + "/", policy)
        row = Scan.objects.create(
            organization_id=organization_id, type="security", url=target.url, period=month_of(timezone.now())
        )
        claim = claim_scan(row.id)
        assert claim is not None
        with Network(policy) as network:
            assert finish_scan(claim, *scan(target, [ScanType.SECURITY], network, Budget()))
    return row.id
