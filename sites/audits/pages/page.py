"""View models of an audit's page: gauges and pages. Every list is bounded and served by an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db.models import F
from django.urls import reverse

from accounts import access
from accounts.models import Membership
from infrastructure.web import keyset
from reports.models import HAS_SCREENSHOT, Report
from reports.page.reader_muting import muting_of
from scans.models import Scan, path_of, report_path
from sites.audits.progress import Progress, progress_of
from sites.models import Audit, AuditPage, Monitor
from website_scan.messages import counted
from website_scan.report.explanations import advice
from website_scan.report.mute_matching import Mutes
from website_scan.report.report_page import ReportPage, report_page

PAGES_SIZE = 50
PRINTED_PAGES = 50
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


@dataclass(frozen=True, slots=True)
class TypeReport:
    """Scan of one type in an audit of one page; `page` is its report's view model, None without a report."""

    scan: Scan
    url: str
    page: ReportPage | None
    report: Report | None
    advice: str


class PageGrade(NamedTuple):
    """Cell of a type in a page's row: a score, or a note in place of it."""

    label: str
    score: int | None
    grade: str | None
    note: str
    url: str


class PageRow(NamedTuple):
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
    previous: str | None
    next: str | None


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


def first_shown(audit: Audit, scans: Mapping[str, Scan]) -> str:
    """Return the type to open first: that with the lowest score once all are known, until then the first report."""
    scores = {type: scan.score or 0 for type, scan in scans.items() if scan.status in Scan.REPORTED}
    if not scores:
        return audit.types[0]
    return min(scores, key=scores.__getitem__) if audit.is_final else next(iter(scores))


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
        )
        for type in audit.types
    ]


def capped(audit: Audit, shown: str) -> list[str]:
    """Return why scores of pages are capped, a sentence for the types with the same reasons; `shown` is "" for all."""
    types: dict[str, list[str]] = {}
    for type in [shown] if shown else audit.types:
        if reasons := "; ".join(_with_pages(each, pages) for each, pages in audit.cap_reasons(type).items()):
            types.setdefault(reasons, []).append(type)
    return [f"{_named(found)} scores are capped: {reasons}." for reasons, found in types.items()]


def _with_pages(reason: str, pages: int) -> str:
    return f"{reason[:1].lower()}{reason[1:].removesuffix('.')} ({counted(pages, 'page')})"


def _named(types: Sequence[str]) -> str:
    """Return the types as the beginning of a sentence: "Performance, accessibility and SEO"."""
    first, *others = [LABELS[type] for type in types]
    others = [each if each.isupper() else each.lower() for each in others]
    return " and ".join(filter(None, (", ".join([first, *others[:-1]]), *others[-1:])))


def _note(audit: Audit, type: str, scan: Scan | None) -> str:
    if audit.kind != Audit.Kind.PAGE:
        judged = audit.pages_judged(type)
        if judged:
            return counted(judged, "page")
        return NOT_RUN if audit.is_final else "No pages yet"
    if scan is None or scan.status == Scan.Status.QUEUED:
        return "Not started" if audit.is_final else "Waiting"
    if scan.status == Scan.Status.SCANNING:
        return f"{scan.percent} %"
    if scan.status == Scan.Status.FAILED:
        return "Cancelled" if scan.error_code == "SCAN_CANCELLED" else NOT_RUN
    return "Partial" if scan.status == Scan.Status.PARTIAL else ""


def type_report(scan: Scan, mutes: Mutes, now: datetime, membership: Membership | None) -> TypeReport:
    """Return a scan with the view model of its report, for the page of an audit of one page."""
    url = report_path(scan.id)
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
        muting = muting_of(mutes, report, membership)
        page = report_page(report.export_json, report.facts, muting=muting, check_pages=reverse("docs-checks"))
    return TypeReport(scan, url, page, report, "")


def pages(audit: Audit, query: Mapping[str, str]) -> Listed:
    """Filter pages by `status` and text in the URL (`q`). Sort by discovery, or lowest score first (`order=worst`)."""
    rows = audit.pages.all()
    filters = {"show": "pages"} | page_filters(query)
    if filters.get("status"):
        rows = rows.filter(status__in=STATUSES[filters["status"]][1])
    if filters.get("q"):
        rows = rows.filter(url__icontains=filters["q"])
    columns = ["worst_score", "position"] if filters.get("order") else ["position"]
    found = keyset.by_columns(rows, query, columns=columns, size=PAGES_SIZE, filters=filters)
    return Listed(_page_rows(audit, found.rows), found.previous, found.next)


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
    return PageGrade(str(LABELS[type]), result["score"], result["grade"], note, report_path(result["scan_id"]))


def left_out(audit: Audit) -> int:
    """Return the number of pages that the audit found but did not scan because it ended first."""
    if not audit.is_final or audit.status == Audit.Status.COMPLETED:
        return 0
    return AuditPage.objects.filter(audit=audit, status=AuditPage.Status.LEFT_OUT, results={}).count()


def monitor_of(audit: Audit) -> Monitor | None:
    """Return the monitor that an audit is a run of; None if there is none, or the monitor was deleted."""
    return access.rows(Monitor, audit.organization_id).filter(runs__audit=audit).only("name").first()
