from django.db import migrations, models

from config.postgresql.indexes import AddIndexConcurrently


def kept_days(what):
    return models.PositiveSmallIntegerField(db_default=30, default=30, help_text=what)


class Migration(migrations.Migration):
    """How long reports are kept, as the plan was when they were asked for. Old code runs on it, with 30 days."""

    # The index is made while the service runs.
    atomic = False

    dependencies = [("scans", "0004_waiting_indexes")]

    operations = [
        migrations.AddField(
            "scan",
            "kept_days",
            kept_days("How long its report is kept, as the plan was when the scan was created."),
        ),
        migrations.AddField(
            "audit",
            "kept_days",
            kept_days("How long the reports of its scans are kept, as the plan was when it was created."),
        ),
        AddIndexConcurrently("audit", models.Index(fields=["kept_days", "created_at"], name="audit_kept")),
    ]
