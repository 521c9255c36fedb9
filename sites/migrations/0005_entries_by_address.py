"""Index of list entries by the beginning of their URL, in the order of bytes, in place of the index by host."""

from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models.functions import Collate, Left

from infrastructure.postgresql.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("sites", "0004_findings_as_data")]

    operations = [
        AddIndexConcurrently(
            "listentry",
            models.Index("site_list", Collate(Left("url", 600), "C"), "id", name="list_entry_by_address"),
        ),
        RemoveIndexConcurrently("listentry", "list_entry_by_host"),
    ]
