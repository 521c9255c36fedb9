"""An index of the scans that have credentials, made while the service runs."""

from django.db import migrations, models

from config.postgresql.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("scans", "0012_credentials"),
    ]

    operations = [
        AddIndexConcurrently("scan", models.Index(
            condition=models.Q(("encrypted_credentials__isnull", False)),
            fields=["created_at"],
            name="scan_with_credentials",
        )),
    ]
