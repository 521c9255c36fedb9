from pathlib import Path

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.text
import django.utils.timezone
import website_scan.ids
import scans.models.domain
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
        ('sites', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='BlockedDomain',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('domain', models.CharField(max_length=253, unique=True)),
                ('reason', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ('domain',),
            },
        ),
        migrations.CreateModel(
            name='DomainTurn',
            fields=[
                ('domain', models.CharField(max_length=253, primary_key=True, serialize=False)),
                ('taken_at', models.DateTimeField()),
                ('free_at', models.DateTimeField(db_index=True)),
                ('told', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=16), default=list, size=None)),
            ],
        ),
        migrations.CreateModel(
            name='EndedScan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('type', models.CharField(max_length=16)),
                ('status', models.CharField(max_length=16)),
                ('error_code', models.CharField(blank=True, max_length=40)),
                ('is_background', models.BooleanField()),
                ('waited_ms', models.BigIntegerField(help_text='Until its last attempt started. Empty: it never started.', null=True)),
                ('duration_ms', models.BigIntegerField(null=True)),
                ('cpu_ms', models.BigIntegerField(help_text="Its share of the visit's processor time, the browser's included, if known.", null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Scan',
            fields=[
                ('claim_token', models.UUIDField(blank=True, null=True)),
                ('lease_expires_at', models.DateTimeField(blank=True, null=True)),
                ('credential_names', models.JSONField(blank=True, help_text='Names of the credentials, which may be shown.', null=True)),
                ('encrypted_credentials', models.BinaryField(blank=True, null=True)),
                ('id', models.CharField(default=website_scan.ids.new_scan_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('type', models.CharField(choices=[('security', 'Security'), ('performance', 'Performance'), ('accessibility', 'Accessibility'), ('seo', 'SEO')], max_length=16)),
                ('url', models.CharField(help_text='Canonical, so it may be longer than what was sent.', max_length=8192)),
                ('host', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce(models.Func(models.F('url'), models.Value('^https?://([^/?#]+)'), function='substring'), models.Value('')), help_text="The URL's host, with its port where that is not the scheme's own: the site.", output_field=models.TextField())),
                ('domain', scans.models.domain.DomainField(blank=True, db_default='', default='', help_text='Domain by which visits are limited.', max_length=253)),
                ('status', models.CharField(choices=[('queued', 'Queued'), ('scanning', 'Scanning'), ('completed', 'Completed'), ('partial', 'Partial'), ('failed', 'Failed')], default='queued', max_length=16)),
                ('score', models.PositiveSmallIntegerField(blank=True, null=True, validators=[django.core.validators.MaxValueValidator(100)])),
                ('grade', models.CharField(blank=True, max_length=2, null=True)),
                ('catalogue_version', models.CharField(blank=True, db_default='', default='', help_text='The rules that the score came from, if known.', max_length=40)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('completed_at', models.DateTimeField(blank=True, null=True)),
                ('period', models.DateField(help_text='The month whose quota the scan was taken from.')),
                ('kept_days', models.PositiveSmallIntegerField(db_default=30, default=30, help_text='How long its report is kept, as the plan was when the scan was created.')),
                ('percent', models.PositiveSmallIntegerField(default=0)),
                ('phase', models.CharField(default='queued', max_length=16)),
                ('checks_done', models.PositiveSmallIntegerField(default=0)),
                ('checks_total', models.PositiveSmallIntegerField(default=0)),
                ('skipped_checks', models.JSONField(blank=True, default=list)),
                ('error_code', models.CharField(blank=True, default='', max_length=40)),
                ('error_message', models.TextField(blank=True, default='')),
                ('enqueued_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('worker', models.CharField(blank=True, db_default='', help_text='Worker of the last attempt.', max_length=100)),
                ('is_background', models.BooleanField(db_default=False, default=False, help_text='Part of an audit of several pages: scans that somebody waits for go first.')),
                ('is_of_list', models.BooleanField(db_default=False, default=False, help_text='Part of a list of sites: it waits while another visit is at one of its addresses.')),
                ('addresses', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=60), blank=True, help_text='Addresses of the host before the visit (`address_of`), of the leading scan. Empty: unknown.', null=True, size=None)),
                ('request_id', models.CharField(blank=True, db_default='', default='', help_text='Of the request that asked for it, if any.', max_length=128)),
                ('api_key', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to='accounts.apikey')),
                ('audit_page', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='scans', to='sites.auditpage')),
                ('created_by', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('lead', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='companions', to='scans.scan')),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scans', to='accounts.organization')),
            ],
        ),
        migrations.CreateModel(
            name='IdempotencyRecord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=255)),
                ('request_digest', models.CharField(max_length=64)),
                ('response', models.TextField(help_text='JSON; jsonb would lose its order.')),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ('audit', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to='sites.audit')),
                ('monitor', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, to='sites.monitor')),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='accounts.organization')),
                ('scan', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to='scans.scan')),
                ('site_list', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, to='sites.sitelist')),
            ],
        ),
        migrations.CreateModel(
            name='ScanCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('organization_id', models.BigIntegerField()),
                ('period', models.DateField()),
                ('type', models.CharField(max_length=16)),
                ('status', models.CharField(max_length=16)),
                ('count', models.BigIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('organization_id', 'period', 'type', 'status'), name='scan_count_unique')],
            },
        ),
        migrations.CreateModel(
            name='ScanTally',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=40)),
                ('labels', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None)),
                ('value', models.BigIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('name', 'labels'), name='scan_tally_unique')],
            },
        ),
        migrations.CreateModel(
            name='Turn',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('queue', models.CharField(max_length=16)),
                ('taken_at', models.DateTimeField()),
                ('organization', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='accounts.organization')),
            ],
        ),
        migrations.AddIndex(
            model_name='scan',
            index=models.Index(fields=['organization', '-created_at', '-id'], name='scan_newest'),
        ),
        migrations.AddIndex(
            model_name='scan',
            index=models.Index(fields=['organization', 'status', '-created_at', '-id'], name='scan_status'),
        ),
        migrations.AddIndex(
            model_name='scan',
            index=models.Index(fields=['organization', 'type', '-created_at', '-id'], name='scan_type'),
        ),
        migrations.AddIndex(
            model_name='scan',
            index=models.Index(fields=['organization', 'host', 'type', '-created_at', '-id'], name='scan_of_site'),
        ),
        migrations.AddIndex(
            model_name='scan',
            index=models.Index(models.F('organization'), django.db.models.functions.text.MD5('url'), models.F('type'), models.OrderBy(models.F('created_at'), descending=True), condition=models.Q(('status__in', ('completed', 'partial'))), name='scan_of_page'),
        ),
        migrations.AddIndex(
            model_name='scan',
            index=models.Index(models.F('organization'), models.F('host'), django.db.models.functions.text.Left('url', 1000), condition=models.Q(('lead', None)), name='scan_page_of_site'),
        ),
        migrations.AddIndex(
            model_name='scan',
            index=models.Index(condition=models.Q(('audit_page', None), ('is_background', False), ('lead', None)), fields=['organization', '-created_at', '-id'], name='scan_newest_single'),
        ),
        migrations.AddIndex(
            model_name='scan',
            index=models.Index(fields=['-created_at', '-id'], name='scan_newest_of_all'),
        ),
        migrations.AddIndex(
            model_name='scan',
            index=models.Index(condition=models.Q(('status__in', ('partial', 'failed'))), fields=['status', '-created_at', '-id'], name='scan_not_completed'),
        ),
        migrations.AddIndex(
            model_name='scan',
            index=models.Index(condition=models.Q(('status__in', ('queued', 'scanning'))), fields=['status', 'enqueued_at'], name='scan_unfinished'),
        ),
        migrations.AddIndex(
            model_name='scan',
            index=models.Index(condition=models.Q(('lead', None), ('status__in', ('queued', 'scanning'))), fields=['organization'], name='scan_running_visits'),
        ),
        migrations.AddIndex(
            model_name='scan',
            index=models.Index(condition=models.Q(('lead', None), ('status', 'queued')), fields=['organization', 'is_background', 'created_at', 'id'], name='scan_waiting_visits'),
        ),
        migrations.AddIndex(
            model_name='scan',
            index=models.Index(condition=models.Q(('lead', None), ('status', 'queued')), fields=['domain', 'type'], name='scan_waiting_of_domain'),
        ),
        migrations.AddIndex(
            model_name='scan',
            index=django.contrib.postgres.indexes.GinIndex(condition=models.Q(('is_of_list', True), ('lead', None), ('status', 'queued')), fields=['addresses'], name='scan_waiting_of_address'),
        ),
        migrations.AddIndex(
            model_name='scan',
            index=models.Index(condition=models.Q(('lead__isnull', False)), fields=['lead'], name='scan_companions'),
        ),
        migrations.AddIndex(
            model_name='scan',
            index=models.Index(condition=models.Q(('audit_page__isnull', False)), fields=['audit_page'], name='scan_of_audit_page'),
        ),
        migrations.AddIndex(
            model_name='scan',
            index=models.Index(condition=models.Q(('encrypted_credentials__isnull', False)), fields=['created_at'], name='scan_with_credentials'),
        ),
        migrations.AddConstraint(
            model_name='scan',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('score__isnull', False), ('status__in', ('completed', 'partial'))), models.Q(('score__isnull', True), ('status__in', ('queued', 'scanning', 'failed'))), _connector='OR'), name='scan_score_with_result'),
        ),
        migrations.AddIndex(
            model_name='idempotencyrecord',
            index=models.Index(condition=models.Q(('monitor__isnull', False)), fields=['monitor'], name='idempotency_of_monitor'),
        ),
        migrations.AddConstraint(
            model_name='idempotencyrecord',
            constraint=models.UniqueConstraint(fields=('organization', 'key'), name='idempotency_unique'),
        ),
        migrations.AddConstraint(
            model_name='turn',
            constraint=models.UniqueConstraint(fields=('organization', 'queue'), name='turn_unique'),
        ),
        migrations.AddIndex(
            model_name='idempotencyrecord',
            index=models.Index(condition=models.Q(('site_list__isnull', False)), fields=['site_list'], name='idempotency_of_list'),
        ),
        migrations.RunSQL(Path(__file__).with_name("scan_counts.sql").read_text(encoding="utf-8"), migrations.RunSQL.noop),
    ]
