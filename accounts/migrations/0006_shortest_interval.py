"""How often monitors may look, by tier; an operator's own tiers get the least."""

from django.db import migrations, models

INTERVALS = {"free": "day", "pro": "6h", "business": "hour", "enterprise": "hour"}
CHOICES = [
    ("hour", "every hour"),
    ("6h", "every 6 hours"),
    ("day", "every day"),
    ("week", "every week"),
    ("month", "every month"),
]


def seed(apps, schema_editor):
    Tier = apps.get_model("accounts", "Tier")
    for name, interval in INTERVALS.items():
        Tier.objects.filter(name=name).update(shortest_interval=interval)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0005_pages_per_audit")]
    operations = [
        migrations.AddField(
            "tier",
            "shortest_interval",
            models.CharField(choices=CHOICES, db_default="day", default="day", max_length=8),
        ),
        migrations.AlterField("tier", "schedules", models.PositiveIntegerField(help_text="How many monitors.")),
        migrations.RunPython(seed, migrations.RunPython.noop),
    ]
