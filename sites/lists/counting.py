"""Counting of list results in batches.

Every ended result is added to its run's counts exactly once.

One transaction writes the statuses of a batch of up to `AT_ONCE` results, the counts of the run and its tags, and the
latest results of the entries. The same transaction ends the run if no result is unfinished.
Lock order: the run, then its results, then their entries. Rows that another transaction has locked are skipped and
counted next time, so that a count never waits for a lock of a result or an entry.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from infrastructure.postgresql.statements import fetch
from infrastructure.queue import is_first_call_in
from scans.models import Scan
from sites.lists import changes, notices, snapshots
from sites.lists.collecting import enqueue_count
from sites.lists.conformance_counts import SiteConformance, add_site
from sites.lists.events import record_list_event
from sites.lists.leaving_out import LEFT_OUT_AT_ONCE, leave_out_batch
from sites.lists.not_judged import count_not_judged, empty_counts
from sites.models import Audit, ListCount, ListEntry, ListResult, ListRun, SiteList
from sites.models.site_list import ListCounts
from webhooks.models import EventKind
from website_scan.ids import is_id
from website_scan.messages import counted

AT_ONCE = 200
# Larger runs are counted only by their own task, which is enqueued at most once in this interval if messages are lost.
MAX_ENTRIES_WITHOUT_TASK = 10_000
TASK_INTERVAL_S = 300.0
# Error codes of sites that were not scanned. These errors are not the fault of the site.
NOT_SCANNED_CODES = frozenset({"QUOTA_EXCEEDED", "SCAN_CANCELLED", "AUDIT_GONE"})
CANCELLED = "SCAN_CANCELLED"
# Letters in `ListResult.statuses` and indexes in `ListCounts.checks` by status of a check.
LETTERS = {"fail": "f", "warn": "w", "pass": "p"}
COLUMNS = {"fail": 0, "warn": 1, "pass": 2}
SCORES = [f"{type}_score" for type in Scan.Type.values]
GRADES = [f"{type}_grade" for type in Scan.Type.values]
CHANGES = [f"{type}_change" for type in Scan.Type.values]
ENTRY_COLUMNS = (
    *("id", "state", "error_code", "error_message", "moved_to", "judged_at", "result_id", "failing", "outcomes"),
    *("history", "facts"),
    *SCORES,
    *GRADES,
    *CHANGES,
)
UPDATE_ENTRIES = f"""
    UPDATE sites_listentry AS entry SET {", ".join(f"{name} = counted.{name}" for name in ENTRY_COLUMNS[1:])}
    FROM jsonb_populate_recordset(NULL::sites_listentry, %(rows)s::jsonb) AS counted WHERE entry.id = counted.id
    RETURNING entry.id
"""  # noqa: S608  # Only constants are interpolated.
UPDATE_RESULTS = """
    UPDATE sites_listresult AS result SET status = counted.status, statuses = counted.statuses, seen = counted.seen
    FROM jsonb_populate_recordset(NULL::sites_listresult, %(rows)s::jsonb) AS counted WHERE result.id = counted.id
    RETURNING result.id
