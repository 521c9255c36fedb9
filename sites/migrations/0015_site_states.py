"""Tables for the current state of sites, filled from the latest results of their main pages."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.text
from django.db import migrations, models


TYPES = ("security", "performance", "accessibility", "seo")
# The latest scan of each host and type that has a result. Start pages over https come first, then pages by address.
LATEST = """
    CREATE TEMPORARY TABLE latest_of_site ON COMMIT DROP AS
    WITH main AS (
        SELECT DISTINCT ON (organization_id, host) organization_id, host, url FROM scans_scan
        WHERE status IN ('completed', 'partial') AND host <> ''
        ORDER BY organization_id, host, url <> 'https://' || host || '/', url
    )
    SELECT DISTINCT ON (scan.organization_id, scan.host, scan.type) scan.id, scan.organization_id, scan.host, scan.url,
        scan.type, scan.score, scan.grade, scan.created_at, scan.created_at + scan.kept_days * interval '1 day' AS until
    FROM main JOIN scans_scan AS scan USING (organization_id, host)
    WHERE scan.url = main.url AND scan.status IN ('completed', 'partial')
    ORDER BY scan.organization_id, scan.host, scan.type, scan.created_at DESC
"""
FINDINGS = """
    INSERT INTO sites_sitefinding (organization_id, host, url, type, check_id, outcome, severity, title, fingerprints,
        is_cut, scan_id, since, is_new, expires_at)
    SELECT scan.organization_id, scan.host, scan.url, scan.type, found ->> 'id', coalesce(found ->> 'outcome', ''),
        found ->> 'severity', coalesce(found ->> 'title', found ->> 'name'), '{}', true, scan.id, scan.created_at,
        false, scan.until
    FROM latest_of_site AS scan
    JOIN reports_report AS report ON report.scan_id = scan.id AND report.expires_at > now()
    CROSS JOIN LATERAL jsonb_array_elements(report.export::jsonb -> 'categories') AS category
    CROSS JOIN LATERAL jsonb_array_elements(category -> 'checks') AS found
    WHERE found ->> 'status' = 'fail' AND found ->> 'severity' IN ('critical', 'high')
    ON CONFLICT DO NOTHING
"""
SCORES = ", ".join(
    f"max({column}) FILTER (WHERE type = '{type}') AS {type}_{column}" for type in TYPES for column in ("score", "grade")
)
COLUMNS = ", ".join(f"{type}_{column}" for type in TYPES for column in ("score", "grade"))
VALUES = ", ".join(
    f"{type}_score, coalesce({type}_grade, '')" for type in TYPES
)
LOWEST = "least(" + ", ".join(f"{type}_score" for type in TYPES) + ")"
STATES = f"""
    INSERT INTO sites_sitestate (organization_id, host, url, scanned_at, error_message, critical, high, lowest_score,
        urgency, {COLUMNS})
    SELECT organization_id, host, url, scanned_at, '', critical, high, {LOWEST}, coalesce({LOWEST}, 999) + 1000 * CASE
        WHEN critical > 0 THEN 0 WHEN high > 0 THEN 2 ELSE 3 END, {VALUES}
    FROM (
        SELECT organization_id, host, min(url) AS url, max(created_at) AS scanned_at, {SCORES}
        FROM latest_of_site GROUP BY organization_id, host
    ) AS site
    CROSS JOIN LATERAL (
        SELECT count(DISTINCT check_id) FILTER (WHERE severity = 'critical') AS critical,
            count(DISTINCT check_id) FILTER (WHERE severity = 'high') AS high
        FROM sites_sitefinding AS finding
        WHERE finding.organization_id = site.organization_id AND finding.host = site.host
    ) AS counts
    ON CONFLICT DO NOTHING
"""


def fill(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        for statement in (LATEST, FINDINGS, STATES):
            cursor.execute(statement)


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0002_object_name_of_activity'),
        ('sites', '0014_causes_and_alerts'),
    ]

    operations = [
        migrations.CreateModel(
            name='SiteFinding',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('host', models.CharField(max_length=300)),
                ('url', models.CharField(max_length=8192)),
                ('type', models.CharField(max_length=16)),
                ('check_id', models.CharField(max_length=80)),
                ('outcome', models.CharField(blank=True, default='', max_length=80)),
                ('severity', models.CharField(max_length=8)),
                ('title', models.TextField()),
                ('fingerprints', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), blank=True, default=list, size=None)),
                ('is_cut', models.BooleanField(default=False)),
                ('scan_id', models.CharField(help_text='The scan of the report, which may have expired.', max_length=40)),
                ('since', models.DateTimeField(help_text='When a scan had the finding first.')),
                ('is_new', models.BooleanField(default=False, help_text='The scan before `since` did not have the finding.')),
                ('fixed_at', models.DateTimeField(blank=True, null=True)),
                ('expires_at', models.DateTimeField(help_text='When the report expires.')),
                ('organization', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.organization')),
            ],
            options={
                'indexes': [models.Index(fields=['organization', 'host'], name='site_finding_of_site'), models.Index(condition=models.Q(('fixed_at__isnull', False)), fields=['organization', 'fixed_at'], name='site_fixed'), models.Index(fields=['expires_at'], name='site_finding_expired')],
                'constraints': [models.UniqueConstraint(models.F('organization'), django.db.models.functions.text.MD5('url'), models.F('type'), models.F('check_id'), name='site_finding_unique')],
            },
        ),
        migrations.CreateModel(
            name='SiteState',
            fields=[
                ('security_score', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('performance_score', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('accessibility_score', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('seo_score', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('security_grade', models.CharField(blank=True, default='', max_length=2)),
                ('performance_grade', models.CharField(blank=True, default='', max_length=2)),
                ('accessibility_grade', models.CharField(blank=True, default='', max_length=2)),
                ('seo_grade', models.CharField(blank=True, default='', max_length=2)),
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('host', models.CharField(help_text="With a port that is not the scheme's own.", max_length=300)),
                ('url', models.CharField(help_text='The main page.', max_length=8192)),
                ('scanned_at', models.DateTimeField(help_text='When the latest scan of any of its pages ended.')),
                ('failing_since', models.DateTimeField(blank=True, null=True)),
                ('error_message', models.TextField(blank=True, default='')),
                ('critical', models.PositiveIntegerField(default=0)),
                ('high', models.PositiveIntegerField(default=0)),
                ('lowest_score', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('urgency', models.PositiveIntegerField(default=3999)),
                ('organization', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='site_states', to='accounts.organization')),
            ],
            options={
                'indexes': [models.Index(fields=['organization', 'urgency', 'id'], name='site_state_by_urgency')],
                'constraints': [models.UniqueConstraint(fields=('organization', 'host'), name='site_state_unique')],
            },
        ),
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
    ]
