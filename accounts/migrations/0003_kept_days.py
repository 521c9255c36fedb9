import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

from config.postgresql.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    """How long plans keep things, and who of API keys did what. Old code runs on it."""

    # Indexes are made while the service runs.
    atomic = False

    dependencies = [("accounts", "0002_tiers")]

    operations = [
        migrations.AddField(
            "auditevent",
            "actor_key",
            models.CharField(blank=True, db_default="", default="", help_text="An API key's ID.", max_length=40),
        ),
        migrations.AddField(
            "tier",
            "audit_kept_days",
            models.PositiveSmallIntegerField(
                blank=True,
                db_default=365,
                default=365,
                help_text="The entries of the audit log. Empty: for ever.",
                null=True,
                validators=[django.core.validators.MinValueValidator(30)],
            ),
        ),
        migrations.AddField(
            "tier",
            "deliveries_kept_days",
            models.PositiveSmallIntegerField(
                db_default=30,
                default=30,
                help_text="After they were delivered or had failed.",
                validators=[django.core.validators.MinValueValidator(1)],
            ),
        ),
        migrations.AddField(
            "tier",
            "reports_kept_days",
            models.PositiveSmallIntegerField(
                db_default=30,
                default=30,
                help_text="After their scan was created; a change holds for scans from then on.",
                validators=[django.core.validators.MinValueValidator(1)],
            ),
        ),
        migrations.AddField(
            "tier",
            "scans_kept_days",
            models.PositiveSmallIntegerField(
                blank=True,
                help_text="Ended scans without a report; at least as long as reports. Empty: for ever.",
                null=True,
            ),
        ),
        migrations.AddConstraint(
            "tier",
            models.CheckConstraint(
                condition=models.Q(("scans_kept_days", None), ("scans_kept_days__gte", models.F("reports_kept_days")), _connector="OR"),
                name="tier_keeps_scans_of_reports",
                violation_error_message="Scans must be kept at least as long as their reports.",
            ),
        ),
        migrations.AlterField(
            "auditevent",
            "organization",
            models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, to="accounts.organization"
            ),
        ),
        AddIndexConcurrently(
            "auditevent",
            models.Index(
                condition=models.Q(("actor_email", ""), _negated=True),
                fields=["organization", "actor_email", "-id"],
                name="audit_newest_of_person",
            ),
        ),
        AddIndexConcurrently(
            "auditevent",
            models.Index(
                condition=models.Q(("actor_key", ""), _negated=True),
                fields=["organization", "actor_key", "-id"],
                name="audit_newest_of_key",
            ),
        ),
    ]
