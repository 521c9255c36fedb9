"""The tiers to start with; an operator may edit the rows."""

from django.db import migrations

# name: (scans a month, concurrent scans, requests a minute, webhooks, monitors, pages of an audit, shortest interval)
TIERS = {
    "free": (100, 2, 60, 3, 1, 10, "day"),
    "pro": (2_000, 10, 300, 10, 25, 100, "6h"),
    "business": (20_000, 50, 1_200, 25, 250, 1_000, "hour"),
    "enterprise": (200_000, 200, 6_000, 100, 2_500, 10_000, "hour"),
}


def seed(apps, schema_editor):
    Tier = apps.get_model("accounts", "Tier")
    for name, (scans, concurrent, requests, webhooks, schedules, pages, interval) in TIERS.items():
        Tier.objects.using(schema_editor.connection.alias).get_or_create(
            name=name,
            defaults={
                "scans_per_month": scans,
                "concurrent_scans": concurrent,
                "requests_per_minute": requests,
                "webhooks": webhooks,
                "schedules": schedules,
                "pages_per_audit": pages,
                "shortest_interval": interval,
            },
        )


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]
    operations = [migrations.RunPython(seed, migrations.RunPython.noop)]
