"""The index of audits' events, made while the service runs."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("webhooks", "0003_audit_events")]

    operations = [
        # It waits for transactions that are under way, and stops nobody meanwhile.
        migrations.RunSQL("SET lock_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently(
            model_name='event',
            index=models.Index(condition=models.Q(('audit__isnull', False)), fields=['audit'], name='event_of_audit'),
        ),
    ]
