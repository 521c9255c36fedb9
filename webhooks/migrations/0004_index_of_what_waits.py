"""An index of what claims look at, made while the service runs."""

from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations, models

from config.postgresql.indexes import AddIndexConcurrently

HOLD = """
    UPDATE webhooks_delivery AS delivery SET is_held = true FROM webhooks_webhook AS webhook
    WHERE webhook.id = delivery.webhook_id AND NOT webhook.enabled AND delivery.status = 'pending'
"""


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("webhooks", "0003_held"),
    ]

    operations = [
        migrations.RunSQL(HOLD, migrations.RunSQL.noop, elidable=True),
        AddIndexConcurrently("delivery", models.Index(
            condition=models.Q(("is_held", False), ("status", "pending")),
            fields=["webhook", "next_attempt_at", "id"], name="delivery_waiting",
        )),
        RemoveIndexConcurrently("delivery", "delivery_due"),
    ]
