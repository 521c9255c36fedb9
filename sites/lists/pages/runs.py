"""View models for a list's runs and their mean scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from infrastructure.web import keyset
from scans.models import Scan
from sites.lists.pages.rows import TypeMean, means_of
from sites.lists.pages.states import State, state_of_run
from sites.lists.snapshots import is_kept
from sites.models import ListCount, ListRun, SiteList

RUNS_PER_PAGE = 25


class RunRow(Struct, frozen=True):
    """Run of a list with its state. Only finished runs have mean scores."""

    run: ListRun
    state: State
    means: tuple[TypeMean, ...] = ()

    @property
    def done(self) -> int:
        """Return the number of sites that were judged or have failed."""
        return self.run.done + self.run.failed

    @property
    def waiting(self) -> int:
        return max(0, self.run.entries - self.done - self.run.left_out)

    @property
    def percent(self) -> int:
        return 100 * self.done // (self.run.entries or 1)

    @property
    def ends_at(self) -> datetime | None:
        """Return the end of the window in which the sites are started, or None without a window."""
        hours = self.run.window_hours
        return self.run.started_at + timedelta(hours=hours) if hours else None

    @property
    def by_label(self) -> Mapping[str, TypeMean | None]:
        """Return the mean scores by scan type label.

        Types that the run did not scan have None.
        """
        means = {mean.label: mean for mean in self.means}
        return {str(label): means.get(str(label)) for label in Scan.Type.labels}

    @property
    def has_snapshot(self) -> bool:
        return is_kept(self.run)


class RunPage(Struct, frozen=True):
    """Page of a list's runs.

    `labels` are the names of the list's scan types.
    """

    rows: list[RunRow]
    labels: tuple[str, ...]
    previous: str | None
    next: str | None


def latest_runs(site_list: SiteList) -> tuple[RunRow | None, RunRow | None]:
    """Return the latest finished run and the run in progress, in one query."""
    rows = [RunRow(run, state_of_run(run)) for run in site_list.runs.order_by("-started_at", "-id")[:2]]
    running = next((row for row in rows if not row.run.has_ended), None)
    return next((row for row in rows if row.run.has_ended), None), running


def running_of(site_list: SiteList) -> RunRow | None:
    """Return the list's run in progress, or None.

    A list has at most one run in progress.
    """
    run = site_list.runs.filter(status=ListRun.Status.RUNNING).defer("checks").first()
    return RunRow(run, state_of_run(run)) if run else None


def run_page(site_list: SiteList, query: Mapping[str, str]) -> RunPage:
    """Return a page of the list's runs, newest first, in at most three queries."""
    page = keyset.by_time([site_list.runs.all()], query, column="started_at", size=RUNS_PER_PAGE, filters={})
    labels = tuple(str(label) for type, label in Scan.Type.choices if type in site_list.types)
    return RunPage(_rows_with_means(page.rows), labels, page.previous, page.next)


def _rows_with_means(runs: Sequence[ListRun]) -> list[RunRow]:
    ended = [run.id for run in runs if run.has_ended]
    counts = {count.run_id: count.data for count in ListCount.objects.filter(run__in=ended, tag="")}
    return [RunRow(run, state_of_run(run), means_of(counts.get(run.id), run.types)) for run in runs]
