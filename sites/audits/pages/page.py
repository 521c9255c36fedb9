"""View models for the page of an audit.

Every list is bounded and uses an index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db.models import F, Q
from django.urls import reverse
from msgspec import Struct

from accounts import access
from accounts.models import Membership
from accounts.visible_sites import visible_sites_of
from infrastructure.web import keyset
from reports.models import HAS_SCREENSHOT, Report
from reports.page.conformance import conformance_url
from reports.page.reader_muting import muting_of
from scans.models import Scan, path_of, report_path
from sites.audits.pages.findings import noun_of
from sites.audits.progress import Progress, progress_of
from sites.models import Audit, AuditPage, Journey, Monitor
from website_scan.messages import counted
from website_scan.report.explanations import advice
from website_scan.report.mute_matching import Mutes
from website_scan.report.report_page import ReportPage, report_page

ROWS_PER_PAGE = 50
MAX_PRINTED_PAGES = 50
LABELS = dict(Scan.Type.choices)
NOT_RUN_NOTE = "Could not run"


class Gauge(Struct, frozen=True):
    """Score gauge of a scan type.

    `query` selects the type, and `note` explains a missing score.
    """

    type: str
    label: str
    score: int | None
    grade: str | None
    note: str
    query: str
    is_current: bool


class TypeReport(Struct, frozen=True):
    """Scan of one type in a one-page audit.

    `page` is None if there is no report.
    """

    scan: Scan
    url: str
    page: ReportPage | None
    report: Report | None
    advice: str


class PageGrade(NamedTuple):
    """Result of one scan type in a page's row.

    `note` replaces a missing score.
    """

    label: str
    score: int | None
    grade: str | None
    note: str
    url: str


class PageRow(NamedTuple):
    url: str
    path: str
    state: str  # Name of the state of a journey. Empty for pages.
    status: str
    tone: str
    problem: str
    grades: tuple[PageGrade | None, ...]


class PaginatedRows(Struct, frozen=True):
    """Rows of one page of a paginated list.

    `previous` and `next` are query strings, or None at the list's ends.
    """

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
    """Return the scans of a one-page audit by scan type, in the order of the audit's types."""
    scans = access.rows(Scan, audit.organization_id).filter(audit_page__audit=audit)
    scans_by_type = {scan.type: scan for scan in scans}
    return {type: scans_by_type[type] for type in audit.types if type in scans_by_type}


def default_type(audit: Audit, scans: Mapping[str, Scan]) -> str:
    """Return the scan type to display first.

    It is the type with the lowest score of a finished audit, or the first type with a report.
    """
    scores = {type: scan.score or 0 for type, scan in scans.items() if scan.status in Scan.REPORTED}
    if not scores:
        return audit.types[0]
    return min(scores, key=scores.__getitem__) if audit.is_final else next(iter(scores))


def progress(audit: Audit, scans: Mapping[str, Scan]) -> Progress:
    """Return the audit's progress.

    `scans` are the scans of a one-page audit. They are empty for other audits.
    """
    if audit.kind == Audit.Kind.JOURNEY and not audit.is_final:
        rows = access.rows(Scan, audit.organization_id)
        return progress_of(audit, rows.filter(audit_page__audit=audit, lead=None).first())
    return progress_of(audit, next((scan for scan in scans.values() if scan.lead_id is None), None))


def gauges(audit: Audit, scans: Mapping[str, Scan], shown: str) -> list[Gauge]:
    """Return one gauge for each scan type of the audit.

    `shown` is the type that the reader has selected.
    """
    scores = audit.scores
    return [
        Gauge(
            type=type,
            label=LABELS[type],
            score=scores[type]["score"],
            grade=scores[type]["grade"],
            note=_gauge_note(audit, type, scans.get(type)),
            query=urlencode({"type": type}),
            is_current=type == shown,
        )
        for type in audit.types
    ]


def cap_sentences(audit: Audit, shown: str) -> list[str]:
    """Return sentences that explain why scores are capped.

    Types with the same reasons share one sentence. `shown` is the selected type, "" for all types.
    """
    types: dict[str, list[str]] = {}
    for type in [shown] if shown else audit.types:
        if reasons := "; ".join(
            _reason_text(audit, reason, pages) for reason, pages in audit.cap_reasons(type).items()
        ):
            types.setdefault(reasons, []).append(type)
    return [f"{_type_names(names)} scores are capped: {reasons}." for reasons, names in types.items()]


def _reason_text(audit: Audit, reason: str, pages: int) -> str:
    return f"{reason[:1].lower()}{reason[1:].removesuffix('.')} ({counted(pages, noun_of(audit))})"


def _type_names(types: Sequence[str]) -> str:
    """Return the names of scan types for the start of a sentence: "Performance, accessibility and SEO"."""
    first, *others = [LABELS[type] for type in types]
    others = [label if label.isupper() else label.lower() for label in others]
    return " and ".join(filter(None, (", ".join([first, *others[:-1]]), *others[-1:])))


