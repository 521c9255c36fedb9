from django.db import migrations, models


class Migration(migrations.Migration):
    """Who of API keys did what."""

    dependencies = [("accounts", "0002_tiers")]
    operations = [
        migrations.AddField(
            "auditevent",
            "actor_key",
            models.CharField(blank=True, db_default="", default="", help_text="An API key's ID.", max_length=40),
        ),
    ]
