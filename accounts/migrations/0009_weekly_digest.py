"""Who gets the weekly e-mail about an organization's monitors."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0008_keys")]
    operations = [
        migrations.AddField("membership", "weekly_digest", models.BooleanField(db_default=False, default=False)),
    ]
