import django.contrib.postgres.fields
from django.db import migrations, models

import sites.models.audit


class Migration(migrations.Migration):
    dependencies = [("sites", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="auditfinding",
            name="outcome",
            field=models.CharField(blank=True, db_default="", default="", max_length=80),
        ),
        migrations.AddField(
            model_name="auditfinding",
            name="outcomes",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=80),
                db_default=[],
                default=list,
                help_text="All outcomes on its pages.",
                size=None,
            ),
        ),
        migrations.AddField(
            model_name="auditfinding",
            name="how_to_fix",
            field=models.JSONField(
                db_default=models.Value({"text": "", "snippets": []}, models.JSONField()),
                default=sites.models.audit.no_fix,
            ),
        ),
        migrations.AlterField(
            model_name="auditfinding",
            name="message",
            field=models.TextField(help_text="What was seen and why it matters, without places."),
        ),
    ]
