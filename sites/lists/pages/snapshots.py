"""Snapshot of a list on its page: grades by type and by tag, what holds the sites back, and the sites behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Value
from django.db.models.functions import Substr

from infrastructure.web import keyset
from scans.check_catalogue import CheckEntry, entries
from scans.models import Scan, path_of
from sites.lists.adoption import PREDICATES, percent, sentence
from sites.lists.pages.table import reports_of
from sites.lists.snapshots import CheckFigures, Summary, TypeFigures, figures, grade_of, summary
from sites.models import ListCount, ListResult, ListRun
from website_scan.report.fixes import Part, parts
from website_scan.urls import host_and_port_of

CHECKS_SHOWN = 20
SITES_SHOWN = 100
LABELS = dict(Scan.Type.choices)
# Width of the bar of grades, in SVG user units.
BAR_WIDTH = 600


@dataclass(frozen=True, slots=True)
class GradePart:
    """Sites with a grade: their number, and the part of the bar."""

    grade: str
    number: int
    percent: int
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class TypePanel:
    """Figures of a type; `grade` is that of the mean, empty without a judged site."""

    label: str
    figures: TypeFigures
    grade: str
    parts: tuple[GradePart, ...]


@dataclass(frozen=True, slots=True)
class HeldCheck:
    """Check that sites fail, or that warns on them, with what mends it."""

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
        """Return the width of the bar of failures, of 100."""
        return round(100 * self.figures["failed"] / (self.figures["of"] or 1), 1)


@dataclass(frozen=True, slots=True)
class TagRow:
    tag: str
    sites: int
    judged: int
    cells: tuple[TypePanel, ...]


@dataclass(frozen=True, slots=True)
class SnapshotPage:
    found: Summary
    panels: tuple[TypePanel, ...]
    checks: tuple[HeldCheck, ...]
    more_checks: int
    tags: tuple[TagRow, ...]
    tag: str
    tag_names: tuple[str, ...]
    type: str


@dataclass(frozen=True, slots=True)
class SiteOfCheck:
    """Site of a snapshot that fails a check; `report` is the address of its report, empty if it has expired."""

    host: str
    path: str
    tags: list[str]
    message: str
    severity: str
    score: int | None
    grade: str | None
    report: str


@dataclass(frozen=True, slots=True)
class SitesOfCheck:
    check: HeldCheck
    rows: list[SiteOfCheck]
    status: str
    next: str | None


def snapshot_page(run: ListRun, query: Mapping[str, str]) -> SnapshotPage:
    """Return the page of a snapshot, of its sites with a `tag` and of the checks of a `type` if these are given."""
    tag, type = query.get("tag", "").replace("\0", "")[:60], query.get("type", "")
    type = type if type in run.types else ""
    found = summary(run, tag)
    shown = [each for each in found["checks"] if each["failed"] and (not type or each["type"] == type)]
    most = len(shown) if query.get("all") else CHECKS_SHOWN
    names = [each["tag"] for each in found["tags"]] if not tag else tags_of(run)
    return SnapshotPage(
        found=found,
        panels=tuple(_panels(found["types"])),
        checks=tuple(map(held, shown[:most])),
        more_checks=len(shown[most:]),
        tags=tuple(
            TagRow(each["tag"], each["sites"], each["judged"], tuple(_panels(each["types"]))) for each in found["tags"]
        ),
        tag=tag,
        tag_names=tuple(sorted(names, key=str.casefold)),
        type=type,
    )


def tags_of(run: ListRun) -> list[str]:
    """Return the tags of a snapshot, sorted by name."""
    counts = ListCount.objects.filter(run=run).exclude(tag="")
    return list(counts.order_by("tag").values_list("tag", flat=True)[:500])


def held(figures: CheckFigures) -> HeldCheck:
    """Return a check with its texts; a check that no longer exists has its name only."""
    entry: CheckEntry | None = entries().get(figures["check"])
    return HeldCheck(
        figures=figures,
        label=str(LABELS.get(figures["type"], figures["type"])),
        title=entry.found if entry else figures["name"],
        severity=entry.severity if entry else "",
        why=entry.why if entry else "",
        fix=parts(entry.how_to_fix) if entry else (),
        percent=percent(figures["failed"], figures["of"]) if figures["of"] else 0,
    )


def sites_of_check(run: ListRun, query: Mapping[str, str]) -> SitesOfCheck | None:
    """Return the sites of a snapshot that fail a `check` (`status` is `warn`: on which it warns), in its order.

    None if the snapshot does not have the check.
    """
    check, status = query.get("check", ""), query.get("status", "fail")
    status = status if status in ("fail", "warn") else "fail"
    if check not in run.checks:
        return None
    tag = query.get("tag", "").replace("\0", "")[:60]
    figures = next((each for each in summary(run, tag)["checks"] if each["check"] == check), None)
    if figures is None:
        return None
    letter = Substr("statuses", run.checks.index(check) + 1, 1)
    rows = ListResult.objects.filter(run=run, status=ListResult.Status.DONE).alias(letter=letter)
    rows = rows.filter(letter=Value(status[0])).defer("seen", "facts", "statuses")
    if tag:
        rows = rows.filter(tags__contains=[tag])
    kept = {"check": check, "status": status} | ({"tag": tag} if tag else {})
    found = keyset.by_columns(rows, query, columns=["position"], size=SITES_SHOWN, filters=kept)
    return SitesOfCheck(held(figures), _sites(run, check, figures["type"], found.rows), status, found.next)


def _sites(run: ListRun, check: str, type: str, results: Sequence[ListResult]) -> list[SiteOfCheck]:
    reports = reports_of(run.site_list.organization_id, [each.audit_id for each in results])
    found = []
    for each in results:
        finding = next((one for one in each.findings if one["check"] == check), None)
        page = reports.get(each.audit_id or "", "")
        path = path_of(each.url)
        found.append(
            SiteOfCheck(
                host=host_and_port_of(each.url),
                path="" if path == "/" else path,
                tags=each.tags,
                message=finding["message"] if finding else "",
                severity=finding["severity"] if finding else "",
                score=each.score_of(type) if type else None,
                grade=each.grade_of(type) if type else None,
                report=f"{page}?type={type}" if page else "",
            )
        )
    return found


def _panels(types: Mapping[str, TypeFigures]) -> list[TypePanel]:
    return [TypePanel(str(LABELS[type]), each, grade_of(each), _parts(each)) for type, each in types.items()]


def _parts(figures: TypeFigures) -> tuple[GradePart, ...]:
    """Return the parts of the bar, the best grade first."""
    found, x = [], 0.0
    for grade, number in figures["grades"].items():
        if number:
            width = BAR_WIDTH * number / (figures["judged"] or 1)
            found.append(GradePart(grade, number, percent(number, figures["judged"]), round(x, 1), round(width, 1)))
            x += width
    return tuple(found)


def sentences_of(run: ListRun) -> list[tuple[str, str]]:
    """Return the checks of a snapshot with the sentence of each, such as "87 % of 1,204 sites redirect to HTTPS"."""
    found = figures(run)["checks"]
    told = [(each["check"], sentence(each["check"], each["passed"], each["of"])) for each in found if each["of"]]
    return sorted(told, key=lambda each: (each[0] not in PREDICATES, each[0]))
