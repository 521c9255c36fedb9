"""Services that create, change, pause, run and delete monitors.

Each service runs in one transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts import access, activity, usage
from accounts.access import Lock
from accounts.authentication import Caller
from accounts.models import Interval, Organization, Tier
from infrastructure import queue
from infrastructure.api.idempotency import Once
from scans.idempotency_records import Created, created_once
from scans.models import credential_columns
from scans.reachability import refuse_unreachable
from sites.audits.requests import AuditRequest
from sites.journeys.services import audit_request_of, refuse_unready
from sites.models import Audit, Journey, Monitor, MonitorRun
from sites.models.monitor import MAX_NAME_LENGTH, new_monitor_id
from sites.monitors.alerts import DEFAULT_ALERT
from sites.monitors.requests import SCHEDULE_FIELDS, MonitorRequest, audit_columns, is_shorter
from sites.monitors.schemas import MonitorJson, monitor_json_of
from sites.recipients import default_recipients, refuse_blind_recipients
from sites.resources import MONITOR
from sites.schedule import Schedule
from website_scan.errors import Refusal
from website_scan.messages import counted
from website_scan.net.errors import Blocked
from website_scan.net.targets import InvalidUrl
from website_scan.urls import host_and_port_of

# A monitor takes an audit that ended within this time as its first result.
MAX_AGE_OF_FIRST_RESULT = timedelta(hours=1)
# Number of audits whose pages are compared with those of the monitor.
MAX_COMPARED_AUDITS = 5


class MonitorLimit(Refusal):
    """Raised when the organization has as many monitors as its tier allows."""

    code = "MONITOR_LIMIT"
    status = 409


class MonitorBusy(Refusal):
    """Raised when a run of the monitor has not ended yet."""

    code = "MONITOR_RUNNING"
    status = 409


def schedule_of(monitor: Monitor, tier: Tier) -> Schedule:
    """Return the monitor's schedule.

    Intervals that are shorter than the tier allows are lengthened.
    """
    every = allowed_interval(monitor.every, tier.shortest_interval)
    return Schedule(every, monitor.id, monitor.at, monitor.day, monitor.timezone)


def allowed_interval(every: str, shortest: str) -> Interval:
    """Return the interval `every`, or `shortest` (the shortest interval of the tier) if that is longer."""
    return Interval(shortest if is_shorter(every, shortest) else every)


def create_monitor(*, caller: Caller, request: MonitorRequest, once: Once | None = None) -> Created[MonitorJson]:
    """Create a monitor.

    Its first run starts at once, unless the monitor is paused. `request` must have an audit. Raises the first refusal.
    """
    audit = request.audit
    assert audit is not None
    return created_once(
        caller.organization_id, once, audit.credentials, lambda: _create(caller, request, audit), "monitor"
    )


def _create(caller: Caller, request: MonitorRequest, audit: AuditRequest) -> MonitorJson:
    now = timezone.now()
    journey = request.journey
    if journey is not None:
        refuse_unready(journey)
    if audit.kind != Audit.Kind.PAGES:
        refuse_unreachable(audit.targets[0], caller.organization_id)
    with transaction.atomic():
        organization = usage.lock(caller.organization_id)
        _refuse_over_monitor_limit(organization)
        monitor = Monitor(
            id=new_monitor_id(),
            organization=organization,
            api_key_id=caller.key_id,
            created_by_id=caller.member.user_id if caller.member else None,
            created_at=now,
            recipients=default_recipients(caller),
            **audit_columns(audit, journey),
            **credential_columns(audit.credentials),
        )
        name = journey.name[:MAX_NAME_LENGTH] if journey else audit.targets[0].host
        _set_columns(monitor, {"name": name, "alert": dict(DEFAULT_ALERT), **request.columns})
        refuse_blind_recipients(monitor, request.columns.get("recipients", ()))
        _set_next_run(monitor, organization.tier, now, is_paused=bool(request.is_paused))
        monitor.save()
        if not monitor.is_paused:
            _create_first_run(monitor, now)
        activity.record_by_caller(caller, "monitor.created", monitor.name, monitor=monitor.id, url=monitor.url)
    return monitor_json_of(monitor)


def _create_first_run(monitor: Monitor, now: datetime) -> None:
    """Create the first run, with the result of a recent audit if there is one."""
    audit = _recent_audit(monitor, now)
    if audit is None:
        run = monitor.runs.create(due_at=now, not_before=now)
        transaction.on_commit(lambda: queue.enqueue("sites.tasks.start_run", run.id))
    else:
        status = MonitorRun.Status.RUNNING
        run = monitor.runs.create(
            due_at=now, not_before=now, status=status, attempts=1, started_at=audit.started_at, audit=audit
        )
        transaction.on_commit(lambda: queue.enqueue("sites.tasks.finish_run", run.id))


def _recent_audit(monitor: Monitor, now: datetime) -> Audit | None:
    """Return a recently completed audit of the same pages with the same settings, or None.

    Credentials are not comparable, so neither the audit nor the monitor may have any. Nor are the steps of earlier runs
    of a journey. An audit is the result of at most one run.
    """
    if monitor.credential_names is not None or monitor.kind == Audit.Kind.JOURNEY:
        return None
    settings = {name: getattr(monitor, name) for name in ("kind", "discover", "include", "exclude", "types")}
    if monitor.kind == Audit.Kind.SITE:
        settings["max_pages"] = monitor.max_pages
    # A filter for None would search for null in JSON.
    for name in ("viewing", "requirements"):
        value = getattr(monitor, name)
        settings[f"{name}__isnull" if value is None else name] = value or True
    audits = access.rows(Audit, monitor.organization_id).filter(
        **settings,
        url=monitor.url,
        run_of="",
        run=None,
        status=Audit.Status.COMPLETED,
        completed_at__gte=now - MAX_AGE_OF_FIRST_RESULT,
        credential_names__isnull=True,
        categories__isnull=True,
    )
    for audit in audits.order_by("-completed_at")[:MAX_COMPARED_AUDITS]:
        if monitor.kind != Audit.Kind.PAGES or monitor.pages == [page.url for page in audit.pages.order_by("position")]:
            return audit
    return None


def _refuse_over_monitor_limit(organization: Organization) -> None:
    max_monitors = organization.tier.schedules
    if access.rows(Monitor, organization.id).count() >= max_monitors:
        raise MonitorLimit(
            f"Your plan allows {counted(max_monitors, 'monitor')}. Delete one, or ask the operator for a larger plan."
        )


def change_monitor(*, caller: Caller, monitor: Monitor, request: MonitorRequest) -> Monitor:
    """Apply the requested changes and return the changed monitor.

    Raises NotFound, and the refusals of `apply_change`.
    """
    with transaction.atomic():
        # Lock order: the monitor before its runs and its organization.
        monitor = MONITOR.find(caller.organization_id, monitor.id, lock=Lock.CHANGE)
        changed = apply_change(monitor, request, timezone.now())
        monitor.save()
        if changed:
            action, details = change_event(monitor, changed)
            activity.record_by_caller(caller, action, monitor.name, **details)
    return monitor


def apply_change(monitor: Monitor, request: MonitorRequest, now: datetime) -> list[str]:
    """Apply the requested changes to a locked monitor without saving it, and return the names of changed fields.

    Raises InvalidParams if a new recipient may not see all pages of the changed monitor, and the refusals of
    `refuse_unready` for another journey.
    """
    before = {name: getattr(monitor, name) for name in request.columns}
    _set_columns(monitor, request.columns)
    changed = [name for name, value in before.items() if value != getattr(monitor, name)]
    if request.audit is not None:
        if request.journey is not None and request.journey.id != monitor.journey_id:
            refuse_unready(request.journey)
        changed += _change_target(monitor, request.audit, request.journey, keeps_credentials=request.keeps_credentials)
    if "recipients" in changed:
        refuse_blind_recipients(monitor, set(monitor.recipients) - set(before["recipients"]))
    is_paused = monitor.is_paused if request.is_paused is None else request.is_paused
    if is_paused != monitor.is_paused:
        changed.append("paused")
    if (SCHEDULE_FIELDS | {"paused"}) & set(changed):
        _set_next_run(monitor, monitor.organization.tier, now, is_paused=is_paused)
    return changed


def change_event(monitor: Monitor, changed: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Return the action and the details for the activity log after a change of the monitor's fields `changed`."""
    action = "monitor.changed"
    if list(changed) == ["paused"]:
        action = "monitor.paused" if monitor.is_paused else "monitor.resumed"
    return action, {"monitor": monitor.id, "changed": sorted(changed)}


