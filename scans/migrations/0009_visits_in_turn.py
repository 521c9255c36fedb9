"""Indexes of what waits and runs, now by visits, made while the service runs."""

from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations, models

from config.postgresql.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("scans", "0008_visits_and_audits")]

    operations = [
        AddIndexConcurrently(
            model_name='scan',
            index=models.Index(condition=models.Q(('lead', None), ('status__in', ('queued', 'scanning'))), fields=['organization'], name='scan_running_visits'),
        ),
        AddIndexConcurrently(
            model_name='scan',
            index=models.Index(condition=models.Q(('lead', None), ('status', 'queued')), fields=['organization', 'is_background', 'created_at', 'id'], name='scan_waiting_visits'),
        ),
        AddIndexConcurrently(
            model_name='scan',
            index=models.Index(condition=models.Q(('lead__isnull', False)), fields=['lead'], name='scan_companions'),
        ),
        AddIndexConcurrently(
            model_name='scan',
            index=models.Index(condition=models.Q(('audit_page__isnull', False)), fields=['audit_page'], name='scan_of_audit_page'),
        ),
        RemoveIndexConcurrently(
            model_name='scan',
            name='scan_concurrency',
        ),
        RemoveIndexConcurrently(
            model_name='scan',
            name='scan_waiting',
        ),
    ]
