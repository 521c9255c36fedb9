"""Snapshots of lists (finished runs) and their statistics.

Statistics are calculated from `ListCount`, which has the number of sites by score, so that no report is read again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, TypedDict

from django.db.models import DurationField, ExpressionWrapper, F, Q, QuerySet, Value
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Now
from django.utils import timezone

from accounts import access
from scans.check_catalogue import check_name, entries
from scans.models import Scan
from sites.lists.not_judged import empty_counts, not_judged_of
from sites.models import ListCount, ListResult, ListRun, SiteList
from sites.models.site_list import ListCounts, NotJudged
from sites.resources import SNAPSHOT
from website_scan.findings import Severity
from website_scan.ids import is_id
from website_scan.json_types import Count as CountOfSites
from website_scan.json_types import Keywords
from website_scan.scoring import GRADES, mean_grade, rounded

# All grades, the best first, including "A+".
LETTERS = (*(letter for _, letter in GRADES), "F")
# Statuses of runs whose statistics represent the whole list, unlike those of cancelled and failed runs.
WHOLE = (ListRun.Status.COMPLETED, ListRun.Status.PARTIAL)
# A summary lists only the most frequent tags.
MAX_TAGS = 100
# All severities, the worst first.
SEVERITIES = tuple(str(severity) for severity in Severity)
EMPTY = empty_counts()


class TypeFigures(TypedDict):
    """Statistics of the scores of a scan type.

    Mean, median and quartiles are null if no site was judged.
    """

    # `mean` has one decimal. Median and quartiles are interpolated between the two nearest ranks (type 7 of Hyndman and
    # Fan, Sample quantiles in statistical packages, 1996), like QUARTILE.INC in spreadsheets, so they are multiples of
    # a quarter. `grades` has every grade, the best first.
    judged: CountOfSites
    mean: float | None
    lower_quartile: float | None
    median: float | None
    upper_quartile: float | None
    grades: Annotated[dict[str, CountOfSites], "Number of sites by grade."]


class CheckFigures(TypedDict):
    """Numbers of sites where a check failed, warned and passed.

    `of` is the number of sites where it ran.
    """

    check: str
    name: str
    type: str
    failed: CountOfSites
    warned: CountOfSites
    passed: CountOfSites
    of: CountOfSites


class NotReached(TypedDict):
    """Number of sites that could not be judged, in total and by error code."""

    total: CountOfSites
    codes: dict[str, Annotated[int, Keywords(minimum=1)]]


class Figures(TypedDict):
    """Statistics of a snapshot without names of sites and tags.

    Checks that fail come first: sorted by severity, and within a severity by the number of sites that fail.
    """

    sites: CountOfSites
    judged: CountOfSites
    left_out: CountOfSites
    not_reached: NotReached
    types: dict[str, TypeFigures]
    checks: list[CheckFigures]


class TagFigures(TypedDict):
    """Statistics of the sites with one tag."""

    tag: str
    sites: CountOfSites
    judged: CountOfSites
    types: dict[str, TypeFigures]


class UnreachedSite(TypedDict):
    url: str
    code: str
    message: str


class Summary(Figures):
    """Statistics of a snapshot and its most frequent tags, with the first sites that could not be judged."""

    tags: Annotated[list[TagFigures], "The most frequent ones; none if the answer is of one tag."]
    unreached: Annotated[list[UnreachedSite], "The first of them."]


def snapshots_of(site_list: SiteList) -> QuerySet[ListRun]:
    """Return the snapshots of a list that have not expired, newest first."""
    return filter_unexpired(ListRun.objects.filter(site_list=site_list)).order_by("-started_at", "-id")


def filter_unexpired(runs: QuerySet[ListRun]) -> QuerySet[ListRun]:
    """Return the finished runs whose retention has not expired."""
    days = ExpressionWrapper(F("kept_days") * Value(timedelta(days=1)), output_field=DurationField())
    return runs.filter(
        Q(kept_days=None) | Q(ended_at__gt=Now() - days), status__in=ListRun.ENDED, ended_at__isnull=False
    )


def is_kept(run: ListRun, now: datetime | None = None) -> bool:
    """Return True if the run has finished and its retention has not expired."""
    if not run.has_ended or run.ended_at is None:
        return False
    return run.kept_days is None or run.ended_at > (now or timezone.now()) - timedelta(days=run.kept_days)


def find_snapshot(organization_id: int, list_id: str, run_id: str) -> ListRun:
    """Return a snapshot of an organization's list.

    Raises NotFound, also if the run has not ended.
    """
    if not is_id("lst", list_id):
        raise SNAPSHOT.not_found()
    runs = ListRun.objects.filter(site_list__in=access.rows(SiteList, organization_id), site_list_id=list_id)
    return SNAPSHOT.find_in_rows(filter_unexpired(runs), run_id)


def latest(site_list: SiteList) -> ListRun | None:
    """Return the newest snapshot of a list, ignoring cancelled and failed runs."""
    return snapshots_of(site_list).filter(status__in=WHOLE).first()


def previous(run: ListRun) -> ListRun | None:
    """Return the snapshot before `run`, ignoring cancelled and failed runs."""
    earlier = snapshots_of(run.site_list).filter(status__in=WHOLE, started_at__lte=run.started_at)
    return earlier.exclude(id=run.id).first()


def comparable_types(run: ListRun, other: ListRun) -> list[str]:
    """Return the scan types whose scores can be compared between two snapshots.

    Scores of security are comparable only if both snapshots judged the same categories.
    """
    types = [type for type in Scan.Type.values if type in run.types and type in other.types]
    if run.categories != other.categories:
        types = [type for type in types if type != Scan.Type.SECURITY]
    return types


def figures(run: ListRun, tag: str = "") -> Figures:
    """Return the statistics of a snapshot, or of its sites with one tag.

    Names of sites are left out.
    """
    data = _counts(run, tag)
    return _figures(run, data, not_judged_of(run, tag, data))


def _figures(run: ListRun, data: ListCounts | None, not_judged: NotJudged) -> Figures:
    counts = data or EMPTY
    codes = dict(sorted(not_judged["codes"].items(), key=lambda code: (-code[1], code[0])))
    return {
        "sites": counts["judged"] + sum(codes.values()) + not_judged["left_out"],
        "judged": counts["judged"],
        "left_out": not_judged["left_out"],
        "not_reached": {"total": sum(codes.values()), "codes": codes},
        "types": _type_statistics(run, counts),
        "checks": check_statistics(counts["checks"]),
    }


def summary(run: ListRun, tag: str = "") -> Summary:
    """Return a snapshot's statistics with those of its tags, and its unreachable sites.

    With a `tag`, only the sites with this tag are included.
    """
    data = _counts(run, tag)
    not_judged = not_judged_of(run, tag, data)
    failed = ListResult.objects.filter(id__in=not_judged["first_failed"]).order_by("position")
    unreached: list[UnreachedSite] = [
        {"url": url, "code": code, "message": message}
        for url, code, message in failed.values_list("url", "error_code", "error_message")
    ]
    tags = [] if tag else _tag_statistics(run)
    return {**_figures(run, data, not_judged), "tags": tags, "unreached": unreached}


def _counts(run: ListRun, tag: str) -> ListCounts | None:
    return ListCount.objects.filter(run=run, tag=tag).values_list("data", flat=True).first()


def _type_statistics(run: ListRun, counts: ListCounts) -> dict[str, TypeFigures]:
    return {
        type: type_figures(counts["scores"].get(type, {}), counts["grades"].get(type, {}))
        for type in Scan.Type.values
        if type in run.types
    }


def type_figures(scores: Mapping[str, int], grades: Mapping[str, int]) -> TypeFigures:
    """Return the statistics of a scan type from the numbers of sites by score and by grade."""
    histogram = sorted((int(score), number) for score, number in scores.items() if number > 0)
    judged = sum(number for _, number in histogram)
    total = sum(score * number for score, number in histogram)
    return {
        "judged": judged,
        "mean": round(total / judged, 1) if judged else None,
        "lower_quartile": _quantile(histogram, judged, 1),
        "median": _quantile(histogram, judged, 2),
        "upper_quartile": _quantile(histogram, judged, 3),
        "grades": {letter: grades.get(letter, 0) for letter in LETTERS},
    }


def _quantile(histogram: Sequence[tuple[int, int]], judged: int, quarters: int) -> float | None:
    if not judged:
        return None
    rank, part = divmod(quarters * (judged - 1), 4)
    low, high = _score_at(histogram, rank), _score_at(histogram, rank + 1 if part else rank)
    return low + (high - low) * part / 4


def _score_at(histogram: Sequence[tuple[int, int]], rank: int) -> int:
    """Return the score at a rank of the histogram, where rank 0 is the lowest score."""
    cumulative = 0
    return next(score for score, number in histogram if (cumulative := cumulative + number) > rank)


def grade_of(type_figures: TypeFigures) -> str:
    """Return the grade of a type's mean score, or "" if no site was judged.

    A+ requires that all sites have A+.
    """
    if type_figures["mean"] is None:
        return ""
    return mean_grade(rounded(type_figures["mean"]), type_figures["grades"]["A+"] == type_figures["judged"])


def check_statistics(counts: Mapping[str, Sequence[int]]) -> list[CheckFigures]:
    """Return the statistics of checks from their numbers of sites, the most urgent check first."""
    checks: list[CheckFigures] = [
        {**named_check(check), "failed": failed, "warned": warned, "passed": passed, "of": failed + warned + passed}
        for check, (failed, warned, passed) in counts.items()
    ]
    return sorted(
        checks,
        key=lambda check: (
            not check["failed"],
            severity_rank(check),
            -check["failed"],
            -check["warned"],
            check["check"],
        ),
    )


class NamedCheck(TypedDict):
    """Check of a snapshot.

    `type` is empty for checks that the catalogue no longer has.
    """

    check: str
    name: str
    type: str


def named_check(check: str) -> NamedCheck:
    entry = entries().get(check)
    return {"check": check, "name": check_name(check), "type": str(entry.type) if entry else ""}


def severity_rank(check: NamedCheck) -> int:
    """Return the rank of a check's severity for sorting.

    0 is the worst severity. Checks without a severity are last.
    """
    entry = entries().get(check["check"])
    return SEVERITIES.index(entry.severity) if entry else len(SEVERITIES)


def _tag_statistics(run: ListRun) -> list[TagFigures]:
    """Return the statistics of the tags with the most sites.

    The large counts of checks are not read.
    """
    rows = (
        ListCount.objects.filter(run=run)
        .exclude(tag="")
        .exclude(data__sites=0)
        .annotate(
            sites=KeyTransform("sites", "data"),
            judged=KeyTransform("judged", "data"),
            scores=KeyTransform("scores", "data"),
            grades=KeyTransform("grades", "data"),
        )
    )
    largest = rows.order_by("-sites", "tag").values_list("tag", "sites", "judged", "scores", "grades")[:MAX_TAGS]
    return [
        {
            "tag": tag,
            "sites": sites,
            "judged": judged,
            "types": _type_statistics(run, {**EMPTY, "scores": scores, "grades": grades}),
        }
        for tag, sites, judged, scores, grades in largest
    ]
