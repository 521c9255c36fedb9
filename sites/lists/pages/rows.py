"""Lists of an organization: sites, schedule, last run and mean scores of each."""

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
    """Mean score of a type over the sites of a run, with its grade; None and empty without a judged site."""

    label: str
    score: int | None
    grade: str


@dataclass(frozen=True, slots=True)
class ListRow:
    """List with its latest run, of which `running` is True while it goes, and the means of the latest snapshot.

    What a cancelled or failed run has seen may be any part of its sites, so it has no means.
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
    """Lists and sites that the plan allows, and those that are used, by all organizations that share its limits."""

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
    """Return the room that the plan leaves; one query."""
    sharing = SiteList.objects.filter(organization__in=usage.sharing_limits(organization))
    used = sharing.aggregate(entries=Sum("entries_count"), lists=Count("id"))
    tier = organization.tier
    return Room(used["lists"], tier.lists, used["entries"] or 0, tier.list_entries)


def list_page(organization: Organization, query: Mapping[str, str]) -> ListPage:
    """Return a page of lists, newest first, filtered by text in their names (`q`); at most six queries."""
    text = search_text(query)
    rows = access.rows(SiteList, organization.id).defer("encrypted_credentials")
    match = Q(name__icontains=text) if text else None
    found = keyset.by_time([rows], query, size=PAGE_SIZE, filters={"q": text} if text else {}, match=match)
    has_any = bool(found.rows) or (bool(text) and rows.exists())
    return ListPage(_rows(found.rows), found, text, has_any, room_of(organization))


def means_of(counts: ListCounts | None, types: Sequence[str]) -> tuple[TypeMean, ...]:
    """Return the means of the types, in their usual order."""
    found = []
    for type in Scan.Type.values:
        if type in types:
            scores, grades = (counts[name].get(type, {}) if counts else {} for name in ("scores", "grades"))
            figures = type_figures(scores, grades)
            mean = figures["mean"]
            found.append(TypeMean(str(LABELS[type]), None if mean is None else rounded(mean), grade_of(figures)))
    return tuple(found)


def _rows(lists: Sequence[SiteList]) -> list[ListRow]:
    ids = [each.id for each in lists]
    runs = ListRun.objects.filter(site_list__in=ids).defer("checks").order_by("site_list", "-started_at", "-id")
    latest = {run.site_list_id: run for run in runs.distinct("site_list")}
    whole = runs.filter(status__in=WHOLE).distinct("site_list")
    snapshots = {each.site_list_id: each.id for each in whole}
    counts = ListCount.objects.filter(run__in=snapshots.values(), tag="")
    by_run = {each.run_id: each.data for each in counts}
    return [
        ListRow(
            site_list=each,
            schedule=schedule_words(each),
            run=(run := latest.get(each.id)),
            state=state_of_run(run) if run else None,
            means=means_of(by_run.get(snapshots.get(each.id, "")), each.types),
        )
        for each in lists
    ]
