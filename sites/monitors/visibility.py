"""Monitors and runs that members with a limit to some sites may see (ADR 32).

A monitor is visible if all of its pages belong to visible sites, and if it does not repeat a journey.
"""

from __future__ import annotations

from django.db.models import Q, QuerySet

from accounts import access
from accounts.models import Membership
from accounts.visible_sites import VisibleSites, visible_sites_of
from sites.audits.visibility import visible_audits
from sites.models import Audit, Monitor, MonitorRun
from sites.resources import MONITOR


def may_see_monitor(monitor: Monitor, scope: VisibleSites | None) -> bool:
    """Return True if a member with this scope may see the monitor. `scope` is None for members without a limit."""
    return scope is None or monitor.is_visible_within(scope)


def find_monitor(membership: Membership, monitor_id: str) -> Monitor:
    """Return the organization's monitor. Raises NotFound, also if the member is limited to other sites."""
    monitor = MONITOR.find(membership.organization_id, monitor_id)
    if not may_see_monitor(monitor, visible_sites_of(membership)):
        raise MONITOR.not_found()
    return monitor


def visible_runs(monitor: Monitor, scope: VisibleSites | None) -> QuerySet[MonitorRun]:
    """Return the monitor's runs that a member with this scope may see.

    A monitor may have had pages of other sites before. So limited members see the runs whose audits they may see, and
    the run that waits for its audit. Runs without an audit do not store which pages they had.
    """
    if scope is None:
        return monitor.runs.all()
    audits = visible_audits(access.rows(Audit, monitor.organization_id), scope)
    is_waiting = Q(audit=None, status__in=MonitorRun.UNFINISHED)
    return monitor.runs.filter(is_waiting | Q(audit__in=audits.values("id")))
