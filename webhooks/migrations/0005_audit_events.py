"""Events of audits."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0005_pages_per_audit'),
        ('scans', '0008_visits_and_audits'),
        ('webhooks', '0004_index_of_what_waits'),
    ]

    operations = [
        migrations.AddField(
            model_name='event',
            name='audit',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='scans.audit'),
        ),
        migrations.AlterField(
            model_name='event',
            name='kind',
            field=models.CharField(choices=[('scan.completed', 'Scan Completed'), ('scan.failed', 'Scan Failed'), ('scan.partial', 'Scan Partial'), ('audit.completed', 'Audit Completed'), ('audit.failed', 'Audit Failed')], max_length=32),
        ),
        migrations.AlterField(
            model_name='webhook',
            name='events',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('scan.completed', 'Scan Completed'), ('scan.failed', 'Scan Failed'), ('scan.partial', 'Scan Partial'), ('audit.completed', 'Audit Completed'), ('audit.failed', 'Audit Failed')], max_length=32), size=None),
        ),
    ]
