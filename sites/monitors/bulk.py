"""Services that change, run and delete many monitors of an organization.

Each service runs in one transaction with a fixed number of statements. It skips IDs of monitors that do not exist, and
of monitors that the caller, a member who is limited to some sites, may not see.
Callers with more than BATCH_SIZE IDs call it once for each batch.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from accounts import access, activity
from accounts.access import Lock
from accounts.authentication import Caller
from accounts.visible_sites import visible_sites_of
from infrastructure import queue
from sites.models import Monitor, MonitorRun
from sites.monitors.requests import SCHEDULE_FIELDS, MonitorRequest
from sites.monitors.services import apply_change, change_event, requested_run
from sites.monitors.visibility import may_see_monitor

BATCH_SIZE = 200
# Deleting a monitor deletes up to hundreds of runs with their states and alerts.
DELETION_BATCH_SIZE = 25
# More runs of a batch wait up to 15 seconds for the task `run_monitors`, because each message can wait for the broker.
MAX_MESSAGES = 25
CHANGED_COLUMNS = (*sorted(SCHEDULE_FIELDS), "next_run_at", "paused_at", "pause_reason")


def change_monitors(*, caller: Caller, ids: Sequence[str], request: MonitorRequest) -> int:
    """Pause, resume or reschedule monitors, and return the number of changed ones."""
    assert request.audit is None
    assert SCHEDULE_FIELDS.issuperset(request.columns)
    now = timezone.now()
    with transaction.atomic():
        changed, events = [], []
        for monitor in _locked(caller, ids, Lock.CHANGE):
            if fields := apply_change(monitor, request, now):
                action, details = change_event(monitor, fields)
                changed.append(monitor)
                events.append((action, monitor.name, details))
        Monitor.objects.bulk_update(changed, CHANGED_COLUMNS)
        activity.record_all_by_caller(caller, events)
    return len(changed)


def run_monitors(*, caller: Caller, ids: Sequence[str]) -> int:
    """Start runs outside the schedule, except of monitors with a run in progress, and return their number."""
    now = timezone.now()
    with transaction.atomic():
        monitors = _locked(caller, ids, Lock.CHANGE)
        rows = MonitorRun.objects.filter(monitor__in=monitors, status__in=MonitorRun.UNFINISHED)
        unfinished = {run.monitor_id: run for run in rows}
        runs = [run for monitor in monitors if (run := requested_run(monitor, unfinished.get(monitor.id), now))]
        MonitorRun.objects.bulk_create(run for run in runs if run.monitor_id not in unfinished)
        MonitorRun.objects.bulk_update((run for run in runs if run.monitor_id in unfinished), ["not_before"])
        names = {monitor.id: monitor.name for monitor in monitors}
        events = (("monitor.run", names[run.monitor_id], {"monitor": run.monitor_id}) for run in runs)
        activity.record_all_by_caller(caller, events)
        transaction.on_commit(lambda: _enqueue(runs))
    return len(runs)


def delete_monitors(*, caller: Caller, ids: Sequence[str]) -> int:
    """Delete monitors with their runs and states, but not the reports of their runs, and return their number."""
    with transaction.atomic():
        monitors = _locked(caller, ids, Lock.DELETION)
        events = (
            ("monitor.deleted", monitor.name, {"monitor": monitor.id, "url": monitor.url}) for monitor in monitors
        )
        activity.record_all_by_caller(caller, events)
        access.rows(Monitor, caller.organization_id).filter(id__in=[monitor.id for monitor in monitors]).delete()
    return len(monitors)


def _locked(caller: Caller, ids: Sequence[str], lock: Lock) -> list[Monitor]:
    """Lock the organization's monitors with these IDs, in the order of the IDs to prevent deadlocks.

    Returns those that the caller may see. A monitor's pages may have changed since the caller selected it.
    """
    rows = access.rows(Monitor, caller.organization_id).select_related("organization__tier").filter(id__in=ids)
    monitors = list(rows.select_for_update(of=("self",), no_key=lock is Lock.CHANGE).order_by("id"))
    scope = visible_sites_of(caller.member) if caller.member else None
    return [monitor for monitor in monitors if may_see_monitor(monitor, scope)]


def _enqueue(runs: Sequence[MonitorRun]) -> None:
    for run in runs[:MAX_MESSAGES]:
        queue.enqueue("sites.tasks.start_run", run.id)
