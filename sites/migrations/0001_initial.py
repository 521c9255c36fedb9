import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import sites.models.audit
import sites.models.badge
import sites.models.monitor
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Audit',
            fields=[
                ('claim_token', models.UUIDField(blank=True, null=True)),
                ('lease_expires_at', models.DateTimeField(blank=True, null=True)),
                ('credential_names', models.JSONField(blank=True, help_text='Names of the credentials, which may be shown.', null=True)),
                ('encrypted_credentials', models.BinaryField(blank=True, null=True)),
                ('id', models.CharField(default=sites.models.audit.new_audit_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('page', 'Page'), ('pages', 'Pages'), ('site', 'Site')], max_length=8)),
                ('url', models.CharField(help_text='The page, the first page of the list, or the start of the site.', max_length=8192)),
                ('types', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=16), size=None)),
                ('discover', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=8), blank=True, default=list, size=None)),
                ('include', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=500), blank=True, default=list, size=None)),
                ('exclude', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=500), blank=True, default=list, size=None)),
                ('max_pages', models.PositiveIntegerField()),
                ('status', models.CharField(choices=[('queued', 'Queued'), ('discovering', 'Discovering'), ('running', 'Running'), ('completed', 'Completed'), ('partial', 'Partial'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=16)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('completed_at', models.DateTimeField(blank=True, null=True)),
                ('released_at', models.DateTimeField(blank=True, help_text='When the last of its pages got a slot.', null=True)),
                ('kept_days', models.PositiveSmallIntegerField(db_default=30, default=30, help_text='How long the reports of its scans are kept, as the plan was when it was created.')),
                ('pages_found', models.PositiveIntegerField(default=0)),
                ('pages_planned', models.PositiveIntegerField(default=0)),
                ('pages_done', models.PositiveIntegerField(default=0)),
                ('pages_failed', models.PositiveIntegerField(default=0)),
                ('scans_done', models.PositiveIntegerField(default=0)),
                ('totals', models.JSONField(blank=True, default=dict)),
                ('notes', models.JSONField(blank=True, default=list, help_text='Notes from the discovery of pages.')),
                ('spare_pages', models.JSONField(blank=True, default=list, help_text='URLs found beyond the list, which replace pages that are left out.')),
                ('follows_links', models.BooleanField(db_default=False, default=False, help_text='Its visits follow links, because discovery has not read all pages.')),
                ('error_code', models.CharField(blank=True, default='', max_length=40)),
                ('error_message', models.TextField(blank=True, default='')),
                ('shared_at', models.DateTimeField(blank=True, help_text='Since when anyone with the link can read it.', null=True)),
                ('of_monitor', models.BooleanField(db_default=False, default=False, help_text="A monitor's run: nobody waits for it, and only changes are reported.")),
                ('request_id', models.CharField(blank=True, db_default='', default='', help_text='Of the request that asked for it, if any.', max_length=128)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('worker', models.CharField(blank=True, default='', max_length=100)),
                ('enqueued_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('api_key', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to='accounts.apikey')),
                ('created_by', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='audits', to='accounts.organization')),
            ],
        ),
        migrations.CreateModel(
            name='AuditFinding',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('type', models.CharField(max_length=16)),
                ('check_id', models.CharField(max_length=80)),
                ('status', models.CharField(max_length=4)),
                ('severity', models.CharField(max_length=8)),
                ('title', models.TextField()),
                ('message', models.TextField()),
                ('fix', models.TextField(blank=True)),
                ('pages_affected', models.PositiveIntegerField()),
                ('critical_pages', models.PositiveIntegerField(default=0, help_text='Pages on which it is a critical failure.')),
                ('held_pages', models.PositiveIntegerField(default=0, help_text='Pages whose score a cap lowers that counts it.')),
                ('points', models.FloatField(help_text='Sum over the pages of the points that fixing the finding gains.')),
                ('later', models.FloatField(default=0, help_text='The same if no cap applied.')),
                ('told_by', models.CharField(blank=True, db_default='', default='', help_text='The check of another type that tells the same on all of its pages.', max_length=80)),
                ('samples', models.JSONField(default=list, help_text='The first pages on which it is worst: {url, scan_id}.')),
                ('audit', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='findings', to='sites.audit')),
            ],
        ),
        migrations.CreateModel(
            name='AuditPlace',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('fingerprint', models.CharField(max_length=64)),
                ('place', models.TextField(blank=True, help_text='In the words of the first page; empty for the page as a whole.')),
                ('pages_affected', models.PositiveIntegerField()),
                ('samples', models.JSONField(default=list, help_text='The first pages with it: {url, scan_id}.')),
                ('finding', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='places', to='sites.auditfinding')),
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
                ('is_linked', models.BooleanField(db_default=False, default=False, help_text="Found by a visit's links, so that an error there is no page.")),
                ('audit', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='pages', to='sites.audit')),
            ],
        ),
        migrations.CreateModel(
            name='Monitor',
            fields=[
                ('credential_names', models.JSONField(blank=True, help_text='Names of the credentials, which may be shown.', null=True)),
                ('encrypted_credentials', models.BinaryField(blank=True, null=True)),
                ('id', models.CharField(default=sites.models.monitor.new_monitor_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('name', models.CharField(max_length=100)),
                ('kind', models.CharField(choices=[('page', 'Page'), ('pages', 'Pages'), ('site', 'Site')], max_length=8)),
                ('pages', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=8192), help_text='The page, the list of pages, or the start of the site.', size=None)),
                ('types', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=16), size=None)),
                ('discover', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=8), blank=True, default=list, size=None)),
                ('include', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=500), blank=True, default=list, size=None)),
                ('exclude', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=500), blank=True, default=list, size=None)),
                ('max_pages', models.PositiveIntegerField()),
                ('every', models.CharField(choices=[('hour', 'every hour'), ('6h', 'every 6 hours'), ('day', 'every day'), ('week', 'every week'), ('month', 'every month')], max_length=8)),
                ('at', models.TimeField(blank=True, help_text='Local time; without one the start is spread by the ID.', null=True)),
                ('day', models.PositiveSmallIntegerField(blank=True, help_text='With a time: ISO weekday (1 is Monday) or day of the month.', null=True)),
                ('timezone', models.CharField(default='UTC', max_length=64)),
                ('next_run_at', models.DateTimeField(blank=True, null=True)),
                ('paused_at', models.DateTimeField(blank=True, null=True)),
                ('pause_reason', models.CharField(blank=True, choices=[('requested', 'by a member or a key'), ('quota', "the month's scans are used"), ('plan', 'the plan allows fewer monitors')], default='', max_length=16)),
                ('alert', models.JSONField(help_text='Conditions for a notification.')),
                ('recipients', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), blank=True, default=list, help_text='Of e-mails: IDs of people, while they are members.', size=None)),
                ('tells_webhooks', models.BooleanField(default=True)),
                ('failing_since', models.DateTimeField(blank=True, null=True)),
                ('scores', models.JSONField(blank=True, default=dict)),
                ('certificate_expires_at', models.DateTimeField(blank=True, null=True)),
                ('certificate_host', models.CharField(blank=True, default='', max_length=300)),
                ('memory', models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict, help_text="Scores that the next run is compared with, and certificates already reported.")),
                ('api_key', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to='accounts.apikey')),
                ('created_by', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='monitors', to='accounts.organization')),
            ],
        ),
        migrations.CreateModel(
            name='Badge',
            fields=[
                ('id', models.CharField(default=sites.models.badge.new_badge_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('page', models.CharField(blank=True, default='', help_text="The page's URL, if the badge is not a monitor's.", max_length=8192)),
                ('created_by', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='badges', to='accounts.organization')),
                ('monitor', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='badge', to='sites.monitor')),
            ],
        ),
        migrations.CreateModel(
            name='MonitorRun',
            fields=[
                ('id', models.CharField(default=sites.models.monitor.new_run_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('due_at', models.DateTimeField()),
                ('is_requested', models.BooleanField(default=False, help_text='Requested by somebody, outside the schedule.')),
                ('status', models.CharField(choices=[('due', 'Due'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('skipped', 'Skipped')], default='due', max_length=8)),
                ('not_before', models.DateTimeField(help_text='When it may start, or start again.')),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('error_code', models.CharField(blank=True, default='', max_length=40)),
                ('error_message', models.TextField(blank=True, default='')),
                ('scores', models.JSONField(blank=True, default=dict)),
                ('news', models.JSONField(blank=True, default=dict)),
                ('is_told', models.BooleanField(default=False, help_text='A notification was sent.')),
                ('audit', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='run', to='sites.audit')),
                ('monitor', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='sites.monitor')),
            ],
        ),
        migrations.CreateModel(
            name='MonitorState',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('page', models.CharField(help_text='SHA-256 of the URL, which may be longer than an index takes.', max_length=64)),
                ('url', models.CharField(max_length=8192)),
                ('type', models.CharField(max_length=16)),
                ('scan_id', models.CharField(help_text='The scan of the report, which may have expired.', max_length=40)),
                ('confirmed_at', models.DateTimeField()),
                ('document', models.JSONField()),
                ('doubts', models.JSONField(blank=True, default=dict)),
                ('monitor', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='states', to='sites.monitor')),
            ],
        ),
        migrations.AddIndex(
            model_name='audit',
            index=models.Index(fields=['organization', '-created_at', '-id'], name='audit_newest_first'),
        ),
        migrations.AddIndex(
            model_name='audit',
            index=models.Index(condition=models.Q(('of_monitor', False)), fields=['organization', '-created_at', '-id'], name='audit_newest_asked_for'),
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
            model_name='audit',
            index=models.Index(fields=['kept_days', 'created_at'], name='audit_kept'),
        ),
        migrations.AddIndex(
            model_name='audit',
            index=models.Index(condition=models.Q(('encrypted_credentials__isnull', False)), fields=['created_at'], name='audit_with_credentials'),
        ),
        migrations.AddConstraint(
            model_name='auditfinding',
            constraint=models.UniqueConstraint(fields=('audit', 'type', 'check_id'), name='audit_finding_unique'),
        ),
        migrations.AddConstraint(
            model_name='auditplace',
            constraint=models.UniqueConstraint(fields=('finding', 'fingerprint'), name='audit_place_unique'),
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
        migrations.AddIndex(
            model_name='monitor',
            index=models.Index(fields=['organization', '-created_at', '-id'], name='monitor_newest_first'),
        ),
        migrations.AddIndex(
            model_name='monitor',
            index=models.Index(condition=models.Q(('next_run_at__isnull', False)), fields=['next_run_at'], name='monitor_due'),
        ),
        migrations.AddIndex(
            model_name='badge',
            index=models.Index(fields=['organization', '-created_at', '-id'], name='badge_newest_first'),
        ),
        migrations.AddConstraint(
            model_name='badge',
            constraint=models.CheckConstraint(condition=models.Q(('monitor', None), ('page', ''), _connector='XOR'), name='badge_of_one_thing'),
        ),
        migrations.AddConstraint(
            model_name='badge',
            constraint=models.UniqueConstraint(models.F('organization'), django.db.models.functions.text.MD5('page'), condition=models.Q(('page', ''), _negated=True), name='badge_of_page'),
        ),
        migrations.AddIndex(
            model_name='monitorrun',
            index=models.Index(condition=models.Q(('status', 'due')), fields=['not_before', 'id'], name='monitor_run_due'),
        ),
        migrations.AddIndex(
            model_name='monitorrun',
            index=models.Index(condition=models.Q(('status__in', ('due', 'running'))), fields=['monitor'], name='monitor_run_unfinished'),
        ),
        migrations.AddIndex(
            model_name='monitorrun',
            index=models.Index(condition=models.Q(('status', 'running')), fields=['started_at'], name='monitor_run_running'),
        ),
        migrations.AddIndex(
            model_name='monitorrun',
            index=models.Index(fields=['due_at', 'id'], name='monitor_run_oldest'),
        ),
        migrations.AddIndex(
            model_name='monitorrun',
            index=models.Index(condition=models.Q(('news', {}), _negated=True), fields=['monitor', '-due_at'], name='monitor_run_news'),
        ),
        migrations.AddConstraint(
            model_name='monitorrun',
            constraint=models.UniqueConstraint(fields=('monitor', 'due_at'), name='monitor_run_once'),
        ),
        migrations.AddConstraint(
            model_name='monitorstate',
            constraint=models.UniqueConstraint(fields=('monitor', 'page', 'type'), name='monitor_state_unique'),
        ),
    ]
