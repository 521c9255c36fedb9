"""Sentences for site owners in findings of audits."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sites', '0010_targets_of_lists'),
    ]

    operations = [
        migrations.AddField(
            model_name='auditfinding',
            name='consequence',
            field=models.TextField(blank=True, db_default='', default='', help_text='For the owner of the site.'),
        ),
    ]
