import django.contrib.postgres.indexes
from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations, models

from infrastructure.postgresql.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    """Find all visits that wait for an address, not those of lists only."""

    atomic = False
    dependencies = [("scans", "0001_initial")]

    operations = [
        AddIndexConcurrently(
            "scan",
            django.contrib.postgres.indexes.GinIndex(
                condition=models.Q(status="queued", lead=None), fields=["addresses"], name="scan_waiting_at_address"
            ),
        ),
        RemoveIndexConcurrently("scan", "scan_waiting_of_address"),
        migrations.AlterField(
            model_name="scan",
            name="is_of_list",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Part of a list of sites: it waits while any other visit is at one of its addresses.",
            ),
        ),
    ]
