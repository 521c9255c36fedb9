"""Badges of monitors and pages."""

import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import config.ids


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0006_shortest_interval"),
        ("scans", "0018_monitor_memory"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Badge",
            fields=[
                (
                    "id",
                    models.CharField(
                        default=config.ids.new_badge_id,
                        editable=False,
                        max_length=40,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "page",
                    models.CharField(
                        blank=True, default="", help_text="Its URL, where it is no monitor's.", max_length=8192
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "monitor",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="badge",
                        to="scans.monitor",
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="badges", to="accounts.organization"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["organization", "-created_at", "-id"], name="badge_newest_first"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("monitor", None), ("page", ""), _connector="XOR"),
                        name="badge_of_one_thing",
                    ),
                    models.UniqueConstraint(
                        models.F("organization"),
                        django.db.models.functions.text.MD5("page"),
                        condition=models.Q(("page", ""), _negated=True),
                        name="badge_of_page",
                    ),
                ],
            },
        ),
    ]
