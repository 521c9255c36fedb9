"""Index of monitors by journey."""

from django.db import migrations, models

from infrastructure.postgresql.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False
    dependencies = [
        ('sites', '0024_monitors_of_journeys'),
    ]

    operations = [
        AddIndexConcurrently(
            'monitor',
            models.Index(condition=models.Q(('journey__isnull', False)), fields=['journey'], name='monitor_of_journey'),
        ),
    ]
