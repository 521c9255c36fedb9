"""Which rules a score came from, so that no line joins scores of other rules."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scans", "0009_visits_in_turn")]

    operations = [
        migrations.AddField(
            model_name="scan",
            name="catalogue_version",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="The rules that the score came from, if known.",
                max_length=40,
            ),
        ),
    ]
