"""Monitors, their runs, and what they know of their pages."""

import config.ids
import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0006_shortest_interval'),
        ('scans', '0015_audits_with_credentials'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='audit',
            name='of_monitor',
            field=models.BooleanField(db_default=False, default=False, help_text="A monitor's run: nobody waits for it, and only changes are told."),
        ),
        migrations.CreateModel(
            name='Monitor',
            fields=[
                ('credential_names', models.JSONField(blank=True, help_text='What of the credentials may be shown.', null=True)),
                ('encrypted_credentials', models.BinaryField(blank=True, null=True)),
                ('id', models.CharField(default=config.ids.new_monitor_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('name', models.CharField(max_length=100)),
                ('kind', models.CharField(choices=[('page', 'Page'), ('pages', 'Pages'), ('site', 'Site')], max_length=8)),
                ('pages', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=8192), help_text='The page, the pages, or where the site begins.', size=None)),
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
                ('alert', models.JSONField(help_text='What is worth a message.')),
                ('recipients', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), blank=True, default=list, help_text='Of e-mails: IDs of people, while they are members.', size=None)),
                ('tells_webhooks', models.BooleanField(default=True)),
                ('failing_since', models.DateTimeField(blank=True, null=True)),
                ('scores', models.JSONField(blank=True, default=dict)),
                ('certificate_expires_at', models.DateTimeField(blank=True, null=True)),
                ('certificate_host', models.CharField(blank=True, default='', max_length=300)),
                ('api_key', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to='accounts.apikey')),
                ('created_by', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='monitors', to='accounts.organization')),
            ],
        ),
        migrations.AddField(
            model_name='idempotencyrecord',
            name='monitor',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, to='scans.monitor'),
        ),
        migrations.CreateModel(
            name='MonitorRun',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('due_at', models.DateTimeField()),
                ('is_requested', models.BooleanField(default=False, help_text='Somebody asked for it, beside the schedule.')),
                ('status', models.CharField(choices=[('due', 'Due'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('skipped', 'Skipped')], default='due', max_length=8)),
                ('not_before', models.DateTimeField(help_text='When it may start, or start again.')),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('error_code', models.CharField(blank=True, default='', max_length=40)),
                ('error_message', models.TextField(blank=True, default='')),
                ('scores', models.JSONField(blank=True, default=dict)),
                ('news', models.JSONField(blank=True, default=dict)),
                ('is_told', models.BooleanField(default=False, help_text='Whether it was worth a message.')),
                ('audit', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='run', to='scans.audit')),
                ('monitor', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='scans.monitor')),
            ],
        ),
        migrations.CreateModel(
            name='MonitorState',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('page', models.CharField(help_text='SHA-256 of the URL, which may be longer than an index takes.', max_length=64)),
                ('url', models.CharField(max_length=8192)),
                ('type', models.CharField(max_length=16)),
                ('scan_id', models.CharField(help_text='Whose report it is; that may have expired.', max_length=40)),
                ('confirmed_at', models.DateTimeField()),
                ('document', models.JSONField()),
                ('doubts', models.JSONField(blank=True, default=dict)),
                ('monitor', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='states', to='scans.monitor')),
            ],
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
            index=models.Index(fields=['due_at'], name='monitor_run_oldest'),
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
