"""IDs of deleted entries in results, so that exports of snapshots do not change."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sites', '0005_entries_by_address'),
    ]

    operations = [
        migrations.AddField(
            model_name='listresult',
            name='deleted_entry_id',
            field=models.CharField(blank=True, db_default='', default='', help_text='ID of its entry, if it has been deleted.', max_length=40),
        ),
    ]
