"""Indexes with which lists of millions of entries are sorted and filtered."""

from django.contrib.postgres.indexes import GinIndex
from django.db import migrations, models
from django.db.models.fields.json import KeyTransform

from infrastructure.postgresql.indexes import AddIndexConcurrently

TYPES = {"security": "security", "performance": "speed", "accessibility": "access", "seo": "seo"}


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("sites", "0027_requirements")]

    operations = [
        AddIndexConcurrently("listentry", GinIndex(fields=["outcomes"], name="list_entry_outcomes")),
        AddIndexConcurrently("listentry", GinIndex(fields=["tags"], name="list_entry_tags")),
        AddIndexConcurrently("listentry", models.Index(fields=["site_list", "state"], name="list_entry_state")),
        AddIndexConcurrently(
            "listentry",
            models.Index("site_list", KeyTransform("status", "facts"), name="list_entry_http_status"),
        ),
        *(
            AddIndexConcurrently(
                "listentry",
                models.Index(fields=["site_list", f"{type}_{value}", "id"], name=f"list_entry_{short}_{value}"),
            )
            for type, short in TYPES.items()
            for value in ("score", "change")
        ),
        *(
            AddIndexConcurrently(
                "listentry", models.Index(fields=["site_list", f"{type}_grade"], name=f"list_entry_{short}_grade")
            )
            for type, short in TYPES.items()
        ),
    ]
