"""Indexes for lists that leave out monitors' audits, and for what monitors found last; made while the service runs."""

from django.db import migrations, models

from config.postgresql.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("scans", "0019_badges")]

    operations = [
        AddIndexConcurrently(
            "audit",
            models.Index(
                condition=models.Q(("of_monitor", False)),
                fields=["organization", "-created_at", "-id"],
                name="audit_newest_asked_for",
            ),
        ),
        AddIndexConcurrently(
            "monitorrun",
            models.Index(
                condition=models.Q(("news", {}), _negated=True),
                fields=["monitor", "-due_at"],
                name="monitor_run_news",
            ),
        ),
    ]
