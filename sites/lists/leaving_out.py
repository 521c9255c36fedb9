"""Leaving out the waiting results of a run that was cancelled, or that exceeds the quota."""

from __future__ import annotations

import functools
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from sites.lists.collecting import enqueue_count
from sites.models import ListResult, ListRun
from website_scan.errors import Refusal
from website_scan.result import ScanError

# A transaction leaves out at most this number of results.
LEFT_OUT_AT_ONCE = 10_000


def leave_out_waiting(run: ListRun, refusal: Refusal, now: datetime) -> None:
    """Leave out all waiting results of a run.

    The run ends when its started results have ended.

    The caller must have locked the run.
    """
    if run.has_ended:
        return
    stop_waiting(run, refusal.code, str(refusal), now)
    transaction.on_commit(functools.partial(enqueue_count, run.site_list_id, run.id))


def stop_waiting(run: ListRun, code: str, message: str, now: datetime) -> None:
    """Store why the waiting results of a run are left out, so that none starts, and leave out the first of them.

    `count_results` leaves out the others of a large run. Results that were not inserted yet never are.
    """
    run.error_code, run.error_message, run.insertion = code, message, None
    run.save(update_fields=["error_code", "error_message", "insertion"])
    if leave_out_batch(run, now) == LEFT_OUT_AT_ONCE:
        transaction.on_commit(functools.partial(enqueue_count, run.site_list_id, run.id))


def leave_out_batch(run: ListRun, now: datetime) -> int:
    """Leave out up to `LEFT_OUT_AT_ONCE` waiting results of a stopped run, and return their number."""
    waiting = ListResult.objects.filter(site_list=run.site_list_id, run=run, status=ListResult.Status.WAITING)
    batch = waiting.order_by("starts_at", "position").values("id")[:LEFT_OUT_AT_ONCE]
    reason = ScanError(run.error_code, run.error_message)
    return leave_out_results(waiting.filter(id__in=batch), reason, now)


def leave_out_results(waiting: QuerySet[ListResult], refusal: Refusal | ScanError, now: datetime) -> int:
    message = refusal.message if isinstance(refusal, ScanError) else str(refusal)
    left_out = {"status": ListResult.Status.LEFT_OUT, "ended_at": now}
    return int(waiting.update(**left_out, error_code=refusal.code, error_message=message))
