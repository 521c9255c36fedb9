"""Services that begin and cancel runs of lists, and scan single entries outside runs.

A run and the first of its results are inserted in one transaction (`insertion.py`), each result with its start time
(`starting.py`). Queue messages only trigger work earlier: periodic tasks find rows whose message was lost.
Lock order: the organization, the list, the run, scans, audits, results, entries.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Sum
from django.utils import timezone

from accounts import access, activity, usage
from accounts.authentication import Caller
from infrastructure import queue
from infrastructure.api.errors import InvalidParams
from scans.models import Scan
from scans.visits.claims import fail_queued_visits, send_scan_ended
from sites.audits.services import cancel
from sites.lists import counting, leaving_out
from sites.lists.insertion import begin_insertion, insert_single_results
from sites.lists.schedule import next_run
from sites.lists.services import ListLimit, ListRunning
from sites.models import UNFINISHED, Audit, ListResult, ListRun, SiteList
from sites.resources import LIST, LIST_ENTRY, LIST_RUN
from website_scan.errors import Refusal
from website_scan.ids import is_id
from website_scan.result import ScanError

# A call of `create_due_runs` begins at most this number of runs.
MAX_CREATED_RUNS = 50

CANCELLED = ScanError(
    counting.CANCELLED, "The run was cancelled before the scan had started. It does not count against your quota."
)


def create_due_runs(now: datetime) -> int:
    """Begin at most `MAX_CREATED_RUNS` due list runs, and return the number of due lists.

    No run begins if the list has no entries or an unfinished run. Callers repeat the call until the number is less
    than `MAX_CREATED_RUNS`.
    """
    due = SiteList.objects.filter(next_run_at__lte=now, organization__closed_at=None).order_by("next_run_at", "id")
    ids = list(due.values_list("id", "organization_id")[:MAX_CREATED_RUNS])
    for list_id, organization_id in ids:
        with contextlib.suppress(usage.OrganizationClosed), transaction.atomic():
            organization = usage.lock(organization_id)
            # `due` filters by `next_run_at` again, because another process may have begun the run.
            site_list = due.select_for_update(no_key=True, of=("self",)).filter(id=list_id).first()
            if site_list is None:
                continue
            site_list.organization = organization
            site_list.next_run_at = next_run(site_list, now)
            site_list.save(update_fields=["next_run_at"])
            if not _is_running(site_list) and site_list.entries.exists():
                _insert_run(site_list, now, refusal=_plan_refusal(site_list))
    return len(ids)


def begin_run(*, caller: Caller | None = None, list_id: str) -> ListRun:
    """Begin a run of a list immediately.

    Its entries start at different times within the list's window. `caller` is None if the service itself begins the
    run. Raises NotFound, ListRunning, InvalidParams for a list without entries, ListLimit if the plan no longer allows
    the list, or QuotaExceeded if the quota does not suffice for one entry.
    """
    now = timezone.now()
    with transaction.atomic():
        site_list = _lock_list(caller, list_id)
        if _is_running(site_list):
            raise ListRunning("A run of this list is in progress. Wait until it has ended, or cancel it.")
        if not site_list.entries.exists():
            raise InvalidParams("The list has no sites yet.")
        if (refusal := _plan_refusal(site_list)) is not None:
            raise refusal
        _refuse_without_quota(site_list, 1, now)
        run = _insert_run(site_list, now, is_requested=caller is not None)
        if caller is not None:
            activity.record_by_caller(caller, "list.run", site_list.name, list=site_list.id, entries=run.entries)
    return run


def _lock_list(caller: Caller | None, list_id: str) -> SiteList:
    """Lock the organization and then the list, and return the list.

    Raises NotFound.
    """
    lists = SiteList.objects.all() if caller is None else access.rows(SiteList, caller.organization_id)
    matches = lists.filter(id=list_id) if is_id("lst", list_id) else lists.none()
    organization_id = matches.values_list("organization_id", flat=True).first()
    organization = usage.lock(organization_id) if organization_id is not None else None
    site_list = matches.select_for_update(no_key=True, of=("self",)).first()
    if site_list is None or organization is None:
        raise LIST.not_found()
    site_list.organization = organization
    return site_list


def _is_running(site_list: SiteList) -> bool:
    return site_list.runs.filter(status=ListRun.Status.RUNNING).exists()


def _plan_refusal(site_list: SiteList) -> ListLimit | None:
    """Return a refusal if the list is over the plan's limits, else None.

    Older lists count first.
    """
    tier = site_list.organization.tier
    sharing = SiteList.objects.filter(organization__in=usage.sharing_limits(site_list.organization))
    older = sharing.filter(created_at__lt=site_list.created_at)
    totals = older.aggregate(lists=Count("*"), entries=Sum("entries_count"))
    if totals["lists"] < tier.lists and (totals["entries"] or 0) + site_list.entries_count <= tier.list_entries:
        return None
    return ListLimit("Your plan allows fewer lists or sites than you have. Delete some, or ask for a larger plan.")


def _refuse_without_quota(site_list: SiteList, entries: int, now: datetime) -> None:
    limits = usage.tier_limits(site_list.organization.tier)
    usage.refuse_beyond_quota(site_list.organization_id, limits, entries * len(site_list.types), now)


def _insert_run(
    site_list: SiteList, now: datetime, *, is_requested: bool = False, refusal: Refusal | None = None
) -> ListRun:
    """Insert a run with a result for each entry.

    A `refusal` ends the run immediately. The list must be locked.
    """
    run = ListRun.objects.create(
        site_list=site_list,
        is_requested=is_requested,
        started_at=now,
        kept_days=site_list.organization.tier.snapshots_kept_days,
        types=site_list.types,
        pages_per_entry=site_list.pages_per_entry,
        window_hours=site_list.run_window_hours,
        categories=site_list.categories,
        entries=0,
    )
    begin_insertion(site_list, run)
    if refusal is not None:
        leaving_out.leave_out_waiting(run, refusal, now)
    transaction.on_commit(functools.partial(_start_soon, site_list.organization_id))
    return run


def _start_soon(organization_id: int) -> None:
    """Enqueue the start of an organization's due entries.

    The task `run_lists` handles lost messages.
    """
    queue.enqueue("sites.tasks.start_entries", str(organization_id))


def scan_entry(*, caller: Caller, list_id: str, entry_id: str) -> ListResult:
    """Scan one entry outside a run and return its result.

    Raises NotFound, QuotaExceeded, or ListRunning if a scan of the entry outside a run is unfinished.
    """
    with transaction.atomic():
        site_list = _lock_list(caller, list_id)
        entry = LIST_ENTRY.find_in_rows(site_list.entries.all(), entry_id)
        if not _insert_single_results(caller, site_list, [entry.id], entry.url):
            raise ListRunning("This site is being scanned. Wait until the scan has ended.")
        return ListResult.objects.filter(entry=entry, run=None).latest("id")


def scan_entries(*, caller: Caller, list_id: str, entry_ids: Sequence[str]) -> int:
    """Scan several entries outside a run and return their number.

    Entries with an unfinished scan are skipped. Unknown IDs are ignored. Raises NotFound or QuotaExceeded.
    """
    ids = [entry_id for entry_id in entry_ids if is_id("ent", entry_id)]
    with transaction.atomic():
        site_list = _lock_list(caller, list_id)
        return _insert_single_results(
            caller, site_list, list(site_list.entries.filter(id__in=ids).values_list("id", flat=True))
        )


def _insert_single_results(caller: Caller, site_list: SiteList, ids: Sequence[str], url: str = "") -> int:
    now = timezone.now()
    _refuse_without_quota(site_list, len(ids), now)
    number = insert_single_results(site_list, now, ids)
    if number:
        activity.record_by_caller(caller, "list.scanned", site_list.name, list=site_list.id, entries=url or number)
        transaction.on_commit(functools.partial(_start_soon, site_list.organization_id))
    return number


def cancel_run(*, caller: Caller, list_id: str, run_id: str) -> ListRun:
    """Cancel a run.

    Running visits continue. Waiting and queued scans do not start. A finished run does not change. Raises NotFound.
    """
    with transaction.atomic():
        site_list = _lock_list(caller, list_id)
        run = LIST_RUN.find_in_rows(site_list.runs.all(), run_id)
        if stop_run(run.id, CANCELLED, timezone.now()):
            activity.record_by_caller(caller, "list.run_cancelled", site_list.name, list=site_list.id, run=run.id)
    run.refresh_from_db()
    return run


def stop_run(run_id: str, reason: ScanError, now: datetime) -> bool:
    """Cancel a run and its waiting results.

    Returns False if the run had already ended. The caller must lock the organization, so that no entry starts and no
    page is dispatched concurrently.
    """
    run = counting.lock_run(run_id)
    if run is None or run.has_ended:
        return False
    leaving_out.stop_waiting(run, counting.CANCELLED, reason.message, now)
    # Lock order: scans and their counters before audits, as at the end of a visit.
    unfinished_audits = Audit.objects.filter(list_result__run=run, status__in=UNFINISHED)
    ended = fail_queued_visits(Scan.objects.filter(audit_page__audit__in=unfinished_audits.values("id")), reason)
    for audit in counting.unfinished_audits(run):
        cancel(audit)
    send_scan_ended(ended)
    while counting.count_ended_results(run):
        pass
    counting.end_if_done(run)
    return True


def stop_lists(organization_id: int, reason: ScanError) -> None:
    """Cancel all runs and scans of an organization's lists, and unschedule the lists.

    The caller must lock the organization.
    """
    now = timezone.now()
    lists = access.rows(SiteList, organization_id)
    lists.update(next_run_at=None)
    running = ListRun.objects.filter(site_list__in=lists, status=ListRun.Status.RUNNING)
    for run_id in running.order_by("id").values_list("id", flat=True):
        stop_run(run_id, reason, now)
    single_results = ListResult.objects.filter(site_list__in=lists, run=None, status=ListResult.Status.WAITING)
    leaving_out.leave_out_results(single_results, reason, now)
