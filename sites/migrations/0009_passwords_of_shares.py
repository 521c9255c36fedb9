"""Passwords of shared pages of lists."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sites', '0008_copy_facts_of_list_entries'),
    ]

    operations = [
        migrations.AddField(
            model_name='listshare',
            name='password',
            field=models.CharField(blank=True, db_default='', default='', help_text='Hashed.', max_length=128),
        ),
    ]
