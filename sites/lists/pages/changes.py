"""View models for changes in a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models.fields.json import KeyTransform
from msgspec import Struct

from infrastructure.web import charts
from scans.check_catalogue import check_name
from scans.models import Scan, path_of
from sites.lists.adoption import adoption, percent, sentence
from sites.lists.comparisons import compare
from sites.lists.differences import ChangedSite, Difference, ScorePair
from sites.lists.pages.rows import means_of
from sites.lists.pages.table import CheckChoice, checks_by_type
from sites.lists.snapshots import previous, snapshots_of
from sites.models import ListCount, ListRun, SiteList
from website_scan.urls import host_and_port_of

MAX_SNAPSHOTS = 52
MAX_TAGS = 100
MAX_SITES = 50
LABELS = dict(Scan.Type.choices)
# The adoption page displays by default the first of these checks that the snapshot has.
DEFAULT_CHECKS = ("http-to-https-redirect", "hsts", "csp-present", "image-alt", "title")


class AdoptionPoint(Struct, frozen=True):
    """Adoption of a check in one snapshot.

    `passed` of `of` sites passed. The chart displays the percentage, `score`.
    """

    run: ListRun
    passed: int
    of: int

    grade = ""
    catalogue_version = ""

    @property
    def score(self) -> int:
        return percent(self.passed, self.of)

    @property
    def created_at(self) -> datetime:
        return self.run.started_at


class TagAdoption(Struct, frozen=True):
    tag: str
    passed: int
    of: int

    @property
    def percent(self) -> int:
        return percent(self.passed, self.of)


class AdoptionPage(Struct, frozen=True):
    """View model for a check's adoption page.

    `points` begin with the newest snapshot, which `sentence` describes.
    """

    check: str
    name: str
    tag: str
    points: list[AdoptionPoint]
    trend: charts.Trend[AdoptionPoint] | None
    sentence: str
    by_tag: list[TagAdoption]
    checks: list[tuple[str, list[CheckChoice]]]

    @property
    def change(self) -> int:
        """Return the change from the oldest to the newest snapshot, in percentage points."""
        return self.points[0].score - self.points[-1].score if self.points else 0


class ChangedRow(Struct, frozen=True):
    """Site with changed scores.

    It has the mean change, and the scores before and after by type label.
    """

    host: str
    path: str
    change: float
    pairs: list[tuple[str, ScorePair]]


class TypePair(Struct, frozen=True):
    label: str
    before: tuple[int | None, str]
    after: tuple[int | None, str]

    @property
    def change(self) -> int | None:
        before, after = self.before[0], self.after[0]
        return None if before is None or after is None else after - before


class Comparison(Struct, frozen=True):
    run: ListRun
    other: ListRun
    found: Difference
    types: list[TypePair]
    better: list[ChangedRow]
    worse: list[ChangedRow]

    @property
    def changes_nothing(self) -> bool:
        sites = self.found["sites"]
        changed = sites["better"] or sites["worse"] or sites["lost"] or sites["regained"]
        return not (changed or self.found["more_failures"] or self.found["fewer_failures"])


def adoption_page(site_list: SiteList, newest: ListRun, query: Mapping[str, str]) -> AdoptionPage:
    """Return the adoption page for the query's `check` and `tag`.

    The default check is one of DEFAULT_CHECKS.
    """
    check = query.get("check", "")
    if check not in newest.checks:
        check = next(
            (check_id for check_id in DEFAULT_CHECKS if check_id in newest.checks), next(iter(newest.checks), "")
        )
    tag = query.get("tag", "").replace("\0", "")[:60]
    counts = adoption(site_list, check, tag, MAX_SNAPSHOTS) if check else []
    points = [AdoptionPoint(*count) for count in counts if count[2]]
    last = points[-1] if points else None
    return AdoptionPage(
        check=check,
        name=check_name(check),
        tag=tag,
        points=points[::-1],
        trend=charts.trend(points),
        sentence=sentence(check, last.passed, last.of) if last else "",
        by_tag=_adoption_by_tag(newest, check),
        checks=checks_by_type(newest.checks),
    )


def comparison(run: ListRun, other: ListRun) -> Comparison:
    """Return the view model that compares the snapshot `run` with the earlier snapshot `other`."""
    difference = compare(run, other, MAX_SITES)
    counts = {count.run_id: count.data for count in ListCount.objects.filter(run__in=[run, other], tag="")}
    means = [
        {mean.label: (mean.score, mean.grade) for mean in means_of(counts.get(snapshot.id), difference["types"])}
        for snapshot in (other, run)
    ]
    return Comparison(
        run=run,
        other=other,
        found=difference,
        types=[TypePair(label, means[0][label], means[1][label]) for label in means[1]],
        better=[_changed_row(site) for site in difference["better"]],
        worse=[_changed_row(site) for site in difference["worse"]],
    )


def snapshot_to_compare(run: ListRun, others: Sequence[ListRun], run_id: str) -> ListRun | None:
    """Return the snapshot to compare `run` with.

    This is the requested one, else the previous one, else any other.
    """
    requested = next((other for other in others if other.id == run_id and other.id != run.id), None)
    return requested or previous(run) or next((other for other in others if other.id != run.id), None)


def last_snapshots(site_list: SiteList) -> list[ListRun]:
    return list(snapshots_of(site_list)[:MAX_SNAPSHOTS])


def _adoption_by_tag(run: ListRun, check: str) -> list[TagAdoption]:
    """Return the adoption of a check for every tag, lowest percentage first."""
    counts = ListCount.objects.filter(run=run).exclude(tag="")
    statuses = counts.annotate(statuses=KeyTransform(check, KeyTransform("checks", "data"))).exclude(statuses=None)
    rows = [
        TagAdoption(tag, numbers[2], sum(numbers))
        for tag, numbers in statuses.values_list("tag", "statuses")
        if sum(numbers)
    ]
    return sorted(rows, key=lambda row: (row.percent, row.tag))[:MAX_TAGS]


def _changed_row(site: ChangedSite) -> ChangedRow:
    path = path_of(site["url"])
    pairs = [(str(LABELS[type]), pair) for type, pair in site["types"].items()]
    return ChangedRow(host_and_port_of(site["url"]), "" if path == "/" else path, site["change"], pairs)
