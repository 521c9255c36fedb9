"""What visits are counted and told by, and how long reports are kept, as the plan was when they were asked for.

Code that does not know it leaves rows unbounded, without a request, and kept for 30 days.
"""

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
        migrations.AddField(
            model_name="scan",
            name="kept_days",
            field=models.PositiveSmallIntegerField(
                db_default=30,
                default=30,
                help_text="How long its report is kept, as the plan was when the scan was created.",
            ),
        ),
        migrations.AddField(
            model_name="scan",
            name="request_id",
            field=models.CharField(
                blank=True, db_default="", default="", help_text="Of the request that asked for it, if any.", max_length=128
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
        migrations.CreateModel(
            name="EndedScan",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("type", models.CharField(max_length=16)),
                ("status", models.CharField(max_length=16)),
                ("error_code", models.CharField(blank=True, max_length=40)),
                ("is_background", models.BooleanField()),
                (
                    "waited_ms",
                    models.BigIntegerField(help_text="Until its last attempt began; empty: it never did.", null=True),
                ),
                ("duration_ms", models.BigIntegerField(null=True)),
                (
                    "cpu_ms",
                    models.BigIntegerField(
                        help_text="Its share of its visit's, the browser's included, if known.", null=True
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ScanTally",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=40)),
                (
                    "labels",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None),
                ),
                ("value", models.BigIntegerField()),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("name", "labels"), name="scan_tally_unique")],
            },
        ),
    ]
