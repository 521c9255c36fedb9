"""Rows for the dashboard's scan lists.

One row is one request, even with several types and pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from django.db.models import F
from django.urls import reverse
from django.utils.text import capfirst
from msgspec import Struct

from accounts import access
from scans.models import Scan, report_path
from sites.audits.progress import Progress, progress_of
from sites.models import Audit
from website_scan.messages import counted

TONES: Mapping[str, str] = {
    Scan.Status.COMPLETED: "good",
    Scan.Status.PARTIAL: "warn",
    Scan.Status.FAILED: "bad",
    Scan.Status.SCANNING: "accent",
    Audit.Status.DISCOVERING: "accent",
    Audit.Status.RUNNING: "accent",
}
STATUSES: Mapping[str, str] = {Scan.Status.SCANNING: "Running", Audit.Status.DISCOVERING: "Running"}
CANCELLED = "Cancelled"
# Columns that the rows need, about a third of all. Every column makes a query slower to compose and to read.
SCAN_COLUMNS = (
    *("type", "url", "status", "score", "grade", "created_at", "kept_days", "percent", "phase", "lead"),
    *("error_code", "error_message"),
)
AUDIT_COLUMNS = (
    *("kind", "url", "types", "status", "totals", "created_at", "released_at", "kept_days", "run_of"),
    *("pages_found", "pages_planned", "pages_done", "pages_failed", "error_message"),
)


class Grade(Struct, frozen=True):
    """Score and grade for one scan type.

    `url` leads to the report until it expires.

    All three are None without a score.
    """

    label: str
    score: int | None = None
    grade: str | None = None
    url: str | None = None


class Entry(Struct, frozen=True):
    """List row for an audit or a single scan.

    `grades` has one item per scan type, None if it was not requested.

    `page_url` is the path of the report or the audit, None after its expiry. `scope` describes an audit of several
    pages.
    """

    id: str
    is_audit: bool
    url: str
    page_url: str | None
    scope: str
    grades: tuple[Grade | None, ...]
    status: str
    tone: str
    problem: str
    created_at: datetime
    is_final: bool
    can_cancel: bool
    progress: Progress | None
    run_of: str = ""

    @property
    def is_done(self) -> bool:
        """Return True if the scan or audit is completed, rather than partial, failed or cancelled."""
        return self.status == Scan.Status.COMPLETED.label

    @property
    def moment(self) -> str:
        return f"{self.created_at:%Y-%m-%d %H:%M}"

    @property
    def requested_grades(self) -> list[Grade]:
        return [grade for grade in self.grades if grade is not None]

    @property
    def types(self) -> str:
        """Return the requested types' labels, separated by commas."""
        labels = [grade.label for grade in self.requested_grades]
        return "all four" if len(labels) == len(Scan.Type) else ", ".join(labels)


def entries(organization_id: int, rows: Sequence[Audit | Scan]) -> list[Entry]:
    """Return one entry per row, in the same order, with one query."""
    scans_by_row = _scans_by_row(organization_id, rows)
    return [
        audit_entry(row, scans_by_row.get(row.id, []))
        if isinstance(row, Audit)
        else _scan_entry(row, scans_by_row.get(row.id, []))
        for row in rows
    ]


def audit_entry(audit: Audit, scans: Sequence[Scan]) -> Entry:
    """Return an audit's list row. `scans` has scans only for a one-page audit."""
    scores = audit.scores
    reports = {scan.type: report_path(scan.id) for scan in scans if scan.status in Scan.REPORTED}
    is_kept = audit.is_kept
    lead = next((scan for scan in scans if scan.lead_id is None), None)
    return Entry(
        id=audit.id,
        is_audit=True,
        url=audit.url,
        page_url=reverse("audit-page", args=[audit.id]) if is_kept else None,
        scope=_scope(audit),
        grades=tuple(
            Grade(label, url=reports.get(type) if is_kept else None, **scores[type]) if type in scores else None
            for type, label in Scan.Type.choices
        ),
        status=STATUSES.get(audit.status, capfirst(audit.get_status_display())),
        tone=TONES.get(audit.status, ""),
        problem=audit.error_message,
        created_at=audit.created_at,
        is_final=audit.is_final,
        # An audit of several pages is cancelled on its own page, which explains what happens to its pages.
        can_cancel=audit.kind == Audit.Kind.PAGE
        and not audit.is_final
        and (lead is None or lead.status == Scan.Status.QUEUED),
        progress=None if audit.is_final else progress_of(audit, lead),
        run_of=audit.run_of,
    )


def _scan_entry(scan: Scan, companions: Sequence[Scan]) -> Entry:
    scans = {row.type: row for row in (scan, *companions)}
    is_kept = scan.is_kept
    is_cancelled = scan.error_code == "SCAN_CANCELLED"
    return Entry(
        id=scan.id,
        is_audit=False,
        url=scan.url,
        page_url=report_path(scan.id) if is_kept else None,
        scope="",
        grades=tuple(
            Grade(label, of_type.score, of_type.grade, report_path(of_type.id) if is_kept else None)
            if (of_type := scans.get(type))
            else None
            for type, label in Scan.Type.choices
        ),
        status=CANCELLED if is_cancelled else STATUSES.get(scan.status, capfirst(scan.get_status_display())),
        tone="" if is_cancelled else TONES.get(scan.status, ""),
        problem=scan.error_message,
        created_at=scan.created_at,
        is_final=scan.is_final,
        can_cancel=scan.status == Scan.Status.QUEUED,
        progress=None if scan.is_final else Progress.of_scan(scan),
    )


def _scope(audit: Audit) -> str:
    if audit.kind == Audit.Kind.PAGE:
        return ""
    pages = audit.pages_planned or audit.pages_found
    if audit.kind == Audit.Kind.JOURNEY:
        return f"Journey, {counted(pages, 'state')}" if audit.is_final else "Journey"
    number = counted(pages, "page")
    if audit.kind == Audit.Kind.SITE:
        return f"Whole site, {number}" if pages else "Whole site"
    return f"{number}, this one first"


def _scans_by_row(organization_id: int, rows: Iterable[Audit | Scan]) -> dict[str, list[Scan]]:
    """Map row IDs to scans.

    A one-page audit has its own scans, and a single scan has those in its visit.
    """
    audits = [row.id for row in rows if isinstance(row, Audit) and row.kind == Audit.Kind.PAGE]
    leads = [row.id for row in rows if isinstance(row, Scan)]
    scans = access.rows(Scan, organization_id).only(*SCAN_COLUMNS)
    by_row: dict[str, list[Scan]] = {}
    if audits or leads:
        of_audits = scans.filter(audit_page__audit__in=audits).annotate(of=F("audit_page__audit_id"))
        led = scans.filter(lead__in=leads).annotate(of=F("lead_id"))
        for scan in of_audits.union(led, all=True):
            by_row.setdefault(scan.of, []).append(scan)
    return by_row
