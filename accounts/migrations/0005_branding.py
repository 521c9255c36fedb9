import django.db.models.deletion
from django.db import migrations, models

import accounts.addresses


class Migration(migrations.Migration):
    """Add the names and logos on shared reports and prints."""

    dependencies = [("accounts", "0004_time_zones_of_people")]
    operations = [
        migrations.CreateModel(
            name="Branding",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "name",
                    models.CharField(blank=True, max_length=100, validators=[accounts.addresses.without_addresses]),
                ),
                ("logo", models.BinaryField(null=True)),
                ("logo_id", models.CharField(editable=False, max_length=40, null=True, unique=True)),
                ("logo_width", models.PositiveSmallIntegerField(default=0)),
                ("logo_height", models.PositiveSmallIntegerField(default=0)),
                (
                    "organization",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, to="accounts.organization"
                    ),
                ),
            ],
        ),
    ]
