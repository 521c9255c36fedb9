"""Credentials of audits, as scans have them."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("scans", "0013_with_credentials")]

    operations = [
        migrations.AddField(
            model_name='audit',
            name='credential_names',
            field=models.JSONField(blank=True, help_text='What of the credentials may be shown.', null=True),
        ),
        migrations.AddField(
            model_name='audit',
            name='encrypted_credentials',
            field=models.BinaryField(blank=True, null=True),
        ),
    ]
