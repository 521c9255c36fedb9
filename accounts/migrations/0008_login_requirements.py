"""What an organization requires of its members' log-ins. Code that knows none of it can go on beside this."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_data_export_requested_by")]
    operations = [
        migrations.AddField(
            model_name="organization",
            name="second_factor_required",
            field=models.BooleanField(
                db_default=False, default=False, help_text="Members without one see no page of the organization."
            ),
        ),
        migrations.AddField(
            model_name="organization",
            name="login_provider",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="The identity provider that members with an address of the domain below log in with.",
                max_length=40,
            ),
        ),
        migrations.AddField(
            model_name="organization",
            name="login_domain",
            field=models.CharField(blank=True, db_default="", default="", max_length=253),
        ),
    ]
