"""Choice of webhooks by monitors, which was all webhooks or none."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sites', '0011_consequences_of_findings'),
    ]

    operations = [
        migrations.AddField(
            model_name='monitor',
            name='webhook_ids',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), blank=True, help_text='Of webhooks that receive its events. Null: all webhooks, also future ones; empty: none.', null=True, size=None),
        ),
        migrations.RunSQL(
            "UPDATE sites_monitor SET webhook_ids = '{}' WHERE NOT tells_webhooks",
            "UPDATE sites_monitor SET tells_webhooks = webhook_ids IS NULL OR webhook_ids <> '{}'",
            elidable=True,
        ),
        migrations.RemoveField(
            model_name='monitor',
            name='tells_webhooks',
        ),
    ]
