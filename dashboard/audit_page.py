"""View models of an audit's page: gauges, findings and pages. Every list is bounded and served by an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils.text import capfirst

from accounts import access
from accounts.models import Membership
from reports.models import HAS_SCREENSHOT, Report
from reports.mutes.services import active_mutes
from reports.page.reader_muting import muting_of
from scanner.findings import ScanType
from scanner.repeats import REPEATS, CheckKey
from scanner.report.evidence.fixes import Part, parts
from scanner.report.explanations import advice
from scanner.report.report_page import ReportPage, report_page
from scans.models import Scan, path_of
from sites.audits.findings import ListedFinding, critical_in_order, in_order, listed
from sites.audits.muting import ALL, AuditMutes, MutedOn
from sites.audits.progress import Progress, progress_of
from sites.models import Audit, AuditPage

PLACES_SHOWN = 5
MUTED_SHOWN = 50
PAGES_SIZE = 50
PRINTED_PAGES = 50
MAX_PAGE = 1_000
LABELS = dict(Scan.Type.choices)
NOT_RUN = "Could not run"


@dataclass(frozen=True, slots=True)
class Gauge:
    """Score of a scan type, and the query string that shows the type; without a score, `note` gives the reason."""

    type: str
    label: str
    score: int | None
    grade: str | None
    note: str
    query: str
    is_current: bool
    caps: tuple[str, ...]  # why pages' scores are limited


@dataclass(frozen=True, slots=True)
class TypeReport:
    """Scan of one type in an audit of one page; `page` is its report's view model, None without a report."""

    scan: Scan
    url: str
    page: ReportPage | None
    report: Report | None
    advice: str


@dataclass(frozen=True, slots=True)
class Sample:
    """Page with a finding; `url` leads to the finding in the page's report."""

    path: str
    url: str


@dataclass(frozen=True, slots=True)
class Place:
    """Place of a finding in words, with the number of pages that have it."""

    text: str
    pages: int
    is_muted: bool


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Finding of another type that is the same fact, and the query string and anchor that lead to it."""

    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Failed or warned check of an audit; `points` is the type's gain in score if all pages are fixed.

    `later` is the gain if no cap applied. `told_under` stands for this one in the list of all types, as this one does
    for those in `repeated_under`.
    """

    type: str
    title: str
    severity: str
    status: str
    message: str
    fix: str
    pages: int
    critical_pages: int
    judged: int
    points: float
    later: float
    holds: bool
    places: tuple[Place, ...]
    places_total: int
    samples: tuple[Sample, ...]
    muted_on: MutedOn
    check_id: str
    anchor: str
    scan_id: str  # the scan of the first sample page
    told_under: Elsewhere | None
    repeated_under: tuple[Elsewhere, ...]

    @property
    def fix_parts(self) -> tuple[Part, ...]:
        return parts(self.fix)

    @property
    def is_critical(self) -> bool:
        return self.critical_pages > 0

    @property
    def more_pages(self) -> int:
        """Number of affected pages that are not among the samples."""
        return self.pages - len(self.samples)

    @property
    def more_places(self) -> int:
        return self.places_total - len(self.places)

    @property
    def spread(self) -> str:
        """Pages and places in words: a place that several pages share is fixed once."""
        pages = "1 page" if self.pages == 1 else f"{self.pages:,} pages"
        if self.pages == self.judged:
            of_pages = "the only page" if self.pages == 1 else f"all {pages}"
        else:
            of_pages = f"{self.pages:,} of {self.judged:,} pages"
        if len(self.places) == self.places_total == 1 < self.pages:
            return f"Fix once, {pages} better"
        return f"On {of_pages}" + (f", {self.places_total:,} places" if self.places_total > 1 else "")


@dataclass(frozen=True, slots=True)
class PageGrade:
    """Cell of a type in a page's row: a score, or a note in place of it."""

    label: str
    score: int | None
    grade: str | None
    note: str
    url: str


