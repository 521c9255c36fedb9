"""Index of the results of a list's run that have no score."""

from django.db import migrations, models
from django.db.models import Q

from infrastructure.postgresql.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("sites", "0028_indexes_of_list_entries")]

    operations = [
        AddIndexConcurrently(
            "listresult",
            models.Index(
                fields=["run", "position"],
                condition=Q(status__in=("failed", "left_out")),
                name="list_result_not_judged",
            ),
        ),
    ]
