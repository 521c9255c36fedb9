"""View models for a snapshot's statistics and failed checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db.models import Q, Value
from django.db.models.functions import Substr
from msgspec import Struct

from infrastructure.web import keyset
from scans.check_catalogue import CheckEntry, entries, failure_title
from scans.models import Scan, path_of
from sites.lists.adoption import PREDICATES, percent, sentence
from sites.lists.pages.table import reports_of
from sites.lists.snapshots import CheckFigures, Summary, TypeFigures, figures, grade_of, summary
from sites.models import ListCount, ListResult, ListRun
from website_scan.report.fixes import Part, parts
from website_scan.urls import host_and_port_of

MAX_CHECKS = 20
SITES_PER_PAGE = 100
LABELS = dict(Scan.Type.choices)
# Width of the bar of grades, in SVG user units.
BAR_WIDTH = 600


class GradeSegment(Struct, frozen=True):
    """Segment of the grade bar with its number of sites."""

    grade: str
    number: int
    percent: int
    x: float
    width: float


class TypePanel(Struct, frozen=True):
    """Statistics of a scan type.

    `grade` is that of the mean score. It is empty if no site was judged.
    """

    label: str
    figures: TypeFigures
    grade: str
    parts: tuple[GradeSegment, ...]


class FailedCheck(Struct, frozen=True):
    """Check that fails or warns on sites of a snapshot, with its explanation and fix."""

    figures: CheckFigures
    label: str
    title: str
    severity: str
    why: str
    fix: tuple[Part, ...]
    percent: int

    @property
    def id(self) -> str:
        return self.figures["check"]

    @property
    def bar(self) -> float:
        """Return the width of the bar for failed sites, in percent."""
        return round(100 * self.figures["failed"] / (self.figures["of"] or 1), 1)


class TagRow(Struct, frozen=True):
    tag: str
    sites: int
    judged: int
    cells: tuple[TypePanel, ...]


class SnapshotPage(Struct, frozen=True):
    found: Summary
    panels: tuple[TypePanel, ...]
    checks: tuple[FailedCheck, ...]
    more_checks: int
    tags: tuple[TagRow, ...]
    tag: str
    tag_names: tuple[str, ...]
    type: str


class SiteWithFailure(Struct, frozen=True):
    """Site of a snapshot that fails a check.

    `report` is the URL of its report. It is empty if the report has expired.
    """

    host: str
    path: str
    tags: list[str]
    message: str
    severity: str
    score: int | None
    grade: str | None
    report: str


class SitesWithFailure(Struct, frozen=True):
    check: FailedCheck
    rows: list[SiteWithFailure]
    status: str
    next: str | None


def snapshot_page(run: ListRun, query: Mapping[str, str]) -> SnapshotPage:
    """Return the page of a snapshot.

    The query may filter by `tag` and `type`, and request `all` checks.
    """
    tag, type = query.get("tag", "").replace("\0", "")[:60], query.get("type", "")
    type = type if type in run.types else ""
    figures = summary(run, tag)
    checks = [check for check in figures["checks"] if check["failed"] and (not type or check["type"] == type)]
    limit = len(checks) if query.get("all") else MAX_CHECKS
    names = [row["tag"] for row in figures["tags"]] if not tag else tags_of(run)
    return SnapshotPage(
        found=figures,
        panels=tuple(_type_panels(figures["types"])),
        checks=tuple(map(failed_check, checks[:limit])),
        more_checks=len(checks[limit:]),
        tags=tuple(
            TagRow(row["tag"], row["sites"], row["judged"], tuple(_type_panels(row["types"])))
            for row in figures["tags"]
        ),
        tag=tag,
        tag_names=tuple(sorted(names, key=str.casefold)),
        type=type,
    )


def tags_of(run: ListRun) -> list[str]:
    """Return the tags of a snapshot sorted by name, at most 500."""
    counts = ListCount.objects.filter(run=run).exclude(tag="")
    return list(counts.order_by("tag").values_list("tag", flat=True)[:500])


def failed_check(figures: CheckFigures) -> FailedCheck:
    """Return a check with texts from the catalogue.

    A check that the catalogue no longer has only gets its name.
    """
    entry: CheckEntry | None = entries().get(figures["check"])
    return FailedCheck(
        figures=figures,
        label=str(LABELS.get(figures["type"], figures["type"])),
        title=failure_title(figures["check"], figures["name"]),
        severity=entry.severity if entry else "",
        why=entry.why if entry else "",
        fix=parts(entry.how_to_fix) if entry else (),
        percent=percent(figures["failed"], figures["of"]) if figures["of"] else 0,
    )


def sites_failing_check(run: ListRun, query: Mapping[str, str]) -> SitesWithFailure | None:
    """Return the sites that fail a `check`, in the order of the run.

    If `status` is `warn`, returns the sites with a warning. Return None if the snapshot does not have the check.
    """
    check, status = query.get("check", ""), query.get("status", "fail")
    status = status if status in ("fail", "warn") else "fail"
    if check not in run.checks:
        return None
    tag = query.get("tag", "").replace("\0", "")[:60]
    check_figures = next((row for row in figures(run, tag)["checks"] if row["check"] == check), None)
    if check_figures is None:
        return None
    letter = Substr("statuses", run.checks.index(check) + 1, 1)
    rows = ListResult.objects.filter(run=run).alias(letter=letter).defer("seen", "facts", "statuses")
    match = Q(status=ListResult.Status.DONE, letter=Value(status[0]))
    if tag:
        match &= Q(tags__contains=[tag])
    filters = {"check": check, "status": status} | ({"tag": tag} if tag else {})
    page = keyset.by_columns(rows, query, columns=["position"], size=SITES_PER_PAGE, filters=filters, match=match)
    sites = _sites(run, check, check_figures["type"], page.rows)
    return SitesWithFailure(failed_check(check_figures), sites, status, page.next)


def _sites(run: ListRun, check: str, type: str, results: Sequence[ListResult]) -> list[SiteWithFailure]:
    reports = reports_of(run.site_list.organization_id, [result.audit_id for result in results])
    sites = []
    for result in results:
        finding = next((finding for finding in result.findings if finding["check"] == check), None)
        page = reports.get(result.audit_id or "", "")
        path = path_of(result.url)
        sites.append(
            SiteWithFailure(
                host=host_and_port_of(result.url),
                path="" if path == "/" else path,
                tags=result.tags,
                message=finding["message"] if finding else "",
                severity=finding["severity"] if finding else "",
                score=result.score_of(type) if type else None,
                grade=result.grade_of(type) if type else None,
                report=f"{page}?type={type}" if page else "",
            )
        )
    return sites


def _type_panels(types: Mapping[str, TypeFigures]) -> list[TypePanel]:
    return [
        TypePanel(str(LABELS[type]), figures, grade_of(figures), _grade_segments(figures))
        for type, figures in types.items()
    ]


def _grade_segments(figures: TypeFigures) -> tuple[GradeSegment, ...]:
    """Return the grade bar's segments, best grade first."""
    segments, x = [], 0.0
    for grade, number in figures["grades"].items():
        if number:
            width = BAR_WIDTH * number / (figures["judged"] or 1)
            segments.append(
                GradeSegment(grade, number, percent(number, figures["judged"]), round(x, 1), round(width, 1))
            )
            x += width
    return tuple(segments)


def sentences_of(run: ListRun) -> list[tuple[str, str]]:
    """Return the check IDs and sentences of a snapshot.

    One sentence is, for example, "87 % of 1,204 sites redirect to HTTPS".
    """
    checks = figures(run)["checks"]
    sentences = [
        (check["check"], sentence(check["check"], check["passed"], check["of"])) for check in checks if check["of"]
    ]
    return sorted(sentences, key=lambda pair: (pair[0] not in PREDICATES, pair[0]))
