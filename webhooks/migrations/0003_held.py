"""Deliveries that wait for a disabled webhook, out of the way of claims."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("webhooks", "0002_attempts"),
    ]

    operations = [
        migrations.AddField("delivery", "is_held", models.BooleanField(db_default=False, default=False)),
    ]
