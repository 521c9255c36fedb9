"""Targets of lists."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sites', '0009_passwords_of_shares'),
    ]

    operations = [
        migrations.AddField(
            model_name='sitelist',
            name='targets',
            field=models.JSONField(blank=True, db_default=[], default=list),
        ),
    ]
