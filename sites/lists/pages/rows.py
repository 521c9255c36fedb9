"""View models for the page of all lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db.models import Count, Q, Sum
from msgspec import Struct

from accounts import access, usage
from accounts.models import Organization
from infrastructure.web import keyset
from infrastructure.web.keyset import search_text
from scans.models import Scan
from sites.lists.pages.states import State, schedule_text, state_of_run
from sites.lists.snapshots import WHOLE, grade_of, type_figures
from sites.models import ListCount, ListRun, SiteList
from sites.models.site_list import ListCounts
from website_scan.scoring import rounded

LISTS_PER_PAGE = 20
LABELS = dict(Scan.Type.choices)


class TypeMean(Struct, frozen=True):
    """Mean score of a scan type over the sites of a run.

    The score is None and the grade is empty if no site was judged.
    """

    label: str
    score: int | None
    grade: str


class ListRow(Struct, frozen=True):
    """List with its latest run and the mean scores of its latest snapshot.

    Means of cancelled and failed runs are not displayed, because these runs did not judge all sites.
    """

    site_list: SiteList
    schedule: str
    run: ListRun | None
    state: State | None
    means: tuple[TypeMean, ...]

    @property
    def running(self) -> bool:
        return self.run is not None and not self.run.has_ended


class Capacity(Struct, frozen=True):
    """Used and allowed numbers of lists and sites.

    All organizations that share the limits of a plan are counted together.
    """

    lists: int
    max_lists: int
    entries: int
    max_entries: int

    @property
    def is_full(self) -> bool:
        return self.lists >= self.max_lists

    @property
    def entries_left(self) -> int:
        return max(0, self.max_entries - self.entries)


class ListPage(Struct, frozen=True):
    rows: list[ListRow]
    page: keyset.LinkedPage[SiteList, keyset.Moment]
    text: str
    has_lists: bool
    room: Capacity


def capacity_of(organization: Organization) -> Capacity:
    """Return the used and allowed numbers of lists and sites of a plan, in one query."""
    sharing = SiteList.objects.filter(organization__in=usage.sharing_limits(organization))
    used = sharing.aggregate(entries=Sum("entries_count"), lists=Count("id"))
    tier = organization.tier
    return Capacity(used["lists"], tier.lists, used["entries"] or 0, tier.list_entries)


def list_page(organization: Organization, query: Mapping[str, str]) -> ListPage:
    """Return a page of lists whose names contain the text `q`, newest first.

    Executes at most six queries.
    """
    text = search_text(query)
    rows = access.rows(SiteList, organization.id).defer("encrypted_credentials")
    match = Q(name__icontains=text) if text else None
    page = keyset.by_time([rows], query, size=LISTS_PER_PAGE, filters={"q": text} if text else {}, match=match)
    has_lists = bool(page.rows) or (bool(text) and rows.exists())
    return ListPage(_rows(page.rows), page, text, has_lists, capacity_of(organization))


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
    counts_by_run = {count.run_id: count.data for count in counts}
    return [
        ListRow(
            site_list=site_list,
            schedule=schedule_text(site_list),
            run=(run := latest.get(site_list.id)),
            state=state_of_run(run) if run else None,
            means=means_of(counts_by_run.get(snapshots.get(site_list.id, "")), site_list.types),
        )
        for site_list in lists
    ]
