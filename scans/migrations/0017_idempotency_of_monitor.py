"""The index of monitors' idempotency records, made while the service runs."""

from django.db import migrations, models

from config.postgresql.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("scans", "0016_monitors")]

    operations = [
        AddIndexConcurrently(
            "idempotencyrecord",
            models.Index(
                condition=models.Q(("monitor__isnull", False)), fields=["monitor"], name="idempotency_of_monitor"
            ),
        ),
    ]
