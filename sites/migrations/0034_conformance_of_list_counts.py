"""Counts of lists by success criterion."""

from django.db import migrations, models

import sites.models.site_list


class Migration(migrations.Migration):
    dependencies = [("sites", "0033_categories")]

    operations = [
        migrations.AddField(
            "listcount",
            "conformance",
            models.JSONField(
                db_default={"criteria": {}, "failed_sites": {}},
                default=sites.models.site_list.empty_conformance_counts,
            ),
        ),
    ]
