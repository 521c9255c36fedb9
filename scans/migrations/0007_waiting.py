"""An index of what waits, made while the service runs."""

from django.db import migrations, models

from config.postgresql.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("scans", "0006_turns"),
    ]

    operations = [
        AddIndexConcurrently("scan", models.Index(
            condition=models.Q(("status", "queued")), fields=["organization", "created_at", "id"], name="scan_waiting"
        )),
    ]
