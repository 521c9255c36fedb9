"""Indexes of a site's pages, and of scans that no audit asked for, made while the service runs."""

import django.db.models.functions.text
from django.db import migrations, models

from config.postgresql.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("scans", "0010_catalogue_version")]

    operations = [
        AddIndexConcurrently(
            "scan",
            models.Index(
                models.F("organization"),
                models.F("host"),
                django.db.models.functions.text.Left("url", 1000),
                condition=models.Q(("lead", None)),
                name="scan_page_of_site",
            ),
        ),
        AddIndexConcurrently(
            "scan",
            models.Index(
                condition=models.Q(("audit_page", None), ("is_background", False), ("lead", None)),
                fields=["organization", "-created_at", "-id"],
                name="scan_newest_single",
            ),
        ),
    ]
