"""Event of grouped alerts."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('webhooks', '0002_names'),
    ]

    operations = [
        migrations.AlterField(
            model_name='event',
            name='kind',
            field=models.CharField(choices=[('scan.completed', 'A scan ended with a full report.'), ('scan.failed', 'A scan ended without a report.'), ('scan.partial', 'A scan ended with a report, but some checks could not run.'), ('audit.completed', 'An audit ended; some of its pages may be missing.'), ('audit.failed', 'An audit ended, and none of its pages could be checked.'), ('audit.scan', 'A scan of an audit of several pages ended.'), ('monitor.changed', 'A monitor found a change: something new, fixed, worse or better.'), ('monitor.failed', 'A monitor can no longer reach its page or site.'), ('monitor.recovered', 'A monitor can reach its page or site again.'), ('monitor.alert', 'Monitors have alerts: one event for all of some minutes, grouped by cause.'), ('list.completed', 'A run of a list ended; some of its sites may be missing.'), ('list.changed', 'A run of a list found sites that are better or worse than in the run before.')], max_length=32),
        ),
        migrations.AlterField(
            model_name='webhook',
            name='events',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('scan.completed', 'A scan ended with a full report.'), ('scan.failed', 'A scan ended without a report.'), ('scan.partial', 'A scan ended with a report, but some checks could not run.'), ('audit.completed', 'An audit ended; some of its pages may be missing.'), ('audit.failed', 'An audit ended, and none of its pages could be checked.'), ('audit.scan', 'A scan of an audit of several pages ended.'), ('monitor.changed', 'A monitor found a change: something new, fixed, worse or better.'), ('monitor.failed', 'A monitor can no longer reach its page or site.'), ('monitor.recovered', 'A monitor can reach its page or site again.'), ('monitor.alert', 'Monitors have alerts: one event for all of some minutes, grouped by cause.'), ('list.completed', 'A run of a list ended; some of its sites may be missing.'), ('list.changed', 'A run of a list found sites that are better or worse than in the run before.')], max_length=32), size=None),
        ),
    ]
