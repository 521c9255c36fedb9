"""The index of monitors' events, made while the service runs."""

from django.db import migrations, models

from config.postgresql.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("webhooks", "0007_monitor_events")]

    operations = [
        AddIndexConcurrently(
            "event",
            models.Index(condition=models.Q(("monitor__isnull", False)), fields=["monitor"], name="event_of_monitor"),
        ),
    ]
