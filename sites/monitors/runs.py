"""Creation and start of due monitor runs.

Creation takes a few statements for a thousand monitors and is safe with concurrent schedulers. Each start is one
transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction

from accounts import usage
from accounts.models import Organization
from infrastructure import queue
from scans.policy import scan_policy
from scans.visits.overload import AUDIT_SHARE_OF_WAIT_LIMIT, overload_s
from sites.audits.dispatch import dispatch_pages
from sites.audits.requests import AuditRequest, targets_of
from sites.audits.services import insert_audit, is_over_site_audit_limit
from sites.journeys.proof import ControlNotProven
from sites.journeys.services import MissingSecret, queue_types_of, refuse_unready
from sites.journeys.services import start_run as start_run_of_journey
from sites.models import UNFINISHED, Audit, Monitor, MonitorRun
from sites.models.monitor import new_run_id
from sites.monitors import pauses
from sites.monitors.services import allowed_interval, copy_journey
from sites.schedule import PERIODS, Schedule, seed_number
from website_scan.errors import Refusal
from website_scan.findings import ScanType

MAX_CREATED_RUNS = 1_000
# Runs that are later than this, for example after an outage of the service, start after a delay that depends on the
# monitor's ID, so that they do not all start together.
MAX_PUNCTUAL_DELAY = timedelta(minutes=10)
MAX_SPREAD = timedelta(hours=1)

# Plain SQL with arrays needs a third of the time of model instances for a thousand monitors.
CREATE = """
    INSERT INTO sites_monitorrun (
        id, monitor_id, due_at, not_before, status, ended_at, error_code, error_message,
        is_requested, attempts, scores, news, is_told
    )
    SELECT due.id, due.monitor_id, due_at, not_before,
        CASE WHEN unfinished.id IS NULL THEN 'due' ELSE 'skipped' END,
        CASE WHEN unfinished.id IS NULL THEN NULL ELSE %s::timestamptz END,
        CASE WHEN unfinished.id IS NULL THEN '' ELSE 'STILL_RUNNING' END,
        CASE WHEN unfinished.id IS NULL THEN '' ELSE 'The run before it had not ended.' END,
        false, 0, '{}', '{}', false
    FROM unnest(%s::text[], %s::text[], %s::timestamptz[], %s::timestamptz[])
        AS due (id, monitor_id, due_at, not_before)
    LEFT JOIN LATERAL (
        SELECT id FROM sites_monitorrun AS run
        WHERE run.monitor_id = due.monitor_id AND status IN ('due', 'running') LIMIT 1
    ) AS unfinished ON true
"""
PLAN = """
    UPDATE sites_monitor SET next_run_at = planned.next_run_at
    FROM unnest(%s::text[], %s::timestamptz[]) AS planned (id, next_run_at) WHERE sites_monitor.id = planned.id
