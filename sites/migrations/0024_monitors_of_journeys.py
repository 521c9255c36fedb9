"""Monitors that repeat a journey."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sites', '0023_steps_of_runs'),
    ]

    operations = [
        migrations.AddField(
            model_name='monitor',
            name='journey',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='monitors', to='sites.journey'),
        ),
        migrations.AlterField(
            model_name='cause',
            name='kind',
            field=models.CharField(choices=[('outage', 'Outage'), ('journey', 'Journey'), ('finding', 'Finding'), ('score', 'Score'), ('certificate', 'Certificate')], max_length=12),
        ),
        migrations.AlterField(
            model_name='monitor',
            name='pause_reason',
            field=models.CharField(blank=True, choices=[('requested', 'by a member or a key'), ('quota', "the month's scans are used"), ('plan', 'the plan allows fewer monitors'), ('proof', "control of the journey's site is not proven"), ('secret', 'a secret of the journey has no value')], default='', max_length=16),
        ),
    ]
