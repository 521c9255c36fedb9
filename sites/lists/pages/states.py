"""Texts about the state, schedule and cost of lists, of their entries and runs."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.usage import Quota
from sites.models import ListEntry, ListRun, SiteList
from sites.models.site_list import ListInterval
from website_scan.messages import agreeing, counted


@dataclass(frozen=True, slots=True)
class State:
    """State of a run or an entry: its `name`, the `tone` of its colour, and an optional explanation."""

    name: str
    tone: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    """Maximum number of scans of a run, and the month's quota."""

    scans: int
    quota: Quota

    @property
    def is_used_up(self) -> bool:
        return not self.quota.remaining

    @property
    def is_over(self) -> bool:
        """Return True if the run may exceed the remaining quota, so that some sites would be left out."""
        return self.scans > self.quota.remaining


ENTRY_STATES = {
    ListEntry.State.NEW: State("Not judged yet", ""),
    ListEntry.State.JUDGED: State("Judged", "good"),
    ListEntry.State.PARTIAL: State("Judged in part", "warn"),
    ListEntry.State.FAILED: State("Not reached", "bad"),
}
EVERY = {
    "": "Runs when someone starts it",
    ListInterval.WEEK: "Runs every week",
    ListInterval.MONTH: "Runs every month",
    ListInterval.QUARTER: "Runs every quarter",
}


def state_of_run(run: ListRun) -> State:
    """Return the state of a run, with an explanation if the run was partial, cancelled or failed."""
    judged = f"{run.done:,} of {counted(run.entries, 'site')} {agreeing(run.done, 'was', 'were')} judged"
    match run.status:
        case ListRun.Status.RUNNING:
            return State("Running", "accent")
        case ListRun.Status.COMPLETED:
            return State("Completed", "good")
        case ListRun.Status.PARTIAL:
            reason = f" {run.error_message}" if run.error_message else ""
            return State("Partial", "warn", f"{judged}.{reason}")
        case ListRun.Status.CANCELLED:
            return State("Cancelled", "", f"{judged} before someone cancelled it.")
    return State("Failed", "bad", run.error_message or "No site could be judged.")


def schedule_words(site_list: SiteList) -> str:
    """Return the schedule of a list as text, such as "Runs every month, spread over 24 hours"."""
    spread = f", spread over {counted(site_list.window_hours, 'hour')}" if site_list.window_hours else ""
    return f"{EVERY[site_list.every]}{spread}"


def cost_of(site_list: SiteList, quota: Quota) -> Cost:
    return Cost(site_list.entries_count * site_list.pages_per_entry * len(site_list.types), quota)
