"""Actions on the monitors that a member has selected in the table, or on all that match its filters."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from django.http import QueryDict
from msgspec import Struct

from accounts import access
from accounts.authentication import Caller
from accounts.models import Interval, Tier
from accounts.visible_sites import VisibleSites
from infrastructure.api.errors import InvalidParams
from infrastructure.web.selections import Outcome, apply_in_batches
from sites.models import Monitor
from sites.monitors import bulk
from sites.monitors.pages.filters import matching_ids
from sites.monitors.pages.lists import PAGE_SIZE
from sites.monitors.requests import MonitorRequest, interval_within_tier
from sites.monitors.visibility import may_see_monitor
from website_scan.ids import is_id

ACTIONS = ("pause", "resume", "run", "schedule", "deleted")
DONE: Mapping[str, str] = {
    "pause": "paused",
    "resume": "resumed",
    "run": "started",
    "schedule": "changed",
    "deleted": "deleted",
}
NOTHING: Mapping[str, str] = {
    "pause": "they are paused already.",
    "resume": "none is paused.",
    "run": "their runs are in progress already.",
    "schedule": "they have this schedule already.",
    "deleted": "they are deleted already.",
}


class Selection(Struct, frozen=True):
    """Selected monitors: those with a checked box, or all that match the filters of the table (`is_all`).

    `back` is the query string of the table.
    """

    ids: Sequence[str]
    is_all: bool
    back: str

    @property
    def digest(self) -> str:
        """Return a digest of the IDs, which shows whether other monitors match the filters than before."""
        return hashlib.sha256("\n".join(sorted(self.ids)).encode()).hexdigest()


def selection_of(organization_id: int, form: QueryDict, scope: VisibleSites | None) -> Selection:
    """Return the monitors of the organization that a form selects and that a member with this scope may see.

    `scope` is None for members without a limit.
    """
    back = form.get("back", "")
    if form.get("all"):
        return Selection(matching_ids(organization_id, QueryDict(back), scope), is_all=True, back=back)
    checked = [id for id in form.getlist("monitor")[:PAGE_SIZE] if is_id("mon", id)]
    monitors = access.rows(Monitor, organization_id).filter(id__in=checked).only("pages")
    visible = [monitor.id for monitor in monitors if may_see_monitor(monitor, scope)]
    return Selection(visible, is_all=False, back=back)


def apply(caller: Caller, tier: Tier, action: str, ids: Sequence[str], form: Mapping[str, str]) -> Outcome:
    """Apply one of ACTIONS to the monitors. The form has the new interval (`every`) for the action `schedule`."""

    def change(ids: Sequence[str], request: MonitorRequest) -> Outcome:
        return apply_in_batches(
            ids, bulk.BATCH_SIZE, lambda batch: bulk.change_monitors(caller=caller, ids=batch, request=request)
        )

    def schedule() -> Outcome:
        every = form.get("every", "")
        if every not in Interval.values:
            raise InvalidParams("Choose how often they shall run.", "every")
        # Monitors that run as often already keep their day. Others do not, because weekdays and days of the month are
        # numbered differently.
        others = access.rows(Monitor, caller.organization_id).filter(id__in=ids).exclude(every=every)
        columns = {"every": interval_within_tier(every, tier), "day": None}
        return change(list(others.values_list("id", flat=True)), MonitorRequest(columns=columns))

    actions: Mapping[str, Callable[[], Outcome]] = {
        "pause": lambda: change(ids, MonitorRequest(is_paused=True)),
        "resume": lambda: change(ids, MonitorRequest(is_paused=False)),
        "run": lambda: apply_in_batches(
            ids, bulk.BATCH_SIZE, lambda batch: bulk.run_monitors(caller=caller, ids=batch)
        ),
        "schedule": schedule,
        "deleted": lambda: apply_in_batches(
            ids, bulk.DELETION_BATCH_SIZE, lambda batch: bulk.delete_monitors(caller=caller, ids=batch)
        ),
    }
    return actions[action]()