@dataclass(frozen=True, slots=True)
class PageRow:
    url: str
    path: str
    status: str
    tone: str
    problem: str
    grades: tuple[PageGrade | None, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """Part of a paginated list, and the query strings of the neighbouring parts; None at the list's end."""

    rows: Sequence[Any]
    newer: str | None
    older: str | None


STATUSES = {
    "done": ("Checked", (AuditPage.Status.DONE,)),
    "failed": ("Failed", (AuditPage.Status.FAILED,)),
    "waiting": ("Waiting", (AuditPage.Status.WAITING, AuditPage.Status.RELEASED)),
    "left_out": ("Left out", (AuditPage.Status.LEFT_OUT,)),
}
PAGE_TONES = {AuditPage.Status.DONE: "good", AuditPage.Status.FAILED: "bad", AuditPage.Status.RELEASED: "accent"}
PAGE_STATUSES = {
    AuditPage.Status.WAITING: "Waiting",
    AuditPage.Status.RELEASED: "Running",
    AuditPage.Status.DONE: "Checked",
    AuditPage.Status.FAILED: "Failed",
    AuditPage.Status.LEFT_OUT: "Left out",
}


def scans_of_page(audit: Audit) -> dict[str, Scan]:
    """Return the scans of an audit of one page by type, in the order of the audit's types; one query."""
    found = access.rows(Scan, audit.organization_id).filter(audit_page__audit=audit)
    by_type = {scan.type: scan for scan in found}
    return {type: by_type[type] for type in audit.types if type in by_type}


def progress(audit: Audit, scans: Mapping[str, Scan]) -> Progress:
    """Return the audit's progress. `scans` holds the scans of an audit of one page, and is empty for other audits."""
    return progress_of(audit, next((scan for scan in scans.values() if scan.lead_id is None), None))


def gauges(audit: Audit, scans: Mapping[str, Scan], shown: str) -> list[Gauge]:
    """Return one gauge for each type of the audit; `shown` is the type that the reader has selected."""
    scores = audit.scores
    return [
        Gauge(
            type=type,
            label=LABELS[type],
            score=scores[type]["score"],
            grade=scores[type]["grade"],
            note=_note(audit, type, scans.get(type)),
            query=urlencode({"type": type}),
            is_current=type == shown,
            caps=tuple(
                f"{'1 page' if pages == 1 else f'{pages:,} pages'}: {reason}"
                for reason, pages in audit.cap_reasons(type).items()
            ),
        )
        for type in audit.types
    ]


def _note(audit: Audit, type: str, scan: Scan | None) -> str:
    if audit.kind != Audit.Kind.PAGE:
        judged = audit.pages_judged(type)
        if judged:
            return f"{judged:,} page{'' if judged == 1 else 's'}"
        return NOT_RUN if audit.is_final else "No pages yet"
    if scan is None or scan.status == Scan.Status.QUEUED:
        return "Not started" if audit.is_final else "Waiting"
    if scan.status == Scan.Status.SCANNING:
        return f"{scan.percent} %"
    if scan.status == Scan.Status.FAILED:
        return "Cancelled" if scan.error_code == "SCAN_CANCELLED" else NOT_RUN
    return "Partial" if scan.status == Scan.Status.PARTIAL else ""


def type_report(scan: Scan, now: datetime, membership: Membership | None) -> TypeReport:
    """Return a scan with the view model of its report, for the page of an audit of one page."""
    url = reverse("report-page", args=[scan.id])
    if scan.status not in Scan.REPORTED:
        return TypeReport(scan, url, None, None, advice(scan.error_code) if scan.error_code else "")
    reports = access.rows(Report, scan.organization_id).filter(scan_id=scan.id, expires_at__gt=now)
    report = (
        reports.defer("body", "screenshot", "page_picture", "film", "pictures", "waterfall")
        .annotate(has_screenshot=HAS_SCREENSHOT)
        .first()
    )
    page = None
    if report is not None:
        muting = muting_of(active_mutes(scan.organization_id, now), report, membership)
        page = report_page(report.document, report.facts, muting=muting, check_pages=reverse("docs-checks"))
    return TypeReport(scan, url, page, report, "")


@dataclass(frozen=True, slots=True)
class FindingLists:
    """Findings in the order of need: those in force, and the first MUTED_SHOWN that are muted on all of their pages."""

    rows: Sequence[Finding]
    muted: Sequence[Finding]
    muted_count: int


def findings(audit: Audit, type: str, mutes: AuditMutes) -> FindingLists:
    """Return the findings of a type, or of all types if empty. There are no more than checks."""
    found = listed(audit, in_order(audit, type), mutes, PLACES_SHOWN)
    repeats = _repeats(audit)
    muted = [each for each in found if each.is_muted]
    return FindingLists(
        rows=[_finding(audit, each, repeats) for each in found if not each.is_muted],
        muted=[_finding(audit, each, repeats) for each in muted[:MUTED_SHOWN]],
        muted_count=len(muted),
    )


def critical(audit: Audit, mutes: AuditMutes) -> list[Finding]:
    """Return the critical failures of all types that are not muted, in the order of need."""
    found = listed(audit, critical_in_order(audit), mutes, PLACES_SHOWN)
    return [_finding(audit, each, {}) for each in found if not each.is_muted]


def _finding(audit: Audit, found: ListedFinding, repeats: Mapping[CheckKey, CheckKey]) -> Finding:
    row = found.row
    key = CheckKey(ScanType(row.type), row.check_id)
    places = [each for each in found.places if each.row.place]
    return Finding(
        type=LABELS[row.type],
        title=row.title,
        severity=row.severity,
        status=row.status,
        message=row.message,
        fix=row.fix,
        pages=row.pages_affected,
        critical_pages=row.critical_pages,
        judged=audit.pages_judged(row.type),
        points=found.points,
        later=found.later,
        holds=found.holds,
        places=tuple(Place(each.row.place, each.row.pages_affected, each.muted_on.pages == ALL) for each in places),
        places_total=found.places_total,
        samples=tuple(
            Sample(path_of(each["url"]), f"{reverse('report-page', args=[each['scan_id']])}#check-{row.check_id}")
            for each in row.samples
        ),
        muted_on=found.muted_on,
        check_id=row.check_id,
        anchor=_anchor(key),
        scan_id=next((each["scan_id"] for each in row.samples), ""),
        told_under=_elsewhere(repeats[key]) if key in repeats else None,
        repeated_under=tuple(_elsewhere(each) for each, teller in repeats.items() if teller == key),
    )


def _anchor(key: CheckKey) -> str:
    return f"check-{key.type}-{key.id}"


def _elsewhere(key: CheckKey) -> Elsewhere:
    return Elsewhere(LABELS[key.type], f"?{urlencode({'type': key.type})}#{_anchor(key)}")


def _repeats(audit: Audit) -> dict[CheckKey, CheckKey]:
    """Return the findings that another type tells on all of their pages, each with the finding that tells it."""
    types = {each.check: each.told_by.type for each in REPEATS}
    told = audit.findings.exclude(told_by="").values_list("type", "check_id", "told_by")
    keys = {CheckKey(ScanType(type), id): teller for type, id, teller in told}
    return {key: CheckKey(types[key], teller) for key, teller in keys.items() if key in types}


def pages(audit: Audit, query: Mapping[str, str]) -> Listed:
    """Filter pages by `status` and text in the URL (`q`). Sort by discovery, or lowest score first (`order=worst`)."""
    rows = audit.pages.all()
    filters = {"show": "pages"} | page_filters(query)
    if filters.get("status"):
        rows = rows.filter(status__in=STATUSES[filters["status"]][1])
    if filters.get("q"):
        rows = rows.filter(url__icontains=filters["q"])
    if filters.get("order"):
        ordered = rows.order_by(F("worst_score").asc(nulls_last=True), "position")
    else:
        ordered = rows.order_by("position")
    return _listed(ordered, query, PAGES_SIZE, filters, lambda found: _page_rows(audit, found))


def worst_pages(audit: Audit) -> list[PageRow]:
    """Return the PRINTED_PAGES pages with the lowest scores."""
    ordered = audit.pages.order_by(F("worst_score").asc(nulls_last=True), "position")
    return _page_rows(audit, list(ordered[:PRINTED_PAGES]))


def page_filters(query: Mapping[str, str]) -> dict[str, str]:
    """Parse the filters and the order of the list of pages; invalid values are ignored."""
    known = {"status": STATUSES, "order": ("worst",)}
    filters = {name: value for name, values in known.items() if (value := query.get(name, "")) in values}
    text = query.get("q", "").replace("\0", "").strip()[:200]
    return filters | ({"q": text} if text else {})


def _page_rows(audit: Audit, found: Sequence[AuditPage]) -> list[PageRow]:
    return [
        PageRow(
            url=page.url,
            path=path_of(page.url),
            status=PAGE_STATUSES[AuditPage.Status(page.status)],
            tone=PAGE_TONES.get(AuditPage.Status(page.status), ""),
            problem=page.error["message"] if page.error else "",
            grades=tuple(_page_grade(page, type) if type in audit.types else None for type in Scan.Type.values),
        )
        for page in found
    ]


def _page_grade(page: AuditPage, type: str) -> PageGrade | None:
    result = page.results.get(type)
    if result is None:
        return None
    note = "" if result["score"] is not None else "Failed"
    url = reverse("report-page", args=[result["scan_id"]])
    return PageGrade(str(LABELS[type]), result["score"], result["grade"], note, url)


def _listed(
    ordered: QuerySet[Any], query: Mapping[str, str], size: int, filters: Mapping[str, str], shown: Any
) -> Listed:
    """Return the part of the rows that the query's `part` selects, counted from 1."""
    raw = query.get("part", "")
    part = min(int(raw), MAX_PAGE) if raw.isascii() and raw.isdecimal() and len(raw) < 6 else 1
    part = max(part, 1)
    found = list(ordered[(part - 1) * size : part * size + 1])
    newer = urlencode({**filters, "part": part - 1}) if part > 1 else None
    older = urlencode({**filters, "part": part + 1}) if len(found) > size else None
    return Listed(shown(found[:size]), newer, older)


def left_out(audit: Audit) -> int:
    """Return the number of pages that the audit found but did not scan because it ended first."""
    return AuditPage.objects.filter(audit=audit, status=AuditPage.Status.LEFT_OUT, results={}).count()


def status_label(audit: Audit) -> str:
    return capfirst(audit.get_status_display())
