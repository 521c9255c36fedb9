"""What scans show their targets: names in the clear, the rest encrypted."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scans", "0011_lists_of_pages"),
    ]

    operations = [
        migrations.AddField(
            "scan",
            "credential_names",
            models.JSONField(blank=True, help_text="What of the credentials may be shown.", null=True),
        ),
        migrations.AddField("scan", "encrypted_credentials", models.BinaryField(blank=True, null=True)),
    ]
