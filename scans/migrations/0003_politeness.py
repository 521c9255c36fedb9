"""What visits are counted by, over all organizations. Rows of code that does not know it stay empty, and unbounded."""

import django.contrib.postgres.fields
from django.db import migrations, models

import scans.models.domain


class Migration(migrations.Migration):
    dependencies = [("scans", "0002_scan_counts")]
    operations = [
        migrations.AddField(
            model_name="scan",
            name="domain",
            field=scans.models.domain.DomainField(
                blank=True, db_default="", default="", help_text="What politeness is counted by.", max_length=253
            ),
        ),
        migrations.CreateModel(
            name="DomainTurn",
            fields=[
                ("domain", models.CharField(max_length=253, primary_key=True, serialize=False)),
                ("taken_at", models.DateTimeField()),
                ("free_at", models.DateTimeField(db_index=True)),
                (
                    "told",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=16), default=list, size=None
                    ),
                ),
            ],
        ),
    ]
