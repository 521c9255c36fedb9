"""Rows of the page of all lists: number of sites, schedule, latest run and mean scores of each list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, Sum

from accounts import access, usage
from accounts.models import Organization
from infrastructure.web import keyset
from infrastructure.web.keyset import search_text
from scans.models import Scan
from sites.lists.pages.states import State, schedule_words, state_of_run
from sites.lists.snapshots import WHOLE, grade_of, type_figures
from sites.models import ListCount, ListRun, SiteList
from sites.models.site_list import ListCounts
from website_scan.scoring import rounded

PAGE_SIZE = 20
LABELS = dict(Scan.Type.choices)


@dataclass(frozen=True, slots=True)
class TypeMean:
    """Mean score of a type over the sites of a run. `score` is None and `grade` is empty if no site was judged."""

    label: str
    score: int | None
    grade: str


@dataclass(frozen=True, slots=True)
class ListRow:
    """List with its latest run and the mean scores of its latest snapshot.

    Cancelled and failed runs may have judged any part of the sites, so their means are not shown.
    """

    site_list: SiteList
    schedule: str
    run: ListRun | None
    state: State | None
    means: tuple[TypeMean, ...]

    @property
    def running(self) -> bool:
        return self.run is not None and not self.run.has_ended


@dataclass(frozen=True, slots=True)
class Room:
    """Used and allowed numbers of lists and of sites, over all organizations that share the limits of a plan."""

    lists: int
    most_lists: int
    entries: int
    most_entries: int

    @property
    def is_full(self) -> bool:
        return self.lists >= self.most_lists

    @property
    def entries_left(self) -> int:
        return max(0, self.most_entries - self.entries)


@dataclass(frozen=True, slots=True)
class ListPage:
    rows: list[ListRow]
    page: keyset.LinkedPage[SiteList, keyset.Moment]
    text: str
    has_any: bool
    room: Room


def room_of(organization: Organization) -> Room:
    """Return the used and allowed numbers of lists and sites of a plan, with one query."""
    sharing = SiteList.objects.filter(organization__in=usage.sharing_limits(organization))
    used = sharing.aggregate(entries=Sum("entries_count"), lists=Count("id"))
    tier = organization.tier
    return Room(used["lists"], tier.lists, used["entries"] or 0, tier.list_entries)


def list_page(organization: Organization, query: Mapping[str, str]) -> ListPage:
    """Return a page of lists, newest first, filtered by a text in their names (`q`), with at most six queries."""
    text = search_text(query)
    rows = access.rows(SiteList, organization.id).defer("encrypted_credentials")
    match = Q(name__icontains=text) if text else None
    page = keyset.by_time([rows], query, size=PAGE_SIZE, filters={"q": text} if text else {}, match=match)
    has_any = bool(page.rows) or (bool(text) and rows.exists())
    return ListPage(_rows(page.rows), page, text, has_any, room_of(organization))


def means_of(counts: ListCounts | None, types: Sequence[str]) -> tuple[TypeMean, ...]:
    """Return the mean scores of the scan types, in the order of `Scan.Type`."""
    means = []
    for type in Scan.Type.values:
        if type in types:
            scores, grades = (counts[name].get(type, {}) if counts else {} for name in ("scores", "grades"))
            figures = type_figures(scores, grades)
            mean = figures["mean"]
            means.append(TypeMean(str(LABELS[type]), None if mean is None else rounded(mean), grade_of(figures)))
    return tuple(means)


def _rows(lists: Sequence[SiteList]) -> list[ListRow]:
    ids = [site_list.id for site_list in lists]
    runs = ListRun.objects.filter(site_list__in=ids).defer("checks").order_by("site_list", "-started_at", "-id")
    latest = {run.site_list_id: run for run in runs.distinct("site_list")}
    whole = runs.filter(status__in=WHOLE).distinct("site_list")
    snapshots = {run.site_list_id: run.id for run in whole}
    counts = ListCount.objects.filter(run__in=snapshots.values(), tag="")
    by_run = {count.run_id: count.data for count in counts}
    return [
        ListRow(
            site_list=site_list,
            schedule=schedule_words(site_list),
            run=(run := latest.get(site_list.id)),
            state=state_of_run(run) if run else None,
            means=means_of(by_run.get(snapshots.get(site_list.id, "")), site_list.types),
        )
        for site_list in lists
    ]
