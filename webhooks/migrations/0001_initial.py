from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
import webhooks.models
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
        ('scans', '0001_initial'),
        ('sites', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('claim_token', models.UUIDField(blank=True, null=True)),
                ('lease_expires_at', models.DateTimeField(blank=True, null=True)),
                ('id', models.CharField(default=webhooks.models.new_delivery_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('delivered', 'Delivered'), ('failed', 'Failed')], default='pending', max_length=16)),
                ('attempts_made', models.PositiveSmallIntegerField(default=0)),
                ('next_attempt_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('is_held', models.BooleanField(db_default=False, default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'verbose_name_plural': 'deliveries',
            },
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(help_text='When it began.')),
                ('latency_ms', models.PositiveIntegerField(help_text='Until the answer was read, or the attempt failed.')),
                ('response_status', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('response_body', models.TextField(blank=True, default='', help_text='The first 2 KiB, as text.')),
                ('error_code', models.CharField(blank=True, default='', max_length=40)),
                ('error_message', models.CharField(blank=True, default='', max_length=300)),
                ('blocked', models.BooleanField(default=False, help_text='Refused by the net guard: nothing was sent.')),
                ('delivery', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='attempts', to='webhooks.delivery')),
            ],
            options={
                'ordering': ('at', 'id'),
            },
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.CharField(default=webhooks.models.new_event_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('scan.completed', 'A scan ended with a full report.'), ('scan.failed', 'A scan ended without a report.'), ('scan.partial', 'A scan ended with a report, but some checks could not run.'), ('audit.completed', 'An audit ended; some of its pages may be missing.'), ('audit.failed', 'An audit ended, and none of its pages could be checked.'), ('audit.scan', 'A scan of an audit of several pages ended.'), ('monitor.changed', 'A monitor found a change: something new, fixed, worse or better.'), ('monitor.failed', 'A monitor can no longer reach its page or site.'), ('monitor.recovered', 'A monitor can reach its page or site again.'), ('list.completed', 'A run of a list ended; some of its sites may be missing.'), ('list.changed', 'A run of a list found sites that are better or worse than in the run before.')], max_length=32)),
                ('body', models.BinaryField()),
                ('request_id', models.CharField(blank=True, db_default='', default='', help_text='Of the request that led to it, if any.', max_length=128)),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ('audit', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='sites.audit')),
                ('monitor', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='sites.monitor')),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='accounts.organization')),
                ('scan', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='scans.scan')),
                ('site_list', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='sites.sitelist')),
            ],
        ),
        migrations.AddField(
            model_name='delivery',
            name='event',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='webhooks.event'),
        ),
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.CharField(default=webhooks.models.new_webhook_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('url', models.CharField(max_length=8192)),
                ('receiver', models.CharField(help_text="The URL's host and port, by which concurrent attempts are limited.", max_length=300)),
                ('events', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('scan.completed', 'A scan ended with a full report.'), ('scan.failed', 'A scan ended without a report.'), ('scan.partial', 'A scan ended with a report, but some checks could not run.'), ('audit.completed', 'An audit ended; some of its pages may be missing.'), ('audit.failed', 'An audit ended, and none of its pages could be checked.'), ('audit.scan', 'A scan of an audit of several pages ended.'), ('monitor.changed', 'A monitor found a change: something new, fixed, worse or better.'), ('monitor.failed', 'A monitor can no longer reach its page or site.'), ('monitor.recovered', 'A monitor can reach its page or site again.'), ('list.completed', 'A run of a list ended; some of its sites may be missing.'), ('list.changed', 'A run of a list found sites that are better or worse than in the run before.')], max_length=32), size=None)),
                ('format', models.CharField(choices=[('standard', 'Standard'), ('slack', 'Slack'), ('teams', 'Microsoft Teams')], db_default='standard', default='standard', max_length=16)),
                ('encrypted_secret', models.BinaryField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('enabled', models.BooleanField(default=True)),
                ('disabled_at', models.DateTimeField(blank=True, null=True)),
                ('disabled_reason', models.CharField(blank=True, choices=[('requested', 'by its organization'), ('gone', 'it answered 410'), ('failing', 'nothing but failures for days')], default='', max_length=16)),
                ('failing_since', models.DateTimeField(blank=True, null=True)),
                ('failures', models.PositiveIntegerField(default=0)),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to='accounts.organization')),
            ],
            options={
                'ordering': ('created_at', 'id'),
            },
        ),
        migrations.CreateModel(
            name='FormerSecret',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('encrypted_secret', models.BinaryField()),
                ('expires_at', models.DateTimeField()),
                ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='former_secrets', to='webhooks.webhook')),
            ],
        ),
        migrations.AddField(
            model_name='delivery',
            name='webhook',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='webhooks.webhook'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(condition=models.Q(('audit__isnull', False)), fields=['audit'], name='event_of_audit'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(condition=models.Q(('monitor__isnull', False)), fields=['monitor'], name='event_of_monitor'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('is_held', False), ('status', 'pending')), fields=['webhook', 'next_attempt_at', 'id'], name='delivery_waiting'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('lease_expires_at__isnull', False), ('status', 'pending')), fields=['lease_expires_at'], name='delivery_in_flight'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(fields=['webhook', '-created_at', '-id'], name='delivery_newest'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('status', 'pending'), _negated=True), fields=['finished_at'], name='delivery_finished'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(condition=models.Q(('site_list__isnull', False)), fields=['site_list'], name='event_of_list'),
        ),
        migrations.RunSQL(Path(__file__).with_name("attempts_of_delivery.sql").read_text(encoding="utf-8"), migrations.RunSQL.noop),
    ]
