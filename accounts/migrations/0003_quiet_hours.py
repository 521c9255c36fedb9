"""Quiet hours of people."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0002_object_name_of_activity'),
    ]

    operations = [
        migrations.CreateModel(
            name='QuietHours',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='quiet_hours', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('start', models.TimeField()),
                ('end', models.TimeField()),
                ('days', django.contrib.postgres.fields.ArrayField(base_field=models.PositiveSmallIntegerField(), size=None)),
                ('timezone', models.CharField(max_length=64)),
                ('allows_critical', models.BooleanField(default=True, help_text='Critical alerts at any time.')),
            ],
            options={
                'verbose_name_plural': 'quiet hours',
            },
        ),
    ]
