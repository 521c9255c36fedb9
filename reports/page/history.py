"""What came before and after a report: other scans of the same page with the same type."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, QuerySet, Value
from django.db.models.functions import MD5
from django.urls import reverse

from accounts import access
from infrastructure.web.charts import Trend, trend
from reports.models import Report
from scanner.report.diff import Diff, diff
from scanner.report.mute_matching import NO_MUTES, Mutes
from scans.models import Scan

SHOWN = 10
CHOICES = 1000  # more than a page that is scanned every hour has reports


@dataclass(frozen=True, slots=True)
class EarlierScan:
    """A scan with a result; `url` is None where its report is no longer kept, or is the one that is shown."""

    score: int
    grade: str
    created_at: datetime
    catalogue_version: str
    url: str | None
    is_this: bool


@dataclass(frozen=True, slots=True)
class Previous:
    """The last report before this one, while it is kept.

    What has changed since is only looked for when it is asked; None if the report has gone in the meantime.
    """

    url: str
    report_id: str
    changes: Callable[[], Diff | None]


@dataclass(frozen=True, slots=True)
class History:
    """`recent` are newest first; `newer_url` is where the page's newest report is, if that is another one."""

    recent: tuple[EarlierScan, ...]
    previous: Previous | None
    newer_url: str | None
    newer_at: datetime | None

    @property
    def trend(self) -> Trend[EarlierScan] | None:
        return trend(self.recent)


def history(scan: Scan, document: Callable[[], dict[str, object]], now: datetime, mutes: Mutes = NO_MUTES) -> History:
    """For the members of the scan's organization: its last scans of that page, all with a result.

    `document` is the JSON export of the scan's own report, asked for only to compare it.
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
        newer_url=_url(newest.id) if newest else None,
        newer_at=newest.created_at if newest else None,
    )


def same_page(scan: Scan) -> QuerySet[Scan]:
    """Scans of the same page with the same type that have a result, newest first."""
    # By the digest, as the index has it; the address itself settles what shares one.
    return (
        access.rows(Scan, scan.organization_id)
        .alias(page=MD5("url"))
        .filter(page=MD5(Value(scan.url)), url=scan.url, type=scan.type, status__in=Scan.REPORTED)
        .order_by("-created_at", "-id")
        .only("id", "organization_id", "score", "grade", "created_at", "catalogue_version", "kept_days")
    )


def previous_scan(scan: Scan) -> Scan | None:
    """The scan before this one, of the same page and type, with a result; its report may have expired."""
    return same_page(scan).filter(created_at__lte=scan.created_at).exclude(id=scan.id).first()


def other_reports(scan: Scan, now: datetime) -> list[Scan]:
    """The scans whose reports a report can be compared with, newest first."""
    return list(same_page(scan).filter(report__expires_at__gt=now).exclude(id=scan.id)[:CHOICES])


def _earlier(each: Scan, scan: Scan, now: datetime) -> EarlierScan:
    assert each.score is not None
    assert each.grade is not None
    is_this = each.id == scan.id
    url = _url(each.id) if each.kept_until > now and not is_this else None
    return EarlierScan(each.score, each.grade, each.created_at, each.catalogue_version, url, is_this)


def _previous(scan: Scan, report_id: str, document: Callable[[], dict[str, object]], mutes: Mutes) -> Previous:
    def changes() -> Diff | None:
        kept = access.rows(Report, scan.organization_id).filter(id=report_id)
        export = kept.values_list("export", flat=True).first()
        return None if export is None else diff(json.loads(export), document(), mutes)

    return Previous(url=_url(scan.id), report_id=report_id, changes=changes)


def _url(scan_id: str) -> str:
    return reverse("report-page", args=[scan_id])