"""


def count(row_id: str) -> int:
    """Count the ended results of a run or of a list.

    `row_id` is a run ID, or a list ID for the results outside runs.
    """
    return count_results(row_id) if is_id("run", row_id) else count_single_results(row_id)


def count_missed_results(now: datetime, has_time: Callable[[], bool]) -> int:
    """Count all ended results in case queue messages were lost, and return their number.

    Also ends complete runs, and leaves out the waiting results of stopped ones.
    """
    end_results_without_audit(now)
    ended = ListResult.objects.filter(status=ListResult.Status.ENDED)
    unfinished = ListResult.objects.filter(
        site_list=OuterRef("site_list"), run=OuterRef("pk"), status__in=ListResult.UNFINISHED
    )
    running = ListRun.objects.filter(status=ListRun.Status.RUNNING)
    complete = running.filter(~Exists(unfinished) | ~Q(error_code=""), insertion__isnull=True)
    ids = {
        *ended.exclude(run=None).order_by().values_list("run_id", flat=True).distinct(),
        *ended.filter(run=None).order_by().values_list("site_list_id", flat=True).distinct(),
        *complete.values_list("id", flat=True),
    }
    return sum(_count_missed(row_id) for row_id in sorted(ids) if has_time())


def _count_missed(row_id: str) -> int:
    """Count the ended results of a run or of a list, unless another process is counting them.

    `row_id` is as for `count`. A large run gets a task, because its end can take longer than the caller has time for.
    """
    if not is_id("run", row_id):
        return count_single_results(row_id)
    with transaction.atomic():
        run = ListRun.objects.select_for_update(no_key=True, skip_locked=True).filter(id=row_id).first()
    if run is None:
        return 0
    if run.entries <= MAX_ENTRIES_WITHOUT_TASK:
        return count_results(row_id)
    if is_first_call_in(TASK_INTERVAL_S, f"list-count:{row_id}"):
        enqueue_count(run.site_list_id, run.id)
    return 0


def count_results(run_id: str) -> int:
    """Count the ended results of a run and return their number.

    Ends the run if no result is unfinished. Concurrent calls are safe, because the row lock of the run serializes them.
    """
    total = 0
    while True:
        with transaction.atomic():
            run = lock_run(run_id)
            if run is None or run.has_ended:
                return total
            left_out = leave_out_batch(run, timezone.now()) if run.error_code else 0
            number = count_ended_results(run)
            end_if_done(run)
        total += number
        if number < AT_ONCE and left_out < LEFT_OUT_AT_ONCE:
            return total


def lock_run(run_id: str) -> ListRun | None:
    """Lock a run and return it with its list and organization, or return None if the run was deleted."""
    runs = ListRun.objects.select_for_update(no_key=True, of=("self",)).select_related("site_list__organization__tier")
    return runs.filter(id=run_id).first()


def count_ended_results(run: ListRun) -> int:
    """Count up to `AT_ONCE` ended results of a run and return their number.

    The caller must have locked the run.
    """
    ended = ListResult.objects.filter(run=run, status=ListResult.Status.ENDED)
    pairs = _lock_results(ended)
    if not pairs:
        return 0
    positions = {check: position for position, check in enumerate(run.checks)}
    for result, _ in pairs:
        for check in result.seen:
            positions.setdefault(check, len(positions))
    run.checks = list(positions)
    counts = _Counts(run, [result for result, _ in pairs])
    for result, _ in pairs:
        result.status = _counted_status(result)
        run.done += result.status == ListResult.Status.DONE
        run.failed += result.status == ListResult.Status.FAILED
        counts.add(result)
        result.statuses = _status_letters(result.seen, positions)
    counts.save()
    run.save(update_fields=["checks", "done", "failed"])
    _update_entries(pairs, run.types, compares_security=_has_categories_of_snapshot_before(run))
    rows = [{"id": result.id, "status": result.status, "statuses": result.statuses, "seen": {}} for result, _ in pairs]
    fetch(UPDATE_RESULTS, {"rows": json.dumps(rows)})
    return len(pairs)


def count_single_results(list_id: str) -> int:
    """Count a list's ended results outside runs and return their number.

    These results update their entries, but no snapshot.
    """
    total = 0
    while True:
        with transaction.atomic():
            site_list = SiteList.objects.filter(id=list_id).first()
            if site_list is None:
                return total
            results = ListResult.objects.filter(site_list=site_list, run=None, status=ListResult.Status.ENDED)
            pairs = _lock_results(results)
            for result, _ in pairs:
                result.status = _counted_status(result)
            latest = snapshots.latest(site_list)
            compares_security = latest is None or latest.categories == site_list.categories
            _update_entries(pairs, site_list.types, compares_security=compares_security)
            for result, _ in pairs:
                result.save(update_fields=["status"])
        total += len(pairs)
        if len(pairs) < AT_ONCE:
            return total


def _lock_results(results: QuerySet[ListResult]) -> list[tuple[ListResult, ListEntry | None]]:
    """Lock results with their entries and return the pairs.

    Rows locked by other transactions are skipped.
    """
    locked_results = list(results.select_for_update(no_key=True, skip_locked=True).order_by("position", "id")[:AT_ONCE])
    entries = ListEntry.objects.select_for_update(no_key=True, skip_locked=True)
    locked_entries = entries.in_bulk([result.entry_id for result in locked_results if result.entry_id is not None])
    return [
        (result, locked_entries.get(result.entry_id) if result.entry_id else None)
        for result in locked_results
        if result.entry_id is None or result.entry_id in locked_entries
    ]


def _counted_status(result: ListResult) -> str:
    if any(result.score_of(type) is not None for type in Scan.Type.values):
        return ListResult.Status.DONE
    return ListResult.Status.LEFT_OUT if result.error_code in NOT_SCANNED_CODES else ListResult.Status.FAILED


def _status_letters(seen: Mapping[str, str], positions: Mapping[str, int]) -> str:
    letters = ["-"] * len(positions)
    for check, status in seen.items():
        letters[positions[check]] = LETTERS[status]
    return "".join(letters)


class _Counts:
    """Counts of a run by tag.

    Batches of results are added before the counts are saved.
    """

    def __init__(self, run: ListRun, results: Iterable[ListResult]) -> None:
        self._run = run
        rows = ListCount.objects.filter(run=run, tag__in={"", *(tag for result in results for tag in result.tags)})
        self._rows: dict[str, ListCount] = {row.tag: row for row in rows}
        self._changed: set[str] = set()

    def add(self, result: ListResult) -> None:
        if result.status == ListResult.Status.LEFT_OUT:
            return
        site = SiteConformance.of_statuses(result.seen) if result.accessibility_score is not None else None
        for tag in ("", *result.tags):
            row = self._rows.get(tag)
            if row is None:
                row = self._rows[tag] = ListCount(run=self._run, tag=tag, data=empty_counts())
            _add_result(row.data, result)
            if site is not None:
                add_site(row.conformance, result.id, site)
            self._changed.add(tag)

    def save(self) -> None:
        changed = [self._rows[tag] for tag in sorted(self._changed)]
        ListCount.objects.bulk_update([row for row in changed if row.pk], ["data", "conformance"])
        ListCount.objects.bulk_create([row for row in changed if not row.pk])


def _add_result(counts: ListCounts, result: ListResult) -> None:
    counts["sites"] += 1
    if result.status != ListResult.Status.DONE:
        return
    counts["judged"] += 1
    for type in Scan.Type.values:
        score, grade = result.score_of(type), result.grade_of(type)
        if score is not None and grade is not None:
            _increment(counts["scores"].setdefault(type, {}), str(score))
            _increment(counts["grades"].setdefault(type, {}), grade)
    for check, status in result.seen.items():
        counts["checks"].setdefault(check, [0, 0, 0])[COLUMNS[status]] += 1


def _increment(numbers: dict[str, int], key: str) -> None:
    numbers[key] = numbers.get(key, 0) + 1


def _has_categories_of_snapshot_before(run: ListRun) -> bool:
    """Return False if the previous snapshot judged other categories of security."""
    before = snapshots.previous(run)
    return before is None or before.categories == run.categories


def _update_entries(
    pairs: Iterable[tuple[ListResult, ListEntry | None]], types: Sequence[str], *, compares_security: bool
) -> None:
    """Update entries with their latest results in one SQL statement.

    Without `compares_security`, the earlier scores of security are of other categories, so there is no change.
    """
    latest: dict[str, ListEntry] = {}
    for result, entry in sorted(pairs, key=lambda pair: pair[0].ended_at or timezone.now()):
        if entry is not None and _update_entry(entry, result, types):
            latest[entry.id] = entry
            if not compares_security:
                entry.security_change = None
    if latest:
        rows = [{name: getattr(entry, name) for name in ENTRY_COLUMNS} for entry in latest.values()]
        fetch(UPDATE_ENTRIES, {"rows": json.dumps(rows, default=str)})


def _update_entry(entry: ListEntry, result: ListResult, types: Sequence[str]) -> bool:
    """Copy a result to the columns of its entry.

    Returns False if the result is older or the site was not scanned.
    """
    assert result.ended_at is not None
    if result.status == ListResult.Status.LEFT_OUT or (entry.judged_at and result.ended_at < entry.judged_at):
        return False
    entry.judged_at, entry.result_id = result.ended_at, result.id
    entry.error_code, entry.error_message = result.error_code, result.error_message
    if result.status == ListResult.Status.FAILED:
        entry.state = ListEntry.State.FAILED
        return True
    entry.state = ListEntry.State.PARTIAL if result.is_partial else ListEntry.State.JUDGED
    entry.moved_to = result.moved_to
    for type in Scan.Type.values:
        before, score = entry.score_of(type), result.score_of(type)
        if score is None and type in types:
            # The scan of this type failed, so the entry keeps its previous score.
            setattr(entry, f"{type}_change", None)
            continue
        setattr(entry, f"{type}_change", None if before is None or score is None else score - before)
        setattr(entry, f"{type}_score", score)
        setattr(entry, f"{type}_grade", result.grade_of(type) or "")
    entry.failing = sorted(check for check, status in result.seen.items() if status == "fail")
    entry.outcomes = sorted({f"{finding['check']}.{finding['outcome']}" for finding in result.findings})
    entry.facts = result.facts
    scores = [score for type in Scan.Type.values if (score := result.score_of(type)) is not None]
    entry.history = [*entry.history, round(sum(scores) / len(scores))][-ListEntry.HISTORY :]
    return True


def end_if_done(run: ListRun) -> bool:
    """End a run if no result is unfinished, else return False.

    The caller must have locked the run.
    """
    # The filter includes `site_list`, because it is the first column of the index of unfinished results.
    unfinished = ListResult.objects.filter(site_list=run.site_list_id, run=run, status__in=ListResult.UNFINISHED)
    if run.insertion is not None or unfinished.exists():
        return False
    now = timezone.now()
    run.ended_at = now
    run.left_out = max(0, run.entries - run.done - run.failed)
    run.status = _final_run_status(run)
    if run.status == ListRun.Status.FAILED and not run.error_code:
        run.error_code, run.error_message = _first_error(run)
    elif run.left_out and run.status != ListRun.Status.CANCELLED:
        run.error_code, run.error_message = _reason_for_left_out(run)
    run.save()
    count_not_judged(run)
    if run.status != ListRun.Status.CANCELLED:
        _report_end(run, now)
    return True


def _final_run_status(run: ListRun) -> str:
    if run.error_code == CANCELLED:
        return ListRun.Status.CANCELLED
    if not run.done:
        return ListRun.Status.FAILED
    return ListRun.Status.PARTIAL if run.left_out else ListRun.Status.COMPLETED


def _first_error(run: ListRun) -> tuple[str, str]:
    failed = ListResult.objects.filter(run=run).exclude(error_code="").order_by("position")
    code, message = failed.values_list("error_code", "error_message").first() or ("NO_PAGE", "It had no sites.")
    return code, f"No site could be judged. {message}"


def _reason_for_left_out(run: ListRun) -> tuple[str, str]:
    """Return the error code and message of a run that left out some sites."""
    code, reason = run.error_code, run.error_message
    # If the run has no error code, the results of the sites have one.
    if not code:
        left_out = ListResult.objects.filter(run=run, status=ListResult.Status.LEFT_OUT).order_by("position")
        code, reason = left_out.values_list("error_code", "error_message").first() or ("AUDIT_GONE", "")
    return code, f"{counted(run.left_out, 'site was', 'sites were')} not judged. {reason}".strip()


def _report_end(run: ListRun, now: datetime) -> None:
    """Record the webhook events of a finished run, and queue its e-mails."""
    record_list_event(run, EventKind.LIST_COMPLETED, {}, now)
    difference = changes.changes_of(run)
    if difference is not None:
        record_list_event(run, EventKind.LIST_CHANGED, {"changes": difference}, now)
    notices.mail_run_end(run, difference)


def end_results_without_audit(now: datetime) -> int:
    """End results whose audit was deleted, and return their number.

    Their run can then end.
    """
    results_without_audit = ListResult.objects.filter(status=ListResult.Status.STARTED, audit=None)
    message = "Its audit was deleted before it had ended."
    return results_without_audit.update(
        status=ListResult.Status.ENDED, ended_at=now, error_code="AUDIT_GONE", error_message=message
    )


def unfinished_audits(run: ListRun) -> list[Audit]:
    """Lock and return the unfinished audits of a run, ordered by ID to prevent deadlocks."""
    unfinished = Audit.objects.filter(list_result__run=run).unfinished()
    return list(unfinished.select_for_update(no_key=True, of=("self",)).order_by("id"))
