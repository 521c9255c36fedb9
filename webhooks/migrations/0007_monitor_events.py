"""Events of monitors."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0006_shortest_interval'),
        ('scans', '0016_monitors'),
        ('webhooks', '0006_event_of_audit'),
    ]

    operations = [
        migrations.AddField(
            model_name='event',
            name='monitor',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='scans.monitor'),
        ),
        migrations.AlterField(
            model_name='event',
            name='kind',
            field=models.CharField(choices=[('scan.completed', 'Scan Completed'), ('scan.failed', 'Scan Failed'), ('scan.partial', 'Scan Partial'), ('audit.completed', 'Audit Completed'), ('audit.failed', 'Audit Failed'), ('monitor.changed', 'Monitor Changed'), ('monitor.failed', 'Monitor Failed'), ('monitor.recovered', 'Monitor Recovered')], max_length=32),
        ),
        migrations.AlterField(
            model_name='webhook',
            name='events',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('scan.completed', 'Scan Completed'), ('scan.failed', 'Scan Failed'), ('scan.partial', 'Scan Partial'), ('audit.completed', 'Audit Completed'), ('audit.failed', 'Audit Failed'), ('monitor.changed', 'Monitor Changed'), ('monitor.failed', 'Monitor Failed'), ('monitor.recovered', 'Monitor Recovered')], max_length=32), size=None),
        ),
    ]
