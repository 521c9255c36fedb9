"""What scans have learned, for audits: another table, so another transaction."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scans", "0003_scans")]
    operations = [
        migrations.AddField(
            model_name="audit",
            name="kept_days",
            field=models.PositiveSmallIntegerField(
                db_default=30,
                default=30,
                help_text="How long the reports of its scans are kept, as the plan was when it was created.",
            ),
        ),
        migrations.AddField(
            model_name="audit",
            name="request_id",
            field=models.CharField(
                blank=True, db_default="", default="", help_text="Of the request that asked for it, if any.", max_length=128
            ),
        ),
    ]
