from django.db import migrations, models

import infrastructure.web.time_zones


class Migration(migrations.Migration):
    """Add people's time zones."""

    dependencies = [("accounts", "0003_quiet_hours")]
    operations = [
        migrations.AddField(
            model_name="user",
            name="time_zone",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Name of the IANA time zone database. Empty: the browser's on pages, and UTC in e-mails.",
                max_length=64,
                validators=[infrastructure.web.time_zones.validate_time_zone],
            ),
        ),
    ]
