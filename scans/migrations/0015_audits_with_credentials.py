"""An index of the audits that have credentials, made while the service runs."""

from django.db import migrations, models

from config.postgresql.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("scans", "0014_audit_credentials")]

    operations = [
        AddIndexConcurrently(
            "audit",
            models.Index(
                condition=models.Q(("encrypted_credentials__isnull", False)),
                fields=["created_at"],
                name="audit_with_credentials",
            ),
        ),
    ]
