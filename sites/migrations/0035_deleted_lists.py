"""Lists that are deleted and whose rows wait for their deletion."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sites", "0034_conformance_of_list_counts")]

    operations = [
        migrations.AddField(
            "sitelist",
            "deleted_at",
            models.DateTimeField(
                blank=True, editable=False, help_text="Of a large list whose rows are deleted at night.", null=True
            ),
        ),
    ]
