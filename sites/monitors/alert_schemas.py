"""JSON schema of the event `monitor.alert`, which is also the content of e-mails."""

from __future__ import annotations

from typing import Annotated, TypedDict

from sites.models import Cause
from sites.models.stored_json import MonitorId
from webhooks.schemas import Event
from website_scan.json_types import Count, Link, SeverityName, Timestamp, TypeName, component, values


class AlertedMonitor(TypedDict):
    id: MonitorId
    name: str
    target: str
    monitor_url: Link


class AlertedSite(TypedDict):
    """Site that has a problem, with its first monitors. `report_url` leads to a report or to an audit."""

    site: str
    since: Timestamp
    ended_at: Timestamp | None
    note: Annotated[str, "What the run saw."]
    report_url: Link | None
    monitors: list[AlertedMonitor]
    monitors_total: Count


@component("AlertProblem")
class AlertProblem(TypedDict):
    """Problem with its first sites. `type` and `check` are null unless it is a finding."""

    kind: Annotated[str, values(Cause.Kind.choices)]
    severity: SeverityName
    title: str
    fix: str
    type: TypeName | None
    check: str | None
    sites: list[AlertedSite]
    sites_total: Count
    monitors_total: Count


class MoreProblems(TypedDict):
    """Numbers of problems that the lists omit."""

    problems: Count
    ended: Count
    ended_meanwhile: Count


class AlertData(TypedDict):
    """Problems since the last message, worst first.

    `ended` are problems of earlier messages that have ended. `ended_meanwhile` began and ended since the last message,
    for example in quiet hours.
    """

    headline: str
    problems: list[AlertProblem]
    ended: list[AlertProblem]
    ended_meanwhile: list[AlertProblem]
    more: MoreProblems


class MonitorAlertEvent(Event):
    data: AlertData