def _set_columns(monitor: Monitor, columns: Mapping[str, Any]) -> None:
    for name, value in columns.items():
        setattr(monitor, name, value)


def follow_journey(*, journey: Journey, **_: object) -> None:
    """Copy the target and the options of a changed journey to its monitors. Receives the signal `journey_changed`.

    A start that is blocked is copied before the next run, which fails with the reason.
    """
    with suppress(InvalidUrl, Blocked):
        monitors = access.rows(Monitor, journey.organization_id).filter(journey=journey).order_by("id")
        for monitor in monitors.select_for_update(no_key=True):
            copy_journey(monitor, journey)


def copy_journey(monitor: Monitor, journey: Journey) -> None:
    """Copy the target and the options of its journey to a locked monitor, and save them.

    Raises InvalidUrl or Blocked for the start.
    """
    audit = audit_request_of(journey, journey.organization.tier.pages_per_audit)
    if _change_target(monitor, audit, journey, keeps_credentials=True):
        monitor.save()


def _change_target(
    monitor: Monitor, audit: AuditRequest, journey: Journey | None, *, keeps_credentials: bool
) -> list[str]:
    """Change the monitor's target and return the names of changed fields.

    Unchanged pages retain their state.
    """
    columns = audit_columns(audit, journey)
    changed = [name for name, value in columns.items() if value != getattr(monitor, name)]
    # Credentials must never be sent to another origin. Journeys have secrets instead.
    keeps_credentials = keeps_credentials and journey is None
    is_same_origin = all(monitor.url.startswith((f"{t.origin}/", f"{t.origin}?")) for t in audit.targets)
    has_credentials = monitor.credential_names is not None or audit.credentials is not None
    if has_credentials and not (keeps_credentials and is_same_origin):
        _set_columns(monitor, credential_columns(audit.credentials))
        changed.append("request")
    hosts_before = set(map(host_and_port_of, monitor.pages))
    _set_columns(monitor, columns)
    if {"kind", "journey", "pages"} & set(changed):
        monitor.failing_since = None
    if "journey" in changed:
        # States of another journey may have the same names.
        monitor.states.all().delete()
    if "journey" in changed or hosts_before - set(map(host_and_port_of, monitor.pages)):
        # The results of a site that the monitor no longer scans are not those of its new site.
        monitor.scores, monitor.certificate_host, monitor.certificate_expires_at = {}, "", None
    return changed


