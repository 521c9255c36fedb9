"""A report's history: other scans for the same page and type."""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import datetime

from django.db.models import F, QuerySet, Value
from django.db.models.functions import MD5
from msgspec import Struct

from accounts import access
from infrastructure.web.charts import Trend, trend
from reports.models import Report
from scans.models import Scan, report_path
from website_scan.report.diff import Diff, diff
from website_scan.report.mute_matching import NO_MUTES, Mutes
from website_scan.report.storage import read_export
from website_scan.report_json import ExportJson

MAX_RECENT_SCANS = 10
MAX_COMPARABLE_REPORTS = 1000  # More than 30 days of hourly scans.


class EarlierScan(Struct, frozen=True):
    """A finished scan of the same page.

    `url` is None for the displayed report itself, and for an expired report.
    """

    score: int
    grade: str
    created_at: datetime
    catalogue_version: str
    url: str | None
    is_this_report: bool


class PreviousReport(Struct, frozen=True):
    """The page's previous report, if it has not expired.

    `changes` computes the diff on its first call. It returns None if the report has been deleted meanwhile.
    """

    url: str
    report_id: str
    changes: Callable[[], Diff[ExportJson] | None]


class History(Struct, frozen=True):
    """A report's history, newest scan first.

    `newer_url` is the page's newest report if that is newer.
    """

    recent: tuple[EarlierScan, ...]
    previous: PreviousReport | None
    newer_url: str | None
    newer_at: datetime | None

    @property
    def trend(self) -> Trend[EarlierScan] | None:
        return trend(self.recent)


def history(scan: Scan, load_export: Callable[[], ExportJson], now: datetime, mutes: Mutes = NO_MUTES) -> History:
    """Return a report's history, which is the latest finished scans of its page.

    Only for the organization's members.

    `load_export` returns the JSON export of the scan's own report. It is called only if the diff is computed.
    """
    scans_of_page = scans_of_same_page(scan).annotate(report_until=F("report__expires_at"), report_id=F("report__id"))
    recent, newest = list(scans_of_page[:MAX_RECENT_SCANS]), None
    if recent and recent[0].created_at > scan.created_at:
        newest = recent[0]
        recent = list(scans_of_page.filter(created_at__lte=scan.created_at)[:MAX_RECENT_SCANS])
    previous_scan_row = next((earlier for earlier in recent if earlier.id != scan.id), None)
    has_previous_report = (
        previous_scan_row is not None
        and previous_scan_row.report_until is not None
        and previous_scan_row.report_until > now
    )
    previous = (
        _previous_report(previous_scan_row, previous_scan_row.report_id, load_export, mutes)
        if previous_scan_row is not None and has_previous_report
        else None
    )
    return History(
        recent=tuple(_earlier_scan(earlier, scan, now) for earlier in recent),
        previous=previous,
        newer_url=report_path(newest.id) if newest else None,
        newer_at=newest.created_at if newest else None,
    )


def scans_of_same_page(scan: Scan) -> QuerySet[Scan]:
    """Return the finished scans for the same page or state of a journey, type and categories, newest first."""
    rows = access.rows(Scan, scan.organization_id).filter(is_of_journey=scan.is_of_journey)
    if scan.is_of_journey:
        page = scan.audit_page
        rows = rows.filter(
            audit_page__state=page.state if page else None,
            audit_page__audit__journey__isnull=False,
            audit_page__audit__journey=page.audit.journey_id if page else None,
        )
    # The query uses the index on the MD5 of the URL. The condition on the URL itself excludes hash collisions.
    return (
        rows.alias(page=MD5("url"))
        .filter(page=MD5(Value(scan.url)), url=scan.url, type=scan.type, status__in=Scan.REPORTED)
        .filter(categories=scan.categories)
        .order_by("-created_at", "-id")
        .only("id", "organization_id", "score", "grade", "created_at", "catalogue_version", "kept_days")
    )


def previous_scan(scan: Scan) -> Scan | None:
    """Return the previous finished scan for the same page and type.

    Its report may have expired.
    """
    return scans_of_same_page(scan).filter(created_at__lte=scan.created_at).exclude(id=scan.id).first()


def comparable_reports(scan: Scan, now: datetime) -> list[Scan]:
    """Return the scans whose reports can be compared with this scan's report, newest first."""
    return list(
        scans_of_same_page(scan).filter(report__expires_at__gt=now).exclude(id=scan.id)[:MAX_COMPARABLE_REPORTS]
    )


def _earlier_scan(earlier: Scan, scan: Scan, now: datetime) -> EarlierScan:
    assert earlier.score is not None
    assert earlier.grade is not None
    is_this_report = earlier.id == scan.id
    url = report_path(earlier.id) if earlier.kept_until > now and not is_this_report else None
    return EarlierScan(earlier.score, earlier.grade, earlier.created_at, earlier.catalogue_version, url, is_this_report)


def _previous_report(scan: Scan, report_id: str, load_export: Callable[[], ExportJson], mutes: Mutes) -> PreviousReport:
    @functools.cache
    def changes() -> Diff[ExportJson] | None:
        report = access.rows(Report, scan.organization_id).filter(id=report_id)
        export = report.values_list("export", flat=True).first()
        return None if export is None else diff(read_export(export), load_export(), mutes)

    return PreviousReport(url=report_path(scan.id), report_id=report_id, changes=changes)
