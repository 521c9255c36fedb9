"""Count success criteria of the latest and the running runs of lists of accessibility scans.

Each run is counted in its own transaction, because a list can have a million results.
"""

from typing import Any

from django.db import migrations, transaction

from sites.lists.conformance_counts import SiteConformance, add_site
from sites.models.site_list import ConformanceCounts, empty_conformance_counts

STATUSES = {"f": "fail", "w": "warn", "p": "pass"}
TYPE = "accessibility"


def count_runs(apps: Any, schema_editor: Any) -> None:
    """Count the sites of the latest run of each list, because only its criteria are shown, and of running ones."""
    runs = apps.get_model("sites", "ListRun").objects.all()
    ended = runs.filter(status__in=("completed", "partial"))
    latest = ended.order_by("site_list_id", "-started_at").distinct("site_list_id")
    for run_id in {*latest.values_list("id", flat=True), *runs.filter(status="running").values_list("id", flat=True)}:
        with transaction.atomic():
            # Results are counted under the lock of their run.
            run = runs.select_for_update(no_key=True).filter(id=run_id).first()
            if run is not None and TYPE in run.types:
                _count_run(apps, run)


def _count_run(apps: Any, run: Any) -> None:
    counts_by_tag: dict[str, ConformanceCounts] = {}
    results = apps.get_model("sites", "ListResult").objects.filter(
        run=run, status="done", accessibility_score__isnull=False
    )
    rows = results.order_by("position").values_list("id", "statuses", "tags")
    for result_id, letters, tags in rows.iterator(chunk_size=2_000):
        pairs = zip(run.checks, letters, strict=False)
        site = SiteConformance.of_statuses(
            {check: STATUSES[letter] for check, letter in pairs if letter in STATUSES}
        )
        for tag in ("", *tags):
            add_site(counts_by_tag.setdefault(tag, empty_conformance_counts()), result_id, site)
    for count in apps.get_model("sites", "ListCount").objects.filter(run=run, tag__in=counts_by_tag):
        count.conformance = counts_by_tag[count.tag]
        count.save(update_fields=["conformance"])


class Migration(migrations.Migration):
    dependencies = [("sites", "0035_deleted_lists")]
    atomic = False

    operations = [migrations.RunPython(count_runs, migrations.RunPython.noop)]
