"""Scans that look at a page together, and audits with their pages and findings."""

import config.ids
import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0005_pages_per_audit'),
        ('scans', '0007_waiting'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Audit',
            fields=[
                ('id', models.CharField(default=config.ids.new_audit_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('page', 'Page'), ('pages', 'Pages'), ('site', 'Site')], max_length=8)),
                ('url', models.CharField(help_text='The page, the first of the pages, or where the site begins.', max_length=8192)),
                ('types', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=16), size=None)),
                ('discover', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=8), blank=True, default=list, size=None)),
                ('include', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=500), blank=True, default=list, size=None)),
                ('exclude', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=500), blank=True, default=list, size=None)),
                ('max_pages', models.PositiveIntegerField()),
                ('status', models.CharField(choices=[('queued', 'Queued'), ('discovering', 'Discovering'), ('running', 'Running'), ('completed', 'Completed'), ('partial', 'Partial'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=16)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('completed_at', models.DateTimeField(blank=True, null=True)),
                ('released_at', models.DateTimeField(blank=True, help_text='When the last of its pages got a place.', null=True)),
                ('pages_found', models.PositiveIntegerField(default=0)),
                ('pages_planned', models.PositiveIntegerField(default=0)),
                ('pages_done', models.PositiveIntegerField(default=0)),
                ('pages_failed', models.PositiveIntegerField(default=0)),
                ('scans_done', models.PositiveIntegerField(default=0)),
                ('findings_count', models.PositiveIntegerField(default=0)),
                ('totals', models.JSONField(blank=True, default=dict)),
                ('notes', models.JSONField(blank=True, default=list, help_text='What was seen while looking for pages.')),
                ('error_code', models.CharField(blank=True, default='', max_length=40)),
                ('error_message', models.TextField(blank=True, default='')),
                ('shared_at', models.DateTimeField(blank=True, help_text='Since when anybody with the link may read it.', null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('claim_token', models.UUIDField(blank=True, null=True)),
                ('lease_expires_at', models.DateTimeField(blank=True, null=True)),
                ('worker', models.CharField(blank=True, default='', max_length=100)),
                ('enqueued_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name='AuditFinding',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('type', models.CharField(max_length=16)),
                ('check_id', models.CharField(max_length=80)),
                ('fingerprint', models.CharField(max_length=64)),
                ('status', models.CharField(max_length=4)),
                ('severity', models.CharField(max_length=8)),
                ('title', models.TextField()),
                ('message', models.TextField(help_text='Of the first page on which it was found.')),
                ('fix', models.TextField(blank=True)),
                ('pages_affected', models.PositiveIntegerField()),
                ('points', models.FloatField(help_text='The sum over its pages of what mending it wins on each.')),
                ('samples', models.JSONField(default=list, help_text='The first pages with it: {url, scan}.')),
            ],
        ),
        migrations.CreateModel(
            name='AuditPage',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('position', models.PositiveIntegerField()),
                ('url', models.CharField(max_length=8192)),
                ('origin', models.CharField(max_length=300)),
                ('status', models.CharField(choices=[('waiting', 'Waiting'), ('released', 'Released'), ('done', 'Done'), ('failed', 'Failed'), ('left_out', 'Left Out')], default='waiting', max_length=8)),
                ('results', models.JSONField(blank=True, default=dict)),
                ('worst_score', models.PositiveSmallIntegerField(blank=True, null=True)),
            ],
        ),
        migrations.AddField(
            model_name='scan',
            name='is_background',
            field=models.BooleanField(db_default=False, default=False, help_text='Of an audit of several pages: what somebody waits for goes first.'),
        ),
        migrations.AddField(
            model_name='scan',
            name='lead',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='companions', to='scans.scan'),
        ),
        migrations.AlterField(
            model_name='idempotencyrecord',
            name='scan',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to='scans.scan'),
        ),
        migrations.AddField(
            model_name='audit',
            name='api_key',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to='accounts.apikey'),
        ),
        migrations.AddField(
            model_name='audit',
            name='created_by',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='audit',
            name='organization',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='audits', to='accounts.organization'),
        ),
        migrations.AddField(
            model_name='idempotencyrecord',
            name='audit',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to='scans.audit'),
        ),
        migrations.AddField(
            model_name='auditfinding',
            name='audit',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='findings', to='scans.audit'),
        ),
        migrations.AddField(
            model_name='auditpage',
            name='audit',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='pages', to='scans.audit'),
        ),
        migrations.AddField(
            model_name='scan',
            name="audit_page",
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='scans', to='scans.auditpage'),
        ),
        migrations.AddIndex(
            model_name='audit',
            index=models.Index(fields=['organization', '-created_at', '-id'], name='audit_newest_first'),
        ),
        migrations.AddIndex(
            model_name='audit',
            index=models.Index(fields=['organization', 'status', '-created_at', '-id'], name='audit_status'),
        ),
        migrations.AddIndex(
            model_name='audit',
            index=models.Index(condition=models.Q(('status__in', ('queued', 'discovering', 'running'))), fields=['organization', 'released_at'], name='audit_unfinished'),
        ),
        migrations.AddIndex(
            model_name='audit',
            index=models.Index(fields=['created_at'], name='audit_oldest'),
        ),
        migrations.AddIndex(
            model_name='auditfinding',
            index=models.Index(fields=['audit', '-points', 'id'], name='audit_finding_worth'),
        ),
        migrations.AddConstraint(
            model_name='auditfinding',
            constraint=models.UniqueConstraint(fields=('audit', 'type', 'check_id', 'fingerprint'), name='audit_finding_unique'),
        ),
        migrations.AddIndex(
            model_name='auditpage',
            index=models.Index(fields=['audit', 'status', 'position'], name='audit_page_next'),
        ),
        migrations.AddIndex(
            model_name='auditpage',
            index=models.Index(fields=['audit', 'worst_score', 'position'], name='audit_page_worst'),
        ),
        migrations.AddConstraint(
            model_name='auditpage',
            constraint=models.UniqueConstraint(fields=('audit', 'position'), name='audit_page_position'),
        ),
    ]
