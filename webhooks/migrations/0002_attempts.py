"""Attempts as rows of their own, leases, disabling, rotated secrets and test events."""

from urllib.parse import urlsplit

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

DEFAULT_PORTS = {"http": 80, "https": 443}


def fill_receivers(apps, schema_editor):
    """The URLs are canonical already."""
    for webhook in apps.get_model("webhooks", "Webhook").objects.all():
        parts = urlsplit(webhook.url)
        webhook.receiver = f"{parts.hostname}:{parts.port or DEFAULT_PORTS[parts.scheme]}"
        webhook.save(update_fields=["receiver"])


def delete_test_events(apps, schema_editor):
    """On the way back: before, every event was of a scan. The database deletes nothing by itself."""
    tests = apps.get_model("webhooks", "Event").objects.filter(scan=None)
    apps.get_model("webhooks", "Delivery").objects.filter(event__in=tests).delete()
    tests.delete()
    schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # what is still to be checked forbids to alter a table


FINISH = """
    UPDATE webhooks_delivery SET finished_at = next_attempt_at WHERE status = 'failed' AND finished_at IS NULL;
"""
# Not deferred: a statement that deletes deliveries deletes their attempts.
CASCADE = """
    ALTER TABLE webhooks_attempt ADD CONSTRAINT webhooks_attempt_delivery
    FOREIGN KEY (delivery_id) REFERENCES webhooks_delivery (id) ON DELETE CASCADE;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("scans", "0001_initial"),
        ("webhooks", "0001_initial"),
    ]

    operations = [
        migrations.AddField("webhook", "receiver", models.CharField(
            default="", max_length=300,
            help_text="The URL's host and port: what attempts at once are bounded by.",
        ), preserve_default=False),
        migrations.RunPython(fill_receivers, migrations.RunPython.noop, elidable=True),
        migrations.AddField("webhook", "enabled", models.BooleanField(default=True)),
        migrations.AddField("webhook", "disabled_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("webhook", "disabled_reason", models.CharField(
            blank=True, default="", max_length=16,
            choices=[
                ("requested", "by its organization"),
                ("gone", "it answered 410"),
                ("failing", "nothing but failures for days"),
            ],
        )),
        migrations.AddField("webhook", "failing_since", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("webhook", "failures", models.PositiveIntegerField(default=0)),
        migrations.AddField("webhook", "notice_due_at", models.DateTimeField(blank=True, null=True)),
        migrations.CreateModel("FormerSecret", [
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("encrypted_secret", models.BinaryField()),
            ("expires_at", models.DateTimeField()),
            ("webhook", models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="former_secrets", to="webhooks.webhook"
            )),
        ]),
        migrations.AlterField("event", "scan", models.ForeignKey(
            blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="events", to="scans.scan"
        )),
        migrations.RunPython(migrations.RunPython.noop, delete_test_events),
        migrations.AlterField("event", "created_at", models.DateTimeField(
            db_index=True, default=django.utils.timezone.now
        )),
        migrations.RenameField("delivery", "attempts", "attempts_made"),
        migrations.RenameField("delivery", "delivered_at", "finished_at"),
        migrations.RunSQL(FINISH, migrations.RunSQL.noop, elidable=True),
        migrations.RemoveField("delivery", "response_status"),
        migrations.RemoveField("delivery", "error"),
        migrations.AddField("delivery", "claim_token", models.UUIDField(blank=True, null=True)),
        migrations.AddField("delivery", "lease_expires_at", models.DateTimeField(blank=True, null=True)),
        migrations.RemoveIndex("delivery", "delivery_due"),
        migrations.AlterField("delivery", "webhook", models.ForeignKey(
            db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="deliveries",
            to="webhooks.webhook",
        )),
        migrations.AddIndex("delivery", models.Index(
            condition=models.Q(status="pending"), fields=["webhook", "next_attempt_at", "id"], name="delivery_due"
        )),
        migrations.AddIndex("delivery", models.Index(
            condition=models.Q(lease_expires_at__isnull=False, status="pending"), fields=["lease_expires_at"],
            name="delivery_in_flight",
        )),
        migrations.AddIndex("delivery", models.Index(
            fields=["webhook", "-created_at", "-id"], name="delivery_newest"
        )),
        migrations.AddIndex("delivery", models.Index(
            condition=models.Q(("status", "pending"), _negated=True), fields=["finished_at"],
            name="delivery_finished",
        )),
        migrations.CreateModel("Attempt", [
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("at", models.DateTimeField(help_text="When it began.")),
            ("latency_ms", models.PositiveIntegerField(
                help_text="Until the answer was read, or the attempt failed."
            )),
            ("response_status", models.PositiveSmallIntegerField(blank=True, null=True)),
            ("response_body", models.TextField(blank=True, default="", help_text="The first 2 KiB, as text.")),
            ("error_code", models.CharField(blank=True, default="", max_length=40)),
            ("error_message", models.CharField(blank=True, default="", max_length=300)),
            ("blocked", models.BooleanField(
                default=False, help_text="Refused by the net guard: nothing was sent."
            )),
            ("delivery", models.ForeignKey(
                db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="attempts",
                to="webhooks.delivery",
            )),
        ], options={"ordering": ("at", "id")}),
        migrations.RunSQL(CASCADE, migrations.RunSQL.noop),
    ]
