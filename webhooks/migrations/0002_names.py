"""Names of webhooks, derived from their formats and hosts."""

from django.db import migrations, models

NAME = r"""
    UPDATE webhooks_webhook SET name = CASE format
        WHEN 'slack' THEN 'Slack' WHEN 'teams' THEN 'Microsoft Teams'
        ELSE left(regexp_replace(receiver, ':\d+$', ''), 100)
    END
"""


class Migration(migrations.Migration):

    dependencies = [
        ('webhooks', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='webhook',
            name='name',
            field=models.CharField(db_default='', max_length=100),
        ),
        migrations.RunSQL(NAME, migrations.RunSQL.noop, elidable=True),
    ]
