"""Pages of audits that are states of journeys."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sites', '0020_audits_of_journeys'),
    ]

    operations = [
        migrations.AddField(
            model_name='auditpage',
            name='state',
            field=models.CharField(blank=True, db_default='', default='', help_text='Name of the state of a journey.', max_length=300),
        ),
        migrations.AddField(
            model_name='auditpage',
            name='step',
            field=models.PositiveSmallIntegerField(blank=True, help_text='Position of the step after which the state was reached, from 0.', null=True),
        ),
    ]
