"""Dry runs of journeys."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sites', '0025_monitors_by_journey'),
    ]

    operations = [
        migrations.AddField(
            model_name='journeystep',
            name='state',
            field=models.CharField(blank=True, db_default='', default='', help_text='Name of the state after the step: the one that was judged, or the one that a dry run did not judge.', max_length=300),
        ),
        migrations.AlterField(
            model_name='audit',
            name='run_of',
            field=models.CharField(blank=True, choices=[('monitor', 'Monitor'), ('list', 'List'), ('dry_run', 'Dry Run')], db_default='', default='', help_text='Part of the run of a monitor or a list, which report it, or a dry run of a journey.', max_length=8),
        ),
    ]