def _set_next_run(monitor: Monitor, tier: Tier, now: datetime, *, is_paused: bool) -> None:
    if not is_paused:
        monitor.paused_at, monitor.pause_reason = None, ""
        monitor.next_run_at = schedule_of(monitor, tier).after(now)
        return
    monitor.paused_at = monitor.paused_at or now
    # A new schedule does not end a pause without quota, which ends by itself next month.
    monitor.pause_reason = monitor.pause_reason or Monitor.Pause.REQUESTED
    is_out_of_quota = monitor.pause_reason == Monitor.Pause.QUOTA
    monitor.next_run_at = first_run_of_next_month(monitor, tier, now) if is_out_of_quota else None


def first_run_of_next_month(monitor: Monitor, tier: Tier, now: datetime) -> datetime:
    """Return the time of the monitor's first run in the next period of the quota."""
    start_of_next_period = datetime.combine(usage.next_month(usage.month_of(now)), datetime.min.time(), UTC)
    return schedule_of(monitor, tier).after(start_of_next_period)


def run_now(*, caller: Caller, monitor_id: str) -> MonitorRun:
    """Start a run outside the schedule, or immediately start a waiting run, such as a second attempt.

    Raises NotFound or MonitorBusy.
    """
    now = timezone.now()
    with transaction.atomic():
        monitor = MONITOR.find(caller.organization_id, monitor_id, lock=Lock.CHANGE)
        unfinished = monitor.runs.filter(status__in=MonitorRun.UNFINISHED).first()
        run = requested_run(monitor, unfinished, now)
        if run is None:
            raise MonitorBusy("A run of this monitor is already in progress.")
        run.save(update_fields=["not_before"] if unfinished else None)
        activity.record_by_caller(caller, "monitor.run", monitor.name, monitor=monitor.id)
        transaction.on_commit(lambda: queue.enqueue("sites.tasks.start_run", run.id))
    return run


def requested_run(monitor: Monitor, unfinished: MonitorRun | None, now: datetime) -> MonitorRun | None:
    """Return the unsaved run that a request starts: a new run, or the unfinished one if it waits.

    None if a run is in progress.
    """
    if unfinished is None:
        return MonitorRun(monitor=monitor, due_at=now, not_before=now, is_requested=True)
    if not unfinished.is_waiting(now):
        return None
    unfinished.not_before = now
    return unfinished


def delete_monitor(*, caller: Caller, monitor_id: str) -> None:
    """Delete a monitor with its runs and states, but not the reports of its runs.

    Raises NotFound.
    """
    with transaction.atomic():
        monitor = MONITOR.find(caller.organization_id, monitor_id, lock=Lock.DELETION)
        activity.record_by_caller(caller, "monitor.deleted", monitor.name, monitor=monitor.id, url=monitor.url)
        monitor.delete()
