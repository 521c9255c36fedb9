"""History of a report: other scans of the same page with the same type."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, QuerySet, Value
from django.db.models.functions import MD5

from accounts import access
from infrastructure.web.charts import Trend, trend
from reports.models import Report
from scans.models import Scan, report_path
from website_scan.report.diff import Diff, diff
from website_scan.report.mute_matching import NO_MUTES, Mutes
from website_scan.report.storage import read_export
from website_scan.report_json import ExportJson

SHOWN = 10
CHOICES = 1000  # more than the reports of a page that is scanned every hour


@dataclass(frozen=True, slots=True)
class EarlierScan:
    """A scan with a result. `url` is None if its report has expired, or is the one on the page."""

    score: int
    grade: str
    created_at: datetime
    catalogue_version: str
    url: str | None
    is_this: bool


@dataclass(frozen=True, slots=True)
class Previous:
    """The last report before this one that has not expired.

    `changes` computes the diff when it is first called; it returns None if the report has been deleted meanwhile.
    """

    url: str
    report_id: str
    changes: Callable[[], Diff[ExportJson] | None]


@dataclass(frozen=True, slots=True)
class History:
    """History of a report. `recent` has the newest first; `newer_url` is the page's newest report, if it is another."""

    recent: tuple[EarlierScan, ...]
    previous: Previous | None
    newer_url: str | None
    newer_at: datetime | None

    @property
    def trend(self) -> Trend[EarlierScan] | None:
        return trend(self.recent)


def history(scan: Scan, document: Callable[[], ExportJson], now: datetime, mutes: Mutes = NO_MUTES) -> History:
    """Return the organization's last scans of the page, all with a result. For its members only.

    `document` returns the JSON export of the scan's own report; it is called only for the diff.
    """
    of_page = same_page(scan).annotate(report_until=F("report__expires_at"), report_id=F("report__id"))
    recent, newest = list(of_page[:SHOWN]), None
    if recent and recent[0].created_at > scan.created_at:
        newest = recent[0]
        recent = list(of_page.filter(created_at__lte=scan.created_at)[:SHOWN])
    before = next((each for each in recent if each.id != scan.id), None)
    is_kept = before is not None and before.report_until is not None and before.report_until > now
    previous = _previous(before, before.report_id, document, mutes) if before is not None and is_kept else None
    return History(
        recent=tuple(_earlier(each, scan, now) for each in recent),
        previous=previous,
        newer_url=report_path(newest.id) if newest else None,
        newer_at=newest.created_at if newest else None,
    )


def same_page(scan: Scan) -> QuerySet[Scan]:
    """Return the scans of the same page and type that have a result, newest first."""
    # The index has the URL's MD5. The condition on the URL itself excludes collisions.
    return (
        access.rows(Scan, scan.organization_id)
        .alias(page=MD5("url"))
        .filter(page=MD5(Value(scan.url)), url=scan.url, type=scan.type, status__in=Scan.REPORTED)
        .order_by("-created_at", "-id")
        .only("id", "organization_id", "score", "grade", "created_at", "catalogue_version", "kept_days")
    )


def previous_scan(scan: Scan) -> Scan | None:
    """Return the scan before this one, of the same page and type, with a result. Its report may have expired."""
    return same_page(scan).filter(created_at__lte=scan.created_at).exclude(id=scan.id).first()


def other_reports(scan: Scan, now: datetime) -> list[Scan]:
    """Return the scans whose reports can be compared with this scan's, newest first."""
    return list(same_page(scan).filter(report__expires_at__gt=now).exclude(id=scan.id)[:CHOICES])


def _earlier(each: Scan, scan: Scan, now: datetime) -> EarlierScan:
    assert each.score is not None
    assert each.grade is not None
    is_this = each.id == scan.id
    url = report_path(each.id) if each.kept_until > now and not is_this else None
    return EarlierScan(each.score, each.grade, each.created_at, each.catalogue_version, url, is_this)


def _previous(scan: Scan, report_id: str, document: Callable[[], ExportJson], mutes: Mutes) -> Previous:
    @functools.cache
    def changes() -> Diff[ExportJson] | None:
        kept = access.rows(Report, scan.organization_id).filter(id=report_id)
        export = kept.values_list("export", flat=True).first()
        return None if export is None else diff(read_export(export), document(), mutes)

    return Previous(url=report_path(scan.id), report_id=report_id, changes=changes)
