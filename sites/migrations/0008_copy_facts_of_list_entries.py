"""Copy of the facts of the latest results to their entries, in batches."""

from django.db import migrations

COPY = """
    WITH batch AS (
        SELECT entry.id, result.facts FROM sites_listentry AS entry
        JOIN sites_listresult AS result ON result.id = entry.result_id
        WHERE entry.facts = '{}' AND result.facts <> '{}' LIMIT 5000
    )
    UPDATE sites_listentry AS entry SET facts = batch.facts FROM batch WHERE entry.id = batch.id
"""


def copy_facts(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(COPY)
        while cursor.rowcount:
            cursor.execute(COPY)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("sites", "0007_facts_of_list_entries")]

    operations = [migrations.RunPython(copy_facts, migrations.RunPython.noop, elidable=True)]
