import django.db.models.deletion
import django.utils.timezone
import reports.models
import website_scan.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
        ('scans', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Report',
            fields=[
                ('id', models.CharField(default=website_scan.ids.new_report_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('body', models.TextField()),
                ('export', models.TextField()),
                ('facts', models.JSONField(default=dict)),
                ('scoring', models.JSONField(blank=True, null=True)),
                ('exhibits', models.JSONField(blank=True, null=True)),
                ('waterfall', models.JSONField(blank=True, null=True)),
                ('screenshot', models.BinaryField(null=True)),
                ('page_picture', models.BinaryField(null=True)),
                ('film', models.BinaryField(null=True)),
                ('pictures', models.JSONField(blank=True, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField(db_index=True)),
                ('shared_at', models.DateTimeField(blank=True, help_text='Since when anyone with the link can read it.', null=True)),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reports', to='accounts.organization')),
                ('scan', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='report', to='scans.scan')),
            ],
        ),
        migrations.CreateModel(
            name='Mute',
            fields=[
                ('id', models.CharField(default=reports.models.new_mute_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('check_id', models.CharField(max_length=80)),
                ('host', models.CharField(help_text="With a port that is not the scheme's own.", max_length=300)),
                ('path_prefix', models.CharField(blank=True, help_text='Empty: the whole host.', max_length=1000)),
                ('fingerprint', models.CharField(blank=True, help_text='Empty: all places of the check.', max_length=16)),
                ('place', models.CharField(blank=True, help_text='The place in words.', max_length=300)),
                ('reason', models.CharField(max_length=500)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, help_text='When somebody ended it.', null=True)),
                ('notice_at', models.DateTimeField(blank=True, help_text='When its end is announced. Empty: already announced, or too close.', null=True)),
                ('api_key', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='accounts.apikey')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('organization', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='mutes', to='accounts.organization')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('ended_at', None)), fields=['organization', 'expires_at'], name='mute_in_force'), models.Index(fields=['expires_at'], name='mute_end'), models.Index(condition=models.Q(('notice_at__isnull', False)), fields=['notice_at'], name='mute_notice')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('organization', 'check_id', 'host', 'path_prefix', 'fingerprint'), name='mute_once')],
            },
        ),
    ]
