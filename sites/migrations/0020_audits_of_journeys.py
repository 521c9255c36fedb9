"""Audits that are runs of journeys."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sites', '0019_journeys'),
    ]

    operations = [
        migrations.AddField(
            model_name='audit',
            name='journey',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='runs', to='sites.journey'),
        ),
        migrations.AlterField(
            model_name='audit',
            name='max_pages',
            field=models.PositiveIntegerField(help_text='Of a journey: states for which its run reserves scans.'),
        ),
        migrations.AlterField(
            model_name='audit',
            name='kind',
            field=models.CharField(choices=[('page', 'Page'), ('pages', 'Pages'), ('site', 'Site'), ('journey', 'Journey')], max_length=8),
        ),
        migrations.AlterField(
            model_name='monitor',
            name='kind',
            field=models.CharField(choices=[('page', 'Page'), ('pages', 'Pages'), ('site', 'Site'), ('journey', 'Journey')], max_length=8),
        ),
    ]