def _gauge_note(audit: Audit, type: str, scan: Scan | None) -> str:
    if audit.kind != Audit.Kind.PAGE:
        judged = audit.pages_judged(type)
        if judged:
            return counted(judged, noun_of(audit))
        return NOT_RUN_NOTE if audit.is_final else f"No {noun_of(audit)}s yet"
    if scan is None or scan.status == Scan.Status.QUEUED:
        return "Not started" if audit.is_final else "Waiting"
    if scan.status == Scan.Status.SCANNING:
        return f"{scan.percent} %"
    if scan.status == Scan.Status.FAILED:
        return "Cancelled" if scan.error_code == "SCAN_CANCELLED" else NOT_RUN_NOTE
    return "Partial" if scan.status == Scan.Status.PARTIAL else ""


def type_report(scan: Scan, mutes: Mutes, now: datetime, membership: Membership | None) -> TypeReport:
    """Return the view model of a scan and its report, for the page of a one-page audit."""
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
        page = report_page(
            report.export_json,
            report.facts,
            muting=muting,
            check_pages=reverse("docs-checks"),
            conformance_url=conformance_url(scan),
        )
    return TypeReport(scan, url, page, report, "")


def pages(audit: Audit, query: Mapping[str, str]) -> PaginatedRows:
    """Return the pages of an audit, filtered by `status` and text in the URL (`q`).

    They are sorted in order of discovery, or lowest score first with `order=worst`.
    """
    rows = audit.pages.all()
    filters = {"show": "pages"} | page_filters(query)
    if filters.get("status"):
        rows = rows.filter(status__in=STATUSES[filters["status"]][1])
    if filters.get("q"):
        rows = rows.filter(Q(url__icontains=filters["q"]) | Q(state__icontains=filters["q"]))
    columns = ["worst_score", "position"] if filters.get("order") else ["position"]
    page = keyset.by_columns(rows, query, columns=columns, size=ROWS_PER_PAGE, filters=filters)
    return PaginatedRows(_page_rows(audit, page.rows), page.previous, page.next)


def worst_pages(audit: Audit) -> list[PageRow]:
    """Return the MAX_PRINTED_PAGES pages with the lowest scores, for the printed report."""
    ordered = audit.pages.order_by(F("worst_score").asc(nulls_last=True), "position")
    return _page_rows(audit, list(ordered[:MAX_PRINTED_PAGES]))


def page_filters(query: Mapping[str, str]) -> dict[str, str]:
    """Return the valid filters and the sort order from the query string.

    Other values are ignored.
    """
    valid_values = {"status": STATUSES, "order": ("worst",)}
    filters = {name: value for name, values in valid_values.items() if (value := query.get(name, "")) in values}
    text = query.get("q", "").replace("\0", "").strip()[:200]
    return filters | ({"q": text} if text else {})


def _page_rows(audit: Audit, pages: Sequence[AuditPage]) -> list[PageRow]:
    return [
        PageRow(
            url=page.url,
            path=path_of(page.url),
            state=page.state,
            status=PAGE_STATUSES[AuditPage.Status(page.status)],
            tone=PAGE_TONES.get(AuditPage.Status(page.status), ""),
            problem=page.error["message"] if page.error else "",
            grades=tuple(_page_grade(page, type) if type in audit.types else None for type in Scan.Type.values),
        )
        for page in pages
    ]


def _page_grade(page: AuditPage, type: str) -> PageGrade | None:
    result = page.results.get(type)
    if result is None:
        return None
    note = "" if result["score"] is not None else "Failed"
    return PageGrade(str(LABELS[type]), result["score"], result["grade"], note, report_path(result["scan_id"]))


def count_left_out_pages(audit: Audit) -> int:
    """Return the number of discovered pages that were not scanned because the audit ended early."""
    if not audit.is_final or audit.status == Audit.Status.COMPLETED:
        return 0
    return AuditPage.objects.filter(audit=audit, status=AuditPage.Status.LEFT_OUT, results={}).count()


def monitor_of(audit: Audit, membership: Membership) -> Monitor | None:
    """Return the monitor that the audit is a run of.

    Returns None for other audits, if the monitor was deleted, and if it has pages that the member may not see.
    """
    monitor = (
        access.rows(Monitor, audit.organization_id).filter(runs__audit=audit).only("name", "kind", "pages").first()
    )
    scope = visible_sites_of(membership)
    return monitor if monitor and (scope is None or monitor.is_visible_within(scope)) else None


def journey_of(audit: Audit) -> Journey | None:
    """Return the journey of which the audit is a run, or None for other audits and if it was deleted."""
    if audit.journey_id is None:
        return None
    return access.rows(Journey, audit.organization_id).filter(id=audit.journey_id).only("name", "proven_at").first()
