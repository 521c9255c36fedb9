"""Causes, alerts and maintenance windows."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
import sites.models.maintenance
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0003_quiet_hours'),
        ('sites', '0013_webhooks_of_lists'),
        ('webhooks', '0003_monitor_alert'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Cause',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('outage', 'Outage'), ('finding', 'Finding'), ('score', 'Score'), ('certificate', 'Certificate')], max_length=12)),
                ('key', models.CharField(help_text='SHA-256 of the problem and its site.', max_length=64)),
                ('group', models.CharField(help_text='SHA-256 of the problem without its site.', max_length=64)),
                ('site', models.CharField(max_length=300)),
                ('text', models.JSONField()),
                ('first_seen_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('organization', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='accounts.organization')),
            ],
        ),
        migrations.CreateModel(
            name='Alert',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('is_end', models.BooleanField(help_text='The cause has ended.')),
                ('places', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), help_text='Fingerprints, or digests of pages.', size=None)),
                ('note', models.CharField(blank=True, default='', help_text='What the run saw.', max_length=400)),
                ('report_url', models.CharField(blank=True, default='', max_length=300)),
                ('created_at', models.DateTimeField()),
                ('settled_at', models.DateTimeField(blank=True, null=True)),
                ('is_sent', models.BooleanField(default=False)),
                ('monitor', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='alerts', to='sites.monitor')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='alerts', to='sites.monitorrun')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('webhook', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to='webhooks.webhook')),
                ('cause', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='alerts', to='sites.cause')),
            ],
        ),
        migrations.CreateModel(
            name='MaintenanceWindow',
            fields=[
                ('id', models.CharField(default=sites.models.maintenance.new_window_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('name', models.CharField(max_length=100)),
                ('starts_at', models.DateTimeField()),
                ('ends_at', models.DateTimeField()),
                ('is_weekly', models.BooleanField(default=False)),
                ('timezone', models.CharField(default='UTC', max_length=64)),
                ('monitors', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), blank=True, default=list, size=None)),
                ('sites', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=300), blank=True, default=list, size=None)),
                ('created_by', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='maintenance_windows', to='accounts.organization')),
            ],
            options={
                'ordering': ('starts_at', 'id'),
            },
        ),
        migrations.AddIndex(
            model_name='cause',
            index=models.Index(fields=['organization', 'key', '-id'], name='cause_newest'),
        ),
        migrations.AddIndex(
            model_name='cause',
            index=models.Index(fields=['first_seen_at'], name='cause_oldest'),
        ),
        migrations.AddConstraint(
            model_name='cause',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('organization', 'key'), name='cause_open_once'),
        ),
        migrations.AddIndex(
            model_name='alert',
            index=models.Index(condition=models.Q(('settled_at', None)), fields=['user', 'webhook'], name='alert_pending'),
        ),
        migrations.AddIndex(
            model_name='alert',
            index=models.Index(fields=['cause', 'user', 'webhook'], name='alert_of_cause'),
        ),
        migrations.AddConstraint(
            model_name='alert',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('user__isnull', False), ('webhook', None)), models.Q(('user', None), ('webhook__isnull', False)), _connector='OR'), name='alert_one_recipient'),
        ),
    ]
