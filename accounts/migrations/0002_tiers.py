"""The tiers to start with; an operator may edit the rows."""

from django.db import migrations

# name: (scans a month, concurrent scans, requests a minute, webhooks, schedules)
TIERS = {
    "free": (100, 2, 60, 3, 1),
    "pro": (2_000, 10, 300, 10, 25),
    "business": (20_000, 50, 1_200, 25, 250),
    "enterprise": (200_000, 200, 6_000, 100, 2_500),
}


def seed(apps, schema_editor):
    Tier = apps.get_model("accounts", "Tier")
    for name, (scans, concurrent, requests, webhooks, schedules) in TIERS.items():
        Tier.objects.get_or_create(
            name=name,
            defaults={
                "scans_per_month": scans,
                "concurrent_scans": concurrent,
                "requests_per_minute": requests,
                "webhooks": webhooks,
                "schedules": schedules,
            },
        )


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]
    operations = [migrations.RunPython(seed, migrations.RunPython.noop)]
