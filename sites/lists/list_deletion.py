"""Deletion of lists: of usual ones at once, of large ones in batches at night.

The rows of a list of a million sites take minutes to delete, and a web request has seconds. So a large list is only
hidden at once (`SiteList.deleted_at`), and the nightly deletion of expired rows removes it.
"""

from __future__ import annotations

from django.db import connection, transaction
from django.db.models import Sum
from django.utils import timezone

from infrastructure.retention import HasTime, always
from scans.models import IdempotencyRecord
from sites.models import ListRun, SiteList

# Number of entries and results that a web request deletes.
MAX_ROWS_AT_ONCE = 100_000
# Rows are deleted by SQL statements, children first, without loading them as the ORM would. Each statement ends within
# the time limit of web requests.
ROWS_PER_DELETION = 20_000
DELETE_ROWS_SQL = (
    """UPDATE sites_listentry SET result_id = NULL WHERE id IN (
        SELECT id FROM sites_listentry WHERE site_list_id = %s AND result_id IS NOT NULL LIMIT %s)""",
    "DELETE FROM sites_listresult WHERE id IN (SELECT id FROM sites_listresult WHERE site_list_id = %s LIMIT %s)",
    "DELETE FROM sites_listentry WHERE id IN (SELECT id FROM sites_listentry WHERE site_list_id = %s LIMIT %s)",
    """DELETE FROM sites_listimportsite WHERE id IN (
        SELECT site.id FROM sites_listimport AS import JOIN sites_listimportsite AS site
        ON site.list_import_id = import.id WHERE import.site_list_id = %s LIMIT %s)""",
    """DELETE FROM sites_listcount WHERE id IN (
        SELECT count.id FROM sites_listrun AS run JOIN sites_listcount AS count ON count.run_id = run.id
        WHERE run.site_list_id = %s LIMIT %s)""",
)


def delete_or_hide(site_list: SiteList) -> None:
    """Delete a locked list, or hide it if it is large."""
    results = ListRun.objects.filter(site_list=site_list).aggregate(total=Sum("entries"))["total"] or 0
    if site_list.entries_count + results > MAX_ROWS_AT_ONCE:
        _hide(site_list)
    else:
        _delete(site_list, always)


def delete_hidden_lists(has_time: HasTime = always) -> bool:
    """Delete hidden lists with all their rows. Returns False if time ran out."""
    hidden = SiteList.with_deleted.exclude(deleted_at=None).order_by("deleted_at")
    return all(_delete(site_list, has_time) for site_list in hidden)


def _hide(site_list: SiteList) -> None:
    now = timezone.now()
    site_list.runs.filter(status=ListRun.Status.RUNNING).update(status=ListRun.Status.CANCELLED, ended_at=now)
    site_list.shares.all().delete()
    # A repeated request to create the list would otherwise return it.
    IdempotencyRecord.objects.filter(site_list=site_list).delete()
    site_list.deleted_at, site_list.next_run_at, site_list.entries_count = now, None, 0
    site_list.credential_names = site_list.encrypted_credentials = None
    site_list.save()


def _delete(site_list: SiteList, has_time: HasTime) -> bool:
    for statement in DELETE_ROWS_SQL:
        number = ROWS_PER_DELETION
        while number == ROWS_PER_DELETION:
            if not has_time():
                return False
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(statement, [site_list.id, ROWS_PER_DELETION])
                number = cursor.rowcount
    site_list.delete()
    return True
