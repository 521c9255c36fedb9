"""Deletion time of large lists, which remain stored until the next night."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sites", "0034_conformance_of_list_counts")]

    operations = [
        migrations.AddField(
            "sitelist",
            "deleted_at",
            models.DateTimeField(
                blank=True, editable=False, help_text="A large list remains stored until the next night.", null=True
            ),
        ),
    ]
