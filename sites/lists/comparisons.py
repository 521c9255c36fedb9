"""Comparisons of two snapshots: of small ones at once, of large ones by a worker that stores them.

A comparison reads all results of both snapshots, which takes a minute for a million sites.
"""

from __future__ import annotations

import functools
from datetime import timedelta
from typing import Any, cast

from django.db import transaction
from django.utils import timezone

from infrastructure import queue
from infrastructure.api.errors import ServiceUnavailable
from sites.lists.differences import Difference, calculate_difference
from sites.models import ListComparison, ListRun

# Snapshots of up to this number of sites are compared within a web request.
MAX_SITES_AT_ONCE = 10_000
# Number of sites of each kind that a stored comparison has.
MAX_STORED_SITES = 1_000
# A message of the queue may be lost, so the calculation is enqueued again after this time.
ENQUEUED_AGAIN_AFTER = timedelta(minutes=10)
RETRY_AFTER_S = 30


class NotCompared(ServiceUnavailable):
    """Raised while a worker calculates a comparison."""

    def __init__(self) -> None:
        super().__init__("The two snapshots are being compared. Try again in a minute.", RETRY_AFTER_S)


def compare(run: ListRun, other: ListRun, limit: int = 50) -> Difference:
    """Return the difference between the snapshots `other` and `run`, with at most `limit` sites of each kind.

    Raises NotCompared if the snapshots are large and were not compared before.
    """
    if max(run.entries, other.entries) <= MAX_SITES_AT_ONCE:
        return calculate_difference(run, other, limit)
    comparison, is_new = ListComparison.objects.get_or_create(run=run, other=other)
    if comparison.data is not None:
        return _cut(cast(Difference, comparison.data), limit)
    if is_new or _claim(comparison):
        transaction.on_commit(functools.partial(_enqueue, comparison.id))
    raise NotCompared


def _enqueue(comparison_id: int) -> None:
    queue.enqueue("sites.tasks.compare_snapshots", str(comparison_id))


def compare_ended_run(run: ListRun, other: ListRun, limit: int) -> Difference:
    """Return the difference of a run that has just ended, and store it if the run is large."""
    if max(run.entries, other.entries) <= MAX_SITES_AT_ONCE:
        return calculate_difference(run, other, limit)
    difference = calculate_difference(run, other, MAX_STORED_SITES)
    data: Any = difference
    ListComparison.objects.update_or_create(run=run, other=other, defaults={"data": data})
    return _cut(difference, limit)


def store_comparison(comparison_id: int) -> None:
    """Calculate a requested comparison, unless another worker does so or has done so."""
    with transaction.atomic():
        waiting = ListComparison.objects.select_for_update(skip_locked=True, of=("self",)).filter(data__isnull=True)
        comparison = waiting.select_related("run", "other").filter(id=comparison_id).first()
        if comparison is not None:
            difference: Any = calculate_difference(comparison.run, comparison.other, MAX_STORED_SITES)
            comparison.data = difference
            comparison.save(update_fields=["data"])


def _claim(comparison: ListComparison) -> bool:
    """Return True if the calculation should be enqueued again. Only one of several concurrent callers gets True."""
    now = timezone.now()
    lost = ListComparison.objects.filter(
        id=comparison.id, data__isnull=True, enqueued_at__lt=now - ENQUEUED_AGAIN_AFTER
    )
    return bool(lost.update(enqueued_at=now))


def _cut(difference: Difference, limit: int) -> Difference:
    """Return the difference with at most `limit` sites of each kind."""
    return {
        **difference,
        "better": difference["better"][:limit],
        "worse": difference["worse"][:limit],
        "lost": difference["lost"][:limit],
        "regained": difference["regained"][:limit],
    }
