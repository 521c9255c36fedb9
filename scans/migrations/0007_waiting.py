"""An index of what waits, made while the service runs."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("scans", "0006_turns"),
    ]

    operations = [
        # It waits for transactions that are under way, and stops nobody meanwhile.
        migrations.RunSQL("SET lock_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently("scan", models.Index(
            condition=models.Q(("status", "queued")), fields=["organization", "created_at", "id"], name="scan_waiting"
        )),
    ]
