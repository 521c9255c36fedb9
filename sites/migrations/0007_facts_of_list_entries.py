"""Facts about the sites of lists beside their latest scores, for filters and columns."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sites', '0006_ids_of_deleted_entries'),
    ]

    operations = [
        migrations.AddField(
            model_name='listentry',
            name='facts',
            field=models.JSONField(blank=True, db_default={}, default=dict),
        ),
    ]
