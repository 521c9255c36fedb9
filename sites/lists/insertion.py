"""Insertion of a run's results, one for each entry of its list.

The results of a large list are inserted in batches of `ENTRIES_PER_BATCH`, each in a transaction of its own: the first
one begins the run, tasks insert the others. Scans start meanwhile, and the run cannot end before all are inserted.

Positions in the run are a permutation of the entries' order that differs for each run: the entry with the number n has
the position (multiplier * n + shift) modulo the number of entries. Start times are spread evenly over the run's window.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from infrastructure import queue
from sites.lists import counting
from sites.lists.collecting import enqueue_count
from sites.models import ListRun, SiteList
from sites.models.list_run import Insertion
from sites.models.site_list import SORTED_CHARACTERS

ENTRIES_PER_BATCH = 10_000
ADDRESS = f'left(entry.url, {SORTED_CHARACTERS}) COLLATE "C"'
# The entries are locked, so that no entry is deleted before its result is inserted.
INSERT = """
    WITH entry AS MATERIALIZED (
        SELECT id, url, tags, {address} AS address FROM sites_listentry AS entry
        WHERE site_list_id = %(list)s AND {condition} ORDER BY {address}, id LIMIT %(limit)s FOR KEY SHARE
    ), numbered AS (
        SELECT id, url, tags, address,
            (%(multiplier)s * (%(done)s + row_number() OVER (ORDER BY address, id) - 1) + %(shift)s) %% %(of)s
                AS position
        FROM entry
    ), inserted AS (
        INSERT INTO sites_listresult (
            site_list_id, run_id, entry_id, position, starts_at, status, url, tags, error_code, error_message, moved_to,
            is_partial, pages, severities, seen, statuses, findings, facts,
            security_grade, performance_grade, accessibility_grade, seo_grade
        )
        SELECT %(list)s, %(run)s, id, position, %(begin)s + position * %(window)s::interval / %(of)s, 'waiting', url,
            tags, '', '', '', false, 0, '{}', '{}', '', '[]', '{}', '', '', '', ''
        FROM numbered
    )
    SELECT address, id, count(*) OVER () FROM entry ORDER BY address DESC, id DESC LIMIT 1
""".replace("{address}", ADDRESS)
# Condition for the entries of a run that follow its last batch. The list is locked during the first batch, so that its
# entries need not be older than the run: clocks of hosts differ.
FOLLOWING = f"(%(done)s = 0 OR created_at <= %(at)s) AND ({ADDRESS}, id) > (%(address)s, %(id)s)"
# Condition for entries that are not being scanned outside a run.
IDLE = """id = ANY(%(entries)s) AND NOT EXISTS (
    SELECT FROM sites_listresult AS result
    WHERE result.entry_id = entry.id AND result.run_id IS NULL AND result.status IN ('waiting', 'started', 'ended')
)"""


def begin_insertion(site_list: SiteList, run: ListRun) -> None:
    """Insert the first batch of a run's results, and enqueue the task for the others. The list must be locked."""
    run.entries = site_list.entries_count
    # The list is locked, so that all its entries are older than this time.
    run.insertion = {"of": run.entries, "done": 0, "address": "", "id": "", "at": timezone.now().isoformat()}
    _insert_batch(run, run.insertion)
    run.save(update_fields=["entries", "insertion"])
    if run.insertion is not None:
        transaction.on_commit(functools.partial(_enqueue, run.id))


def _enqueue(run_id: str) -> None:
    queue.enqueue("sites.tasks.insert_results", run_id)


def insert_results(run_id: str, has_time: Callable[[], bool] = lambda: True) -> None:
    """Insert the remaining results of a run.

    Concurrent calls are safe, because the row lock of the run serializes them. `insert_missed_results` continues
    interrupted calls.
    """
    while has_time():
        with transaction.atomic():
            run = counting.lock_run(run_id)
            if run is None or run.insertion is None or run.has_ended:
                return
            _insert_batch(run, run.insertion)
            run.save(update_fields=["entries", "insertion"])
            if run.insertion is None:
                transaction.on_commit(functools.partial(enqueue_count, run.site_list_id, run_id))


def insert_missed_results(has_time: Callable[[], bool]) -> None:
    """Continue the insertions whose task was lost or interrupted."""
    unfinished = ListRun.objects.filter(status=ListRun.Status.RUNNING, insertion__isnull=False)
    for run_id in unfinished.order_by("started_at", "id").values_list("id", flat=True):
        insert_results(run_id, has_time)


def _insert_batch(run: ListRun, insertion: Insertion) -> None:
    """Insert the next results of a run and set its columns `entries` and `insertion`."""
    of = insertion["of"]
    multiplier, shift = permutation(run.id, of)
    values = {"run": run.id, "begin": run.started_at, "window": timedelta(hours=run.window_hours), **insertion}
    row = _insert(run.site_list_id, FOLLOWING, values | {"multiplier": multiplier, "shift": shift})
    address, entry_id, number = row or ("", "", 0)
    done = insertion["done"] + number
    if number < ENTRIES_PER_BATCH or done >= of:
        # Entries may have been deleted since the run began.
        run.entries -= of - done
        run.insertion = None
    else:
        run.insertion = {**insertion, "done": done, "address": address, "id": entry_id}


def insert_single_results(site_list: SiteList, now: datetime, entries: Sequence[str]) -> int:
    """Insert results of entries outside a run, and return their number. Entries being scanned are skipped."""
    values = {"run": None, "begin": now, "window": timedelta(), "entries": list(entries), "done": 0}
    row = _insert(site_list.id, IDLE, values | {"of": len(entries) or 1, "multiplier": 1, "shift": 0}, len(entries))
    return int(row[2]) if row else 0


def _insert(
    list_id: str, condition: str, values: dict[str, Any], limit: int | None = None
) -> tuple[str, str, int] | None:
    """Insert results and return the address and the ID of the last entry, and the number of results, if any."""
    parameters = {**values, "list": list_id, "limit": ENTRIES_PER_BATCH if limit is None else limit}
    with connection.cursor() as cursor:
        cursor.execute(INSERT.replace("{condition}", condition), parameters)
        row: tuple[str, str, int] | None = cursor.fetchone()
        return row


def permutation(run_id: str, number: int) -> tuple[int, int]:
    """Return the multiplier and the shift of a run's permutation of `number` entries.

    The multiplier has no common divisor with the number, so that no two entries have the same position. It is not
    small, because neighboring addresses often belong to the same host.
    """
    digest = hashlib.md5(run_id.encode(), usedforsecurity=False).digest()
    shift = int.from_bytes(digest[:8]) % max(1, number)
    multiplier = number // 4 + int.from_bytes(digest[8:]) % max(1, number // 2) + 1
    while math.gcd(multiplier, number) != 1 and number > 1:
        multiplier += 1
    return multiplier, shift
