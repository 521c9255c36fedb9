"""JSON schemas of monitors, their runs and events, and functions that create this JSON from models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, NotRequired, TypedDict

from accounts.models import Interval
from infrastructure.api.typed import in_order
from scans.schemas import (
    ColorSchemeName,
    CredentialNames,
    ScanFailure,
    Widths,
    credential_names_of,
    failure_of,
    requirements_json_of,
    timestamp_or_none,
)
from sites.audits.schemas import DiscoverySource, JourneyId
from sites.models import Audit, Monitor, MonitorRun
from sites.models.monitor import STATUS_FILTERS
from sites.models.stored_json import (
    ChangedData,
    FailedData,
    MonitorId,
    News,
    RecoveredData,
    RunId,
    RunScore,
    by_type,
)
from sites.monitors.alerts import AlertSerializer
from sites.recipients import Notify, Recipients, Unsubscribed, Warned, notify_of, recipients_of
from webhooks.schemas import Event
from website_scan.json_types import Count, Grade, Link, Score, Timestamp, TypeName, component, values
from website_scan.requirements.model import RequirementsJson
from website_scan.timestamps import timestamp

STATUSES = list(STATUS_FILTERS)


@component("TypeScore")
class LatestScore(TypedDict):
    score: Score | None
    grade: Grade | None


class NamedMonitor(TypedDict):
    id: MonitorId
    name: str


class MonitorTarget(TypedDict):
    """Target and audit options of a monitor."""

    page: NotRequired[str]
    pages: NotRequired[list[str]]
    site: NotRequired[str]
    journey: NotRequired[JourneyId]
    types: list[TypeName]
    discover: NotRequired[list[DiscoverySource]]
    max_pages: NotRequired[int]
    include: NotRequired[list[str]]
    exclude: NotRequired[list[str]]
    request: NotRequired[CredentialNames]
    widths: NotRequired[Widths]
    color_scheme: NotRequired[ColorSchemeName]
    requirements: NotRequired[RequirementsJson]


@component("Monitor")
class MonitorJson(NamedMonitor, MonitorTarget):
    """Monitor with exactly one of `page`, `pages`, `site` and `journey`.

    Only monitors with `site` have discovery options. Those with `journey` have its types, widths, colour scheme
    and requirements.
    """

    every: Annotated[str, values(Interval.choices)]
    # The value has only hours and minutes, such as 06:00. JSON Schema's format `time` would need seconds and a zone.
    at: str | None
    day: int | None
    timezone: str
    paused: bool
    pause_reason: Annotated[str, values(Monitor.Pause.choices)] | None
    alert: Annotated[Mapping[str, Any], AlertSerializer]
    notify: Notify
    unsubscribed: Unsubscribed
    warning: Warned
    status: Annotated[str, values(STATUSES)]
    failing_since: Timestamp | None
    results: Annotated[dict[str, LatestScore], "Last confirmed, by type."]
    next_run_at: Timestamp | None
    next_try_at: Annotated[Timestamp | None, "When a run that waits starts, or tries again."]
    created_at: Timestamp
    monitor_url: Link


class MonitorList(TypedDict):
    monitors: list[MonitorJson]
    total: Count
    limit: int
    offset: int


@component("MonitorRun")
class MonitorRunJson(TypedDict):
    """Run of a monitor.

    `news` is empty before the run has ended, and if nothing has changed.
    """

    id: RunId
    due_at: Timestamp
    requested: bool
    status: Annotated[str, values(MonitorRun.Status.choices)]
    next_try_at: Annotated[Timestamp | None, "When it starts or tries again, while it waits."]
    started_at: Timestamp | None
    ended_at: Timestamp | None
    audit_id: str | None
    results: Annotated[dict[str, RunScore], "By type."]
    news: Annotated[News, "As `data` of the event `monitor.changed`, without the monitor."]
    told: Annotated[bool, "Whether a message was sent."]
    error: ScanFailure | None


class MonitorRunList(TypedDict):
    runs: list[MonitorRunJson]
    total: Count
    limit: int
    offset: int


class MonitorData(TypedDict):
    """Data fields that all monitor events have in common."""

    monitor_id: MonitorId
    name: str
    target: str
    monitor_url: Link


class MonitorChangedEventData(MonitorData, ChangedData):
    """Data of the event `monitor.changed`."""


class MonitorFailedEventData(MonitorData, FailedData):
    """Data of the event `monitor.failed`."""


class MonitorRecoveredEventData(MonitorData, RecoveredData):
    """Data of the event `monitor.recovered`."""


class MonitorChangedEvent(Event):
    data: MonitorChangedEventData


class MonitorFailedEvent(Event):
    data: MonitorFailedEventData


class MonitorRecoveredEvent(Event):
    data: MonitorRecoveredEventData


def monitor_json_of(monitor: Monitor) -> MonitorJson:
    return monitors_json_of([monitor])[0]


def monitors_json_of(monitors: Sequence[Monitor]) -> list[MonitorJson]:
    """Return the JSON of several monitors, with at most four queries."""
    due_runs = MonitorRun.objects.filter(monitor__in=monitors, status=MonitorRun.Status.DUE)
    retry_times = dict(due_runs.values_list("monitor_id", "not_before")) if monitors else {}
    recipients = recipients_of(monitors)
    return [_monitor_json(monitor, recipients[monitor.id], retry_times.get(monitor.id)) for monitor in monitors]


def monitor_run_of(run: MonitorRun) -> MonitorRunJson:
    return {
        "id": run.id,
        "due_at": timestamp(run.due_at),
        "requested": run.is_requested,
        "status": run.status,
        "next_try_at": timestamp_or_none(run.next_try_at),
        "started_at": timestamp_or_none(run.started_at),
        "ended_at": timestamp_or_none(run.ended_at),
        "audit_id": run.audit_id,
        "results": {type: in_order(RunScore, score) for type, score in by_type(run.scores).items()},
        "news": _news(run.news),
        "told": run.is_told,
        "error": failure_of(run),
    }


def monitor_data(monitor: Monitor) -> MonitorData:
    """Return the data fields that all monitor events have in common (docs/monitors.md)."""
    return {
        "monitor_id": monitor.id,
        "name": monitor.name,
        "target": monitor.url,
        "monitor_url": monitor.monitor_url,
    }


def _monitor_json(monitor: Monitor, recipients: Recipients, next_try_at: datetime | None) -> MonitorJson:
    return {
        "id": monitor.id,
        "name": monitor.name,
        **_target_json(monitor),
        "every": monitor.every,
        "at": monitor.at.strftime("%H:%M") if monitor.at else None,
        "day": monitor.day,
        "timezone": monitor.timezone,
        "paused": monitor.is_paused,
        "pause_reason": monitor.pause_reason or None,
        "alert": AlertSerializer().to_representation(monitor.alert),
        "notify": notify_of(recipients),
        "unsubscribed": list(recipients.unsubscribed),
        "warning": recipients.warning,
        "status": monitor.status,
        "failing_since": timestamp_or_none(monitor.failing_since),
        "results": {
            type: {"score": score["score"], "grade": score["grade"]} for type, score in by_type(monitor.scores).items()
        },
        "next_run_at": timestamp_or_none(monitor.next_run_at),
        "next_try_at": timestamp_or_none(next_try_at),
        "created_at": timestamp(monitor.created_at),
        "monitor_url": monitor.monitor_url,
    }


def _target_json(monitor: Monitor) -> MonitorTarget:
    target: MonitorTarget
    if monitor.kind == Audit.Kind.SITE:
        target = {
            "site": monitor.url,
            "types": monitor.types,
            "discover": monitor.discover,
            "max_pages": monitor.max_pages,
            "include": monitor.include,
            "exclude": monitor.exclude,
        }
    elif monitor.kind == Audit.Kind.PAGES:
        target = {"pages": monitor.pages, "types": monitor.types}
    elif monitor.journey_id is not None:
        target = {"journey": monitor.journey_id, "types": monitor.types}
    else:
        target = {"page": monitor.url, "types": monitor.types}
    if monitor.credential_names is not None:
        target["request"] = credential_names_of(monitor.credential_names)
    if monitor.viewing is not None:
        target["widths"], target["color_scheme"] = monitor.viewing["widths"], monitor.viewing["color_scheme"]
    if monitor.requirements is not None:
        target["requirements"] = requirements_json_of(monitor.requirements)
    return target


def _news(news: News) -> News:
    ordered = in_order(News, news)
    if "scores" in ordered:
        ordered["scores"] = by_type(ordered["scores"])
    return ordered
