"""Who waits for a domain, who has waited longest, and what need not be kept: made while the service runs."""

from django.db import migrations, models

from infrastructure.postgresql.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("scans", "0004_audits")]
    operations = [
        AddIndexConcurrently(
            model_name="scan",
            index=models.Index(
                condition=models.Q(("lead", None), ("status", "queued")),
                fields=["domain", "type"],
                name="scan_waiting_of_domain",
            ),
        ),
        AddIndexConcurrently(
            model_name="scan",
            index=models.Index(
                condition=models.Q(("is_background", False), ("lead", None), ("status", "queued")),
                fields=["type", "created_at"],
                name="scan_waiting_longest",
            ),
        ),
        AddIndexConcurrently(
            model_name="audit", index=models.Index(fields=["kept_days", "created_at"], name="audit_kept")
        ),
    ]
