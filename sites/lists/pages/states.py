"""View models and texts for the state, schedule and cost of lists."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from accounts.usage import Quota
from sites.models import ListEntry, ListRun, SiteList
from sites.models.site_list import ListInterval
from website_scan.messages import agreeing, counted


class State(Struct, frozen=True):
    """State of a run or an entry for display, with a color and an optional explanation."""

    name: str
    tone: str
    text: str = ""


class Cost(Struct, frozen=True):
    """Number of scans that the runs of a list cost, and the month's quota.

    `interval` is the interval of the list's schedule.
    """

    sites: int
    pages: int
    types: int
    interval: str
    quota: Quota

    @property
    def scans(self) -> int:
        return self.sites * self.pages * self.types

    @property
    def is_quota_used_up(self) -> bool:
        return not self.quota.remaining

    @property
    def exceeds_quota(self) -> bool:
        """Return True if a run may need more scans than remain in the quota.

        Such a run would leave out sites.
        """
        return self.scans > self.quota.remaining

    @property
    def plan_text(self) -> str:
        """Return why the list exceeds the plan's monthly quota, and what would fit.

        Returns an empty string if the list fits.
        """
        month, scans = self.quota.limit, self.scans * self._runs_per_month
        if scans <= month:
            return ""
        runs = "A run uses" if self._runs_per_month == 1 else f"Up to {self._runs_per_month} runs in a month use"
        text = f"{runs} up to {scans:,} scans, but your plan has {month:,} a month. "
        return f"{text}What fits: {', or '.join(self._what_fits(month)) or 'nothing'}."

    @property
    def _runs_per_month(self) -> int:
        return WEEKS_OF_MONTH if self.interval == ListInterval.WEEK else 1

    def _what_fits(self, month: int) -> Iterator[str]:
        """Yield alternatives that fit into a month's scans, such as "5,000 sites"."""
        runs = self._runs_per_month
        if sites := month // (self.pages * self.types * runs):
            yield counted(sites, "site")
        if types := month // (self.sites * self.pages * runs):
            yield f"all sites with {counted(types, 'type')}"
        if pages := month // (self.sites * self.types * runs):
            yield f"all sites with {counted(pages, 'page')} of each"
        if runs > 1 and self.scans <= month:
            yield "all sites once a month"


ENTRY_STATES = {
    ListEntry.State.NEW: State("Not judged yet", ""),
    ListEntry.State.JUDGED: State("Judged", "good"),
    ListEntry.State.PARTIAL: State("Judged in part", "warn"),
    ListEntry.State.FAILED: State("Not reached", "bad"),
}
# A month has up to five days on which a weekly run begins.
WEEKS_OF_MONTH = 5
EVERY = {
    "": "Runs when someone starts it",
    ListInterval.WEEK: "Runs every week",
    ListInterval.MONTH: "Runs every month",
    ListInterval.QUARTER: "Runs every quarter",
}


def state_of_run(run: ListRun) -> State:
    """Return the state of a run, with an explanation if it was partial, cancelled or failed."""
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


def schedule_text(site_list: SiteList) -> str:
    """Return the list's schedule as text, such as "Runs every month, spread over 24 hours"."""
    hours = site_list.run_window_hours
    spread = f", spread over {counted(hours, 'hour')}" if hours else ""
    return f"{EVERY[site_list.every]}{spread}"


def cost_of(site_list: SiteList, quota: Quota, more_sites: int = 0) -> Cost:
    """Return the cost of a run, optionally with more sites in the list."""
    sites = site_list.entries_count + more_sites
    return Cost(sites, site_list.pages_per_entry, len(site_list.types), site_list.every, quota)
