"""What the body of a delivery looks like; and notices of disabled webhooks are rows of the mails' outbox."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0008_event_of_monitor"), ("accounts", "0007_mailing")]
    operations = [
        migrations.AddField(
            "webhook",
            "format",
            models.CharField(
                choices=[("standard", "Standard"), ("slack", "Slack"), ("teams", "Microsoft Teams")],
                default="standard",
                db_default="standard",
                max_length=16,
            ),
        ),
        migrations.RemoveField("webhook", "notice_due_at"),
    ]
