"""E-mails on their way, and who wants none."""

import accounts.models
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0006_shortest_interval'),
    ]

    operations = [
        migrations.CreateModel(
            name='Mail',
            fields=[
                ('id', models.CharField(default=accounts.models.new_mail_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('topic', models.CharField(help_text='What the person can unsubscribe from, as “digest:17”.', max_length=100)),
                ('subject', models.CharField(max_length=250)),
                ('text', models.TextField()),
                ('html', models.TextField()),
                ('key', models.CharField(blank=True, help_text='What it tells of, so that it is told once.', max_length=250, null=True, unique=True)),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ('next_attempt_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('claim_token', models.UUIDField(blank=True, null=True)),
                ('sent_at', models.DateTimeField(blank=True, null=True)),
                ('given_up_at', models.DateTimeField(blank=True, null=True)),
                ('error', models.CharField(blank=True, default='', help_text='Why the last attempt failed.', max_length=300)),
                ('organization', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to='accounts.organization')),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='mails', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('given_up_at', None), ('sent_at', None)), fields=['next_attempt_at', 'id'], name='mail_waiting'), models.Index(fields=['user', 'topic', '-created_at'], name='mail_newest_of_topic')],
            },
        ),
        migrations.CreateModel(
            name='Unsubscription',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('topic', models.CharField(max_length=100)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='unsubscriptions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'topic'), name='unsubscription_unique')],
            },
        ),
    ]