"""

MAX_STARTED_RUNS = 200
# Reasons for a pause by the refusal of a run.
PAUSES: Mapping[type[Refusal], Monitor.Pause] = {
    usage.QuotaExceeded: Monitor.Pause.QUOTA,
    ControlNotProven: Monitor.Pause.PROOF,
    MissingSecret: Monitor.Pause.SECRET,
}
# Number of unfinished monitor audits that an organization may have for each of its slots. Further runs stay due.
MAX_UNFINISHED_AUDITS_PER_SLOT = 2
RETRY_DELAY = timedelta(minutes=1)
MONITOR_LIMIT = "MONITOR_LIMIT", "Your plan allows fewer monitors than you have."


def create_due_runs(now: datetime) -> int:
    """Create one run for each due monitor and return the number of due monitors.

    A monitor gets only one run, even if it has missed several. Processes at most `MAX_CREATED_RUNS` monitors: call the
    function until it returns a smaller number. `now` must be timezone-aware.
    """
    with transaction.atomic():
        due = Monitor.objects.filter(next_run_at__lte=now).order_by("next_run_at", "id")
        due = due.select_for_update(skip_locked=True, no_key=True, of=("self",))
        columns = ("id", "every", "at", "day", "timezone", "next_run_at", "organization__tier__shortest_interval")
        ids, due_at, starts, planned = [], [], [], []
        for monitor_id, every, at, day, timezone, moment, shortest in due.values_list(*columns)[:MAX_CREATED_RUNS]:
            assert moment is not None
            schedule = Schedule(allowed_interval(every, shortest), monitor_id, at, day, timezone)
            ids.append(monitor_id)
            due_at.append(moment)
            starts.append(now if now - moment < MAX_PUNCTUAL_DELAY else now + _delay(schedule))
            planned.append(schedule.after(now))
        if ids:
            with connection.cursor() as cursor:
                cursor.execute(CREATE, [now, [new_run_id() for _ in ids], ids, due_at, starts])
                cursor.execute(PLAN, [ids, planned])
    return len(ids)


def _delay(schedule: Schedule) -> timedelta:
    within = min(MAX_SPREAD, PERIODS[schedule.every] / 4)
    return timedelta(seconds=seed_number(schedule.seed) % int(within.total_seconds()))


def start_due(now: datetime, has_time: Callable[[], bool]) -> int:
    """Start due runs until no time is left, and return their number.

    The run that has waited longest starts first.
    """
    started = 0
    while has_time():
        due = MonitorRun.objects.filter(status=MonitorRun.Status.DUE, not_before__lte=now)
        runs = list(due.order_by("not_before", "id").values_list("id", "monitor_id")[:MAX_STARTED_RUNS])
        count = sum(start_run(run_id, monitor_id, now) for run_id, monitor_id in runs if has_time())
        started += count
        if not count:
            break
    return started


def start_run(run_id: str, monitor_id: str, now: datetime) -> bool:
    """Start a due run.

    Return False if the run is not due or another process has locked its monitor.
    """
    with transaction.atomic():
        monitors = Monitor.objects.select_related("organization__tier").select_for_update(
            skip_locked=True, of=("self",)
        )
        monitor = monitors.filter(id=monitor_id).first()
        run = monitor and monitor.runs.select_for_update().filter(id=run_id, status=MonitorRun.Status.DUE).first()
        if not monitor or not run or run.not_before > now:
            return False
        _start(monitor, run, now)
    dispatch_pages(monitor.organization_id)
    return True


def _start(monitor: Monitor, run: MonitorRun, now: datetime) -> None:
    try:
        organization = usage.lock(monitor.organization_id)
    except usage.OrganizationClosed:
        run.delete()
        return
    limits = usage.tier_limits(organization.tier)
    if not run.is_requested and _exceeds_monitor_limit(monitor):
        _pause(monitor, run, Monitor.Pause.PLAN, MONITOR_LIMIT, now)
        return
    audits = Audit.objects.filter(organization=organization, run_of=Audit.RunOf.MONITOR, status__in=UNFINISHED)
    is_full = audits.count() >= MAX_UNFINISHED_AUDITS_PER_SLOT * limits.concurrent_scans
    # Discovery uses no quota, so monitors share the hourly limit of whole-site audits with other audits.
    types = queue_types_of(monitor.journey) if monitor.journey else {ScanType(type) for type in monitor.types}
    if (
        is_full
        or overload_s(types, AUDIT_SHARE_OF_WAIT_LIMIT)
        or (monitor.kind == Audit.Kind.SITE and is_over_site_audit_limit(organization))
    ):
        run.not_before = now + RETRY_DELAY
        run.save(update_fields=["not_before"])
        return
    try:
        run.audit = _insert_audit(monitor, organization, limits, now)
    except (usage.QuotaExceeded, ControlNotProven, MissingSecret) as refusal:
        _pause(monitor, run, PAUSES[type(refusal)], (refusal.code, str(refusal)), now)
        return
    except Refusal as refusal:  # The policy has changed since the monitor was created.
        run.error_code, run.error_message = refusal.code, str(refusal)
    if monitor.pause_reason == Monitor.Pause.QUOTA:
        monitor.paused_at, monitor.pause_reason = None, ""
        monitor.save(update_fields=["paused_at", "pause_reason"])
    run.status = MonitorRun.Status.RUNNING
    run.attempts += 1
    run.started_at = run.started_at or now
    run.save()
    if run.audit is None:
        transaction.on_commit(lambda: queue.enqueue("sites.tasks.finish_run", run.id))


def _insert_audit(monitor: Monitor, organization: Organization, limits: usage.TierLimits, now: datetime) -> Audit:
    """Insert the audit of a run. Raises QuotaExceeded, and the same refusals as a new audit or a run of a journey."""
    columns: dict[str, Any] = {
        "run_of": Audit.RunOf.MONITOR,
        "api_key_id": monitor.api_key_id,
        "created_by_id": monitor.created_by_id,
    }
    if monitor.journey is not None:
        refuse_unready(monitor.journey)
        copy_journey(monitor, monitor.journey)
        usage.refuse_beyond_quota(organization.id, limits, monitor.max_pages * len(monitor.types), now)
        return start_run_of_journey(monitor.journey, organization, **columns)
    request = _audit_request(monitor, limits.pages_per_audit)
    known_pages = 1 if request.kind == Audit.Kind.SITE else len(request.targets)
    usage.refuse_beyond_quota(organization.id, limits, known_pages * len(request.types), now)
    return insert_audit(
        organization,
        request,
        credential_names=monitor.credential_names,
        encrypted_credentials=monitor.encrypted_credentials,
        **columns,
    )


def _audit_request(monitor: Monitor, pages_per_audit: int) -> AuditRequest:
    """Return the audit request for the monitor's target, within the limits of the current tier.

    Raises the same refusals as a new audit.
    """
    return AuditRequest.of(
        monitor.kind,
        targets_of(monitor.kind, monitor.pages[:pages_per_audit], scan_policy(), pages_per_audit),
        pages_per_audit,
        types=monitor.types,
        max_pages=min(monitor.max_pages, pages_per_audit),
        discover=monitor.discover,
        include=monitor.include,
        exclude=monitor.exclude,
        viewing=monitor.chosen_viewing,
        requirements=monitor.own_requirements,
    )


def _exceeds_monitor_limit(monitor: Monitor) -> bool:
    """Return True if the monitor exceeds the tier's limit of monitors.

    Older monitors count first.
    """
    older = Monitor.objects.filter(organization=monitor.organization_id).exclude(pause_reason=Monitor.Pause.PLAN)
    older = older.filter(created_at__lt=monitor.created_at)
    return older.count() >= monitor.organization.tier.schedules


def _pause(monitor: Monitor, run: MonitorRun, reason: Monitor.Pause, error: tuple[str, str], now: datetime) -> None:
    """Pause the monitor and skip the run. `error` is the code and message of the run."""
    pauses.pause(monitor, reason, now)
    run.status, run.ended_at = MonitorRun.Status.SKIPPED, now
    run.error_code, run.error_message = error
    run.save()
