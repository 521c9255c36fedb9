import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    """How long plans keep things. Old code runs on it."""

    dependencies = [("accounts", "0003_audit_events")]

    operations = [
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
    ]
