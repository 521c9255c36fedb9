"""Index of audits by journey."""

from django.db import migrations, models

from infrastructure.postgresql.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False
    dependencies = [
        ('sites', '0021_states_of_journeys'),
    ]

    operations = [
        AddIndexConcurrently(
            'audit',
            models.Index(condition=models.Q(('journey__isnull', False)), fields=['journey'], name='audit_of_journey'),
        ),
    ]
