"""The index of audits' events, made while the service runs."""


from django.db import migrations, models

from config.postgresql.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("webhooks", "0005_audit_events")]

    operations = [
        AddIndexConcurrently(
            model_name='event',
            index=models.Index(condition=models.Q(('audit__isnull', False)), fields=['audit'], name='event_of_audit'),
        ),
    ]
