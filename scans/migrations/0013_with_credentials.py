"""An index of the scans that have credentials, made while the service runs."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("scans", "0012_credentials"),
    ]

    operations = [
        # It waits for transactions that are under way, and stops nobody meanwhile.
        migrations.RunSQL("SET lock_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently("scan", models.Index(
            condition=models.Q(("encrypted_credentials__isnull", False)),
            fields=["created_at"],
            name="scan_with_credentials",
        )),
    ]
