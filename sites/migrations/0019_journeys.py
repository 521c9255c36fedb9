"""Journeys: named lists of steps in a browser."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import sites.models.journey


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0008_journeys_of_tiers'),
        ('sites', '0018_assessment_counts'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Journey',
            fields=[
                ('viewing', models.JSONField(blank=True, help_text='Widths in pixels and colour scheme. Null: the usual ones.', null=True)),
                ('id', models.CharField(default=sites.models.journey.new_journey_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('name', models.CharField(max_length=120)),
                ('recording', models.JSONField(help_text="In the format of Chrome DevTools' Recorder. Secrets appear as {{name}} only.")),
                ('start_url', models.CharField(help_text='Address of the first navigation.', max_length=8192)),
                ('site', models.CharField(help_text='Registrable domain of the start, or its host if it has none.', max_length=253)),
                ('identity_providers', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=253), blank=True, default=list, help_text='Hosts where secrets may be typed, too.', size=None)),
                ('types', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=16), size=None)),
                ('secret_names', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), blank=True, default=list, help_text='Names of the secrets that have a value.', size=None)),
                ('encrypted_secrets', models.BinaryField(blank=True, null=True)),
                ('proof_token', models.CharField(help_text='Public text that the site has to publish.', max_length=40)),
                ('proof_method', models.CharField(blank=True, choices=[('dns', 'DNS record'), ('file', 'file on the server'), ('meta', 'meta element of the start page'), ('exempt', 'network that the operator has exempted')], default='', max_length=8)),
                ('proven_scope', models.CharField(blank=True, default='', help_text='Host under control, with the hosts below it, and the only port if not all ports were proven.', max_length=260)),
                ('proven_at', models.DateTimeField(blank=True, help_text='When the latest check of control succeeded.', null=True)),
                ('api_key', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to='accounts.apikey')),
                ('created_by', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('organization', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='journeys', to='accounts.organization')),
            ],
        ),
        migrations.AddIndex(
            model_name='journey',
            index=models.Index(fields=['organization', '-created_at', '-id'], name='journey_newest_first'),
        ),
    ]
